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

double seconds_left_of(double expected, double done, double spent, double since) {
  const double trust = expected / 20;
  const double factor = done + trust > 0 ? (spent + trust) / (done + trust) : 1;
  const double left = std::max(0.0, expected - done) * factor;
  // A case that takes longer than expected is not all that is left.
  return std::max(left - since, left / 10);
}

double MakeProgress::seconds_left() const {
  const double spent = spent_;
  return seconds_left_of(expected_, expected_done_, spent, std::max(seconds_since_begin() - spent, 0.0));
}

void MakeProgress::note(std::string_view part, std::string_view name, double expected_seconds) {
  ++num_done_;
  expected_done_ = expected_done_ + expected_seconds;
  spent_ = seconds_since_begin();
  if (!is_terminal_) return;
  constexpr std::size_t kWidth = 100;
  const std::string line = fmt::format("[{}/{}, {} left] {}: {}", num_done_.load(), num_cases_,
                                       harness::rough_duration(seconds_left()), part, name);
  context_.error << "\r\033[K" << line.substr(0, kWidth) << std::flush;
}

}  // namespace tutti::cli
