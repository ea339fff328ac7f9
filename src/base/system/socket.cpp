// SPDX-License-Identifier: Apache-2.0
#include "base/system/socket.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "base/system/host.hpp"
#include "base/system/take_fd.hpp"

namespace tutti {
namespace {

// A socket address of either kind as the system's calls take it.
struct SystemAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// A zero byte before the name makes it abstract; its length, not a zero at the end, says where it ends.
SystemAddress to_system(std::string_view abstract_name) {
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  const std::size_t length = std::min(abstract_name.size(), sizeof un.sun_path - 1);
  std::memcpy(un.sun_path + 1, abstract_name.data(), length);
  SystemAddress system;
  std::memcpy(&system.storage, &un, sizeof un);
  system.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return system;
}

SystemAddress to_system(const Address& address) {
  if (address.family == Address::Family::local) return to_system(std::string_view(local_name(address)));
  SystemAddress system;
  if (address.family == Address::Family::ipv4) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(address.port);
    std::memcpy(&in.sin_addr, address.bytes.data(), sizeof in.sin_addr);
    std::memcpy(&system.storage, &in, sizeof in);
    system.length = sizeof in;
  } else {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    in.sin6_port = htons(address.port);
    in.sin6_scope_id = address.scope;
    std::memcpy(&in.sin6_addr, address.bytes.data(), sizeof in.sin6_addr);
    std::memcpy(&system.storage, &in, sizeof in);
    system.length = sizeof in;
  }
  return system;
}

Result<UniqueFd> make_socket(int domain, int type) {
  UniqueFd socket = take_fd(::socket(domain, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.valid()) return Status::from_errno("cannot make a socket", errno);
  return socket;
}

int domain_of(const Address& address) {
  if (address.family == Address::Family::local) return AF_UNIX;
  return address.family == Address::Family::ipv4 ? AF_INET : AF_INET6;
}

// "cannot listen on 127.0.0.1:0: Cannot assign requested address (the loopback interface is down)"
Status refused_at(std::string_view what, const Address& address, int error) {
  const Status status = Status::from_errno(fmt::format("cannot {} {}", what, to_text(address)), error);
  const bool has_no_way = error == EADDRNOTAVAIL || error == ENETUNREACH;
  if (!has_no_way || !is_loopback(address)) return status;
  return {status.code(), fmt::format("{} (the loopback interface is down: ip link set lo up)", status.message())};
}

// Small messages that others wait for: send each at once. A socket that refuses is only slower.
void set_no_delay(int socket) {
  const int on = 1;
  static_cast<void>(setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
}

SocketTransfer outcome_of(ssize_t result) {
  if (result >= 0) return {SocketTransfer::Outcome::done, static_cast<std::size_t>(result)};
  const bool later = errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS;
  return {later ? SocketTransfer::Outcome::would_block : SocketTransfer::Outcome::closed, 0};
}

}  // namespace

int poll_timeout(std::optional<Clock::time_point> deadline, Clock::time_point now) {
  if (!deadline) return -1;
  if (*deadline <= now) return 0;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - now).count();
  return static_cast<int>(std::min<std::int64_t>(left, 60'000));
}

void await_readable(int descriptor, std::chrono::nanoseconds longest) {
  if (longest.count() <= 0) return;
  pollfd watched{.fd = descriptor, .events = POLLIN, .revents = 0};
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest);
  const timespec timeout{.tv_sec = static_cast<std::time_t>(seconds.count()),
                         .tv_nsec = static_cast<long>((longest - seconds).count())};
  static_cast<void>(ppoll(&watched, 1, &timeout, nullptr));
}

Result<Listener> listen_at(const Address& address) {
  TUTTI_TRY_ASSIGN(UniqueFd socket, make_socket(domain_of(address), SOCK_STREAM));
  const int fd = socket.get();
  SystemAddress system = to_system(address);
  // A port that somebody chose can be listened on again at once, while connections of the process before still end.
  if (address.family != Address::Family::local && address.port != 0) {
    const int on = 1;
    static_cast<void>(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
  }
  if (bind(fd, system.get(), system.length) != 0 || listen(fd, SOMAXCONN) != 0) {
    return refused_at("listen on", address, errno);
  }
  if (address.family == Address::Family::local) return Listener{std::move(socket), address};
  system.length = sizeof system.storage;
  if (getsockname(fd, system.get(), &system.length) != 0) {
    return Status::from_errno("cannot learn the port of a socket", errno);
  }
  Address bound = address;
  // The port stands at the same place for both families.
  sockaddr_in in{};
  std::memcpy(&in, &system.storage, sizeof in);
  bound.port = ntohs(in.sin_port);
  return Listener{std::move(socket), bound};
}

Result<Address> local_address(int socket) {
  SystemAddress system;
  system.length = sizeof system.storage;
  if (getsockname(socket, system.get(), &system.length) != 0)
    return Status::from_errno("cannot learn the address of a socket", errno);
  Address address;
  if (system.storage.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &system.storage, sizeof in);
    address.port = ntohs(in.sin_port);
    std::memcpy(address.bytes.data(), &in.sin_addr, sizeof in.sin_addr);
    return address;
  }
  if (system.storage.ss_family != AF_INET6) return Status(Code::internal, "a local socket has no address");
  sockaddr_in6 in{};
  std::memcpy(&in, &system.storage, sizeof in);
  address.family = Address::Family::ipv6;
  address.port = ntohs(in.sin6_port);
  address.scope = in.sin6_scope_id;
  std::memcpy(address.bytes.data(), &in.sin6_addr, sizeof in.sin6_addr);
  return address;
}

void watch_silence(int socket) {
  // A system that refuses only notices later.
  const auto set = [socket](int level, int option, int value) {
    static_cast<void>(setsockopt(socket, level, option, &value, sizeof value));
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 3);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 2);
  set(IPPROTO_TCP, TCP_KEEPCNT, 4);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 11'000);
}

Result<UniqueFd> begin_connect(const Address& address) {
  Result<UniqueFd> socket = make_socket_for(address);
  if (!socket.ok()) return socket;
  TUTTI_TRY_ASSIGN(const bool begun, begin_connect(socket->get(), address));
  if (!begun) return refused_at("connect to", address, EAGAIN);
  return socket;
}

Result<UniqueFd> make_socket_for(const Address& address) { return make_socket(domain_of(address), SOCK_STREAM); }

Result<bool> begin_connect(int socket, const Address& address) {
  set_no_delay(socket);
  const SystemAddress system = to_system(address);
  // EINTR leaves a connection of TCP under way, as EINPROGRESS does; a local one is not made then.
  if (connect(socket, system.get(), system.length) == 0) return true;
  const bool is_local = address.family == Address::Family::local;
  if (errno == EINPROGRESS || (errno == EINTR && !is_local)) return true;
  if (is_local && (errno == EAGAIN || errno == EINTR)) return false;
  return refused_at("connect to", address, errno);
}

Status connect_outcome(int socket) {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  if (error != 0) return Status::from_errno("cannot connect", error);
  return {};
}

Result<UniqueFd> connect_within(const Address& address, Clock::time_point deadline,
                                const std::function<bool()>& is_over) {
  constexpr std::chrono::milliseconds kLook{20};
  TUTTI_TRY_ASSIGN(UniqueFd socket, make_socket_for(address));
  const auto has_time = [&]() -> Status {
    if (is_over && is_over()) return {Code::aborted, "it no longer matters"};
    if (Clock::now() >= deadline) return {Code::timeout, fmt::format("nobody answers at {}", to_text(address))};
    return {};
  };
  while (true) {
    TUTTI_TRY_ASSIGN(const bool begun, begin_connect(socket.get(), address));
    if (begun) break;
    TUTTI_TRY(has_time());
    // The queue of who waits to be let in is full.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  pollfd waiting{socket.get(), POLLOUT, 0};
  while (poll(&waiting, 1, poll_timeout(std::min(deadline, Clock::now() + kLook), Clock::now())) <= 0)
    TUTTI_TRY(has_time());
  const Status outcome = connect_outcome(socket.get());
  if (!outcome.ok()) return outcome.with_context(to_text(address));
  return socket;
}

Result<UniqueFd> listen_abstract(std::string_view name, int backlog) {
  Result<UniqueFd> socket = make_socket(AF_UNIX, SOCK_SEQPACKET);
  if (!socket.ok()) return socket;
  const SystemAddress system = to_system(name);
  if (bind(socket->get(), system.get(), system.length) != 0 || listen(socket->get(), backlog) != 0) {
    return Status::from_errno("cannot listen on a local socket", errno);
  }
  return socket;
}

Result<UniqueFd> connect_abstract(std::string_view name) {
  Result<UniqueFd> socket = make_socket(AF_UNIX, SOCK_SEQPACKET);
  if (!socket.ok()) return socket;
  const SystemAddress system = to_system(name);
  while (connect(socket->get(), system.get(), system.length) != 0) {
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return UniqueFd();
    return Status::from_errno("cannot connect to a local socket", errno);
  }
  return socket;
}

Result<UniqueFd> accept_from(int listener) {
  for (;;) {
    UniqueFd socket = take_fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.valid()) {
      set_no_delay(socket.get());
      return socket;
    }
    // ECONNABORTED: that one hung up while it waited; the next may be there.
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return UniqueFd();
    return Status::from_errno("cannot accept a connection", errno);
  }
}

SocketTransfer send_some(int socket, std::span<const std::byte> bytes) {
  for (;;) {
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0 || errno != EINTR) return outcome_of(sent);
  }
}

