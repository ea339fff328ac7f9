// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/addresses.hpp"

#include <algorithm>

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
