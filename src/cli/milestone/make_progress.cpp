// SPDX-License-Identifier: Apache-2.0
#include "cli/milestone/make_progress.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "base/counted.hpp"

namespace tutti::cli {

MakeProgress::MakeProgress(const Context& context, std::size_t num_cases, double expected_seconds, bool is_terminal)
    : context_(context), num_cases_(num_cases), expected_(expected_seconds), is_terminal_(is_terminal) {
  if (is_terminal_ || num_cases == 0) return;
  heartbeat_.emplace(context_.error, context_.sign_of_life, [this] {
    return fmt::format("{} of {}, about {} left", num_done_.load(), counted(num_cases_, "case"),
                       harness::rough_duration(seconds_left()));
  });
}

MakeProgress::~MakeProgress() {
  if (is_terminal_ && num_cases_ > 0) context_.error << "\r\033[K" << std::flush;
}

double MakeProgress::seconds_left() const {
  const double spent = std::chrono::duration<double>(Clock::now() - begin_).count();
  const double done = expected_done_;
  // A few short cases say nothing of the long ones.
  const double factor = done > 1 ? std::clamp(spent / done, 0.1, 10.0) : 1;
  return std::max(0.0, expected_ - done) * factor;
}

void MakeProgress::note(std::string_view part, std::string_view name, double expected_seconds) {
  ++num_done_;
  expected_done_ = expected_done_ + expected_seconds;
  if (!is_terminal_) return;
  constexpr std::size_t kWidth = 100;
  const std::string line = fmt::format("[{}/{}, {} left] {}: {}", num_done_.load(), num_cases_,
                                       harness::rough_duration(seconds_left()), part, name);
  context_.error << "\r\033[K" << line.substr(0, kWidth) << std::flush;
}

}  // namespace tutti::cli
