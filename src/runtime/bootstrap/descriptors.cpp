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
void say_with_an_empty_table(const Address& address, std::span<const std::byte> words) {
  // Of one's own, and empty: where containers refuse unshare(2), they still allow this.
  if (close_range(0, ~0U, CLOSE_RANGE_UNSHARE) != 0) return;
  const auto until = Clock::now() + kMostPatience;
  const Result<UniqueFd> socket = begin_connect(address);
  if (!socket.ok()) return;
  pollfd fd{socket->get(), POLLOUT, 0};
  if (poll(&fd, 1, poll_timeout(until, Clock::now())) != 1 || !connect_outcome(socket->get()).ok()) return;
  static_cast<void>(send_some(socket->get(), words));
  // It hangs up when it has heard.
  std::array<std::byte, 1024> answer{};
  fd.events = POLLIN;
  while (receive_some(socket->get(), answer).outcome != SocketTransfer::Outcome::closed && Clock::now() < until)
    poll(&fd, 1, poll_timeout(until, Clock::now()));
}

}  // namespace

void say_without_descriptors(const Address& address, std::span<const std::byte> words) {
  run_apart([&] { say_with_an_empty_table(address, words); });
}

}  // namespace tutti
