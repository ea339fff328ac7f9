// SPDX-License-Identifier: Apache-2.0
// The oracle finds what it is there to find: schedules with one planted mistake each, of which it is told that they are
// right. A test that fails if the oracle is blind.
#include "schedule/oracle/oracle.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "schedule/oracle/mutate.hpp"
#include "schedule/oracle/random_schedule.hpp"
#include "scripted.hpp"

namespace tutti::oracle {
namespace {

constexpr Slice kScratch{Space::scratch, 0, 0, 1};
constexpr Claims kFree{};

Endpoint local(const Slice& slice) { return {Place::local, 0, 0, slice}; }

// --- what is right is left alone ---

TEST(Oracle, FindsNothingInTheCatalogue) {
  for (const Algorithm* algorithm : all_algorithms()) {
    for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 5U}) {
      const std::vector<Request> cases = cases_of(*algorithm, ranks);
      // Two of them: the first, and one that changes with the ranks.
      for (const std::size_t each : {std::size_t{0}, std::size_t{7} * ranks}) {
        if (cases.empty()) continue;
        const Schedule schedule = algorithm->make(cases[each % cases.size()]);
        SCOPED_TRACE(testing::Message() << name_of(schedule.collective) << " " << schedule.name << " of " << ranks);
        const Verdict verdict = judged_by_proof(schedule);
        ASSERT_TRUE(verdict.accepted) << verdict.reason;
        const Findings findings = examine(schedule, verdict.claims, {.interleavings = 10, .seed = ranks});
        EXPECT_FALSE(findings.trouble) << findings.trouble->what;
        EXPECT_EQ(findings.runs, 12 * findings.ways);
      }
    }
  }
}

TEST(Oracle, FindsNothingInRandomSchedules) {
  for (int family = 0; family < kNumFamilies; ++family) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const Schedule schedule =
          random_schedule(seed, static_cast<Family>(family), static_cast<std::uint32_t>(1 + seed % 5));
      SCOPED_TRACE(testing::Message() << schedule.name << ", seed " << seed);
      const Verdict verdict = judged_by_proof(schedule);
      ASSERT_TRUE(verdict.accepted) << verdict.reason;
      const Findings findings = examine(schedule, verdict.claims, {.interleavings = 8, .seed = seed});
      EXPECT_FALSE(findings.trouble) << findings.trouble->what;
    }
  }
}

TEST(Oracle, SeesAllInterleavingsOfWhatIsSmall) {
  const Schedule ring = all_reduce::ring.make({.num_ranks = 3});
  const Verdict verdict = judged_by_proof(ring);
  const Findings findings = examine(ring, verdict.claims, {.interleavings = 4, .most_states = 10});
  EXPECT_EQ(findings.ways_explored, findings.ways) << "nothing is shared, so there is one state to look at";
  const Schedule shot = all_reduce::one_shot.make({.num_ranks = 2});
  const Verdict of_shot = judged_by_proof(shot);
  EXPECT_EQ(examine(shot, of_shot.claims, {.interleavings = 4, .most_states = 100000}).ways_explored, 6U)
      << "written and fused: staged in place and out of place, by name out of place";
  EXPECT_EQ(examine(shot, of_shot.claims, {.interleavings = 4, .most_states = 2}).ways_explored, 0U);
}

// --- mistakes ---

struct Planted {
  const char* name;
  const char* words;  // in what the oracle says
  Shape shape;
  LaneFunction lane;
  Claims claims = kFree;
};

void expect_found(const Planted& planted, const Effort& effort) {
  SCOPED_TRACE(planted.name);
  const Schedule schedule = scripted(planted.shape, planted.lane);
  const Findings findings = examine(schedule, planted.claims, effort);
  ASSERT_TRUE(findings.trouble) << "nothing was found in " << findings.runs << " runs";
  EXPECT_NE(findings.trouble->what.find(planted.words), std::string::npos) << findings.trouble->what;
}

// Two ranks exchange their inputs; `what` is left out of it or done wrongly.
enum class Wrong {
  nothing,
  missing,
  doubled,
  displaced,
  unfinished,
  finished_twice,
  reads_input_late,
  given_up,
  never
};

