// SPDX-License-Identifier: Apache-2.0
// Outputs of programs: any text is read without harm by each reader, and whatever is found is a time or a reason.
#include <cmath>

#include "bench/outputs/readers.hpp"
#include "fuzz.hpp"

namespace tutti::harness {
namespace {

using fuzz::require;

const std::vector<ReadAs>& readers() {
  static const std::vector<ReadAs> all = [] {
    std::vector<ReadAs> made;
    for (const char* name : {"auto", "nccl-tests", "osu", "imb", "json",
                             R"(regex:(?<bytes>\d+[KMG]?)\s+(?<time_us>\S+)(?: (?<num_ranks>\d+))?(?: (?<type>\w+))?)"})
      made.push_back(*parse_read_as(name, ""));
    return made;
  }();
  return all;
}

void check(std::string_view text) {
  for (const ReadAs& reader : readers()) {
    const Output output = reader.read(text);
    const bool has_something = !output.readings.empty() || output.num_unread > 0;
    require(output.is_recognised() || !has_something, "only a format that is recognised has rows");
    require((output.num_unread == 0) == output.first_unread.empty(), "the first line that cannot be read is told");
    for (const Reading& reading : output.readings) {
      require(reading.nanos.has_value() || !reading.problem.empty(), "without a time there is a reason");
      require(!reading.nanos || (std::isfinite(*reading.nanos) && *reading.nanos > 0), "a time is one");
      require(reading.bytes.value_or(0) >= 0, "a size is one");
      require(reading.num_ranks >= 0, "a number of ranks is one");
      for (const auto& [name, value] : reading.counters) require(std::isfinite(value), "a figure is a number");
    }
  }
}

}  // namespace
}  // namespace tutti::harness

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tutti::harness::check(tutti::fuzz::as_text(data, size));
  return 0;
}
