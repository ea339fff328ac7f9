// SPDX-License-Identifier: Apache-2.0
#include "bench/store/store.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <filesystem>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/store/database.hpp"
#include "bench/store/store_schema.hpp"

namespace tutti::harness {

namespace {

DatabaseKind kind() {
  return {.holds = "results",
          .application_id = kStoreApplicationId,
          .version = kStoreVersion,
          .schema = std::string(kStoreSchema) + std::string(kLabels),
          .upgrades = {{.from = 2, .statements = std::string(kUpgradeFrom2)}}};
}

template <typename Named, std::size_t kCount>
std::string_view word_of(const std::array<std::string_view, kCount>& words, Named value) {
  return words[static_cast<std::size_t>(value)];
}

// False where there is no such word.
template <typename Named, std::size_t kCount>
bool read_word(const std::array<std::string_view, kCount>& words, std::string_view word, Named& value) {
  const auto found = std::find(words.begin(), words.end(), word);
  value = static_cast<Named>(found - words.begin());
  return found != words.end();
}

// Numbers of 4 or 8 bytes, one behind the other, least byte first.
template <typename Number>
using Bits = std::conditional_t<sizeof(Number) == 8, std::uint64_t, std::uint32_t>;

template <typename Number>
std::vector<std::byte> to_blob(const std::vector<Number>& numbers) {
  std::vector<std::byte> blob(numbers.size() * sizeof(Number));
  for (std::size_t each = 0; each < numbers.size(); ++each) {
    const auto bits = std::bit_cast<Bits<Number>>(numbers[each]);
    for (std::size_t byte = 0; byte < sizeof bits; ++byte)
      blob[each * sizeof bits + byte] = static_cast<std::byte>(bits >> (8 * byte));
  }
  return blob;
}

// False where it does not hold whole numbers.
template <typename Number>
bool from_blob(std::span<const std::byte> blob, std::vector<Number>& numbers) {
  numbers.resize(blob.size() / sizeof(Number));
  for (std::size_t each = 0; each < numbers.size(); ++each) {
    Bits<Number> bits = 0;
    for (std::size_t byte = 0; byte < sizeof bits; ++byte)
      bits |= std::to_integer<Bits<Number>>(blob[each * sizeof bits + byte]) << (8 * byte);
    numbers[each] = std::bit_cast<Number>(bits);
  }
  return blob.size() % sizeof(Number) == 0;
}

void bind(Statement& statement, const Value& value) {
  if (value.is_word()) {
    statement.bind(std::string_view(value.word()));
  } else if (value.is_integer()) {
    statement.bind(value.integer());
  } else {
    statement.bind(value.number());
  }
}

std::optional<Value> next_value(Statement& statement) {
  switch (statement.next_type()) {
    case Statement::Type::integer: return Value(statement.next_integer());
    case Statement::Type::number: return Value(statement.next_number());
    case Statement::Type::text: return Value(statement.next_text());
    default: return std::nullopt;
  }
}

// Files from before have no such table.
Result<bool> has_labels(Database& database) {
  Result<Statement> statement = database.prepare(kHasLabels);
  if (!statement.ok()) return statement.status();
  const Result<bool> row = statement->step();
  if (!row.ok()) return row.status();
  return *row && statement->next_integer() != 0;
}

// All runs that fit the condition, latest first. Values that the condition has are bound by `bind_values`.
template <typename BindValues>
Result<std::vector<StoredRun>> select_runs(Database& database, std::string_view condition, BindValues bind_values) {
  const Result<bool> has_names = has_labels(database);
  if (!has_names.ok()) return has_names.status();
  const std::string sql = fmt::format(
      "SELECT id, begun, bench, command, sweep, machine, tutti, owner, {}, is_paired, is_complete, "
      "(SELECT count(*) FROM results WHERE results.run = runs.id), {} FROM runs {} ORDER BY id DESC",
      database.version() < kFirstWithBaseline ? "''" : "baseline",
      *has_names ? "(SELECT name FROM labels WHERE run = runs.id), (SELECT note FROM labels WHERE run = runs.id)"
                 : "NULL, NULL",
      condition);
  Result<Statement> statement = database.prepare(sql);
  if (!statement.ok()) return statement.status();
  bind_values(*statement);
  std::vector<StoredRun> runs;
  while (true) {
    const Result<bool> row = statement->step();
    if (!row.ok()) return row.status();
    if (!*row) return runs;
    StoredRun& run = runs.emplace_back();
    run.id = statement->next_integer();
    run.begun = statement->next_text();
    run.bench = statement->next_text();
    run.command = statement->next_text();
    run.sweep = statement->next_text();
    run.machine = statement->next_text();
    run.tutti = statement->next_text();
    run.owner = statement->next_text();
    run.baseline = statement->next_text();
    run.is_paired = statement->next_integer() != 0;
    run.is_complete = statement->next_integer() != 0;
    run.num_rows = static_cast<std::uint64_t>(statement->next_integer());
    run.name = statement->next_text_if_there().value_or("");
    run.note = statement->next_text_if_there().value_or("");
  }
}

void bind_row(Statement& statement, std::int64_t run, const Row& row, const std::string& key,
              std::span<const std::byte> samples, std::span<const std::byte> rounds) {
  statement.bind(run).bind(std::string_view(key)).bind(std::string_view(row.bench)).bind(std::string_view(row.peer));
  statement.bind(std::int64_t{row.num_ranks}).bind(std::int64_t{row.launch});
  statement.bind(word_of(kOutcomeWords, row.outcome)).bind(std::string_view(row.note));
  statement.bind(std::int64_t{row.is_checked}).bind(samples).bind(rounds);
  statement.bind(static_cast<std::int64_t>(row.invalid));
  statement.bind(word_of(kSyncWords, row.sync)).bind(word_of(kStopWords, row.stop));
  statement.bind(std::int64_t{row.shares_cores}).bind(row.bytes);
  if (row.message) {
    statement.bind(row.message->bytes).bind(word_of(kTrafficWords, row.message->traffic));
  } else {
    statement.bind(std::nullopt).bind(std::nullopt);
  }
  statement.bind(row.items).bind(row.flops).bind(std::string_view(row.version)).bind(std::string_view(row.ran));
}

// What is wrong with it; empty where nothing is.
std::string_view read_row(Statement& statement, Row& row) {
  row.bench = statement.next_text();
  row.peer = statement.next_text();
  row.num_ranks = static_cast<int>(statement.next_integer());
  row.launch = static_cast<int>(statement.next_integer());
  if (!read_word(kOutcomeWords, statement.next_text(), row.outcome)) return "outcome";
  row.note = statement.next_text();
  row.is_checked = statement.next_integer() != 0;
  if (!from_blob(statement.next_blob(), row.samples)) return "samples";
  if (!from_blob(statement.next_blob(), row.rounds)) return "rounds";
  if (!row.rounds.empty() &&
      std::accumulate(row.rounds.begin(), row.rounds.end(), std::size_t{0}) != row.samples.size())
    return "rounds";
  row.invalid = static_cast<std::uint64_t>(statement.next_integer());
  if (!read_word(kSyncWords, statement.next_text(), row.sync)) return "sync";
  if (!read_word(kStopWords, statement.next_text(), row.stop)) return "stop";
  row.shares_cores = statement.next_integer() != 0;
  row.bytes = statement.next_number_if_there();
  const std::optional<double> message_bytes = statement.next_number_if_there();
  const std::optional<std::string> traffic = statement.next_text_if_there();
  if (message_bytes.has_value() != traffic.has_value()) return "message";
  if (message_bytes) {
    row.message = Message{.bytes = *message_bytes};
    if (!read_word(kTrafficWords, *traffic, row.message->traffic)) return "message_traffic";
  }
  row.items = statement.next_number_if_there();
  row.flops = statement.next_number_if_there();
  row.version = statement.next_text();
  row.ran = statement.next_text();
  return {};
}

// Every row of a query that takes one number; `take` says what is wrong with it, or nothing.
template <typename Take>
Status for_each(Database& database, std::string_view sql, std::int64_t number, Take take) {
  Result<Statement> statement = database.prepare(sql);
  if (!statement.ok()) return statement.status();
  statement->bind(number);
  while (true) {
    const Result<bool> row = statement->step();
    if (!row.ok()) return row.status();
    if (!*row) return {};
    TUTTI_TRY(take(*statement));
  }
}

// As for_each, for a statement that changes a table: it runs once for each element, to which `bind_values` binds it.
template <typename Elements, typename BindValues>
Status run_for_each(Database& database, std::string_view sql, const Elements& elements, BindValues bind_values) {
  if (elements.empty()) return {};
  Result<Statement> statement = database.prepare(sql);
  if (!statement.ok()) return statement.status();
  for (const auto& element : elements) {
    bind_values(*statement, element);
    TUTTI_TRY(statement->run());
  }
  return {};
}

// Null where there is none of that name.
Result<std::optional<std::int64_t>> run_of_name(Database& database, std::string_view name) {
  const Result<bool> has_names = has_labels(database);
  if (!has_names.ok()) return has_names.status();
  if (!*has_names) return std::optional<std::int64_t>();
  Result<Statement> statement = database.prepare(kRunOfName);
  if (!statement.ok()) return statement.status();
  const Result<bool> row = statement->bind(name).step();
  if (!row.ok()) return row.status();
  return *row ? std::optional(statement->next_integer()) : std::nullopt;
}

Status no_such_run(const Database& database, std::string_view number) {
  return {Code::invalid_argument, fmt::format("there is no run {} in {}", number, in_quotes(database.path()))};
}

std::string shown_key(std::string key) {
  std::replace(key.begin(), key.end(), '\x1f', ' ');
  return key;
}

}  // namespace

Store::Store(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::string& path, std::chrono::milliseconds patience) {
  Result<std::unique_ptr<Database>> database = Database::open(path, Database::Access::write, kind(), patience);
  if (!database.ok()) return database.status();
  const Result<bool> has_names = has_labels(**database);
  if (!has_names.ok()) return has_names.status();
  if (!*has_names) TUTTI_TRY((*database)->execute(std::string(kLabels)));
  return Store(std::move(*database));
}

Result<Store> Store::open_to_read(const std::string& path, std::chrono::milliseconds patience) {
  Result<std::unique_ptr<Database>> database = Database::open(path, Database::Access::read, kind(), patience);
  if (!database.ok()) return database.status();
  return Store(std::move(*database));
}

// --- writing

Result<std::int64_t> Store::begin(const StoredRun& run) {
  Result<Transaction> transaction = Transaction::begin(*database_, Transaction::For::writing);
  if (!transaction.ok()) return transaction.status();
  Result<Statement> statement = database_->prepare(kInsertRun);
  if (!statement.ok()) return statement.status();
  for (const std::string* text :
       {&run.begun, &run.bench, &run.command, &run.sweep, &run.machine, &run.tutti, &run.owner, &run.baseline})
    statement->bind(std::string_view(*text));
  statement->bind(std::int64_t{run.is_paired});
  TUTTI_TRY(statement->run());
  const std::int64_t id = database_->last_id();
  TUTTI_TRY(label(run, id));
  TUTTI_TRY(transaction->commit());
  return id;
}

Status Store::add(std::int64_t run, std::span<const Row> rows) { return replace(run, rows, {}); }

Status Store::replace(std::int64_t run, std::span<const Row> rows, const std::set<std::string>& forgotten) {
  Result<Transaction> transaction = Transaction::begin(*database_, Transaction::For::writing);
  if (!transaction.ok()) return transaction.status();
  bool has_run = false;
  TUTTI_TRY(for_each(*database_, kRunExists, run, [&](Statement& statement) {
    has_run = statement.next_integer() != 0;
    return Status();
  }));
  if (!has_run) return no_such_run(*database_, std::to_string(run));
  TUTTI_TRY(forget(run, forgotten));
  for (const Row& row : rows) TUTTI_TRY(add_row(run, row));
  return transaction->commit();
}

Status Store::forget(std::int64_t run, const std::set<std::string>& keys) {
  return run_for_each(*database_, kForgetRow, keys, [&](Statement& statement, const std::string& key) {
    statement.bind(run).bind(std::string_view(key));
  });
}

Status Store::add_row(std::int64_t run, const Row& row) {
  const std::string key = key_of(row);
  {
    Result<Statement> statement = database_->prepare(kKeyExists);
    if (!statement.ok()) return statement.status();
    const Result<bool> found = statement->bind(run).bind(std::string_view(key)).step();
    if (!found.ok()) return found.status();
    if (statement->next_integer() != 0) {
      return {Code::invalid_usage,
              fmt::format("run {} in {} has this row already: {}", run, in_quotes(database_->path()), shown_key(key))};
    }
  }
  {
    Result<Statement> statement = database_->prepare(kInsertRow);
    if (!statement.ok()) return statement.status();
    const std::vector<std::byte> samples = to_blob(row.samples);
    const std::vector<std::byte> rounds = to_blob(row.rounds);
    bind_row(*statement, run, row, key, samples, rounds);
    TUTTI_TRY(statement->run());
  }
  return add_parts(database_->last_id(), row);
}

Status Store::add_parts(std::int64_t id, const Row& row) {
  std::int64_t position = 0;
  TUTTI_TRY(run_for_each(*database_, kInsertSetting, row.settings, [&](Statement& statement, const Setting& setting) {
    statement.bind(id).bind(position++).bind(std::string_view(setting.name));
    if (setting.value) {
      statement.bind(std::string_view(*setting.value));
    } else {
      statement.bind(std::nullopt);
    }
  }));
  position = 0;
  TUTTI_TRY(run_for_each(*database_, kInsertPoint, row.point.values, [&](Statement& statement, const auto& value) {
    statement.bind(id).bind(position++).bind(std::string_view(value.first));
    bind(statement, value.second);
  }));
  TUTTI_TRY(run_for_each(*database_, kInsertCounter, row.counters, [&](Statement& statement, const auto& counter) {
    statement.bind(id).bind(std::string_view(counter.first)).bind(counter.second);
  }));
  return run_for_each(*database_, kInsertEvidence, row.evidence, [&](Statement& statement, const auto& each) {
    statement.bind(id).bind(std::string_view(each.first)).bind(word_of(kObeyedWords, each.second.obeyed));
    statement.bind(std::string_view(each.second.how));
  });
}

Status Store::adopt(std::int64_t run, const std::string& owner, const std::set<std::string>& forgotten) {
  Result<Transaction> transaction = Transaction::begin(*database_, Transaction::For::writing);
  if (!transaction.ok()) return transaction.status();
  {
    Result<Statement> adopting = database_->prepare(kAdopt);
    if (!adopting.ok()) return adopting.status();
    TUTTI_TRY(adopting->bind(std::string_view(owner)).bind(run).run());
  }
  TUTTI_TRY(forget(run, forgotten));
  return transaction->commit();
}

Status Store::complete(std::int64_t run) {
  Result<Statement> statement = database_->prepare(kComplete);
  if (!statement.ok()) return statement.status();
  TUTTI_TRY(statement->bind(run).run());
  return database_->num_changed() == 1 ? Status() : no_such_run(*database_, std::to_string(run));
}

// --- reading

Result<std::optional<StoredRun>> Store::last_of(const std::string& sweep) {
  Result<std::vector<StoredRun>> runs = select_runs(
      *database_, "WHERE sweep = ?", [&](Statement& statement) { statement.bind(std::string_view(sweep)); });
  if (!runs.ok()) return runs.status();
  return runs->empty() ? std::optional<StoredRun>() : std::optional(std::move(runs->front()));
}

Result<std::set<std::string>> Store::keys_of(std::int64_t run) {
  std::set<std::string> keys;
  TUTTI_TRY(for_each(*database_, kKeys, run, [&](Statement& statement) {
    keys.insert(statement.next_text());
    return Status();
  }));
  return keys;
}

Result<std::vector<StoredRun>> Store::runs() {
  return select_runs(*database_, "", [](Statement&) {});
}

Result<StoredRun> Store::find(std::string_view name) {
  const std::string_view wanted = trim(name);
  const bool is_last = same_name(wanted, "last");
  std::int64_t id = 0;
  const auto [end, wrong] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), id);
  const bool is_number = !wanted.empty() && std::all_of(wanted.begin(), wanted.end(),
                                                        [](char each) { return each >= '0' && each <= '9'; });
  if (!is_last && !is_number) {
    const Result<std::optional<std::int64_t>> named = run_of_name(*database_, wanted);
    if (!named.ok()) return named.status();
    if (!*named)
      return Status(Code::invalid_argument,
                    fmt::format("{} is no run; give the number or the name of one, or last", in_quotes(name)));
    id = **named;
  }
  // A number that does not fit is none that a run has.
  if (wrong != std::errc() && is_number) id = 0;
  Result<std::vector<StoredRun>> found =
      is_last ? select_runs(*database_, "WHERE id = (SELECT max(id) FROM runs)", [](Statement&) {})
              : select_runs(*database_, "WHERE id = ?", [&](Statement& statement) { statement.bind(id); });
  if (!found.ok()) return found.status();
  if (!found->empty()) return std::move(found->front());

  Result<std::vector<StoredRun>> last =
      select_runs(*database_, "WHERE id = (SELECT max(id) FROM runs)", [](Statement&) {});
  if (!last.ok()) return last.status();
  if (last->empty())
    return Status(Code::invalid_argument, fmt::format("there are no runs in {}", in_quotes(database_->path())));
  return Status(Code::invalid_argument,
                fmt::format("{}; the last one is {}, of {}", no_such_run(*database_, wanted).message(),
                            last->front().id, printable(last->front().begun)));
}

