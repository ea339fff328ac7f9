// SPDX-License-Identifier: Apache-2.0
#include "base/system/host.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/take_fd.hpp"

namespace tutti {

namespace {

// Empty where the system has no such thing, or keeps it to itself; that descriptors have run out is an error.
Result<std::string> boot_id() {
  const UniqueFd file = take_fd(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  if (!file.valid() && (errno == EMFILE || errno == ENFILE))
    return Status::from_errno("cannot tell which host this is", errno);
  std::array<char, 64> text{};
  const ssize_t length = file.valid() ? ::read(file.get(), text.data(), text.size()) : 0;
  const std::string_view all(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  return std::string(all.substr(0, all.find('\n')));
}

std::string target_of_link(const char* path) {
  std::array<char, 64> target{};
  const ssize_t length = ::readlink(path, target.data(), target.size());
  return {target.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

}  // namespace

Result<Host> this_host(std::string_view id) {
  Host host;
  host.id = id;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) host.name = name.data();
  TUTTI_TRY_ASSIGN(host.boot, boot_id());
  // Without /proc the name is the best that is known.
  if (host.boot.empty()) host.boot = host.name;
  host.network = target_of_link("/proc/self/ns/net");
  host.processes = target_of_link("/proc/self/ns/pid");
  host.clock = target_of_link("/proc/self/ns/time");
  return host;
}

std::vector<Address> addresses_of_host(const std::string& name) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  std::vector<Address> addresses;
  if (name.empty() || getaddrinfo(name.c_str(), nullptr, &wanted, &found) != 0) return addresses;
  for (const addrinfo* info = found; info != nullptr; info = info->ai_next)
    if (const std::optional<Address> address = address_from(*info->ai_addr)) addresses.push_back(*address);
  freeaddrinfo(found);
  return addresses;
}

std::optional<Address> address_from(const sockaddr& system) {
  Address address;
  if (system.sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &system, sizeof in);
    std::memcpy(address.bytes.data(), &in.sin_addr, sizeof in.sin_addr);
    return address;
  }
  if (system.sa_family != AF_INET6) return {};
  sockaddr_in6 in{};
  std::memcpy(&in, &system, sizeof in);
  if (IN6_IS_ADDR_LINKLOCAL(&in.sin6_addr)) return {};
  address.family = Address::Family::ipv6;
  std::memcpy(address.bytes.data(), &in.sin6_addr, sizeof in.sin6_addr);
  return address;
}

bool is_loopback(const Address& address) {
  if (address.family == Address::Family::ipv4) return address.bytes[0] == 127;
  return address.family == Address::Family::ipv6 && address.bytes.back() == 1 &&
         std::all_of(address.bytes.begin(), address.bytes.end() - 1, [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace tutti
