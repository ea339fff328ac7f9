// SPDX-License-Identifier: Apache-2.0
// Numbers, sizes, lists of sizes and durations: any text is read or refused, and what was read is read back from what
// is written of it.
#include "base/units.hpp"
#include "fuzz.hpp"

namespace tutti {
namespace {

using fuzz::require;

void check(std::string_view text) {
  if (const Result<std::int64_t> number = parse_integer(text); number.ok()) {
    const Result<std::int64_t> again = parse_integer(std::to_string(*number));
    require(again.ok() && *again == *number, "a number is read back");
  }
  if (const Result<Bytes> bytes = parse_bytes(text); bytes.ok()) {
    const Result<Bytes> again = parse_bytes(to_text(*bytes));
    require(again.ok() && *again == *bytes, "a size is read back");
    const Result<std::vector<Bytes>> list = parse_byte_list(text);
    require(list.ok() && *list == std::vector<Bytes>{*bytes}, "a size is a list of one");
  }
  if (const Result<Nanos> nanos = parse_duration(text); nanos.ok()) {
    require(*nanos >= Nanos(), "a duration is not negative");
    const Result<Nanos> again = parse_duration(to_text(*nanos));
    require(again.ok() && *again == *nanos, "a duration is read back");
  }
  if (const Result<std::vector<Bytes>> list = parse_byte_list(text); list.ok()) {
    std::string written;
    for (const Bytes bytes : *list) written += (written.empty() ? "" : ",") + to_text(bytes);
    const Result<std::vector<Bytes>> again = parse_byte_list(written);
    require(again.ok() && *again == *list, "a list is read back");
  }
}

}  // namespace
}  // namespace tutti

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tutti::check(tutti::fuzz::as_text(data, size));
  return 0;
}