Lane exchange(Builder& b, Wrong what) {
  const std::uint32_t other = 1 - b.rank();
  for (std::uint32_t piece = 0; piece < 3; ++piece) {
    const bool swaps = what == Wrong::displaced && b.rank() == 0 && piece < 2;
    co_yield b.send(other, b.input(swaps ? 1 - piece : piece));
  }
  for (std::uint32_t piece = 0; piece < 3; ++piece) {
    if (what != Wrong::unfinished || piece == 0) b.completing();
    if (what == Wrong::missing && b.rank() == 1) {
      co_yield b.recv(other, b.output(piece));
    } else if (what == Wrong::doubled && piece == 1) {
      const std::vector<Endpoint> from = {local(b.input(1)), {Place::message, other, 0, b.input(1)}, local(b.input(1))};
      const std::vector<Endpoint> into = {local(b.output(1))};
      co_yield b.combine(from, into);
    } else {
      if (what == Wrong::reads_input_late) co_yield b.copy(b.input(piece), b.output(piece));
      if (what == Wrong::reads_input_late) b.completing();
      co_yield b.recv_reduce(other, b.input(piece), b.output(piece));
    }
  }
  if (what == Wrong::finished_twice) {
    b.completing();
    co_yield b.copy(b.output(1), b.output(1));
  }
  if (what == Wrong::given_up || what == Wrong::never) {
    if (what == Wrong::given_up) co_yield b.send_away(other, b.output(0));
    if (what == Wrong::never) co_yield b.send(other, kScratch);
    co_yield b.recv(other, kScratch);
    if (what == Wrong::never) co_yield b.copy(kScratch, b.output(0));
  }
}

LaneFunction exchanging(Wrong what) {
  return [what](Builder& b, std::uint32_t) { return exchange(b, what); };
}

TEST(Oracle, FindsWrongResults) {
  const Shape shape{.pieces = 3, .scratch_blocks = 1};
  const Claims deep{.depth = 4, .depth_fused = 4};
  const Findings right = examine(scripted(shape, exchanging(Wrong::nothing)), deep, {});
  EXPECT_FALSE(right.trouble) << right.trouble->what;
  const char* wrong = "is not the result";
  for (const Planted& planted : std::vector<Planted>{
           {"missing", wrong, shape, exchanging(Wrong::missing)},
           {"doubled", wrong, shape, exchanging(Wrong::doubled)},
           {"displaced", wrong, shape, exchanging(Wrong::displaced)},
           {"unfinished", wrong, shape, exchanging(Wrong::unfinished)},
           {"finished_twice", wrong, shape, exchanging(Wrong::finished_twice)},
           {"reads_input_late", "in place", shape, exchanging(Wrong::reads_input_late)},
           {"given_up", wrong, shape, exchanging(Wrong::given_up)},
           {"never", wrong, shape, exchanging(Wrong::never)},
       }) {
    Planted claimed = planted;
    claimed.claims = deep;
    expect_found(claimed, {.interleavings = 8});
  }
}

// --- order ---

Lane three_ways(Builder& b, std::uint32_t lane, bool alike, bool backwards) {
  if (lane == 0) {
    co_yield b.expose(b.input());
    co_return;
  }
  std::vector<Endpoint> sources;
  for (std::uint32_t each = 0; each < 3; ++each) {
    const std::uint32_t rank = alike ? (backwards ? 2 - each : each) : b.neighbour(each);
    sources.push_back({rank == b.rank() ? Place::local : Place::remote, rank == b.rank() ? 0 : rank, 0, b.input()});
  }
  const std::vector<Endpoint> into = {local(b.output())};
  b.after(0, 0);
  b.completing();
  co_yield b.combine(sources, into);
  co_yield b.close();
}

// ((0 + 1) + (2 + 3)): in rank order, and no left fold.
Lane pairs(Builder& b) {
  const std::uint32_t rank = b.rank();
  if (rank % 2 == 1) {
    co_yield b.send(rank - 1, b.input());
    co_yield b.recv(rank - 1, b.output());
    co_return;
  }
  co_yield b.reduce_recv(b.input(), rank + 1, b.output());
  if (rank == 2) {
    co_yield b.send(0, b.output());
    co_yield b.recv(0, b.output());
  } else {
    b.completing();
    co_yield b.reduce_recv(b.output(), 2, b.output());
    co_yield b.send(2, b.output());
  }
  co_yield b.send(rank + 1, b.output());
}

TEST(Oracle, FindsFoldsInAnotherOrderThanClaimed) {
  const auto ways = [](bool alike, bool backwards) {
    return [=](Builder& b, std::uint32_t lane) { return three_ways(b, lane, alike, backwards); };
  };
  const auto claim = [](OrderClass order) { return Claims{.order = order, .depth = 2, .depth_fused = 2, .slots = 2}; };
  const Shape three{.num_ranks = 3, .num_lanes = 2};
  const LaneFunction in_pairs = [](Builder& b, std::uint32_t) { return pairs(b); };
  const Shape four{.num_ranks = 4};
  const auto finds_nothing = [](const Shape& shape, const LaneFunction& lane, const Claims& claims) {
    const Findings findings = examine(scripted(shape, lane), claims, {.interleavings = 16});
    EXPECT_FALSE(findings.trouble) << findings.trouble->what;
  };
  finds_nothing(three, ways(true, false), claim(OrderClass::ordered));
  finds_nothing(three, ways(true, true), claim(OrderClass::uniform));
  finds_nothing(three, ways(false, false), claim(OrderClass::free));
  finds_nothing(four, in_pairs, claim(OrderClass::rank_order));
  expect_found({"other bits", "other bits", three, ways(false, false), claim(OrderClass::uniform)}, {});
  expect_found({"backwards", "not folded in rank order", three, ways(true, true), claim(OrderClass::rank_order)}, {});
  expect_found({"pairs", "not the left fold", four, in_pairs, claim(OrderClass::ordered)}, {});
}

