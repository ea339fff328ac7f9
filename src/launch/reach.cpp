// SPDX-License-Identifier: Apache-2.0
#include "launch/reach.hpp"

#include <memory>
#include <optional>

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>

#include "base/system/host.hpp"
#include "base/system/take_fd.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace tutti::launch {

namespace {

// Of documentation (RFC 5737): no host has it, so only the default route leads there.
constexpr const char* kFarAway = "192.0.2.1";
constexpr std::int64_t kMostPort = 65535;

using Infos = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Infos look_up(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  // Any port that is not 0: a connected socket needs one.
  if (getaddrinfo(host.c_str(), "9", &wanted, &found) != 0) found = nullptr;
  return {found, &freeaddrinfo};
}

// A connected datagram socket has the address that the route gives it; nothing is sent.
std::optional<Address> source_towards(const addrinfo& target) {
  const UniqueFd socket = take_fd(::socket(target.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid() || connect(socket.get(), target.ai_addr, target.ai_addrlen) != 0) return {};
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  if (getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &length) != 0) return {};
  return address_from(reinterpret_cast<const sockaddr&>(own));
}

std::optional<Address> source_towards(const std::string& host) {
  const Infos infos = look_up(host.substr(host.rfind('@') + 1));  // without the user whom ssh is to be there
  for (const addrinfo* info = infos.get(); info != nullptr; info = info->ai_next) {
    if (const std::optional<Address> source = source_towards(*info)) return source;
  }
  return {};
}

}  // namespace

Result<Address> address_towards(const std::vector<std::string>& hosts) {
  std::optional<Address> loopback;
  for (const std::string& host : hosts) {
    const std::optional<Address> source = source_towards(host);
    if (source && !is_loopback(*source)) return *source;
    if (source) loopback = source;
  }
  if (loopback) return *loopback;
  if (const std::optional<Address> source = source_towards(kFarAway)) return *source;
  return Status(Code::system, fmt::format("the system knows no way to {}, and has no default route; --address says "
                                          "which address of this host the others reach",
                                          in_quotes(hosts.front())));
}

Result<Address> parse_address(std::string_view text) {
  const auto wrong = [text](std::string_view why) {
    return wrong_argument(fmt::format("--address is {}; {}", in_quotes(text), why));
  };
  std::string_view host = text;
  std::string_view port;
  if (const std::size_t bracket = text.find(']'); text.starts_with('[') && bracket != std::string_view::npos) {
    host = text.substr(1, bracket - 1);
    port = text.substr(bracket + 1);
  } else if (const std::size_t colon = text.find(':'); colon == text.rfind(':') && colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon);
  }
  const Infos infos = host.empty() ? Infos(nullptr, &freeaddrinfo) : look_up(std::string(host));
  if (!infos) return wrong("it takes an address of this host, such as 10.0.0.1, 10.0.0.1:4711 or [fd00::1]:4711");
  const std::optional<Address> found = address_from(*infos->ai_addr);
  if (!found) return wrong("a link-local address means nothing to other hosts");
  Address address = *found;
  if (port.empty()) return address;
  const Result<std::int64_t> number = parse_integer(port.substr(1));
  if (port.front() != ':' || !number.ok() || *number < 0 || *number > kMostPort)
    return wrong("a port is a number up to 65535");
  address.port = static_cast<std::uint16_t>(*number);
  return address;
}

}  // namespace tutti::launch
