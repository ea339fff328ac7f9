// SPDX-License-Identifier: Apache-2.0
// What is asked of a store again and again while others write to it.
#include "bench/store/database.hpp"
#include "bench/store/store.hpp"
#include "bench/store/store_schema.hpp"

namespace tutti::harness {

Result<std::vector<std::string>> Store::peers_of(std::int64_t run) {
  Result<Statement> statement = database_->prepare(kPeers);
  if (!statement.ok()) return statement.status();
  statement->bind(run);
  std::vector<std::string> peers;
  while (true) {
    const Result<bool> row = statement->step();
    if (!row.ok()) return row.status();
    if (!*row) return peers;
    peers.push_back(statement->next_text());
  }
}

// https://www.sqlite.org/pragma.html#pragma_data_version
Result<std::int64_t> Store::data_version() {
  Result<Statement> statement = database_->prepare(kDataVersion);
  if (!statement.ok()) return statement.status();
  const Result<bool> row = statement->step();
  if (!row.ok()) return row.status();
  return *row ? statement->next_integer() : 0;
}

bool Store::is_fixed() const { return database_->is_fixed(); }

}  // namespace tutti::harness