Result<std::vector<Row>> Store::rows_of(std::int64_t run) {
  // One state of the file, also while another process writes.
  Result<Transaction> transaction = Transaction::begin(*database_, Transaction::For::reading);
  if (!transaction.ok()) return transaction.status();
  std::vector<Row> rows;
  TUTTI_TRY(for_each(*database_, kRows, run, [&](Statement& statement) -> Status {
    const std::int64_t id = statement.next_integer();
    Row& row = rows.emplace_back();
    const std::string_view wrong = read_row(statement, row);
    if (!wrong.empty()) return database_->damaged(fmt::format("{} of result {}", wrong, id));
    return read_parts(id, row);
  }));
  return rows;
}

Status Store::read_parts(std::int64_t id, Row& row) {
  TUTTI_TRY(for_each(*database_, kSettings, id, [&](Statement& statement) {
    std::string name = statement.next_text();
    row.settings.push_back({std::move(name), statement.next_text_if_there()});
    return Status();
  }));
  TUTTI_TRY(for_each(*database_, kPoints, id, [&](Statement& statement) {
    std::string axis = statement.next_text();
    std::optional<Value> value = next_value(statement);
    if (!value) return database_->damaged(fmt::format("the value of {} of result {}", in_quotes(axis), id));
    row.point.values.emplace_back(std::move(axis), std::move(*value));
    return Status();
  }));
  TUTTI_TRY(for_each(*database_, kCounters, id, [&](Statement& statement) {
    std::string name = statement.next_text();
    // Null stands for what is not a number.
    row.counters[std::move(name)] = statement.next_number_if_there().value_or(std::numeric_limits<double>::quiet_NaN());
    return Status();
  }));
  return for_each(*database_, kEvidence, id, [&](Statement& statement) {
    std::string variable = statement.next_text();
    Evidence evidence;
    if (!read_word(kObeyedWords, statement.next_text(), evidence.obeyed))
      return database_->damaged(fmt::format("obeyed of result {}", id));
    evidence.how = statement.next_text();
    row.evidence[std::move(variable)] = std::move(evidence);
    return Status();
  });
}

Result<std::string> usual_store_path(const Environment& environment) {
  const std::string folder = environment.data_folder();
  if (folder.empty()) return Status(Code::invalid_argument, "neither HOME nor XDG_DATA_HOME is set");
  return folder + "/results.db";
}

Result<std::string> usual_store(const Environment& environment) {
  Result<std::string> path = usual_store_path(environment);
  if (!path.ok()) return path;
  const std::string folder = path->substr(0, path->rfind('/'));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return Status(Code::system,
                  fmt::format("cannot make the folder {} for results: {}", in_quotes(folder), error.message()));
  return path;
}

}  // namespace tutti::harness
