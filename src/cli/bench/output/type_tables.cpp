// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/output/type_tables.hpp"

#include <algorithm>
#include <string>

#include "data/type.hpp"

namespace tutti::cli {

namespace {

// "a, b" of "a b".
std::string with_commas(std::string_view names) {
  std::string text;
  for (const char letter : names) text += letter == ' ' ? std::string(", ") : std::string(1, letter);
  return text;
}

bool is_defined_on_all(Op op) {
  for (int type = 0; type < kNumTypes; ++type)
    if (!is_defined(op, static_cast<Type>(type))) return false;
  return true;
}

}  // namespace

Table types_table() {
  Table table({{"type"}, {"bytes"}, {"also", 90}});
  for (int each = 0; each < kNumTypes; ++each) {
    const auto type = static_cast<Type>(each);
    table.add_row(
        {std::string(name_of(type)), static_cast<std::int64_t>(size_of(type)), with_commas(other_names_of(type))});
  }
  return table;
}

Table operators_table() {
  Table table({{"operator"}, {"types"}, {"also", 90}});
  for (int each = 0; each < kNumOps; ++each) {
    const auto op = static_cast<Op>(each);
    if (op == Op::premultiplied_sum || op == Op::user) continue;
    table.add_row({std::string(name_of(op)), std::string(is_defined_on_all(op) ? "all" : "integers"),
                   with_commas(other_names_of(op))});
  }
  return table;
}

}  // namespace tutti::cli
