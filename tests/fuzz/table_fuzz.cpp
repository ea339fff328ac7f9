// SPDX-License-Identifier: Apache-2.0
// Decision tables: any text is refused with its place, or has ranges for all sizes, and is written so that it reads the
// same again.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/full_name.hpp"
#include "fuzz.hpp"
#include "table/table_file.hpp"

namespace tutti {

// In place of the catalogue, which is too large to be instrumented: two algorithms, of different order.
Result<NamedAlgorithm> find_by_full_name(Collective collective, std::string_view text, std::uint32_t /*num_ranks*/,
                                         const std::optional<std::vector<std::uint32_t>>& /*machine_grid*/) {
  static const Algorithm kKnown[] = {
      {.name = "ring", .collective = collective, .channel = Channel::message, .order = OrderClass::uniform, .make = {}},
      {.name = "one_shot",
       .collective = collective,
       .channel = Channel::staged,
       .order = OrderClass::ordered,
       .make = {}}};
  for (const Algorithm& each : kKnown)
    if (each.name == text) return NamedAlgorithm{.algorithm = &each};
  return Status(Code::invalid_argument, "there is no such algorithm");
}

namespace {

using fuzz::require;

void check(std::string_view text) {
  const Result<DecisionTable> table = read_table(text, "my.toml");
  if (!table.ok()) {
    require(table.status().message().starts_with("my.toml:"), "an error has its place");
    return;
  }
  const std::string written = write_table(*table);
  const Result<DecisionTable> again = read_table(written, "again.toml");
  require(again.ok(), "what was read is written so that it can be read");
  require(write_table(*again) == written, "and is the same");
  for (const TableSection& section : table->sections)
    for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{4096}, kNoEnd})
      require(bytes <= section.range_of(bytes).most_bytes, "each size has its range");
}

}  // namespace
}  // namespace tutti

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tutti::check(tutti::fuzz::as_text(data, size));
  return 0;
}
