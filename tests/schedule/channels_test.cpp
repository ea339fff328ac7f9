// SPDX-License-Identifier: Apache-2.0
// Several connections between the same two ranks, told apart by their channel: each is a queue of its own, with one
// lane at each end.
#include <functional>

#include <gtest/gtest.h>

#include "schedule/cost.hpp"
#include "schedule/numbers.hpp"
#include "schedule/prove/prove.hpp"
#include "scripted.hpp"

namespace tutti {
namespace {

Endpoint local(const Slice& slice) { return {Place::local, 0, 0, slice}; }
Endpoint message(std::uint32_t rank, std::uint32_t channel, const Slice& slice) {
  return {.place = Place::message, .rank = rank, .slice = slice, .channel = channel};
}

// The builder has words for channel 0 only.
const Step& send_on(Builder& b, std::uint32_t channel, std::uint32_t to, const Slice& from) {
  const Endpoint sources[] = {local(from)};
  const Endpoint destinations[] = {message(to, channel, from)};
  return b.combine(sources, destinations);
}
const Step& recv_on(Builder& b, std::uint32_t channel, std::uint32_t from, const Slice& into) {
  const Endpoint sources[] = {message(from, channel, into)};
  const Endpoint destinations[] = {local(into)};
  return b.combine(sources, destinations);
}
const Step& recv_reduce_on(Builder& b, std::uint32_t channel, std::uint32_t from, std::uint32_t piece) {
  const Endpoint sources[] = {message(from, channel, Builder::input(piece)), local(Builder::input(piece))};
  const Endpoint destinations[] = {local(Builder::output(piece))};
  return b.combine(sources, destinations);
}

// A ring of one piece a rank for each lane: lane l carries pieces from l * ranks on, on channel `channel_of(l)`.
Lane ring(Builder& b, std::uint32_t lane, std::uint32_t channel) {
  const std::uint32_t ranks = b.num_ranks();
  const std::uint32_t right = b.neighbour(1);
  const std::uint32_t left = b.neighbour(-1);
  const auto piece = [&](std::uint32_t step) { return lane * ranks + b.neighbour(-std::int64_t{step}); };
  for (std::uint32_t step = 0; step + 1 < ranks; ++step) {
    co_yield send_on(b, channel, right, step == 0 ? Builder::input(piece(step)) : Builder::output(piece(step)));
    if (step + 2 == ranks) b.completing();
    co_yield recv_reduce_on(b, channel, left, piece(step + 1));
  }
  for (std::uint32_t step = ranks - 1; step + 2 < 2 * ranks; ++step) {
    co_yield send_on(b, channel, right, Builder::output(piece(step)));
    co_yield recv_on(b, channel, left, Builder::output(piece(step + 1)));
  }
}

Schedule rings(std::uint32_t ranks, std::uint32_t lanes, bool same_channel) {
  return scripted({.num_ranks = ranks, .num_lanes = lanes, .pieces = ranks * lanes},
                  [=](Builder& b, std::uint32_t lane) { return ring(b, lane, same_channel ? 1 : lane); });
}

TEST(Channels, EachIsAConnectionOfItsOwn) {
  for (const std::uint32_t ranks : {2U, 3U, 5U}) {
    const Proof proof = prove(rings(ranks, 3, false));
    ASSERT_TRUE(proof.ok()) << proof.failure->to_string();
    EXPECT_EQ(proof.least_depth, 1U);
    EXPECT_EQ(proof.order, OrderClass::uniform);
  }
}

TEST(Channels, TwoLanesAtOneAreRefusedByName) {
  const Proof proof = prove(rings(3, 2, true));
  ASSERT_FALSE(proof.ok());
  EXPECT_EQ(proof.failure->fault, Fault::shared_end);
  EXPECT_NE(proof.failure->to_string().find("send to rank 1 on channel 1"), std::string::npos)
      << proof.failure->to_string();
}

TEST(Channels, NumbersAndCostCountThem) {
  const Schedule schedule = rings(3, 2, false);
  const Cost cost = cost_of(schedule);
  EXPECT_EQ(cost.most.messages, 2U * 4U);
  EXPECT_EQ(cost.longest_path, 4U);
  std::vector<std::vector<std::byte>> inputs(3, std::vector<std::byte>(40 * sizeof(std::int64_t)));
  for (std::size_t rank = 0; rank < 3; ++rank)
    for (std::size_t at = 0; at < 40; ++at) {
      const std::int64_t number = static_cast<std::int64_t>(at + 1) << (10 * rank);
      std::memcpy(inputs[rank].data() + at * sizeof number, &number, sizeof number);
    }
  const NumbersData data{sizeof(std::int64_t), 40, 3, fold_of<std::int64_t>(std::plus<>())};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto outputs = run_on_numbers(schedule, inputs, data, {.seed = seed, .in_place = seed % 2 == 0});
    ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
    for (const auto& output : *outputs)
      for (std::size_t at = 0; at < 40; ++at) {
        std::int64_t number = 0;
        std::memcpy(&number, output.data() + at * sizeof number, sizeof number);
        ASSERT_EQ(number, static_cast<std::int64_t>(at + 1) * ((1LL << 20) + (1LL << 10) + 1)) << at;
      }
  }
}

// Rank 0 sends piece 0 on channel 0 and piece 1 on channel 1; rank 1 takes them the other way round. One queue would
// hand it the wrong piece.
Lane crosses(Builder& b, std::uint32_t second_channel) {
  const std::uint32_t other = 1 - b.rank();
  co_yield send_on(b, 0, other, Builder::input(0));
  co_yield send_on(b, second_channel, other, Builder::input(1));
  b.completing();
  co_yield recv_reduce_on(b, second_channel, other, 1);
  b.completing();
  co_yield recv_reduce_on(b, 0, other, 0);
}

TEST(Channels, MessagesOvertakeThoseOfOtherChannels) {
  const Shape shape{.num_ranks = 2, .pieces = 2};
  const Proof apart = prove(scripted(shape, [](Builder& b, std::uint32_t) { return crosses(b, 1); }));
  EXPECT_TRUE(apart.ok()) << apart.failure->to_string();
  const Proof together = prove(scripted(shape, [](Builder& b, std::uint32_t) { return crosses(b, 0); }));
  ASSERT_FALSE(together.ok());
  EXPECT_EQ(together.failure->fault, Fault::mixed) << together.failure->to_string();
}

Lane waits_on(Builder& b, std::uint32_t channel) {
  co_yield recv_reduce_on(b, channel, 1 - b.rank(), 0);
  co_yield send_on(b, channel, 1 - b.rank(), Builder::input());
}

TEST(Channels, DeadlocksNameThem) {
  const Proof proof = prove(scripted({}, [](Builder& b, std::uint32_t) { return waits_on(b, 5); }));
  ASSERT_FALSE(proof.ok());
  EXPECT_EQ(proof.failure->fault, Fault::deadlock);
  EXPECT_EQ(proof.failure->story.size(), 2U);
  EXPECT_NE(proof.failure->to_string().find("a message from rank 1 on channel 5"), std::string::npos)
      << proof.failure->to_string();
  EXPECT_NE(proof.failure->to_string().find("message(1, channel 5)"), std::string::npos);
}

TEST(Channels, MismatchedCountsNameThem) {
  const Proof proof = prove(scripted({}, [](Builder& b, std::uint32_t) { return waits_on(b, 1 + b.rank()); }));
  ASSERT_FALSE(proof.ok());
  EXPECT_EQ(proof.failure->fault, Fault::unmatched);
  EXPECT_NE(proof.failure->to_string().find("on channel 1"), std::string::npos) << proof.failure->to_string();
}

TEST(Channels, ThereAreOnlySoMany) {
  const Proof last = prove(scripted({}, [](Builder& b, std::uint32_t) { return waits_on(b, kMostChannels - 1); }));
  EXPECT_EQ(last.failure->fault, Fault::deadlock);
  for (const std::uint32_t channel : {kMostChannels, UINT32_MAX}) {
    const Proof proof = prove(scripted({}, [=](Builder& b, std::uint32_t) { return waits_on(b, channel); }));
    ASSERT_FALSE(proof.ok());
    EXPECT_EQ(proof.failure->fault, Fault::out_of_bounds) << proof.failure->to_string();
  }
}

}  // namespace
}  // namespace tutti
