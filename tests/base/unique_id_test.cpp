// SPDX-License-Identifier: Apache-2.0
#include "base/unique_id.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace tutti {
namespace {

const Address kLoopback{.family = Address::Family::ipv4, .port = 4711, .bytes = {127, 0, 0, 1}};

UniqueId make_id(const Address& address = kLoopback) {
  Result<UniqueId> id = UniqueId::make(address);
  EXPECT_TRUE(id.ok());
  return *id;
}

TEST(UniqueId, SurvivesBytesAndText) {
  Address ipv6{.family = Address::Family::ipv6, .port = 65535, .scope = 7};
  ipv6.bytes.back() = 1;
  for (const Address& address : {kLoopback, ipv6, *make_local_address()}) {
    const UniqueId id = make_id(address);
    Result<UniqueId> from_bytes = UniqueId::from_bytes(id.to_bytes());
    Result<UniqueId> from_text = UniqueId::from_text(id.to_text());
    ASSERT_TRUE(from_bytes.ok()) << from_bytes.status().to_string();
    ASSERT_TRUE(from_text.ok()) << from_text.status().to_string();
    EXPECT_EQ(*from_bytes, id);
    EXPECT_EQ(*from_text, id);
    EXPECT_EQ(from_text->address(), address);
  }
}

TEST(UniqueId, HasANewTokenEachTime) {
  const UniqueId a = make_id();
  const UniqueId b = make_id();
  EXPECT_FALSE(same_token(a.token(), b.token()));
  EXPECT_TRUE(same_token(a.token(), a.token()));
}

TEST(UniqueId, TokensDifferInAnySingleByte) {
  const UniqueId id = make_id();
  for (std::size_t i = 0; i < kTokenBytes; ++i) {
    Token other = id.token();
    other[i] ^= std::byte{1};
    EXPECT_FALSE(same_token(id.token(), other)) << "byte " << i;
  }
}

// Every byte counts: each is used and covered by the checksum, or must be zero.
TEST(UniqueId, RefusesAChangeOfAnyByte) {
  const UniqueId::Raw whole = make_id().to_bytes();
  for (std::size_t i = 0; i < UniqueId::kBytes; ++i) {
    UniqueId::Raw damaged = whole;
    damaged[i] ^= std::byte{0x40};
    EXPECT_FALSE(UniqueId::from_bytes(damaged).ok()) << "byte " << i;
  }
}

TEST(UniqueId, SaysWhatIsWrongWithATextAndDoesNotQuoteIt) {
  const std::string text = make_id().to_text();
  ASSERT_EQ(text.size(), 128U);
  EXPECT_NE(UniqueId::from_text("").status().to_string().find("0 characters"), std::string::npos);
  EXPECT_NE(UniqueId::from_text(text + "0").status().to_string().find("129 characters"), std::string::npos);
  std::string odd = text;
  odd[41] = 'g';
  const std::string message = UniqueId::from_text(odd).status().to_string();
  EXPECT_NE(message.find("hexadecimal"), std::string::npos) << message;
  EXPECT_EQ(message.find(odd.substr(30, 20)), std::string::npos) << message;
  std::string damaged = text;
  std::swap(damaged[60], damaged[61]);
  if (damaged != text) {
    EXPECT_NE(UniqueId::from_text(damaged).status().to_string().find("checksum"), std::string::npos);
  }
}

TEST(UniqueId, ReadsDigitsInEitherCase) {
  const UniqueId id = make_id();
  std::string text = id.to_text();
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' ? static_cast<char>(c - 32) : c; });
  EXPECT_EQ(*UniqueId::from_text(text), id);
}

TEST(Address, HasATextThatPeopleKnow) {
  EXPECT_EQ(to_text(kLoopback), "127.0.0.1:4711");
  Address ipv6{.family = Address::Family::ipv6, .port = 80};
  ipv6.bytes.back() = 1;
  EXPECT_EQ(to_text(ipv6), "[::1]:80");
  const Address local{.family = Address::Family::local, .bytes = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef}};
  EXPECT_EQ(to_text(local), "@tutti-meet-0123456789abcdef");
}

}  // namespace
}  // namespace tutti
