// SPDX-License-Identifier: Apache-2.0
// The sockets that ranks meet through, as thin helpers over the system's calls: everything is non-blocking, closes on
// exec, never raises SIGPIPE and goes on after EINTR. Waiting is the caller's, with poll. Free functions; thread-safe.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/status.hpp"
#include "base/system/unique_fd.hpp"
#include "base/unique_id.hpp"
#include "base/units.hpp"

namespace tutti {

using Clock = std::chrono::steady_clock;

[[nodiscard]] constexpr std::chrono::nanoseconds to_chrono(Nanos nanos) {
  return std::chrono::nanoseconds(nanos.value());
}

// What poll() takes to sleep until `deadline`: whole milliseconds, rounded up so that it has passed afterwards; -1 for
// no deadline, and never more than a minute.
[[nodiscard]] int poll_timeout(std::optional<Clock::time_point> deadline, Clock::time_point now);

// Waits until the descriptor is readable, for `longest` at most. A negative descriptor never is.
void await_readable(int descriptor, std::chrono::nanoseconds longest);

struct Listener {
  UniqueFd socket;
  Address address;  // with the port that the system chose
};
// A stream: TCP, or a unix socket where the address is local.
[[nodiscard]] Result<Listener> listen_at(const Address& address);

// Of this end of a connected socket of the network, with its port.
[[nodiscard]] Result<Address> local_address(int socket);

// A connection whose other end is not reached for some 11 seconds ends. For those that somebody always reads: what is
// sent there is soon acknowledged. Does nothing to local sockets.
void watch_silence(int socket);

// Begins to connect; poll for POLLOUT, then ask connect_outcome.
[[nodiscard]] Result<UniqueFd> begin_connect(const Address& address);
// The same in two steps, for callers that must know which one failed. False if the queue of a local listener is full:
// retry a little later.
[[nodiscard]] Result<UniqueFd> make_socket_for(const Address& address);
[[nodiscard]] Result<bool> begin_connect(int socket, const Address& address);
[[nodiscard]] Status connect_outcome(int socket);
// All of that, for callers that have nothing else to do. An error after the deadline, or when `is_over`, which is asked
// now and then, says that it no longer matters.
[[nodiscard]] Result<UniqueFd> connect_within(const Address& address, Clock::time_point deadline,
                                              const std::function<bool()>& is_over = nullptr);

// Sequenced packets in the abstract namespace: no file, gone with the process.
[[nodiscard]] Result<UniqueFd> listen_abstract(std::string_view name, int backlog);
// Holds no descriptor where the listener's queue is full: try again a little later.
[[nodiscard]] Result<UniqueFd> connect_abstract(std::string_view name);

// The next connection; no descriptor where there is none.
[[nodiscard]] Result<UniqueFd> accept_from(int listener);

struct SocketTransfer {
  enum class Outcome { done, would_block, closed };
  Outcome outcome = Outcome::would_block;
  std::size_t bytes = 0;
};
// closed also stands for every error of the connection: none of them can be mended, and all mean that the peer is gone.
[[nodiscard]] SocketTransfer send_some(int socket, std::span<const std::byte> bytes);
[[nodiscard]] SocketTransfer receive_some(int socket, std::span<std::byte> bytes);

// A message that carries a descriptor; the receiver's copy closes on exec.
[[nodiscard]] SocketTransfer send_with_fd(int socket, std::span<const std::byte> bytes, int passed);
// `lost` says that one came for which the process had no room.
struct PassedFd {
  UniqueFd fd;
  bool lost = false;
};
[[nodiscard]] SocketTransfer receive_with_fd(int socket, std::span<std::byte> bytes, PassedFd& passed);

struct PeerCredentials {
  pid_t pid = 0;  // 0 where the process is in another pid namespace
  uid_t uid = 0;
};
[[nodiscard]] Result<PeerCredentials> peer_credentials(int unix_socket);

// None where the pid is 0 or the process is gone, or where the kernel has no such descriptors.
[[nodiscard]] UniqueFd open_pidfd(pid_t pid);

}  // namespace tutti
