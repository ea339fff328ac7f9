// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/addresses.hpp"

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

}  // namespace tutti
