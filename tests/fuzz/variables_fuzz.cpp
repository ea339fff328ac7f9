// SPDX-License-Identifier: Apache-2.0
// The values of variables: the first byte chooses the row, the rest is what a user has set it to.
#include "base/variables/variables.hpp"
#include "fuzz.hpp"

namespace tutti {
namespace {

using fuzz::require;

void check(const VariableRow& row, std::string_view text) {
  const Result<VariableValue> value = parse_variable(row, text);
  if (!value.ok()) {
    require(!value.status().message().empty(), "an error has words");
    return;
  }
  const Result<VariableValue> again = parse_variable(row, to_text(row, *value));
  // Nothing at all is written as "", which only a row without a default takes for nothing.
  require(again.ok() && *again == *value, "a value is read back");
}

}  // namespace
}  // namespace tutti

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = tutti::fuzz::as_text(data + 1, size - 1);
  tutti::check(tutti::kVariables[data[0] % tutti::kNumVariables], text);
  static_cast<void>(tutti::find_variable(text));
  // The search for the nearest takes the square of the length.
  if (size < 64) static_cast<void>(tutti::nearest_variable(text));
  return 0;
}
