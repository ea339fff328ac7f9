// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/addresses.hpp"

#include <algorithm>

#include "transport/tcp/interfaces.hpp"

namespace tutti {

namespace {

using transport::tcp::Interface;

Result<std::vector<Interface>> interfaces_asked_for(const Variables& variables) {
  const std::string wanted = variables.text(VariableId::socket_ifname);
  if (wanted.empty()) return std::vector<Interface>();
  Result<std::vector<Interface>> found = transport::tcp::interfaces_to_listen_at(wanted);
  if (!found.ok()) return found.status().with_context("TUTTI_SOCKET_IFNAME");
  std::erase_if(*found, [](const Interface& one) { return transport::tcp::is_link_local(one.address); });
  // Of each interface one address of a family, so that each has one turn.
  std::vector<Interface> chosen;
  for (Interface& one : *found) {
    const auto is_there = [&](const Interface& other) {
      return other.name == one.name && other.address.family == one.address.family;
    };
    if (std::none_of(chosen.begin(), chosen.end(), is_there)) chosen.push_back(std::move(one));
  }
  if (chosen.empty())
    return Status(Code::invalid_usage,
                  "the interfaces asked for have link-local addresses only, by which other hosts "
                  "cannot reach this one");
  return chosen;
}

std::vector<Address> addresses_of(const std::vector<Interface>& interfaces) {
  std::vector<Address> addresses;
  for (const Interface& one : interfaces) addresses.push_back(one.address);
  return addresses;
}

}  // namespace

Result<std::vector<Address>> addresses_of_interfaces(const Variables& variables) {
  TUTTI_TRY_ASSIGN(const std::vector<Interface> found, interfaces_asked_for(variables));
  return addresses_of(found);
}

Result<std::vector<std::string>> names_of_interfaces(const Variables& variables) {
  TUTTI_TRY_ASSIGN(const std::vector<Interface> found, interfaces_asked_for(variables));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < num_interfaces(addresses_of(found)); ++i) names.push_back(found[i].name);
  return names;
}

Result<Address> address_for_hosts(const Variables& variables) {
  Result<std::vector<Interface>> found =
      transport::tcp::interfaces_to_listen_at(variables.text(VariableId::socket_ifname));
  if (!found.ok()) return found.status().with_context("TUTTI_SOCKET_IFNAME");
  return found->front().address;
}

std::size_t num_interfaces(std::span<const Address> addresses) {
  const auto is_alike = [&](const Address& each) { return each.family == addresses.front().family; };
  return static_cast<std::size_t>(std::find_if_not(addresses.begin(), addresses.end(), is_alike) - addresses.begin());
}

void prefer_interface(std::span<Address> addresses, std::size_t num_parts, std::size_t first, std::size_t num_common) {
  const std::size_t each = addresses.size() / num_parts;
  const std::size_t turning = std::min(num_common, each);
  if (turning < 2) return;
  for (std::size_t part = 0; part < num_parts; ++part) {
    const std::span<Address> common = addresses.subspan(part * each, turning);
    const std::size_t begin = (first + part) % turning;
    std::rotate(common.begin(), common.begin() + static_cast<std::ptrdiff_t>(begin), common.end());
  }
}

}  // namespace tutti
