// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/wire.hpp"

#include <random>

#include <gtest/gtest.h>

namespace tutti::wire {
namespace {

Token make_test_token() {
  Token token{};
  for (std::size_t i = 0; i < token.size(); ++i) token[i] = static_cast<std::byte>(i + 1);
  return token;
}

std::vector<Address> addresses() {
  Address first{.port = 4711};
  first.bytes = {10, 77, 0, 1};
  Address second{.family = Address::Family::ipv6, .port = 4712, .scope = 3};
  second.bytes = {0xfe, 0x80};
  return {first, second};
}

Hello make_hello() {
  Hello hello;
  hello.generation = 3;
  hello.rank = 2;
  hello.num_ranks = 5;
  hello.is_unsure = true;
  hello.pid = 1234;
  hello.host = {.name = "box", .id = "east", .boot = "boot", .network = "net:[1]", .processes = "pid:[1]"};
  hello.addresses = addresses();
  hello.endpoint_name = std::string("tcp;ofi_rxm\n\0x", 14);
  hello.leader_socket = "tutti-abc";
  hello.turn = 4;
  hello.interfaces = {.begins = 0b101, .num_in_turn = 2};
  hello.configuration = "A=1\nB=2\n";
  hello.refusal = Status(Code::invalid_argument, "no such walker");
  return hello;
}

using Bytes = std::vector<std::byte>;

std::optional<Prefix> prefix_of(const Bytes& bytes, const Token& token) {
  return parse_prefix(std::span<const std::byte>(bytes).first<kPrefixBytes>(), token);
}

// The rows of a table, or nothing where it is malformed.
std::optional<std::vector<TableRow>> rows_of(const Frame& frame) {
  TableReader reader(frame);
  std::vector<TableRow> rows;
  for (TableRow row; reader.next(row);) rows.push_back(row);
  return reader.end().ok() ? std::optional(rows) : std::nullopt;
}

TEST(Wire, HelloRoundTrips) {
  const Token token = make_test_token();
  const Bytes bytes = encode(make_hello(), token);
  const auto prefix = prefix_of(bytes, token);
  ASSERT_TRUE(prefix);
  EXPECT_EQ(prefix->body_bytes, bytes.size() - kPrefixBytes);
  const Result<Hello> hello = parse_body(*prefix, std::span<const std::byte>(bytes).subspan(kPrefixBytes));
  ASSERT_TRUE(hello.ok());
  EXPECT_EQ(hello->generation, 3U);
  EXPECT_EQ(hello->rank, 2);
  EXPECT_EQ(hello->num_ranks, 5);
  EXPECT_TRUE(hello->is_unsure);
  EXPECT_EQ(hello->pid, 1234);
  EXPECT_EQ(hello->turn, 4U);
  EXPECT_EQ(hello->interfaces, (Interfaces{.begins = 0b101, .num_in_turn = 2}));
  EXPECT_EQ(hello->host.name, "box");
  EXPECT_EQ(hello->host.id, "east");
  EXPECT_EQ(hello->host.boot, "boot");
  EXPECT_EQ(hello->host.network, "net:[1]");
  EXPECT_EQ(hello->host.processes, "pid:[1]");
  EXPECT_EQ(hello->leader_socket, "tutti-abc");
  EXPECT_EQ(hello->addresses, addresses());
  EXPECT_EQ(hello->endpoint_name, make_hello().endpoint_name);
  EXPECT_EQ(hello->configuration, "A=1\nB=2\n");
  EXPECT_EQ(hello->refusal.code(), Code::invalid_argument);
  EXPECT_EQ(hello->refusal.to_string(), "no such walker");
}

TEST(Wire, HelloWithAnyOtherTokenIsNone) {
  const Token token = make_test_token();
  const Bytes bytes = encode(make_hello(), token);
  for (std::size_t i = 0; i < kTokenBytes; ++i) {
    Token other = token;
    other[i] ^= std::byte{0x80};
    EXPECT_FALSE(prefix_of(bytes, other)) << "byte " << i;
  }
}

TEST(Wire, StrangersAreKnownByTheirFirstBytes) {
  const Bytes hello = encode(make_hello(), make_test_token());
  for (std::size_t length = 0; length < kPrefixBytes; ++length) {
    EXPECT_TRUE(may_be_hello(std::span(hello).first(length)));
  }
  EXPECT_TRUE(may_be_hello({}));
  EXPECT_FALSE(may_be_hello(std::as_bytes(std::span("GET / HTTP/1.1"))));
  EXPECT_FALSE(may_be_hello(std::as_bytes(std::span("x"))));
}

TEST(Wire, HelloCutAnywhereIsMalformed) {
  const Token token = make_test_token();
  const Bytes bytes = encode(make_hello(), token);
  const Prefix prefix = *prefix_of(bytes, token);
  const auto body = std::span<const std::byte>(bytes).subspan(kPrefixBytes);
  for (std::size_t length = 0; length < body.size(); ++length) {
    EXPECT_FALSE(parse_body(prefix, body.first(length)).ok()) << length;
  }
  Bytes longer(body.begin(), body.end());
  longer.push_back(std::byte{0});
  EXPECT_FALSE(parse_body(prefix, longer).ok());
}

TEST(Wire, RanksBeyondAnIntStayBeyondEveryLimit) {
  Prefix prefix;
  prefix.rank = 0xffffffffU;
  prefix.num_ranks = 0x80000000U;
  const Token token = make_test_token();
  const Bytes bytes = encode(make_hello(), token);
  const Result<Hello> hello = parse_body(prefix, std::span<const std::byte>(bytes).subspan(kPrefixBytes));
  ASSERT_TRUE(hello.ok());
  EXPECT_GT(hello->rank, 1'000'000);
  EXPECT_GT(hello->num_ranks, 1'000'000);
}

TEST(Wire, FramesComeOutWholeAndInOrder) {
  const Bytes first = encode(FrameType::progress, "rank 1 of 2 has not arrived");
  const std::vector<TableRow> rows = {{.host = 0, .pid = 11, .leader_socket = "tutti-x"},
                                      {.host = 1,
                                       .pid = 12,
                                       .leader_socket = "tutti-y",
                                       .addresses = addresses(),
                                       .endpoint_name = "shm\nx",
                                       .turn = 3,
                                       .interfaces = {.begins = 0b11, .num_in_turn = 2}},
                                      {.host = 0, .pid = 13}};
  const Bytes second = encode(Table{.generation = 5, .ranks = rows});
  const Bytes third = encode(FrameType::failed, Status(Code::rank_lost, "gone", 7));
  Bytes all = first;
  all.insert(all.end(), second.begin(), second.end());
  all.insert(all.end(), third.begin(), third.end());

  Bytes buffer;
  std::vector<Frame> frames;
  for (const std::byte byte : all) {
    buffer.push_back(byte);
    Result<std::optional<Frame>> frame = take_frame(buffer);
    ASSERT_TRUE(frame.ok());
    if (frame->has_value()) frames.push_back(**frame);
  }
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(parse_words(frames[0]), "rank 1 of 2 has not arrived");
  EXPECT_EQ(TableReader(frames[1]).generation(), 5U);
  EXPECT_EQ(TableReader(frames[1]).num_ranks(), 3U);
  EXPECT_EQ(rows_of(frames[1]), rows);
  const Status error = parse_error(frames[2]);
  EXPECT_EQ(error.code(), Code::rank_lost);
  EXPECT_EQ(error.rank(), 7);
  EXPECT_EQ(error.message(), "gone");
}

// One that has come alone is taken over, and one that others follow is copied.
TEST(Wire, LargeFramesComeWhole) {
  std::vector<TableRow> rows;
  for (int rank = 0; rank < 4000; ++rank) rows.push_back({.host = static_cast<std::uint32_t>(rank), .pid = rank + 1});
  const Bytes whole = encode(Table{.generation = 7, .ranks = rows});
  const Bytes next = encode(FrameType::complete);
  for (const bool is_alone : {true, false}) {
    SCOPED_TRACE(is_alone);
    Bytes buffer(whole.begin(), whole.begin() + 4096);
    const Result<std::optional<Frame>> part = take_frame(buffer);
    ASSERT_TRUE(part.ok());
    EXPECT_FALSE(part->has_value());
    buffer.insert(buffer.end(), whole.begin() + 4096, whole.end());
    if (!is_alone) buffer.insert(buffer.end(), next.begin(), next.end());
    const Result<std::optional<Frame>> frame = take_frame(buffer);
    ASSERT_TRUE(frame.ok() && frame->has_value());
    EXPECT_EQ(encode(**frame), whole);
    EXPECT_EQ(rows_of(**frame), rows);
    EXPECT_EQ(buffer, is_alone ? Bytes() : next);
  }
}

TEST(Wire, FramesThatCannotBeAreRefused) {
  Bytes unknown = encode(FrameType::ready);
  unknown[0] = std::byte{99};
  EXPECT_FALSE(take_frame(unknown).ok());
  Bytes huge = encode(FrameType::ready);
  huge[4] = std::byte{0x7f};
  EXPECT_FALSE(take_frame(huge).ok());
}

TEST(Wire, ATableThatPromisesMoreThanItHoldsIsMalformed) {
  Bytes bytes = encode(Table{.generation = 0, .ranks = {{.host = 0, .pid = 1}, {.host = 1, .pid = 2}}});
  bytes[13] = std::byte{200};  // the number of ranks, behind header and generation
  const Result<std::optional<Frame>> frame = take_frame(bytes);
  ASSERT_TRUE(frame.ok());
  EXPECT_FALSE(rows_of(**frame));
}

TEST(Wire, FetchNeedsTheTokenAndItsExactLength) {
  const Token token = make_test_token();
  Bytes bytes = encode(Fetch{9, 4}, token);
  const auto fetch = parse_fetch(bytes, token);
  ASSERT_TRUE(fetch);
  EXPECT_EQ(fetch->generation, 9U);
  EXPECT_EQ(fetch->rank, 4U);
  Token other = token;
  other[31] ^= std::byte{1};
  EXPECT_FALSE(parse_fetch(bytes, other));
  EXPECT_FALSE(parse_fetch(std::span(bytes).first(bytes.size() - 1), token));
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(parse_fetch(bytes, token));
}

TEST(Wire, WhatARankSaysOfAnotherComesAsItWent) {
  const Address address{.family = Address::Family::ipv4, .port = 7, .scope = 0, .bytes = {127, 0, 0, 1}};
  Bytes bytes = encode(Place{.generation = 3, .rank = 5, .pid = 77, .addresses = {address}});
  const Bytes of_rank = encode_rank(FrameType::gone, 70000);
  bytes.insert(bytes.end(), of_rank.begin(), of_rank.end());
  const Result<std::optional<Frame>> first = take_frame(bytes);
  ASSERT_TRUE(first.ok() && first->has_value());
  EXPECT_EQ((*first)->type, FrameType::go_to);
  const Result<Place> place = parse_place(**first);
  ASSERT_TRUE(place.ok());
  EXPECT_EQ(place->generation, 3U);
  EXPECT_EQ(place->rank, 5);
  EXPECT_EQ(place->pid, 77);
  EXPECT_EQ(place->addresses, std::vector<Address>{address});
  const Result<std::optional<Frame>> second = take_frame(bytes);
  ASSERT_TRUE(second.ok() && second->has_value());
  EXPECT_EQ(parse_rank(**second), 70000);
  EXPECT_EQ(encode(**second), of_rank);
  EXPECT_FALSE(parse_rank(**first));
  EXPECT_FALSE(parse_place(**second).ok());
  const Token token = make_test_token();
  const auto fetch = parse_fetch(encode(Fetch{9, 4, true}, token), token);
  ASSERT_TRUE(fetch);
  EXPECT_TRUE(fetch->attaches);
  EXPECT_EQ(fetch->rank, 4U);
}

// The sanitizers watch that no parser reads where it must not.
TEST(Wire, ParsersSurviveDamage) {
  const unsigned seed = 20240501;
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const Token token = make_test_token();
  const Bytes whole = encode(make_hello(), token);
  for (int round = 0; round < 3000; ++round) {
    Bytes bytes = whole;
    for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    bytes.resize(random() % (bytes.size() + 1));
    Prefix prefix;
    static_cast<void>(parse_body(prefix, bytes));
    static_cast<void>(parse_fetch(bytes, token));
    static_cast<void>(rows_of({FrameType::table, bytes}));
    static_cast<void>(parse_error({FrameType::failed, bytes}));
    static_cast<void>(parse_place({FrameType::go_to, bytes}));
    static_cast<void>(take_frame(bytes));
  }
}

TEST(Wire, ThisHostHasABootIdAndNamespaces) {
  const Host host = this_host("").value();
  EXPECT_FALSE(host.boot.empty());
  EXPECT_NE(host.network.find("net:["), std::string::npos);
  EXPECT_NE(host.processes.find("pid:["), std::string::npos);
}

}  // namespace
}  // namespace tutti::wire
