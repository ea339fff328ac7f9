// SPDX-License-Identifier: Apache-2.0
#include "runtime/progress/caretaker.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include <poll.h>

namespace tutti {
namespace {

// The shortest time between two looks for trouble. A rank in a call handles trouble itself.
constexpr std::chrono::milliseconds kBetweenTroubles{100};
constexpr std::chrono::milliseconds kLongestBetweenSteps{250};
constexpr std::chrono::milliseconds kLongestBetweenUses{250};

int to_milliseconds(std::chrono::nanoseconds time) {
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(time).count());
}

}  // namespace

Result<std::unique_ptr<Caretaker>> Caretaker::start(const shm::Region& region, std::uint32_t rank,
                                                    transport::Endpoint& endpoint, Events events) {
  std::unique_ptr<Caretaker> caretaker(new Caretaker(region, rank, endpoint, std::move(events)));
  Caretaker* const work = caretaker.get();
  Result<std::unique_ptr<ServiceThread>> thread =
      ServiceThread::start("tutti-net", [work](int wake_fd) { work->run(wake_fd); });
  if (!thread.ok()) return thread.status().with_context("cannot look after connections with other hosts");
  caretaker->thread_ = std::move(*thread);
  return caretaker;
}

void Caretaker::run(int wake_fd) {
  const int trouble = endpoint_.trouble_descriptor();
  bool pauses = false;
  while (!is_ending_.load(std::memory_order_relaxed)) {
    // Acquire: partner of listen().
    const bool listens = is_listening_.load(std::memory_order_acquire);
    const bool looks = !pauses && !region_.is_broken();
    pollfd polled[] = {
        {wake_fd, POLLIN, 0}, {listens ? descriptor_ : -1, POLLIN, 0}, {looks ? trouble : -1, POLLIN, 0}};
    const int found = poll(polled, 3, pauses ? to_milliseconds(kBetweenTroubles) : -1);
    if (found < 0) continue;  // EINTR, ENOMEM
    if (polled[0].revents != 0) clear_wake(wake_fd);
    if (polled[1].revents != 0 && is_listening_.exchange(false, std::memory_order_relaxed)) region_.wake(rank_);
    const bool is_troubled = polled[2].revents != 0;
    if (is_troubled || is_asked_.load()) restore(wake_fd);
    pauses = is_troubled || (pauses && found > 0);
  }
}

void Caretaker::restore(int wake_fd) {
  while (!is_ending_.load(std::memory_order_relaxed)) {
    if (!take_from_rank()) return;
    const std::chrono::nanoseconds nap = take_steps();
    // Before it lets go: from then on the rank may leave something to be done.
    if (nap.count() == 0) is_restoring_ = false;
    let_go();
    if (nap.count() == 0) return;
    pollfd polled[] = {{wake_fd, POLLIN, 0}, {descriptor_, POLLIN, 0}};
    if (poll(polled, 2, to_milliseconds(nap)) > 0 && polled[0].revents != 0) clear_wake(wake_fd);
  }
}

// False where the rank is in a call.
bool Caretaker::take_from_rank() {
  for (;;) {
    is_restoring_ = true;
    is_asked_ = false;
    if (take(Holder::thread)) {
      if (!is_forking_.load()) return true;
      let_go();
      is_forking_.wait(true);
      continue;
    }
    is_restoring_ = false;
    // A rank that leaves from here on asks, if need be.
    if (holder_.load() == Holder::rank) return false;
  }
}

void Caretaker::let_go() {
  holder_.store(Holder::nobody);
  holder_.notify_all();
}

std::chrono::nanoseconds Caretaker::take_steps() {
  if (region_.is_broken()) return {};
  try {
    for (int step = 0; step < transport::kStepsThatReadAll; ++step) static_cast<void>(endpoint_.step());
    if (endpoint_.unreachable()) events_.on_unreachable();
    if (!endpoint_.is_connecting() || region_.is_broken()) return {};
    if (is_rank_away()) endpoint_.renew_patience([this](std::uint32_t rank) { return !region_.has_left(rank); });
    return std::max<std::chrono::nanoseconds>(endpoint_.may_sleep(kLongestBetweenSteps), std::chrono::nanoseconds(1));
  } catch (const std::exception&) {
    events_.on_no_memory();
    return {};
  }
}

bool Caretaker::is_rank_away() {
  const auto now = std::chrono::steady_clock::now();
  if (std::exchange(known_uses_, times_used_) != times_used_) away_since_ = now;
  return now - away_since_ > kLongestBetweenUses;
}

void Caretaker::halt() {
  is_forking_ = true;
  while (holder_.load() == Holder::thread) holder_.wait(Holder::thread);
}

void Caretaker::go_on() {
  is_forking_ = false;
  is_forking_.notify_all();
}

Caretaker::~Caretaker() {
  if (!thread_ || !thread_->is_here()) return;
  is_ending_.store(true, std::memory_order_relaxed);
  thread_->wake();
  thread_->finish();
}

}  // namespace tutti
