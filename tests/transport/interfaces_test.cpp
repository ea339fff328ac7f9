// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp/interfaces.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/system/loopback.hpp"
#include "base/system/socket.hpp"

namespace tutti::transport::tcp {
namespace {

Address ipv4(std::uint8_t last) {
  Address address{.family = Address::Family::ipv4};
  address.bytes = {10, 0, 0, last};
  return address;
}
Address ipv6(std::uint8_t first, std::uint8_t second, std::uint32_t scope = 0) {
  Address address{.family = Address::Family::ipv6, .scope = scope};
  address.bytes = {first, second, 1};
  return address;
}

std::vector<Interface> some_interfaces() {
  return {{.name = "lo", .address = ipv4(1), .is_loopback = true},
          {.name = "eth0", .address = ipv6(0xfe, 0x80, 2)},
          {.name = "eth0", .address = ipv6(0x20, 0x01)},
          {.name = "eth0", .address = ipv4(2)},
          {.name = "eth01", .address = ipv4(3)},
          {.name = "docker0", .address = ipv4(4)},
          {.name = "virbr0", .address = ipv4(5)},
          {.name = "ib0", .address = ipv4(6)},
          {.name = "eth7", .address = ipv4(7), .is_up = false}};
}

std::vector<Address> chosen(std::string_view wanted) {
  const Result<std::vector<Interface>> interfaces = choose_interfaces(some_interfaces(), wanted);
  EXPECT_TRUE(interfaces.ok()) << interfaces.status().to_string();
  std::vector<Address> addresses;
  if (interfaces.ok())
    for (const Interface& one : *interfaces) addresses.push_back(one.address);
  return addresses;
}

using Addresses = std::vector<Address>;

TEST(Interfaces, WithoutAWishAllButLoopbackAndBridges) {
  EXPECT_EQ(chosen(""), (Addresses{ipv4(2), ipv4(3), ipv4(6), ipv6(0x20, 0x01), ipv6(0xfe, 0x80, 2)}));
  const std::vector<Interface> loopback = {some_interfaces()[0], some_interfaces()[5]};
  EXPECT_EQ(choose_interfaces(loopback, "").value().front().address, ipv4(1));
  EXPECT_FALSE(choose_interfaces({}, "").ok());
}

TEST(Interfaces, NamesAreBeginnings) {
  EXPECT_EQ(chosen("eth01,ib"), (Addresses{ipv4(3), ipv4(6)}));
  EXPECT_EQ(chosen(" eth0 "), (Addresses{ipv4(2), ipv4(3), ipv6(0x20, 0x01), ipv6(0xfe, 0x80, 2)}));
  EXPECT_EQ(chosen("docker"), Addresses{ipv4(4)});
  EXPECT_EQ(chosen("lo"), Addresses{ipv4(1)});
}

TEST(Interfaces, EqualSignMeansJustThisName) {
  EXPECT_EQ(chosen("=eth0"), (Addresses{ipv4(2), ipv6(0x20, 0x01), ipv6(0xfe, 0x80, 2)}));
  EXPECT_EQ(chosen("=eth01,=ib0"), (Addresses{ipv4(3), ipv4(6)}));
  EXPECT_EQ(chosen("=eth01,ib0"), (Addresses{ipv4(3), ipv4(6)}));
}

// Whatever the order of the system is.
TEST(Interfaces, AreInTheOrderAskedForAndThenByName) {
  EXPECT_EQ(chosen("=ib0,eth0"), (Addresses{ipv4(6), ipv4(2), ipv6(0x20, 0x01), ipv6(0xfe, 0x80, 2)}));
  EXPECT_EQ(chosen("ib,eth01"), (Addresses{ipv4(6), ipv4(3)}));
  const std::vector<Interface> reversed = {{.name = "eth1", .address = ipv4(1)}, {.name = "eth0", .address = ipv4(2)}};
  for (const char* wanted : {"eth", "^lo", "=eth0,eth1"})
    EXPECT_EQ(choose_interfaces(reversed, wanted).value().front().name, "eth0") << wanted;
  EXPECT_EQ(choose_interfaces(reversed, "=eth1,eth0").value().front().name, "eth1");
}

TEST(Interfaces, CaretExcludes) {
  EXPECT_EQ(chosen("^eth,docker,virbr,lo"), Addresses{ipv4(6)});
  EXPECT_EQ(chosen("^=eth0,lo,docker0,virbr0"), (Addresses{ipv4(3), ipv4(6)}));
  // Loopback and bridges are not asked for by that, unless nothing else is left.
  EXPECT_EQ(chosen("^eth"), Addresses{ipv4(6)});
  EXPECT_EQ(chosen("^lo"), chosen(""));
  EXPECT_EQ(chosen("^eth,ib,lo"), (Addresses{ipv4(4), ipv4(5)}));
}

TEST(Interfaces, LabelsCanBeNamed) {
  const std::vector<Interface> all = {{.name = "eth0", .label = "eth0", .address = ipv4(1)},
                                      {.name = "eth0", .label = "eth0:1", .address = ipv4(2)},
                                      {.name = "eth0", .label = "eth0:10", .address = ipv4(3)}};
  const auto count = [&](const char* wanted) { return choose_interfaces(all, wanted).value().size(); };
  EXPECT_EQ(count("eth0"), 3U);
  EXPECT_EQ(count("=eth0:1"), 1U);
  EXPECT_EQ(count("eth0:1"), 2U);
  EXPECT_EQ(count("^=eth0:1"), 2U);
}

TEST(Interfaces, WishThatLeavesNothingIsAnErrorWithWhatThereIs) {
  for (const std::string_view wanted : {"wlan", "=eth", "eth7", "^docker,eth,ib,lo,virbr"}) {
    const Result<std::vector<Interface>> found = choose_interfaces(some_interfaces(), wanted);
    ASSERT_FALSE(found.ok()) << wanted;
    EXPECT_NE(found.status().message().find("there are: docker0, eth0, eth01, ib0, lo, virbr0"), std::string::npos)
        << found.status().message();
  }
  for (const std::string_view wanted : {"^", "=", ",", "^=,"})
    EXPECT_FALSE(choose_interfaces(some_interfaces(), wanted).ok());
}

TEST(Interfaces, LoopbackOfThisHostCanBeListenedAt) {
  if (!is_loopback_up()) GTEST_SKIP() << "the loopback interface is down";
  const Result<std::vector<Interface>> found = interfaces_to_listen_at("=lo");
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  for (const Interface& one : *found) EXPECT_TRUE(listen_at(one.address).ok()) << to_text(one.address);
  EXPECT_TRUE(interfaces_to_listen_at("").ok());
}

}  // namespace
}  // namespace tutti::transport::tcp
