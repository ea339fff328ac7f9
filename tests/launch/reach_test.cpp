// SPDX-License-Identifier: Apache-2.0
// Addresses that other hosts reach.
#include "launch/reach.hpp"

#include <gtest/gtest.h>

#include "base/system/loopback.hpp"

namespace tutti::launch {
namespace {

std::string parsed(std::string_view text) {
  const Result<Address> address = parse_address(text);
  return address.ok() ? to_text(*address) : address.status().to_string();
}

TEST(Reach, ReadsAddressesWithAndWithoutPorts) {
  EXPECT_EQ(parsed("10.0.0.1"), "10.0.0.1:0");
  EXPECT_EQ(parsed("10.0.0.1:4711"), "10.0.0.1:4711");
  EXPECT_EQ(parsed("fd00::1"), "[fd00::1]:0");
  EXPECT_EQ(parsed("[fd00::1]:4711"), "[fd00::1]:4711");
}

TEST(Reach, RefusesWhatIsNoAddress) {
  EXPECT_EQ(parsed("10.0.0.1:x"), "--address is '10.0.0.1:x'; a port is a number up to 65535");
  EXPECT_EQ(parsed("10.0.0.1:65536"), "--address is '10.0.0.1:65536'; a port is a number up to 65535");
  EXPECT_EQ(parsed(""),
            "--address is ''; it takes an address of this host, such as 10.0.0.1, 10.0.0.1:4711 or "
            "[fd00::1]:4711");
  EXPECT_EQ(parsed("fe80::1"), "--address is 'fe80::1'; a link-local address means nothing to other hosts");
}

TEST(Reach, FindsTheAddressThatLeadsToAHost) {
  if (!is_loopback_up()) GTEST_SKIP() << "the loopback interface is down";
  for (const char* host : {"127.0.0.1", "user@127.0.0.1"}) {
    const Result<Address> address = address_towards({host});
    ASSERT_TRUE(address.ok()) << host;
    EXPECT_EQ(to_text(*address), "127.0.0.1:0");
  }
}

}  // namespace
}  // namespace tutti::launch
