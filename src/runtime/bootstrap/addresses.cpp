// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/addresses.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "transport/tcp/interfaces.hpp"

namespace tutti {

namespace {

using transport::tcp::Interface;

// First the first address of each interface, of the first one's family; and how many these are.
struct Chosen {
  std::vector<Interface> interfaces;
  std::size_t num_in_turn = 0;
};

Result<Chosen> interfaces_asked_for(const Variables& variables) {
  const std::string wanted = variables.text(VariableId::socket_ifname);
  if (wanted.empty()) return Chosen();
  TUTTI_TRY_ASSIGN(std::vector<Interface> found, transport::tcp::interfaces_to_listen_at(wanted));
  std::erase_if(found, [](const Interface& one) { return transport::tcp::is_link_local(one.address); });
  if (found.empty())
    return Status(Code::invalid_usage,
                  "the interfaces asked for have link-local addresses only, by which other hosts "
                  "cannot reach this one");
  Chosen chosen;
  std::vector<Interface> others;
  for (Interface& one : found) {
    const bool is_alike = chosen.interfaces.empty() || one.address.family == chosen.interfaces.front().address.family;
    const bool is_new = std::none_of(chosen.interfaces.begin(), chosen.interfaces.end(),
                                     [&](const Interface& other) { return other.name == one.name; });
    (is_alike && is_new ? chosen.interfaces : others).push_back(std::move(one));
  }
  chosen.num_in_turn = chosen.interfaces.size();
  std::move(others.begin(), others.end(), std::back_inserter(chosen.interfaces));
  return chosen;
}

}  // namespace

Result<HostAddresses> addresses_of_interfaces(const Variables& variables) {
  TUTTI_TRY_ASSIGN(const Chosen chosen, interfaces_asked_for(variables));
  HostAddresses addresses{.all = {}, .num_in_turn = chosen.num_in_turn};
  for (const Interface& one : chosen.interfaces) addresses.all.push_back(one.address);
  return addresses;
}

Result<std::vector<std::string>> names_of_interfaces(const Variables& variables) {
  TUTTI_TRY_ASSIGN(const Chosen chosen, interfaces_asked_for(variables));
  std::vector<std::string> names;
  for (std::size_t i = 0; i < chosen.num_in_turn; ++i) names.push_back(chosen.interfaces[i].name);
  return names;
}

Result<Address> address_for_hosts(const Variables& variables) {
  Result<std::vector<Interface>> found =
      transport::tcp::interfaces_to_listen_at(variables.text(VariableId::socket_ifname));
  if (!found.ok()) return found.status();
  return found->front().address;
}

void prefer_interface(std::span<Address> addresses, std::size_t num_parts, std::size_t first, std::size_t num_common) {
  const std::size_t each = addresses.size() / num_parts;
  const std::size_t turning = std::min(num_common, each);
  if (turning < 2) return;
  for (std::size_t part = 0; part < num_parts; ++part) {
    const std::span<Address> common = addresses.subspan(part * each, turning);
    const auto preferred = common.begin() + static_cast<std::ptrdiff_t>((first + part) % turning);
    std::rotate(common.begin(), preferred, preferred + 1);
  }
}

}  // namespace tutti
