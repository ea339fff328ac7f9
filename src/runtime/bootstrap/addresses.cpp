// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/addresses.hpp"

#include <algorithm>
#include <numeric>

#include "transport/tcp/interfaces.hpp"

namespace tutti {

namespace {

using transport::tcp::Interface;

// Of the first one's family, by interface; and of the other family.
struct Grouped {
  std::vector<std::vector<Interface>> of_interfaces;
  std::vector<Interface> others;
};

Result<Grouped> interfaces_asked_for(const Variables& variables) {
  const std::string wanted = variables.text(VariableId::socket_ifname);
  if (wanted.empty()) return Grouped();
  TUTTI_TRY_ASSIGN(std::vector<Interface> found, transport::tcp::interfaces_to_listen_at(wanted));
  std::erase_if(found, [](const Interface& one) { return transport::tcp::is_link_local(one.address); });
  if (found.empty())
    return Status(Code::invalid_usage,
                  "the interfaces asked for have link-local addresses only, by which other hosts "
                  "cannot reach this one");
  const Address::Family family = found.front().address.family;
  const auto others = std::stable_partition(found.begin(), found.end(),
                                            [&](const Interface& one) { return one.address.family == family; });
  Grouped grouped{.of_interfaces = {}, .others = {others, found.end()}};
  for (auto one = found.begin(); one != others; ++one) {
    std::vector<std::vector<Interface>>& groups = grouped.of_interfaces;
    const auto group =
        std::find_if(groups.begin(), groups.end(), [&](const auto& each) { return each.front().name == one->name; });
    if (group == groups.end())
      groups.push_back({*one});
    else
      group->push_back(*one);
  }
  return grouped;
}

std::vector<Address> addresses_of(const std::vector<Interface>& interfaces) {
  std::vector<Address> addresses;
  for (const Interface& one : interfaces) addresses.push_back(one.address);
  return addresses;
}

}  // namespace

Result<HostAddresses> addresses_of_interfaces(const Variables& variables) {
  TUTTI_TRY_ASSIGN(const Grouped grouped, interfaces_asked_for(variables));
  HostAddresses addresses{.of_interfaces = {}, .others = addresses_of(grouped.others)};
  for (const std::vector<Interface>& group : grouped.of_interfaces)
    addresses.of_interfaces.push_back(addresses_of(group));
  return addresses;
}

Result<std::vector<std::string>> names_of_interfaces(const Variables& variables) {
  TUTTI_TRY_ASSIGN(const Grouped grouped, interfaces_asked_for(variables));
  std::vector<std::string> names;
  for (const std::vector<Interface>& group : grouped.of_interfaces) names.push_back(group.front().name);
  return names;
}

Result<Address> address_for_hosts(const Variables& variables) {
  Result<std::vector<Interface>> found =
      transport::tcp::interfaces_to_listen_at(variables.text(VariableId::socket_ifname));
  if (!found.ok()) return found.status();
  return found->front().address;
}

void keep_at_most(HostAddresses& addresses, std::size_t most) {
  std::vector<std::vector<Address>>& groups = addresses.of_interfaces;
  const auto total = [&] {
    return std::accumulate(groups.begin(), groups.end(), addresses.others.size(),
                           [](std::size_t sum, const std::vector<Address>& group) { return sum + group.size(); });
  };
  for (std::size_t surplus = total() - std::min(total(), most); surplus > 0; --surplus) {
    if (!addresses.others.empty()) {
      addresses.others.pop_back();
      continue;
    }
    const auto longest = std::max_element(groups.rbegin(), groups.rend(),
                                          [](const auto& a, const auto& b) { return a.size() < b.size(); });
    longest->pop_back();
    if (longest->empty()) groups.pop_back();
  }
}

void prefer_interface(std::span<Address> addresses, std::uint32_t begins, std::size_t num_parts, std::size_t first,
                      std::size_t num_common) {
  if (num_common < 2) return;
  const std::size_t each = addresses.size() / num_parts;
  std::vector<std::size_t> bounds;
  for (std::size_t i = 0; i < each; ++i)
    if ((begins >> i & 1) != 0) bounds.push_back(i);
  bounds.push_back(each);
  const std::size_t turning = std::min(num_common, bounds.size() - 1);
  for (std::size_t part = 0; part < num_parts && turning > 1; ++part) {
    const std::size_t preferred = (first + part) % turning;
    const auto own = addresses.begin() + static_cast<std::ptrdiff_t>(part * each);
    std::rotate(own, own + static_cast<std::ptrdiff_t>(bounds[preferred]),
                own + static_cast<std::ptrdiff_t>(bounds[preferred + 1]));
  }
}

}  // namespace tutti
