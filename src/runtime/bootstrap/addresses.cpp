// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/addresses.hpp"

#include <algorithm>
#include <numeric>

#include "transport/tcp/interfaces.hpp"

namespace tutti {

Result<std::vector<Address>> addresses_of_interfaces(const Variables& variables) {
  const std::string wanted = variables.text(VariableId::socket_ifname);
  if (wanted.empty()) return std::vector<Address>();
  Result<std::vector<Address>> found = transport::tcp::addresses_to_listen_at(wanted);
  if (!found.ok()) return found.status().with_context("TUTTI_SOCKET_IFNAME");
  return found;
}

Result<Address> address_for_hosts(const Variables& variables) {
  Result<std::vector<Address>> found =
      transport::tcp::addresses_to_listen_at(variables.text(VariableId::socket_ifname));
  if (!found.ok()) return found.status().with_context("TUTTI_SOCKET_IFNAME");
  return found->front();
}

std::vector<std::size_t> places_of_part(std::span<const Address> addresses, std::size_t part) {
  std::vector<std::size_t> places(addresses.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  const auto is_alike = [&](const Address& each) { return each.family == addresses.front().family; };
  const auto end = std::find_if_not(addresses.begin(), addresses.end(), is_alike);
  const auto num_alike = end - addresses.begin();
  if (num_alike > 0) {
    const auto first = static_cast<std::ptrdiff_t>(part) % num_alike;
    std::rotate(places.begin(), places.begin() + first, places.begin() + num_alike);
  }
  return places;
}

}  // namespace tutti
