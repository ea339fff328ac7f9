// The choice of a way, as far as it does not follow from measured sizes.
#include "runtime/selection/selector.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include "../ranks_of_threads.hpp"

namespace tutti {
namespace {

constexpr std::string_view kBidirectional = "ring_bidir_ag, by TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE";

// Of so many ranks.
class Chooser {
 public:
  explicit Chooser(std::uint32_t num_ranks) : shape_{.num_ranks = num_ranks}, selector_(portfolio_, num_ranks) {}

  std::string chosen(std::uint64_t bytes, const CallFacts& call = {}) {
    const Result<Choice> choice = selector_.choose(Collective::all_reduce, bytes, call);
    if (!choice.ok()) return choice.status().to_string();
    return choice->way->name + ", " + (choice->unfollowed ? "not " + choice->unfollowed->name + ": " : "") +
           std::string(choice->why);
  }
  void force(std::string_view name) {
    const Result<Way*> way = portfolio_.find(Collective::all_reduce, name);
    ASSERT_TRUE(way.ok());
    selector_.force(Collective::all_reduce, **way);
  }
  void decide_for(Processor processor, std::uint32_t num_folding = 0) { selector_.decide_for(processor, num_folding); }
  void gather_both_ways_up_to(std::uint64_t bytes) { selector_.gather_both_ways_up_to(bytes); }

