// SPDX-License-Identifier: Apache-2.0
// The text form of schedules: any text is refused with its place, or is a schedule that is read back from what is
// written of it.
#include "../schedule/same_schedule.hpp"
#include "fuzz.hpp"
#include "schedule/text/text_form.hpp"

namespace tutti {
namespace {

using fuzz::require;

void check(std::string_view text) {
  const Result<Schedule> schedule = read_schedule(text, "my.sched");
  if (!schedule.ok()) {
    require(schedule.status().message().starts_with("my.sched:"), "an error has its place");
    return;
  }
  const Result<Schedule> again = read_schedule(write_schedule(*schedule), "again");
  require(again.ok(), "what was read can be written");
  require(same_schedule(*schedule, *again), "what was written is read back");
}

}  // namespace
}  // namespace tutti

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tutti::check(tutti::fuzz::as_text(data, size));
  return 0;
}
