// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp/shared.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/system/take_fd.hpp"
#include "base/system/unique_fd.hpp"
#include "base/text.hpp"

namespace tutti::transport::tcp {

namespace {

void set_number(int socket, int level, int option, std::int64_t value) {
  const int number = static_cast<int>(std::clamp<std::int64_t>(value, 1, 1 << 30));
  // A system that refuses only notices later.
  static_cast<void>(setsockopt(socket, level, option, &number, sizeof number));
}

// A datagram socket sends nothing when it connects, but finds the route.
bool has_route_to_peer(int socket) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  auto* const address = reinterpret_cast<sockaddr*>(&peer);
  if (getpeername(socket, address, &size) != 0) return true;
  const UniqueFd probe = take_fd(::socket(peer.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return !probe.valid() || connect(probe.get(), address, size) == 0;
}

// What the system cannot send for want of a route counts neither as unacknowledged, nor does it send probes meanwhile.
bool has_stuck_bytes(int socket) {
  int waiting = 0;
  return ioctl(socket, SIOCOUTQ, &waiting) == 0 && waiting > 0 && !has_route_to_peer(socket);
}

}  // namespace

void set_patience(int socket, std::chrono::nanoseconds restore_within) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(restore_within).count();
  constexpr int kProbes = 4;
  // No TCP_USER_TIMEOUT: that would also end a connection whose reader does something else for long.
  set_number(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_number(socket, IPPROTO_TCP, TCP_KEEPIDLE, seconds / 2);
  set_number(socket, IPPROTO_TCP, TCP_KEEPINTVL, seconds / (2 * kProbes));
  set_number(socket, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
}

Status check_congestion(const std::string& name) {
  if (name.empty()) return {};
  const UniqueFd trial = take_fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!trial.valid()) return Status::from_errno("cannot open a socket", errno);
  if (setsockopt(trial.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<socklen_t>(name.size())) == 0)
    return {};
  const int error_number = errno;
  return wrong_argument(fmt::format(
      "TUTTI_TCP_CONGESTION is {}, which this system {}; sysctl net.ipv4.tcp_allowed_congestion_control "
      "lists those that "
      "all processes may use",
      in_quotes(name), error_number == EPERM ? "does not let this process use" : "does not have or has not loaded"));
}

void set_congestion(int socket, const std::string& name) {
  if (name.empty()) return;
  static_cast<void>(setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<socklen_t>(name.size())));
}

std::optional<Acknowledgement> last_acknowledgement(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  return Acknowledgement{info.tcpi_unacked > 0 || has_stuck_bytes(socket),
                         std::chrono::milliseconds(info.tcpi_last_ack_recv)};
}

Received receive_into(int socket, std::span<iovec> parts) {
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  for (;;) {
    const ssize_t got = recvmsg(socket, &message, MSG_DONTWAIT);
    if (got > 0) return {.bytes = static_cast<std::size_t>(got)};
    if (got == 0) return {.has_ended = true};
    if (errno == EAGAIN) return {};
    if (errno != EINTR) return {.has_ended = true, .error = errno};
  }
}

Received receive_into(int socket, std::span<std::byte> bytes) {
  iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
  return receive_into(socket, std::span(&part, 1));
}

bool has_been_closed(int socket) {
  std::byte next{};
  const ssize_t seen = recv(socket, &next, 1, MSG_PEEK | MSG_DONTWAIT);
  return seen == 0 || (seen < 0 && errno != EAGAIN && errno != EINTR);
}

std::string words_of_error(int error_number) {
  if (error_number == 0) return "the other end closed it";
  return std::generic_category().message(error_number);
}

}  // namespace tutti::transport::tcp