SocketTransfer receive_some(int socket, std::span<std::byte> bytes) {
  for (int resets = 0;;) {
    const ssize_t got = recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got == 0) return {SocketTransfer::Outcome::closed, 0};
    if (got > 0) return outcome_of(got);
    // A local peer that closed before it had read all is reported once, ahead of what it had sent: read on.
    if (errno == ECONNRESET && resets++ == 0) continue;
    if (errno != EINTR) return outcome_of(got);
  }
}

SocketTransfer send_with_fd(int socket, std::span<const std::byte> bytes, int passed) {
  iovec part{.iov_base = const_cast<std::byte*>(bytes.data()), .iov_len = bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &passed, sizeof passed);
  for (;;) {
    const ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0 || errno != EINTR) return outcome_of(sent);
  }
}

SocketTransfer receive_with_fd(int socket, std::span<std::byte> bytes, PassedFd& passed) {
  iovec part{.iov_base = bytes.data(), .iov_len = bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got == 0) return {SocketTransfer::Outcome::closed, 0};
  if (got < 0) return outcome_of(got);
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  // The room holds one descriptor, so the system lets no second one in.
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof(int))) {
    int fd = UniqueFd::kNone;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    passed.fd = take_fd(fd);
  } else {
    passed.lost = (message.msg_flags & MSG_CTRUNC) != 0;
  }
  return outcome_of(got);
}

Result<PeerCredentials> peer_credentials(int unix_socket) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (getsockopt(unix_socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    return Status::from_errno("cannot learn who is at the other end of a local socket", errno);
  }
  return PeerCredentials{credentials.pid, credentials.uid};
}

UniqueFd open_pidfd(pid_t pid) {
  if (pid <= 0) return {};
  // Not glibc's pidfd_open, whose header forgets that C++ exists. The descriptor closes on exec by itself.
  return take_fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

}  // namespace tutti
