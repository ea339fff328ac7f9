// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/descriptors.hpp"

#include <array>
#include <chrono>

#include <poll.h>
#include <unistd.h>

#include "base/system/socket.hpp"
#include "runtime/bootstrap/service_thread.hpp"

namespace tutti {
namespace {

constexpr std::chrono::milliseconds kMostPatience{500};

// On a thread that nobody else has anything to do with: what is open in its table is the process's.
bool say_with_an_empty_table(const Address& address, std::span<const std::byte> words) {
  // Of one's own, and empty: where containers refuse unshare(2), they still allow this.
  if (close_range(0, ~0U, CLOSE_RANGE_UNSHARE) != 0) return true;
  const auto until = Clock::now() + kMostPatience;
  const Result<UniqueFd> socket = begin_connect(address);
  if (!socket.ok()) return true;
  pollfd fd{socket->get(), POLLOUT, 0};
  if (poll(&fd, 1, poll_timeout(until, Clock::now())) != 1 || !connect_outcome(socket->get()).ok()) return true;
  static_cast<void>(send_some(socket->get(), words));
  // It hangs up when it has heard.
  std::array<std::byte, 1024> answer{};
  fd.events = POLLIN;
  bool is_answered = false;
  while (Clock::now() < until) {
    const SocketTransfer got = receive_some(socket->get(), answer);
    if (got.outcome == SocketTransfer::Outcome::closed) return is_answered;
    is_answered = is_answered || got.bytes > 0;
    poll(&fd, 1, poll_timeout(until, Clock::now()));
  }
  return true;
}

}  // namespace

bool say_without_descriptors(const Address& address, std::span<const std::byte> words) {
  bool is_done = true;
  run_apart([&] { is_done = say_with_an_empty_table(address, words); });
  return is_done;
}

}  // namespace tutti
