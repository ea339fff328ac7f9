// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/start/patience.hpp"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>
#include <poll.h>

namespace tutti::start {

namespace {

constexpr std::chrono::milliseconds kLongestPause{100};
constexpr int kBusyPollMs = 1;  // where there is something else to go on with

}  // namespace

Patience::Patience(const StartOptions& options) : options_(options), begun_(Clock::now()) {
  if (options.timeout > Nanos()) deadline_ = begun_ + to_chrono(options.timeout);
  if (options.late_warning > Nanos()) warn_at_ = begun_ + to_chrono(options.late_warning);
}

std::optional<Clock::time_point> Patience::next() const {
  if (!deadline_ || !warn_at_) return deadline_ ? deadline_ : warn_at_;
  return std::min(*deadline_, *warn_at_);
}

Status Patience::check(std::string_view what) {
  const auto now = Clock::now();
  if (warn_at_ && now >= *warn_at_) {
    const auto waited = *warn_at_ - begun_;
    warn_at_ = begun_ + 2 * waited;
    if (options_.warn) options_.warn(fmt::format("{}, for {} so far", what, to_text(Nanos(waited.count()))));
  }
  if (deadline_ && now >= *deadline_) {
    return {Code::timeout, fmt::format("{}, and {} are over", what, to_text(options_.timeout))};
  }
  return {};
}

Status Patience::until_readable(int fd, std::string_view what) { return until(fd, POLLIN, what); }

Status Patience::until_connected(int fd, std::string_view what) { return until(fd, POLLOUT, what); }

Status Patience::until(int fd, short events, std::string_view what) {
  for (;;) {
    TUTTI_TRY(check(what));
    pollfd polled{fd, events, 0};
    const bool is_busy = options_.meanwhile && options_.meanwhile();
    const int ready = poll(&polled, 1, is_busy ? kBusyPollMs : poll_timeout(next(), Clock::now()));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return Status::from_errno("cannot wait", errno);
  }
}

Status Patience::pause(std::string_view what) {
  TUTTI_TRY(check(what));
  auto until = Clock::now() + pause_;
  if (const auto end = next()) until = std::min(until, *end);
  pause_ = std::min(2 * pause_, kLongestPause);
  while (Clock::now() < until) {
    const bool is_busy = options_.meanwhile && options_.meanwhile();
    poll(nullptr, 0, is_busy ? kBusyPollMs : poll_timeout(until, Clock::now()));
  }
  return check(what);
}

}  // namespace tutti::start