// --- what depends on who is quicker ---

Lane one_shot(Builder& b, std::uint32_t lane, bool ordered, bool closed) {
  if (lane == 0) {
    co_yield b.expose(b.input());
    co_return;
  }
  if (ordered) b.after(0, 0);
  co_yield b.pull_reduce_all(0, b.input(), b.output());
  if (closed) co_yield b.close();
}

LaneFunction shooting(bool ordered, bool closed) {
  return [=](Builder& b, std::uint32_t lane) { return one_shot(b, lane, ordered, closed); };
}

Lane scratch_in_two_lanes(Builder& b, std::uint32_t lane) {
  if (lane == 0) {
    co_yield b.copy(b.input(), kScratch);
    co_return;
  }
  b.after(0, 0);
  co_yield b.send(b.neighbour(1), kScratch);
  b.completing();
  co_yield b.recv_reduce(b.neighbour(-1), b.input(), b.output());
}

// Rank 1 folds both inputs and stores the result into rank 0's output, without a word.
Lane stores_silently(Builder& b) {
  if (b.rank() == 0) {
    co_yield b.open(b.output());
    co_yield b.send(1, b.input());
  } else {
    b.completing();
    co_yield b.recv_reduce(0, b.input(), b.output());
    co_yield b.push_to_all_others(0, b.output(), b.output());
  }
}

TEST(Oracle, FindsRaces) {
  const Claims staged{.slots = 2};
  const Claims by_name{.slots = 2, .name_safe_out_of_place = true};
  const Claims by_name_in_place{.slots = 2, .name_safe_in_place = true};
  const Shape two{.num_lanes = 2};
  for (const Planted& planted : std::vector<Planted>{
           {"the fold overwrites what is being exposed", "in place", two, shooting(false, true), staged},
           {"the caller overwrites what is exposed by name", "by name", two, shooting(true, false), by_name},
           {"results overwrite what is exposed by name", "in place, by name", two, shooting(true, true),
            by_name_in_place},
           {"scratch of the next round", "", {.num_lanes = 2, .scratch_blocks = 1}, scratch_in_two_lanes, staged},
           {"a store that nobody is told of", "", {}, [](Builder&b, std::uint32_t) { return stores_silently(b); }, {}},
       }) {
    expect_found(planted, {.interleavings = 400});
    expect_found(planted, {.interleavings = 8, .most_states = 20000});
  }
}

TEST(Oracle, FindsThatLessIsNeededThanClaimed) {
  const Schedule ring = all_reduce::ring.make({.num_ranks = 4});
  Claims claims = judged_by_proof(ring).claims;
  ASSERT_EQ(claims.depth_fused, 2U);
  EXPECT_FALSE(examine(ring, claims, {}).trouble);
  claims.depth_fused = 1;
  const Findings shallow = examine(ring, claims, {});
  ASSERT_TRUE(shallow.trouble);
  EXPECT_NE(shallow.trouble->what.find("stuck"), std::string::npos) << shallow.trouble->what;
  EXPECT_FALSE(shallow.trouble->story.empty());

  const Schedule shot = all_to_all::direct.make({.collective = Collective::all_to_all, .num_ranks = 3});
  claims = judged_by_proof(shot).claims;
  ASSERT_GT(claims.slots, 1U);
  EXPECT_FALSE(examine(shot, claims, {}).trouble);
  --claims.slots;
  EXPECT_TRUE(examine(shot, claims, {}).trouble);
}

// --- barriers and sizes ---

Lane arrives(Builder& b, bool all) {
  co_yield b.signal();
  if (all || b.rank() != 2) co_yield b.wait_for_all_others(0);
}

TEST(Oracle, FindsWhoLeavesABarrierEarly) {
  const auto barrier = [](bool all) {
    Schedule schedule = scripted({.num_ranks = 3}, [=](Builder& b, std::uint32_t) { return arrives(b, all); });
    schedule.collective = Collective::barrier;
    schedule.spaces = spaces_of(schedule.collective, schedule.num_ranks);
    return schedule;
  };
  EXPECT_FALSE(examine(barrier(true), kFree, {}).trouble);
  const Findings early = examine(barrier(false), kFree, {});
  ASSERT_TRUE(early.trouble);
  EXPECT_NE(early.trouble->what.find("rank 2 leaves the barrier before"), std::string::npos) << early.trouble->what;
}

}  // namespace
}  // namespace tutti::oracle
