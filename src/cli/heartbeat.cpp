// SPDX-License-Identifier: Apache-2.0
#include "cli/heartbeat.hpp"

#include <csignal>
#include <ostream>
#include <system_error>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "bench/measure/estimate.hpp"

namespace tutti::cli {

Heartbeat::Heartbeat(std::ostream& stream, std::chrono::milliseconds period, std::function<std::string()> line)
    : stream_(stream), period_(period), line_(std::move(line)) {
  // An interrupt is to end what the main thread waits in.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { beat(); });
  } catch (const std::system_error&) {
    // Where no thread is to be had, nothing is told, and the work goes on.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Heartbeat::~Heartbeat() {
  {
    const std::scoped_lock lock(mutex_);
    is_ended_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Heartbeat::beat() {
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, period_, [this] { return is_ended_; })) stream_ << line_() << "\n" << std::flush;
}

std::string how_far(std::size_t num_done, std::size_t num_all, const char* what,
                    std::chrono::steady_clock::time_point begin) {
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  const auto left = harness::Estimate(0, num_all).seconds_left(spent.count(), num_done);
  return fmt::format("{} of {}{}", num_done, counted(num_all, what),
                     left ? fmt::format(", about {} left", harness::rough_duration(*left)) : "");
}

}  // namespace tutti::cli
