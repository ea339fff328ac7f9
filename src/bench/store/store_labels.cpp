// SPDX-License-Identifier: Apache-2.0
// What people do with runs that are kept: name them, say something of them, take them away.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/store/database.hpp"
#include "bench/store/store.hpp"
#include "bench/store/store_schema.hpp"

namespace tutti::harness {

namespace {

constexpr std::size_t kLongestName = 64;

bool is_numeral(char letter) { return letter >= '0' && letter <= '9'; }

Status set_label(Database& database, std::string_view sql, std::int64_t run, const std::string& text) {
  Result<Statement> statement = database.prepare(sql);
  if (!statement.ok()) return statement.status();
  return statement->bind(run).bind(std::string_view(text)).run();
}

Result<std::int64_t> first_number_of(Statement& statement) {
  const Result<bool> row = statement.step();
  if (!row.ok()) return row.status();
  return *row ? statement.next_integer() : 0;
}

Status check_there(Database& database, std::int64_t run) {
  Result<Statement> statement = database.prepare(kRunExists);
  if (!statement.ok()) return statement.status();
  const Result<std::int64_t> count = first_number_of(statement->bind(run));
  if (!count.ok()) return count.status();
  if (*count != 0) return {};
  return {Code::invalid_argument, fmt::format("there is no run {} in {}", run, in_quotes(database.path()))};
}

Status put_name(Database& database, std::int64_t run, const std::string& name) {
  TUTTI_TRY(check_run_name(name));
  {
    Result<Statement> statement = database.prepare(kRunOfName);
    if (!statement.ok()) return statement.status();
    const Result<std::int64_t> other = first_number_of(statement->bind(std::string_view(name)));
    if (!other.ok()) return other.status();
    if (*other != 0 && *other != run)
      return {Code::invalid_argument, fmt::format("run {} has the name {} already", *other, in_quotes(name))};
  }
  return set_label(database, kSetName, run, name);
}

}  // namespace

Status check_run_name(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_numeral(c) || c == '_' || c == '-' || c == '.';
  };
  const bool is_number = std::all_of(name.begin(), name.end(), is_numeral);
  if (!name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), is_plain) && !is_number &&
      !name.starts_with('-') && !same_name(name, "last"))
    return {};
  return {
      Code::invalid_argument,
      fmt::format("{} cannot name a run; a name has letters, digits, _, - and dots, is not a number, and is not last",
                  in_quotes(name))};
}

Status Store::label(const StoredRun& run, std::int64_t id) {
  if (!run.name.empty()) TUTTI_TRY(put_name(*database_, id, run.name));
  return run.note.empty() ? Status() : set_label(*database_, kSetNote, id, run.note);
}

Status Store::set_name(std::int64_t run, const std::string& name) {
  Result<Transaction> transaction = Transaction::begin(*database_, Transaction::For::writing);
  if (!transaction.ok()) return transaction.status();
  TUTTI_TRY(check_there(*database_, run));
  TUTTI_TRY(name.empty() ? set_label(*database_, kSetName, run, name) : put_name(*database_, run, name));
  return transaction->commit();
}

Status Store::set_note(std::int64_t run, const std::string& note) {
  Result<Transaction> transaction = Transaction::begin(*database_, Transaction::For::writing);
  if (!transaction.ok()) return transaction.status();
  TUTTI_TRY(check_there(*database_, run));
  TUTTI_TRY(set_label(*database_, kSetNote, run, note));
  return transaction->commit();
}

Status Store::remove(std::int64_t run) {
  {
    Result<Transaction> transaction = Transaction::begin(*database_, Transaction::For::writing);
    if (!transaction.ok()) return transaction.status();
    TUTTI_TRY(check_there(*database_, run));
    {
      Result<Statement> statement = database_->prepare(kDeleteRun);
      if (!statement.ok()) return statement.status();
      TUTTI_TRY(statement->bind(run).run());
    }
    TUTTI_TRY(transaction->commit());
  }
  // What is deleted leaves free pages; this writes the file anew without them, then the log into the file.
  const Status smaller = database_->execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  return smaller.ok() ? smaller : smaller.with_context("the run is deleted, but the file is as large as before");
}

}  // namespace tutti::harness
