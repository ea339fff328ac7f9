// SPDX-License-Identifier: Apache-2.0
// In which order others try the addresses of a rank, and where it listens for several connections to each.
#include "runtime/bootstrap/addresses.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../ranks.hpp"
#include "runtime/bootstrap/bootstrap.hpp"
#include "runtime/bootstrap/wire.hpp"

namespace tutti {
namespace {

using test::on_threads;
using test::patient;
using test::request_of;
using test::start_server_on_network;

Address loopback(std::uint8_t last) { return {.bytes = {127, 0, 0, last}}; }
Address loopback_ipv6() {
  Address address{.family = Address::Family::ipv6};
  address.bytes[15] = 1;
  return address;
}

std::vector<int> last_bytes(std::span<const Address> addresses) {
  std::vector<int> all;
  for (const Address& each : addresses) all.push_back(each.bytes[each.family == Address::Family::ipv6 ? 15 : 3]);
  return all;
}

TEST(Interfaces, ArePreferredInTurn) {
  std::uint32_t begins = 0b1111;
  const auto preferred = [&](std::vector<Address> addresses, std::size_t parts, std::size_t first, std::size_t common) {
    prefer_interface(addresses, begins, parts, first, common);
    return last_bytes(addresses);
  };
  using Order = std::vector<int>;
  const std::vector<Address> three = {loopback(2), loopback(3), loopback(4), loopback_ipv6()};
  EXPECT_EQ(preferred(three, 1, 0, 3), (Order{2, 3, 4, 1}));
  EXPECT_EQ(preferred(three, 1, 1, 3), (Order{3, 2, 4, 1}));
  EXPECT_EQ(preferred(three, 1, 5, 3), (Order{4, 2, 3, 1}));
  // The other rank has two, or one.
  EXPECT_EQ(preferred(three, 1, 3, 2), (Order{3, 2, 4, 1}));
  EXPECT_EQ(preferred(three, 1, 3, 1), (Order{2, 3, 4, 1}));
  // The preferred interface has two addresses, or the first one has, or the last one, and nothing of the other family.
  begins = 0b1101;
  EXPECT_EQ(preferred(three, 1, 0, 2), (Order{2, 3, 4, 1}));
  EXPECT_EQ(preferred(three, 1, 1, 2), (Order{4, 2, 3, 1}));
  begins = 0b1011;
  EXPECT_EQ(preferred(three, 1, 1, 2), (Order{3, 4, 2, 1}));
  begins = 0b0011;
  EXPECT_EQ(preferred(three, 1, 1, 2), (Order{3, 4, 1, 2}));
  // What another rank may claim.
  begins = 0;
  EXPECT_EQ(preferred(three, 1, 1, 2), (Order{2, 3, 4, 1}));
  begins = ~std::uint32_t{0};
  EXPECT_EQ(preferred(three, 1, 7, 9), (Order{1, 2, 3, 4}));
  // Each connection begins with another one.
  const std::vector<Address> parts = {loopback(2), loopback(3), loopback(12), loopback(13)};
  EXPECT_EQ(preferred(parts, 2, 0, 2), (Order{2, 3, 13, 12}));
  EXPECT_EQ(preferred(parts, 2, 1, 2), (Order{3, 2, 12, 13}));
  begins = 0b101;
  const std::vector<Address> long_parts = {loopback(2),  loopback(3),  loopback(4),
                                           loopback(12), loopback(13), loopback(14)};
  EXPECT_EQ(preferred(long_parts, 2, 0, 2), (Order{2, 3, 4, 14, 12, 13}));
  EXPECT_EQ(preferred({}, 1, 1, 1), Order());
}

TEST(Interfaces, KeepTheirFirstAddressesLongest) {
  const auto kept = [](std::size_t most) {
    HostAddresses addresses{.of_interfaces = {{loopback(2), loopback(3)}, {loopback(4)}, {loopback(5), loopback(6)}},
                            .others = {loopback_ipv6()}};
    keep_at_most(addresses, most);
    std::vector<Address> all;
    for (const std::vector<Address>& group : addresses.of_interfaces) all.insert(all.end(), group.begin(), group.end());
    all.insert(all.end(), addresses.others.begin(), addresses.others.end());
    return last_bytes(all);
  };
  using Order = std::vector<int>;
  EXPECT_EQ(kept(9), (Order{2, 3, 4, 5, 6, 1}));
  EXPECT_EQ(kept(5), (Order{2, 3, 4, 5, 6}));
  EXPECT_EQ(kept(4), (Order{2, 3, 4, 5}));
  EXPECT_EQ(kept(3), (Order{2, 4, 5}));
  EXPECT_EQ(kept(1), (Order{2}));
  EXPECT_EQ(kept(0), Order());
}

// Two hosts, each with these addresses and so many ranks.
std::vector<Membership> joined_at(const HostAddresses& addresses, int num_listeners_each, int ranks_each = 1) {
  const auto server = start_server_on_network();
  auto joined = on_threads(2 * ranks_each, [&](int rank) {
    JoinRequest request = request_of(server->id(), rank, 2 * ranks_each);
    request.host_id = fmt::format("host-{}", rank / ranks_each);
    request.find_addresses = [&] { return addresses; };
    request.num_listeners_each = num_listeners_each;
    return join(request, patient());
  });
  std::vector<Membership> memberships;
  for (auto& one : joined) {
    EXPECT_TRUE(one->ok()) << one->status().to_string();
    if (one->ok()) memberships.push_back(std::move(**one));
  }
  return memberships;
}

TEST(Listeners, AreOneForEachConnectionAtEachAddress) {
  const std::vector<Membership> memberships =
      joined_at({.of_interfaces = {{loopback(1)}, {loopback(2)}}, .others = {}}, 3);
  ASSERT_EQ(memberships.size(), 2U);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const std::vector<Listener>& listeners = memberships[rank].listeners;
    ASSERT_EQ(listeners.size(), 6U);
    std::set<std::uint16_t> ports;
    for (std::size_t each = 0; each < 6; ++each) {
      EXPECT_EQ(listeners[each].address.bytes[3], 1 + each % 2) << each;
      ports.insert(listeners[each].address.port);
      // The other rank tries 1 2, then for the second connection 2 1, and then 1 2.
      const std::size_t tried = each / 2 == 1 ? 5 - each : each;
      EXPECT_EQ(memberships[1 - rank].addresses[rank][tried], listeners[each].address);
    }
    EXPECT_EQ(ports.size(), 6U);
  }
}

TEST(Listeners, RanksOfAHostAreReachedAtItsInterfacesInTurn) {
  const std::vector<Membership> memberships =
      joined_at({.of_interfaces = {{loopback(1)}, {loopback(2)}}, .others = {}}, 1, 3);
  ASSERT_EQ(memberships.size(), 6U);
  for (std::size_t rank = 0; rank < 6; ++rank) {
    // Where a rank serves its guests does not depend on its place.
    EXPECT_EQ(last_bytes(std::vector{memberships[rank].listeners.front().address}), std::vector{1});
    for (std::size_t other = 0; other < 6; ++other) {
      if (rank / 3 == other / 3) continue;
      const std::size_t lower = std::min(rank, other);
      const int expected = lower % 3 == 1 ? 2 : 1;
      EXPECT_EQ(memberships[rank].addresses[other].front().bytes[3], expected) << rank << " " << other;
    }
  }
}

TEST(Listeners, FurtherAddressesOfAnInterfaceAreTriedBeforeTheOthers) {
  // This host does not have what one interface has, nor the first one of another.
  const Address none{.bytes = {192, 0, 2, 1}};
  const std::vector<Membership> memberships =
      joined_at({.of_interfaces = {{none}, {none, loopback(1), loopback(3)}, {loopback(2), loopback(4)}},
                 .others = {loopback(5)}},
                1, 3);
  ASSERT_EQ(memberships.size(), 6U);
  EXPECT_EQ(last_bytes(memberships[0].addresses[3]), (std::vector{1, 3, 2, 4, 5}));
  EXPECT_EQ(last_bytes(memberships[1].addresses[4]), (std::vector{2, 4, 1, 3, 5}));
  EXPECT_EQ(last_bytes(memberships[2].addresses[5]), (std::vector{1, 3, 2, 4, 5}));
}

// Groups that a split has made, with a rank on each host.
TEST(Listeners, RanksKeepTheTurnThatTheyAreGiven) {
  const auto server = start_server_on_network();
  auto joined = on_threads(2, [&](int rank) {
    JoinRequest request = request_of(server->id(), rank, 2);
    request.host_id = fmt::format("host-{}", rank);
    request.find_addresses = [] {
      return HostAddresses{.of_interfaces = {{loopback(1)}, {loopback(2)}}, .others = {}};
    };
    request.turn = 5;
    return join(request, patient());
  });
  for (std::size_t rank = 0; rank < 2; ++rank) {
    ASSERT_TRUE(joined[rank]->ok()) << joined[rank]->status().to_string();
    EXPECT_EQ((*joined[rank])->addresses[1 - rank].front().bytes[3], 2);
  }
}

// Hosts that have one of two interfaces in common.
TEST(Listeners, WhatOnlyOneHostHasIsNotPreferred) {
  const auto server = start_server_on_network();
  auto joined = on_threads(4, [&](int rank) {
    JoinRequest request = request_of(server->id(), rank, 4);
    request.host_id = rank < 2 ? "one" : "two";
    request.find_addresses = [rank]() -> Result<HostAddresses> {
      if (rank < 2) return HostAddresses{.of_interfaces = {{loopback(1)}, {loopback(2)}}, .others = {}};
      return HostAddresses{.of_interfaces = {{loopback(1)}}, .others = {}};
    };
    return join(request, patient());
  });
  for (std::size_t rank = 2; rank < 4; ++rank) {
    ASSERT_TRUE(joined[rank]->ok()) << joined[rank]->status().to_string();
    for (std::size_t other = 0; other < 2; ++other)
      EXPECT_EQ((*joined[rank])->addresses[other].front().bytes[3], 1) << rank << " " << other;
  }
}

TEST(Listeners, OfTooManyAddressesTheLastAreLeftOut) {
  HostAddresses many;
  for (std::uint8_t last = 1; last <= 9; ++last) many.of_interfaces.push_back({loopback(last)});
  const std::vector<Membership> memberships = joined_at(many, 8);
  ASSERT_EQ(memberships.size(), 2U);
  const std::vector<Listener>& listeners = memberships[0].listeners;
  ASSERT_EQ(listeners.size(), wire::kMostAddresses);
  for (const Listener& each : listeners) EXPECT_LE(each.address.bytes[3], wire::kMostAddresses / 8);
}

// An address that this host does not have.
TEST(Listeners, WhereAnAddressRefusesTheOthersAreEnough) {
  const std::vector<Membership> memberships =
      joined_at({.of_interfaces = {{Address{.bytes = {192, 0, 2, 1}}, loopback(1)}}, .others = {}}, 2);
  ASSERT_EQ(memberships.size(), 2U);
  ASSERT_EQ(memberships[0].listeners.size(), 2U);
  for (const Listener& each : memberships[0].listeners) EXPECT_EQ(each.address.bytes[0], 127);
}

}  // namespace
}  // namespace tutti
