// SPDX-License-Identifier: Apache-2.0
#include "base/system/host_names.hpp"

#include <algorithm>
#include <cstring>

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace tutti {

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
