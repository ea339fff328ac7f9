// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/output/progress.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "bench/views/views.hpp"

namespace tutti::cli {

namespace {

double share_left(const Outlook& outlook) {
  if (outlook.num_cases == 0) return 0;
  const std::size_t left = outlook.num_cases - std::min(outlook.num_done, outlook.num_cases);
  return static_cast<double>(left) / static_cast<double>(outlook.num_cases);
}

}  // namespace

Progress::Progress(const Context& context, const Outlook& outlook, bool is_terminal)
    : context_(context),
      num_cases_(outlook.num_cases),
      first_(outlook.num_done),
      estimate_(outlook.expected_seconds * share_left(outlook),
                outlook.num_cases - std::min(outlook.num_done, outlook.num_cases)),
      num_done_(outlook.num_done),
      last_(Clock::now()),
      num_bad_(outlook.num_bad),
      is_terminal_(is_terminal) {
  if (is_terminal_) return;
  heartbeat_.emplace(context_.error, context_.sign_of_life, [this] {
    const std::optional<double> left = seconds_left();
    return fmt::format("{} of {}{}", num_done_.load(), counted(num_cases_, "case"),
                       left ? fmt::format(", about {} left", harness::rough_duration(*left)) : "");
  });
}

std::optional<double> Progress::seconds_left() const {
  const auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
  const Clock::time_point last = last_;
  const std::optional<double> then = estimate_.seconds_left(seconds(last - begin_), num_done_ - first_);
  if (!then) return std::nullopt;
  return std::max(0.0, *then - seconds(Clock::now() - last));
}

void Progress::note(std::span<const harness::Row> rows) {
  ++num_done_;
  last_ = Clock::now();
  const auto bad = std::find_if(rows.begin(), rows.end(), is_bad);
  if (bad != rows.end()) ++num_bad_;
  if (!is_terminal_) return;
  context_.error << fmt::format("[{}/{}, {} left] {}\n", num_done_.load(), num_cases_,
                                harness::rough_duration(seconds_left().value_or(0)),
                                harness::in_a_line(bad != rows.end() ? *bad : rows.back()));
  if (rows.size() > 1) context_.error << fmt::format("  and {}\n", counted(rows.size() - 1, "more row"));
}

}  // namespace tutti::cli
