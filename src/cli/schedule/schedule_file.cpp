// SPDX-License-Identifier: Apache-2.0
#include "cli/schedule/schedule_file.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/system/file.hpp"
#include "base/text.hpp"
#include "schedule/msccl/msccl.hpp"
#include "schedule/text/text_form.hpp"
#include "simulate/trace/goal.hpp"

namespace tutti::cli {

Result<std::variant<Schedule, simulate::Trace>> read_schedule_or_trace(const std::string& path) {
  using Read = std::variant<Schedule, simulate::Trace>;
  static_assert(simulate::goal_text::kMostBytes <= schedule_text::kMostBytes);
  TUTTI_TRY_ASSIGN(const std::string text, read_file(path, schedule_text::kMostBytes));
  if (simulate::looks_like_goal(text)) {
    TUTTI_TRY_ASSIGN(simulate::Trace trace, simulate::read_goal(text, path));
    return Read(std::move(trace));
  }
  std::string_view begin = std::string_view(text).substr(0, 4096);
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (begin.starts_with(kByteOrderMark)) begin.remove_prefix(kByteOrderMark.size());
  TUTTI_TRY_ASSIGN(Schedule schedule,
                   trim(begin).starts_with('<') ? read_msccl(text, path) : read_schedule(text, path));
  return Read(std::move(schedule));
}

Result<Schedule> read_schedule_file(const std::string& path) {
  TUTTI_TRY_ASSIGN(auto read, read_schedule_or_trace(path));
  if (auto* const schedule = std::get_if<Schedule>(&read)) return std::move(*schedule);
  return wrong_argument(
      fmt::format("{} is a trace in GOAL: it says what is sent and not what for, so it is no "
                  "schedule; 'tutti simulate --file' takes it",
                  printable(path)));
}

}  // namespace tutti::cli
