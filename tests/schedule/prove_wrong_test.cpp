// SPDX-License-Identifier: Apache-2.0
// Schedules that are wrong, each in one way, and what prove has to say of them.
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "schedule/prove/prove.hpp"
#include "scripted.hpp"

namespace tutti {
namespace {

std::string story_of(const Failure& failure) {
  std::string text;
  for (const std::string& line : failure.story) text += line + "\n";
  return text;
}

#define EXPECT_FAULT(proof, expected)                      \
  ASSERT_FALSE((proof).ok()) << "nothing was found wrong"; \
  EXPECT_EQ((proof).failure->fault, expected) << (proof).failure->to_string()

#define EXPECT_TOLD(failure, words) \
  EXPECT_NE((failure).to_string().find(words), std::string::npos) << (failure).to_string()

constexpr Slice kScratch{Space::scratch, 0, 0, 1};

Lane only_neighbour(Builder& b) {
  co_yield b.send(b.neighbour(1), b.input());
  co_yield b.recv_reduce(b.neighbour(-1), b.input(), b.output());
}

TEST(ProveWrong, MissingContributionSaysWhereItWent) {
  const Proof proof = prove(scripted({.num_ranks = 3}, [](Builder& b, std::uint32_t) { return only_neighbour(b); }));
  EXPECT_FAULT(proof, Fault::missing);
  EXPECT_EQ(proof.failure->rank, 2U) << "the first to end";
  EXPECT_EQ(proof.failure->piece, "output[0.0] of rank 2");
  EXPECT_TOLD(*proof.failure, "(1 + 2)");
  EXPECT_TOLD(*proof.failure, "the first is rank 0");
  EXPECT_TOLD(*proof.failure, "went here instead");
  EXPECT_TOLD(*proof.failure, "recv_reduce");
}

Lane nothing_at_all(Builder&) { co_return; }

TEST(ProveWrong, ResultNeverWritten) {
  const Proof proof = prove(scripted({}, [](Builder& b, std::uint32_t) { return nothing_at_all(b); }));
  EXPECT_FAULT(proof, Fault::missing);
  EXPECT_TOLD(*proof.failure, "never written");
}

Lane folds_twice(Builder& b) {
  co_yield b.send(b.neighbour(1), b.input());
  co_yield b.recv_reduce(b.neighbour(-1), b.input(), b.output());
  co_yield b.send(b.neighbour(1), b.output());
  co_yield b.recv_reduce(b.neighbour(-1), b.output(), b.output());
}

TEST(ProveWrong, DoubledContributionTellsBothWays) {
  const Proof proof = prove(scripted({}, [](Builder& b, std::uint32_t) { return folds_twice(b); }));
  EXPECT_FAULT(proof, Fault::doubled);
  EXPECT_EQ(proof.failure->step, 3U);
  EXPECT_TOLD(*proof.failure, "and again");
}

Lane receives_first(Builder& b) {
  co_yield b.recv_reduce(b.neighbour(-1), b.input(), b.output());
  co_yield b.send(b.neighbour(1), b.input());
}

TEST(ProveWrong, DeadlockTellsTheRing) {
  const Proof proof = prove(scripted({.num_ranks = 3}, [](Builder& b, std::uint32_t) { return receives_first(b); }));
  EXPECT_FAULT(proof, Fault::deadlock);
  EXPECT_EQ(proof.failure->story.size(), 3U) << story_of(*proof.failure);
  EXPECT_TOLD(*proof.failure, "waits for a message from rank");
}

Lane sends_first(Builder& b) {
  co_yield b.send(b.neighbour(1), b.input());
  b.completing();
  co_yield b.recv_reduce(b.neighbour(-1), b.input(), b.output());
}

Lane one_after_the_other(Builder& b) {
  if (b.rank() == 0) {
    co_yield b.send(1, b.input());
    co_yield b.recv(1, b.output());
  } else {
    b.completing();
    co_yield b.recv_reduce(0, b.input(), b.output());
    co_yield b.send(0, b.output());
  }
}

TEST(ProveWrong, MutualRendezvousNeedsRoomForOneMessage) {
  const Proof mutual = prove(scripted({}, [](Builder& b, std::uint32_t) { return sends_first(b); }));
  ASSERT_TRUE(mutual.ok()) << mutual.failure->to_string();
  EXPECT_EQ(mutual.least_depth, 1U);
  const Proof ordered = prove(scripted({}, [](Builder& b, std::uint32_t) { return one_after_the_other(b); }));
  ASSERT_TRUE(ordered.ok()) << ordered.failure->to_string();
  EXPECT_EQ(ordered.least_depth, 0U);
  EXPECT_EQ(ordered.least_depth_fused, 0U);
}

Lane one_shot(Builder& b, std::uint32_t lane, bool ordered, bool closed) {
  if (lane == 0) {
    co_yield b.expose(b.input());
    co_return;
  }
  if (ordered) b.after(0, 0);
  co_yield b.pull_reduce_all(0, b.input(), b.output());
  if (closed) co_yield b.close();
}

TEST(ProveWrong, RaceInPlaceNamesBothSteps) {
  const Proof proof =
      prove(scripted({.num_lanes = 2}, [](Builder& b, std::uint32_t lane) { return one_shot(b, lane, false, true); }));
  EXPECT_FAULT(proof, Fault::race);
  EXPECT_TOLD(*proof.failure, "in place");
  EXPECT_TOLD(*proof.failure, "expose input[0.0]");
  EXPECT_TOLD(*proof.failure, "pull_reduce output[0.0]");
}

TEST(ProveWrong, WithoutCloseTheCallerOverwritesWhatIsExposedByName) {
  const Proof proof =
      prove(scripted({.num_lanes = 2}, [](Builder& b, std::uint32_t lane) { return one_shot(b, lane, true, false); }));
  ASSERT_TRUE(proof.ok()) << proof.failure->to_string();
  EXPECT_EQ(proof.out_of_place.exposure, Exposure::copy_only);
  EXPECT_TOLD(*proof.out_of_place.why_copy_only, "its caller");
  const Proof closed =
      prove(scripted({.num_lanes = 2}, [](Builder& b, std::uint32_t lane) { return one_shot(b, lane, true, true); }));
  EXPECT_EQ(closed.out_of_place.exposure, Exposure::name_safe);
  EXPECT_EQ(closed.in_place.exposure, Exposure::copy_only);
}

Lane scratch_in_two_lanes(Builder& b, std::uint32_t lane) {
  if (lane == 0) {
    co_yield b.copy(b.input(), kScratch);
    co_return;
  }
  b.after(0, 0);
  co_yield b.send(b.neighbour(1), kScratch);
  co_yield b.recv_reduce(b.neighbour(-1), b.input(), b.output());
}

TEST(ProveWrong, ScratchOverwrittenByTheNextRound) {
  const Proof proof = prove(scripted({.num_lanes = 2, .scratch_blocks = 1}, scratch_in_two_lanes));
  EXPECT_FAULT(proof, Fault::race);
  EXPECT_TOLD(*proof.failure, "round 1");
}

// Lane 0 of the next round writes to the scratch that lane 1 may still be folding from: only an expose that waits for
// the only slot would hold it back.
Lane held_back_by_slots(Builder& b, std::uint32_t lane) {
  const std::uint32_t next = b.neighbour(1);
  const std::uint32_t last = b.neighbour(2);
  if (lane == 0) {
    co_yield b.expose(b.input());
    co_yield b.pull(next, 0, b.input(), kScratch);
    co_return;
  }
  const std::vector<Endpoint> sources = {
      {Place::local, 0, 0, kScratch}, {Place::local, 0, 0, b.input()}, {Place::remote, last, 0, b.input()}};
  const std::vector<Endpoint> into = {{Place::local, 0, 0, b.output()}};
  b.after(0, 1);
  b.completing();
  co_yield b.combine(sources, into);
}

TEST(ProveWrong, WhatIsOrderedBySlotsAloneIsNotOrdered) {
  const Proof proof = prove(scripted({.num_ranks = 3, .num_lanes = 2, .scratch_blocks = 1}, held_back_by_slots));
  EXPECT_FAULT(proof, Fault::race);
  EXPECT_TOLD(*proof.failure, "scratch[0.0]");
}

// Rank 1 folds both inputs and stores the result into rank 0's output; only a message can tell rank 0 that it has.
Lane stores_for_the_other(Builder& b, bool tells) {
  if (b.rank() == 0) {
    co_yield b.open(b.output());
    co_yield b.send(1, b.input());
    if (tells) co_yield b.recv(1, kScratch);
  } else {
    b.completing();
    co_yield b.recv_reduce(0, b.input(), b.output());
    co_yield b.push_to_all_others(0, b.output(), b.output());
    if (tells) co_yield b.send(0, b.output());
  }
}

TEST(ProveWrong, AStoreThatNobodyIsToldOf) {
  const Shape shape{.scratch_blocks = 1};
  const Proof told = prove(scripted(shape, [](Builder& b, std::uint32_t) { return stores_for_the_other(b, true); }));
  EXPECT_TRUE(told.ok()) << told.failure->to_string();
  const Proof silent = prove(scripted(shape, [](Builder& b, std::uint32_t) { return stores_for_the_other(b, false); }));
  ASSERT_FALSE(silent.ok());
  EXPECT_TRUE(silent.failure->fault == Fault::race || silent.failure->fault == Fault::missing)
      << silent.failure->to_string();
}

Lane reads_input_late(Builder& b) {
  co_yield b.send(b.neighbour(1), b.input());
  co_yield b.copy(b.input(), b.output());
  b.completing();
  co_yield b.recv_reduce(b.neighbour(-1), b.input(), b.output());
}

TEST(ProveWrong, InputScaledTwiceInPlace) {
  const Proof proof = prove(scripted({}, [](Builder& b, std::uint32_t) { return reads_input_late(b); }));
  EXPECT_FAULT(proof, Fault::touch);
  EXPECT_TOLD(*proof.failure, "scaled already");
  EXPECT_TOLD(*proof.failure, "in place");
}

Lane reads_what_it_gave_up(Builder& b) {
  co_yield b.copy(b.input(), b.output());
  co_yield b.send_away(b.neighbour(1), b.output());
  co_yield b.recv_reduce(b.neighbour(-1), b.output(), b.output());
}

TEST(ProveWrong, ReadsWhatWasGivenUp) {
  const Proof proof = prove(scripted({}, [](Builder& b, std::uint32_t) { return reads_what_it_gave_up(b); }));
  EXPECT_FAULT(proof, Fault::no_value);
  EXPECT_TOLD(*proof.failure, "gave up");
}

Lane reads_scratch(Builder& b) { co_yield b.copy(kScratch, b.output()); }

TEST(ProveWrong, ReadsWhatWasNeverWritten) {
  const Proof proof =
      prove(scripted({.scratch_blocks = 1}, [](Builder& b, std::uint32_t) { return reads_scratch(b); }));
  EXPECT_FAULT(proof, Fault::no_value);
  EXPECT_TOLD(*proof.failure, "never written");
}

Lane swaps_pieces(Builder& b) {
  co_yield b.send(b.neighbour(1), b.input(0));
  co_yield b.recv_reduce(b.neighbour(-1), b.input(1), b.output(1));
}

TEST(ProveWrong, PieceInAnothersPlace) {
  const Proof proof = prove(scripted({.pieces = 2}, [](Builder& b, std::uint32_t) { return swaps_pieces(b); }));
  EXPECT_FAULT(proof, Fault::mixed);
}

TEST(ProveWrong, OrderPromisedAndNotKept) {
  Schedule schedule =
      scripted({.order = OrderClass::ordered}, [](Builder& b, std::uint32_t) { return sends_first(b); });
  const Proof proof = prove(schedule);
  EXPECT_FAULT(proof, Fault::order);
  EXPECT_TOLD(*proof.failure, "promises to be ordered and is uniform");
  schedule.order = OrderClass::uniform;
  EXPECT_TRUE(prove(schedule).ok());
}

// Three ranks fold their neighbours' in three different ways.
Lane three_ways(Builder& b, std::uint32_t lane) {
  if (lane == 0) {
    co_yield b.expose(b.input());
    co_return;
  }
  std::vector<Endpoint> sources;
  for (std::uint32_t each = 0; each < 3; ++each) {
    const std::uint32_t rank = b.neighbour(each);
    sources.push_back({rank == b.rank() ? Place::local : Place::remote, rank == b.rank() ? 0 : rank, 0, b.input()});
  }
  b.after(0, 0);
  const std::vector<Endpoint> into = {{Place::local, 0, 0, b.output()}};
  b.completing();
  co_yield b.combine(sources, into);
  co_yield b.close();
}

TEST(ProveWrong, DifferentBitsOnDifferentRanksAreFree) {
  const Proof proof = prove(scripted({.num_ranks = 3, .num_lanes = 2, .order = OrderClass::uniform}, three_ways));
  EXPECT_FAULT(proof, Fault::order);
  EXPECT_TOLD(*proof.failure, "is free");
  EXPECT_TOLD(*proof.failure, "another fold than on another rank");
}

// Rank 0 has the result and sends it twice, of which one message would do.
Lane sends_the_same_twice(Builder& b) {
  if (b.rank() == 0) {
    b.completing();
    co_yield b.recv_reduce(1, b.input(), b.output());
    co_yield b.send(1, b.output());
    co_yield b.send(1, b.output());
  } else {
    co_yield b.send(0, b.input());
    co_yield b.recv(0, b.output());
    co_yield b.recv(0, b.output());
  }
}

TEST(ProveWrong, FusingNeverSendsTwoMessagesOnOneConnectionAtOnce) {
  const Schedule schedule = scripted({}, [](Builder& b, std::uint32_t) { return sends_the_same_twice(b); });
  EXPECT_EQ(collect(schedule, 0, Fusion::neighbours).lanes[0].size(), 2U);
  const Proof proof = prove(schedule);
  ASSERT_TRUE(proof.ok()) << proof.failure->to_string();
  EXPECT_LE(proof.least_depth_fused, 1U) << "each of the two steps wants room for one message";
}

// Blocks of an all-to-all differ in size by pair. Rank 0 sends what is for rank 1, and calls it a message as large as
// its input block `named`.
Lane names_a_size(Builder& b, std::uint32_t named) {
  const std::uint32_t own = b.rank();
  const std::uint32_t other = 1 - own;
  const std::vector<Endpoint> from = {{Place::local, 0, 0, b.input_block(other)}};
  const std::vector<Endpoint> into = {{Place::message, other, 0, b.input_block(own == 0 ? named : other)}};
  co_yield b.copy(b.input_block(own), b.output_block(own));
  co_yield b.combine(from, into);
  co_yield b.recv(other, b.output_block(other));
}

TEST(ProveWrong, AMessageOfAnotherSizeThanItsBlock) {
  const auto proof_of = [](std::uint32_t named) {
    Schedule schedule = scripted({}, [=](Builder& b, std::uint32_t) { return names_a_size(b, named); });
    schedule.collective = Collective::all_to_all_v;
    schedule.spaces = spaces_of(schedule.collective, schedule.num_ranks);
    schedule.allows_in_place = false;
    return prove(schedule);
  };
  const Proof right = proof_of(1);
  EXPECT_TRUE(right.ok()) << right.failure->to_string();
  const Proof wrong = proof_of(0);
  EXPECT_FAULT(wrong, Fault::mixed);
  EXPECT_TOLD(*wrong.failure, "another size");
}

// Rank 1 stores into the scratch of rank 0 at the very end, when that may be another operation's.
Lane late_store(Builder& b) {
  const std::uint32_t other = b.neighbour(1);
  if (b.rank() == 0) co_yield b.open(b.scratch(0));
  co_yield b.send(other, b.input());
  b.completing();
  co_yield b.recv_reduce(other, b.input(), b.output());
  if (b.rank() == 1) co_yield b.push(0, 0, b.output(), b.scratch(0));
}

TEST(ProveWrong, ScratchIsTakenBackWhenAnOperationEnds) {
  const Proof proof = prove(scripted({.scratch_blocks = 1}, [](Builder& b, std::uint32_t) { return late_store(b); }));
  EXPECT_FAULT(proof, Fault::race);
  EXPECT_TOLD(*proof.failure, "rank 0, its caller");
}

// Ranks post the same, but rank 1 has exposed something before: another slot.
Lane cast_from_another_slot(Builder& b) {
  if (b.rank() == 0) {
    co_yield b.signal();
  } else {
    co_yield b.expose(b.input());
  }
  co_yield b.expose(b.input());
  b.completing();
  co_yield b.multicast_reduce(1, b.input(), b.output());
  co_yield b.close();
}

TEST(ProveWrong, ASwitchReachesTheSamePlaceOfEveryRank) {
  const Proof proof = prove(scripted({}, [](Builder& b, std::uint32_t) { return cast_from_another_slot(b); }));
  EXPECT_FAULT(proof, Fault::not_exposed);
  EXPECT_TOLD(*proof.failure, "post 1 of rank 1 is another than rank 0's");
}

// Three ranks in a chain: a left fold in rank order, but one that rounds at each rank.
Lane chain_of_roundings(Builder& b) {
  if (b.rank() == 0) co_yield b.send(1, b.input());
  if (b.rank() == 1) co_yield b.recv_reduce(0, b.input(), b.scratch(0));
  if (b.rank() == 1) co_yield b.send(2, b.scratch(0));
  if (b.rank() == 2) {
    b.completing();
    co_yield b.recv_reduce(1, b.input(), b.output());
    for (const std::uint32_t rank : {0U, 1U}) co_yield b.send(rank, b.output());
  } else {
    co_yield b.recv(2, b.output());
  }
}

TEST(ProveWrong, OrderedIsALeftFoldThatRoundsOnce) {
  const Proof proof = prove(scripted({.num_ranks = 3, .scratch_blocks = 1, .order = OrderClass::ordered},
                                     [](Builder& b, std::uint32_t) { return chain_of_roundings(b); }));
  EXPECT_FAULT(proof, Fault::order);
  EXPECT_TOLD(*proof.failure, "promises to be ordered and is rank_order");
  EXPECT_TOLD(*proof.failure, "rounds once");
}

Lane nothing(Builder&) { co_return; }
Lane signals(Builder& b) { co_yield b.signal(); }

TEST(ProveWrong, TooManyLanesAreRefused) {
  const Schedule schedule = scripted({.num_ranks = 64, .num_lanes = 1024}, [](Builder& b, std::uint32_t lane) {
    return lane == 0 ? signals(b) : nothing(b);
  });
  const Proof proof = prove(schedule);
  EXPECT_FAULT(proof, Fault::too_large);
}

Lane copies(Builder& b, std::uint32_t count, std::uint32_t pieces) {
  for (std::uint32_t each = 0; each < count; ++each) co_yield b.copy(b.input(0, pieces), b.output(0, pieces));
}

TEST(ProveWrong, TooManyPiecesAreRefusedBeforeTheyAreWalked) {
  constexpr std::uint32_t kPieces = 1U << 18;
  const Proof proof =
      prove(scripted({.pieces = kPieces}, [](Builder& b, std::uint32_t) { return copies(b, 40, kPieces); }));
  EXPECT_FAULT(proof, Fault::too_large);
  EXPECT_TOLD(*proof.failure, "41943040 pieces in all its steps");
}

TEST(ProveWrong, TooManyContributionsAreRefused) {
  const Proof proof =
      prove(scripted({.num_ranks = 4096, .pieces = 512}, [](Builder& b, std::uint32_t) { return nothing(b); }));
  EXPECT_FAULT(proof, Fault::too_large);
}

// Two ranks exchange their inputs, and whoever has both moves them on by one block within scratch.
Lane shift_blocks(Builder& b) {
  const std::uint32_t other = b.neighbour(1);
  co_yield b.copy(b.input(), b.scratch(0));
  co_yield b.send(other, b.input());
  co_yield b.recv(other, b.scratch(1));
  co_yield b.copy(Builder::blocks(Space::scratch, 0, 2), Builder::blocks(Space::scratch, 1, 2));
  b.completing();
  co_yield b.reduce(std::array{b.scratch(1), b.scratch(2)}, b.output());
}

TEST(ProveWrong, AStepThatUsesAPieceAtTwoPlaces) {
  const Proof proof = prove(scripted({.scratch_blocks = 3}, [](Builder& b, std::uint32_t) { return shift_blocks(b); }));
  EXPECT_FAULT(proof, Fault::race);
  EXPECT_TOLD(*proof.failure, "two places of one step");
}

}  // namespace
}  // namespace tutti
