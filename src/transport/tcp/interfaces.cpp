// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp/interfaces.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include "base/text.hpp"

namespace tutti::transport::tcp {
namespace {

constexpr auto kBridges =
    std::to_array<std::string_view>({"docker", "virbr", "br-", "cni", "flannel", "podman", "lxcbr", "veth"});

// What TUTTI_SOCKET_IFNAME asks for.
struct Wish {
  bool excludes = false;
  bool is_exact = false;
  std::vector<std::string> names{};

  [[nodiscard]] bool names_it(const Interface& one, std::string_view wanted) const {
    const std::string_view name = wanted.find(':') == std::string_view::npos ? one.name : one.label;
    return is_exact ? name == wanted : name.starts_with(wanted);
  }
  // The place of the first name that it is; how many there are if none is it, or if they are excluded.
  [[nodiscard]] std::size_t place_of(const Interface& one) const {
    const auto is_it = [&](const std::string& wanted) { return names_it(one, wanted); };
    const auto found = excludes ? names.end() : std::find_if(names.begin(), names.end(), is_it);
    return static_cast<std::size_t>(found - names.begin());
  }
  [[nodiscard]] bool takes(const Interface& one) const {
    const bool is_named =
        std::any_of(names.begin(), names.end(), [&](const std::string& wanted) { return names_it(one, wanted); });
    return is_named != excludes;
  }
};

Wish parse_wish(std::string_view words) {
  Wish wish;
  words = trim(words);
  if (words.starts_with('^')) {
    wish.excludes = true;
    words.remove_prefix(1);
  }
  wish.is_exact = words.starts_with('=');
  for (std::string_view name : split(words, ',')) {
    if (wish.is_exact && name.starts_with('=')) name.remove_prefix(1);
    if (!name.empty()) wish.names.emplace_back(name);
  }
  return wish;
}

int order_of(const Address& address) {
  if (address.family == Address::Family::ipv4) return 0;
  return is_link_local(address) ? 2 : 1;
}

// Not a bridge of this host, nor the loopback interface.
bool leads_to_hosts(const Interface& one) {
  return !one.is_loopback && std::none_of(kBridges.begin(), kBridges.end(),
                                          [&](std::string_view bridge) { return one.name.starts_with(bridge); });
}

template <typename Takes>
std::vector<Interface> select(std::span<const Interface> all, const Takes& takes) {
  std::vector<Interface> chosen;
  for (const Interface& one : all)
    if (one.is_up && takes(one)) chosen.push_back(one);
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const Interface& a, const Interface& b) { return order_of(a.address) < order_of(b.address); });
  return chosen;
}

std::string names_of(std::span<const Interface> all) {
  std::set<std::string_view> names;
  for (const Interface& one : all)
    if (one.is_up) names.insert(one.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

Address address_of(const sockaddr& raw) {
  Address address;
  if (raw.sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &raw, sizeof in);
    std::memcpy(address.bytes.data(), &in.sin_addr, sizeof in.sin_addr);
    return address;
  }
  sockaddr_in6 in{};
  std::memcpy(&in, &raw, sizeof in);
  address.family = Address::Family::ipv6;
  std::memcpy(address.bytes.data(), &in.sin6_addr, sizeof in.sin6_addr);
  address.scope = in.sin6_scope_id;
  return address;
}

}  // namespace

bool is_link_local(const Address& address) {
  return address.family == Address::Family::ipv6 && address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80;
}

Result<std::vector<Interface>> choose_interfaces(std::span<const Interface> all, std::string_view wanted) {
  const Wish wish = parse_wish(wanted);
  if (wish.names.empty()) {
    if (!trim(wanted).empty())
      return wrong_argument(
          fmt::format("TUTTI_SOCKET_IFNAME is {}, which names no interface; right are eth0, =eth0 or ^docker,lo",
                      in_quotes(wanted)));
    std::vector<Interface> chosen = select(all, leads_to_hosts);
    if (chosen.empty()) chosen = select(all, [](const Interface& one) { return one.is_loopback; });
    if (chosen.empty()) return Status(Code::system, "this host has no network interface that is up and has an address");
    return chosen;
  }
  std::vector<Interface> chosen = select(all, [&](const Interface& one) { return wish.takes(one); });
  // Who excludes some does not ask for all the others.
  if (wish.excludes && std::any_of(chosen.begin(), chosen.end(), leads_to_hosts))
    std::erase_if(chosen, [](const Interface& one) { return !leads_to_hosts(one); });
  // The same order on all hosts whose interfaces have the same names.
  std::stable_sort(chosen.begin(), chosen.end(), [&](const Interface& a, const Interface& b) {
    const auto key = [&](const Interface& one) {
      return std::tuple(order_of(one.address), wish.place_of(one), std::string_view(one.name));
    };
    return key(a) < key(b);
  });
  if (chosen.empty())
    return wrong_argument(
        fmt::format("TUTTI_SOCKET_IFNAME is {}, which leaves no interface that is up and has an address; there are: {}",
                    in_quotes(wanted), names_of(all)));
  return chosen;
}

Result<std::vector<Interface>> interfaces_to_listen_at(std::string_view wanted) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return Status::from_errno("cannot list the network interfaces", errno);
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
  std::vector<Interface> all;
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    if (one->ifa_addr->sa_family != AF_INET && one->ifa_addr->sa_family != AF_INET6) continue;
    // An address may have a label in place of the name: eth0:1.
    const std::string_view name = one->ifa_name;
    all.push_back({.name = std::string(name.substr(0, name.find(':'))),
                   .label = one->ifa_name,
                   .address = address_of(*one->ifa_addr),
                   .is_up = (one->ifa_flags & IFF_UP) != 0,
                   .is_loopback = (one->ifa_flags & IFF_LOOPBACK) != 0});
  }
  return choose_interfaces(all, wanted);
}

}  // namespace tutti::transport::tcp
