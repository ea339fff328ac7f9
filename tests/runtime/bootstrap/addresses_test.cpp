// SPDX-License-Identifier: Apache-2.0
// In which order others try the addresses of a rank, and where it listens for several connections to each.
#include "runtime/bootstrap/addresses.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
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

TEST(PlacesOfPart, BeginWithTheAddressesOfTheFirstFamilyInTurn) {
  using Places = std::vector<std::size_t>;
  const std::vector<Address> two_and_one = {loopback(1), loopback(2), loopback_ipv6()};
  EXPECT_EQ(places_of_part(two_and_one, 0), (Places{0, 1, 2}));
  EXPECT_EQ(places_of_part(two_and_one, 1), (Places{1, 0, 2}));
  EXPECT_EQ(places_of_part(two_and_one, 2), (Places{0, 1, 2}));
  const std::vector<Address> one_and_one = {loopback(1), loopback_ipv6()};
  EXPECT_EQ(places_of_part(one_and_one, 7), (Places{0, 1}));
  const std::vector<Address> three = {loopback(1), loopback(2), loopback(3)};
  EXPECT_EQ(places_of_part(three, 5), (Places{2, 0, 1}));
  EXPECT_EQ(places_of_part({}, 1), Places());
}

// Two ranks on hosts of their own, each with these addresses.
std::vector<Membership> joined_at(const std::vector<Address>& addresses, int num_listeners_each) {
  const auto server = start_server_on_network();
  auto joined = on_threads(2, [&](int rank) {
    JoinRequest request = request_of(server->id(), rank, 2);
    request.host_id = fmt::format("host-{}", rank);
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
  const std::vector<Membership> memberships = joined_at({loopback(1), loopback(2)}, 3);
  ASSERT_EQ(memberships.size(), 2U);
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const std::vector<Listener>& listeners = memberships[rank].listeners;
    ASSERT_EQ(listeners.size(), 6U);
    std::set<std::uint16_t> ports;
    for (std::size_t each = 0; each < 6; ++each) {
      // 1 2, then 2 1, then 1 2.
      const bool is_first = each == 0 || each == 3 || each == 4;
      EXPECT_EQ(listeners[each].address.bytes[3], is_first ? 1 : 2) << each;
      EXPECT_EQ(memberships[1 - rank].addresses[rank][each], listeners[each].address);
      ports.insert(listeners[each].address.port);
    }
    EXPECT_EQ(ports.size(), 6U);
  }
}

TEST(Listeners, OfTooManyAddressesTheLastAreLeftOut) {
  std::vector<Address> many;
  for (std::uint8_t last = 1; last <= 9; ++last) many.push_back(loopback(last));
  const std::vector<Membership> memberships = joined_at(many, 8);
  ASSERT_EQ(memberships.size(), 2U);
  const std::vector<Listener>& listeners = memberships[0].listeners;
  ASSERT_EQ(listeners.size(), wire::kMostAddresses);
  for (const Listener& each : listeners) EXPECT_LE(each.address.bytes[3], wire::kMostAddresses / 8);
}

// An address that this host does not have.
TEST(Listeners, WhereAnAddressRefusesTheOthersAreEnough) {
  const std::vector<Membership> memberships = joined_at({Address{.bytes = {192, 0, 2, 1}}, loopback(1)}, 2);
  ASSERT_EQ(memberships.size(), 2U);
  ASSERT_EQ(memberships[0].listeners.size(), 2U);
  for (const Listener& each : memberships[0].listeners) EXPECT_EQ(each.address.bytes[0], 127);
}

}  // namespace
}  // namespace tutti