 private:
  shm::RegionShape shape_;
  Portfolio portfolio_{0, shape_};
  Selector selector_;
};

// A size chooses between the two rings, and leaves other algorithms alone.
TEST(Selector, ASizeReplacesOnlyRingByRingBidirAg) {
  for (const Processor processor : {Processor::other, Processor::amd}) {
    Chooser chooser(2);
    chooser.decide_for(processor);
    EXPECT_EQ(chooser.chosen(1 << 19), "ring, by size");
    chooser.gather_both_ways_up_to(1 << 19);
    EXPECT_EQ(chooser.chosen(1 << 19), kBidirectional);
    EXPECT_EQ(chooser.chosen((1 << 19) + 4), "ring, by size");
    chooser.gather_both_ways_up_to(std::uint64_t{1} << 40);
    EXPECT_EQ(chooser.chosen(1 << 19), kBidirectional);
    EXPECT_EQ(chooser.chosen(64), "one_shot, by size");
    EXPECT_EQ(chooser.chosen(64 << 10), "one_shot, by size");
    EXPECT_EQ(chooser.chosen(16 << 20), "one_shot, by size");
    EXPECT_EQ(chooser.chosen(1 << 19, {.symmetric = true}), "two_shot, by size, in symmetric memory");
  }
  for (const std::uint32_t num_ranks : {3, 4, 8, 16}) {
    Chooser chooser(num_ranks);
    chooser.gather_both_ways_up_to(std::uint64_t{1} << 40);
    EXPECT_EQ(chooser.chosen(8 << 20), "two_shot_pull, by size") << num_ranks;
    chooser.decide_for(Processor::other, 2);
    EXPECT_EQ(chooser.chosen(8 << 20), "two_shot_few, by size") << num_ranks;
  }
}

TEST(Selector, MinusOneMeansRingBidirAgAlways) {
  for (const std::uint32_t num_ranks : {2, 3, 8, 16})
    for (const std::uint32_t num_folding : {0, 2}) {
      Chooser chooser(num_ranks);
      chooser.decide_for(Processor::other, num_folding);
      chooser.gather_both_ways_up_to(kAnySize);
      for (const std::uint64_t bytes : {0, 8, 20 << 10, 64 << 10, 8 << 20, 1 << 30}) {
        EXPECT_EQ(chooser.chosen(bytes), kBidirectional) << num_ranks << ", " << bytes;
        EXPECT_EQ(chooser.chosen(bytes, {.symmetric = true}), kBidirectional) << num_ranks << ", " << bytes;
      }
    }
}

TEST(Selector, MinusOneCoversSmallCalls) {
  Settings settings = Settings::from(Variables());
  settings.ring_bidir_ag_max_size = kAnyBytes;
  test::ThreadRanks group(2, settings);
  group.run([](Communicator& communicator) {
    for (const std::uint64_t count : {1, 2, 5 << 10, 1 << 17}) {
      std::vector<float> buffer(count, static_cast<float>(communicator.rank() + 1));
      ASSERT_TRUE(communicator.all_reduce(buffer.data(), buffer.data(), count, Type::f32, test::handle(Op::sum)).ok());
      EXPECT_EQ(buffer, std::vector<float>(count, 3));
    }
    std::uint64_t calls = 0;
    for (const Statistic& row : communicator.statistics()) {
      EXPECT_EQ(row.algorithm, "ring_bidir_ag");
      calls += row.calls;
    }
    EXPECT_EQ(calls, 4U);
  });
}

// Where the small path does not ask, whatever is chosen must be what it does.
TEST(Selector, AlwaysTakesOneShotWhereTheSmallPathDoes) {
  for (const std::uint32_t num_ranks : {2, 3, 4, 8, 16, 64}) {
    for (const Processor processor : {Processor::other, Processor::amd}) {
      Chooser chooser(num_ranks);
      chooser.decide_for(processor);
      std::vector<std::uint64_t> sizes = {4095, 4096, 16383, 16384, kAlwaysOneShot - 1};
      for (std::uint64_t bytes = 0; bytes < kAlwaysOneShot; bytes += 1000) sizes.push_back(bytes);
      for (const std::uint64_t bytes : sizes) {
        EXPECT_EQ(chooser.chosen(bytes), "one_shot, by size") << num_ranks << ", " << bytes;
        EXPECT_EQ(chooser.chosen(bytes, {.symmetric = true}), bytes < always_one_shot_symmetric(num_ranks)
                                                                  ? "one_shot, by size"
                                                                  : "two_shot, by size, in symmetric memory")
            << num_ranks << ", " << bytes;
      }
    }
  }
}

TEST(Selector, KnowsAmdsCaches) {
  Chooser chooser(2);
  chooser.decide_for(Processor::amd);
  EXPECT_EQ(chooser.chosen(128 << 10), "one_shot, by size");
  EXPECT_EQ(chooser.chosen(4 << 20), "ring, by size");
  EXPECT_EQ(chooser.chosen((4 << 20) + 4), "one_shot, by size");
  Chooser of_four(4);
  Chooser of_eight(8);
  EXPECT_EQ(of_four.chosen(128 << 10), "one_shot, by size");
  EXPECT_EQ(of_eight.chosen(64 << 10), "one_shot, by size");
  of_four.decide_for(Processor::amd);
  of_eight.decide_for(Processor::amd);
  EXPECT_EQ(of_four.chosen((64 << 10) - 1), "one_shot, by size");
  EXPECT_EQ(of_four.chosen(64 << 10), "two_shot_pull, by size");
  EXPECT_EQ(of_eight.chosen(32 << 10), "one_shot, by size");
  EXPECT_EQ(of_eight.chosen(64 << 10), "two_shot_pull, by size");
  EXPECT_TRUE(pays_to_attach(Collective::all_gather, 1 << 20, 2, false, Processor::other, false));
  for (const Collective collective : {Collective::broadcast, Collective::all_gather, Collective::reduce_scatter})
    EXPECT_FALSE(pays_to_attach(collective, 128 << 10, 2, false, Processor::amd, true));
  EXPECT_TRUE(pays_to_attach(Collective::all_to_all, 1 << 20, 4, true, Processor::other, false));
  // Of two ranks, where both ends copy.
  EXPECT_FALSE(pays_to_attach(Collective::reduce, 128 << 10, 2, false, Processor::other, false));
  EXPECT_TRUE(pays_to_attach(Collective::reduce, 128 << 10, 2, false, Processor::other, true));
  EXPECT_FALSE(pays_to_attach(Collective::reduce, 128 << 10, 3, false, Processor::other, true));
  EXPECT_FALSE(pays_to_attach(Collective::all_to_all, 1 << 20, 4, true, Processor::amd, false));
}

TEST(Selector, StreamsWhatDoesNotStayInTheCaches) {
  constexpr std::uint64_t kMega = 1 << 20;
  const auto min_of = [](const CacheFacts& facts) { return usual_stream_min(facts, false, false); };
  CacheFacts facts{.processor = Processor::amd, .core_cache = kMega, .last_level_cache = 32 * kMega, .num_ranks = 2};
  EXPECT_EQ(min_of(facts), 8 * kMega);
  facts.last_level_cache = 512 * kMega;
  EXPECT_EQ(min_of(facts), 16 * kMega);
  facts.processor = Processor::other;
  facts.core_cache = 2 * kMega;
  EXPECT_EQ(min_of(facts), kMega);
  EXPECT_EQ(usual_stream_min(facts, false, true), 6 * kMega);
  EXPECT_EQ(usual_stream_min(facts, true, true), 4 * kMega);
  // Cores' own caches are as many as there are cores in use.
  facts.num_ranks = 8;
  facts.num_cores = 2;
  EXPECT_EQ(min_of(facts), kMega);
  facts.num_cores = 64;
  EXPECT_EQ(min_of(facts), 4 * kMega);
  facts.core_cache = 256 << 10;
  EXPECT_EQ(min_of(facts), 4 * kMega);
  facts.last_level_cache = 8 * kMega;
  EXPECT_EQ(min_of(facts), 2 * kMega);
}

TEST(Selector, SpreadsSlotsOverNeitherTooMuchNorTooLittle) {
  constexpr std::uint64_t kMega = 1 << 20;
  CacheFacts facts{.processor = Processor::amd, .core_cache = kMega, .last_level_cache = 32 * kMega, .num_cores = 8};
  const auto of_slots = [&](std::uint32_t num_ranks) {
    facts.num_ranks = num_ranks;
    return usual_spread(facts, num_ranks);
  };
  const auto of_connections = [&](std::uint32_t num_ranks) {
    facts.num_ranks = num_ranks;
    return usual_spread(facts, num_ranks * (num_ranks - 1));
  };
  EXPECT_EQ(of_slots(2), 2 * kMega);
  EXPECT_EQ(of_slots(8), 2 * kMega);
  EXPECT_EQ(of_slots(12), 4 * kMega / 3);
  EXPECT_EQ(of_slots(16), kMega);
  EXPECT_EQ(of_slots(17), 0U);
  facts.num_cores = 64;
  EXPECT_EQ(of_slots(16), kMega);
  EXPECT_EQ(of_slots(17), 0U);
  EXPECT_EQ(of_connections(1), 0U);
  EXPECT_EQ(of_connections(2), 2 * kMega);
  EXPECT_EQ(of_connections(4), 4 * kMega / 3);
  EXPECT_EQ(of_connections(5), 0U);
  facts.processor = Processor::other;
  facts.core_cache = 2 * kMega;
  facts.num_cores = 8;
  EXPECT_EQ(of_slots(2), kMega / 2);
  EXPECT_EQ(of_slots(4), kMega / 4);
  EXPECT_EQ(of_slots(5), 0U);
  EXPECT_EQ(of_connections(2), kMega / 2);
  facts.core_cache = kMega / 2;
  EXPECT_EQ(of_slots(2), 0U);
  facts.core_cache = 2 * kMega;
  facts.last_level_cache = kMega;
  EXPECT_EQ(of_slots(2), kMega / 4);
  EXPECT_EQ(of_slots(3), 0U);
  facts.last_level_cache = 32 * kMega;
  facts.num_cores = 2;
  facts.crowded = true;
  EXPECT_EQ(of_slots(4), kMega / 8);
  EXPECT_EQ(of_slots(5), 0U);
}

// Where ranks share cores, as many fold as there are cores.
TEST(Selector, HasFewFoldWhereRanksShareCores) {
  Chooser of_two(2);
  of_two.decide_for(Processor::amd, 1);
  EXPECT_EQ(of_two.chosen(1 << 20), "ring, by size");
  Chooser of_eight(8);
  for (const Processor processor : {Processor::other, Processor::amd}) {
    of_eight.decide_for(processor, 0);
    EXPECT_EQ(of_eight.chosen(1 << 20), "two_shot_pull, by size");
    of_eight.decide_for(processor, 2);
    EXPECT_EQ(of_eight.chosen(1 << 20), "two_shot_few, by size");
    EXPECT_EQ(of_eight.chosen(1 << 20, {.symmetric = true}), "two_shot, by size, in symmetric memory");
    of_eight.decide_for(processor, 3);
    EXPECT_EQ(of_eight.chosen(1 << 20), "two_shot_few(3), by size");
    of_eight.decide_for(processor, 1);
    EXPECT_EQ(of_eight.chosen(1 << 20), "two_shot_few, by size");
    EXPECT_EQ(of_eight.chosen(kAlwaysOneShot), "two_shot_few, by size");
    EXPECT_EQ(of_eight.chosen(kAlwaysOneShot - 1), "one_shot, by size");
  }
  Chooser of_four(4);
  of_four.decide_for(Processor::amd, 2);
  EXPECT_EQ(of_four.chosen((64 << 10) - 1), "one_shot, by size");
  EXPECT_EQ(of_four.chosen(64 << 10), "two_shot_few, by size");
}

TEST(Selector, KnowsFromWhereOnOthersStream) {
  Chooser chooser(2);
  EXPECT_EQ(chooser.chosen((1 << 20) - 1), "ring, by size");
  EXPECT_EQ(chooser.chosen(1 << 20), "one_shot, by size");
}

// The first ranks of as many as there are cores fold; not where they have one core between them.
TEST(Selector, HasRanksFoldThatHaveACoreEach) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  if (CPU_COUNT(&allowed) < 2) GTEST_SKIP() << "there is one core";
  for (const bool in_turn : {true, false}) {
    test::ThreadRanks group(6);
    group.run(
        [&](Communicator& communicator) {
          std::vector<float> buffer(100'000);
          ASSERT_TRUE(
              communicator.all_reduce(buffer.data(), buffer.data(), buffer.size(), Type::f32, test::handle(Op::sum))
                  .ok());
          for (const Statistic& row : communicator.statistics())
            EXPECT_EQ(row.algorithm, in_turn ? "two_shot_few" : "two_shot_pull");
        },
        [&](std::uint32_t rank, Settings&) { test::ThreadRanks::run_on(in_turn ? rank % 2 : rank / 3); });
  }
}

// Rank 0's decides, whatever the others run on.
TEST(Selector, RanksOnSeveralProcessorsDecideAlike) {
  constexpr std::uint64_t kCount = 3 << 18;  // of 4 bytes each
  for (const Processor of_first : {Processor::other, Processor::amd}) {
    test::ThreadRanks group(2);
    group.run(
        [&](Communicator& communicator) {
          const std::vector<float> input(kCount, 1);
          std::vector<float> output(2 * kCount);
          for (const Collective collective : {Collective::all_reduce, Collective::all_gather}) {
            const Status status = communicator.run(
                {.collective = collective, .input = input.data(), .output = output.data(), .count = kCount});
            EXPECT_TRUE(status.ok()) << status.to_string();
          }
          for (const Statistic& row : communicator.statistics())
            if (row.operation == "all_reduce" && row.reach != "small") {
              EXPECT_EQ(row.algorithm, of_first == Processor::amd ? "ring" : "one_shot");
            }
        },
        [&](std::uint32_t rank, Settings& settings) {
          settings.processor = (of_first == Processor::amd) == (rank == 0) ? Processor::amd : Processor::other;
        });
  }
}

TEST(Selector, DoesWhatIsForcedWhateverThatSize) {
  Chooser chooser(4);
  chooser.gather_both_ways_up_to(kAnySize);
  for (const std::string name : {"ring", "recursive_doubling", "ring_bidir_ag"}) {
    chooser.force(name);
    EXPECT_EQ(chooser.chosen(1 << 20), name + ", forced");
    EXPECT_EQ(chooser.chosen(64), name + ", forced");
  }
}

TEST(Selector, SaysWhatKeepsItFromGatheringBothWays) {
  Chooser chooser(2);
  chooser.gather_both_ways_up_to(kAnySize);
  const std::string chosen = chooser.chosen(16 << 20, {.op = Op::user, .commutative = false});
  EXPECT_EQ(chosen.find("one_shot, not ring_bidir_ag: "), 0U) << chosen;
}

}  // namespace
}  // namespace tutti
