// SPDX-License-Identifier: Apache-2.0
// The choice of a way, as far as it does not follow from measured sizes.
#include "runtime/selection/selector.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include "../ranks_of_threads.hpp"
#include "runtime/selection/profile_choice.hpp"
#include "runtime/selection/shipped_profiles.hpp"
#include "table/table_file.hpp"

namespace tutti {
namespace {

constexpr std::string_view kBidirectional = "ring_bidir_ag, by TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE";

constexpr std::string_view kXeon = "intel_xeon";
constexpr std::string_view kEpyc = "amd_epyc";

MachineProfile shipped(std::string_view name, const CacheSizes& caches = {}) {
  return choose_profile(name).profile->for_caches(caches);
}

// Of so many ranks.
class Chooser {
 public:
  explicit Chooser(std::uint32_t num_ranks, Hosts hosts = {})
      : shape_{.num_ranks = num_ranks},
        hosts_(std::move(hosts)),
        portfolio_(0, shape_, hosts_),
        selector_(portfolio_, num_ranks) {
    decide_for(kXeon);
  }

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
  void decide_for(std::string_view profile, std::uint32_t num_folding = 0) {
    profile_ = shipped(profile);
    selector_.decide_by(profile_.rules, num_folding);
  }
  void decide_between_hosts(std::string_view profile) { decide_between_hosts_by(shipped(profile)); }
  void decide_between_hosts_by(MachineProfile profile) {
    profile_ = std::move(profile);
    selector_.decide_between_hosts_by(profile_.rules, hosts_.count(), hosts_.sizes());
  }
  void obey(const DecisionTable& table) { selector_.obey(&table, false); }
  std::uint64_t always_below(bool symmetric) { return selector_.always_below("one_shot", symmetric, TypeClass::plain); }
  void gather_both_ways_up_to(std::optional<std::uint64_t> bytes) { selector_.gather_both_ways_up_to(bytes); }

 private:
  shm::RegionShape shape_;
  Hosts hosts_;
  MachineProfile profile_;
  Portfolio portfolio_;
  Selector selector_;
};

// Ranks on several hosts go by rules of their own, and by nothing that one host has measured.
TEST(Selector, HostsHaveRulesOfTheirOwn) {
  const auto chosen_by = [](const std::vector<std::uint32_t>& host_of, std::uint64_t bytes) {
    Chooser chooser(static_cast<std::uint32_t>(host_of.size()), Hosts{host_of});
    chooser.decide_between_hosts(kGenericProfile);
    return chooser.chosen(bytes);
  };
  EXPECT_EQ(chosen_by({0, 1}, 8), "recursive_doubling, by size");
  EXPECT_EQ(chosen_by({0, 1}, 64 << 20), "recursive_doubling, by size");
  EXPECT_EQ(chosen_by({0, 0, 1, 1}, 16 << 10), "recursive_doubling, by size");
  EXPECT_EQ(chosen_by({0, 0, 1, 1}, 1 << 20), "hierarchical(2+2, ring), by size");
  EXPECT_EQ(chosen_by({0, 1, 1, 2, 2, 2}, 1 << 20), "hierarchical(1+2+3, ring), by size");
  // One rank a host, and ranks of a host that are not neighbours.
  EXPECT_EQ(chosen_by({0, 1, 2, 3}, 1 << 20), "ring_bidir_ag, by size");
  EXPECT_EQ(chosen_by({0, 1, 0, 1}, 1 << 20), "ring_bidir_ag, by size");
  // 512 KiB for each rank, and more.
  EXPECT_EQ(chosen_by({0, 1, 2}, 3 << 19), "ring_bidir_ag, by size");
  EXPECT_EQ(chosen_by({0, 1, 2}, (3 << 19) + 4), "ring, by size");
  EXPECT_EQ(chosen_by({0, 1, 0, 1}, 64 << 10), "rabenseifner, by size");
}

TEST(Selector, HostsObeyNoTableOfOneHost) {
  const Result<DecisionTable> table = read_table(R"toml(version = 1
[machine]
fingerprint = "any"
[[section]]
collective = "all_reduce"
ranks = 2
  [[section.range]]
  algorithm = "ring"
)toml",
                                                 "t.toml");
  ASSERT_TRUE(table.ok()) << table.status().to_string();
  Chooser chooser(2, Hosts{{0, 1}});
  chooser.obey(*table);
  EXPECT_EQ(chooser.chosen(8).substr(0, 5), "ring,");
  chooser.decide_between_hosts(kGenericProfile);
  EXPECT_EQ(chooser.chosen(8), "recursive_doubling, by size; t.toml has nothing for 2 ranks on 2 hosts");
}

TEST(Selector, HostsObeyATableOfSeveralHosts) {
  const Result<DecisionTable> table = read_table(R"toml(version = 1
[machine]
fingerprint = "any"
cores = 1
[[section]]
collective = "all_reduce"
ranks = 4
hosts = 2
  [[section.range]]
  most_bytes = 8
  [[section.range]]
  most_bytes = "1K"
  algorithm = "one_shot"
  [[section.range]]
  algorithm = "hierarchical(2+2, recursive_doubling)"
)toml",
                                                 "t.toml");
  ASSERT_TRUE(table.ok()) << table.status().to_string();
  const auto chosen_by = [&](const std::vector<std::uint32_t>& host_of, std::uint64_t bytes) {
    Chooser chooser(static_cast<std::uint32_t>(host_of.size()), Hosts{host_of});
    chooser.obey(*table);
    chooser.decide_between_hosts(kGenericProfile);
    return chooser.chosen(bytes);
  };
  EXPECT_EQ(chosen_by({0, 0, 1, 1}, 8), "recursive_doubling, by size, which t.toml:9 leaves it to");
  EXPECT_EQ(chosen_by({0, 0, 1, 1}, 2048), "hierarchical(2+2, recursive_doubling), t.toml:15");
  // What reaches the memory of another host cannot be followed.
  EXPECT_NE(chosen_by({0, 0, 1, 1}, 16).find("not one_shot: it reaches the memory"), std::string::npos)
      << chosen_by({0, 0, 1, 1}, 16);
  // Groups of another shape.
  EXPECT_TRUE(chosen_by({0, 1, 1, 1}, 1 << 20).starts_with("hierarchical(1+3, ring), not hierarchical(2+2, "))
      << chosen_by({0, 1, 1, 1}, 1 << 20);
}

// A size chooses between the two rings, and leaves other algorithms alone.
TEST(Selector, ASizeReplacesOnlyRingByRingBidirAg) {
  for (const std::string_view profile : {kXeon, kEpyc}) {
    Chooser chooser(2);
    chooser.decide_for(profile);
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
    chooser.decide_for(kXeon, 2);
    EXPECT_EQ(chooser.chosen(8 << 20), "two_shot_few, by size") << num_ranks;
  }
}

// The same where a table or the rules say ring_bidir_ag: the size that is asked for takes precedence.
TEST(Selector, ASizeChoosesTheRingBetweenHosts) {
  const std::string asked = ", by TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE";
  Chooser chooser(4, Hosts{{0, 1, 2, 3}});
  chooser.decide_between_hosts(kGenericProfile);
  chooser.gather_both_ways_up_to(0);
  EXPECT_EQ(chooser.chosen(1 << 20), "ring" + asked);
  EXPECT_EQ(chooser.chosen(4 << 20), "ring, by size");
  chooser.gather_both_ways_up_to(64 << 20);
  EXPECT_EQ(chooser.chosen(1 << 20), "ring_bidir_ag, by size");
  EXPECT_EQ(chooser.chosen(4 << 20), "ring_bidir_ag" + asked);
  EXPECT_EQ(chooser.chosen(8), "recursive_doubling, by size");
}

TEST(Selector, ABoundForEachRankMayBeAnySize) {
  Chooser chooser(4, Hosts{{0, 1, 2, 3}});
  MachineProfile profile = shipped(kGenericProfile);
  for (Rule& rule : profile.rules)
    if (rule.algorithm == "ring_bidir_ag") rule.most_bytes_per_rank = std::uint64_t{1} << 63U;
  chooser.decide_between_hosts_by(profile);
  EXPECT_EQ(chooser.chosen(std::uint64_t{1} << 60U), "ring_bidir_ag, by size");
}

TEST(Selector, ASizeReplacesRingBidirAgByRing) {
  const Result<DecisionTable> table = read_table(R"toml(version = 1
[machine]
fingerprint = "any"
[[section]]
collective = "all_reduce"
ranks = 4
  [[section.range]]
  most_bytes = "1M"
  algorithm = "ring_bidir_ag"
  [[section.range]]
  algorithm = "ring"
)toml",
                                                 "t.toml");
  ASSERT_TRUE(table.ok()) << table.status().to_string();
  Chooser chooser(4);
  chooser.obey(*table);
  EXPECT_EQ(chooser.chosen(1 << 20), "ring_bidir_ag, t.toml:9");
  EXPECT_EQ(chooser.chosen(2 << 20), "ring, t.toml:11");
  chooser.gather_both_ways_up_to(0);
  EXPECT_EQ(chooser.chosen(4), "ring, by TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE");
  EXPECT_EQ(chooser.chosen(2 << 20), "ring, t.toml:11");
  chooser.gather_both_ways_up_to(1 << 10);
  EXPECT_EQ(chooser.chosen(1 << 10), "ring_bidir_ag, t.toml:9");
  EXPECT_EQ(chooser.chosen((1 << 10) + 4), "ring, by TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE");
  chooser.gather_both_ways_up_to({});
  EXPECT_EQ(chooser.chosen(1 << 20), "ring_bidir_ag, t.toml:9");
}

TEST(Selector, MinusOneMeansRingBidirAgAlways) {
  for (const std::uint32_t num_ranks : {2, 3, 8, 16})
    for (const std::uint32_t num_folding : {0, 2}) {
      Chooser chooser(num_ranks);
      chooser.decide_for(kXeon, num_folding);
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

// The small path does not ask the selector, so it must end where the rules name another algorithm.
TEST(Selector, TellsBelowWhichSizeAllReduceIsAlwaysOneShot) {
  for (const std::uint32_t num_ranks : {2, 3, 4, 8, 16, 64})
    for (const ShippedProfile& each : shipped_profiles())
      for (const std::uint32_t num_folding : {0, 2}) {
        Chooser chooser(num_ranks);
        chooser.decide_for(each.name, num_folding);
        for (const bool symmetric : {false, true}) {
          const std::uint64_t below = chooser.always_below(symmetric);
          EXPECT_GE(below, 4096U);
          for (std::uint64_t bytes = 0; bytes < below; bytes += 500)
            EXPECT_EQ(chooser.chosen(bytes, {.symmetric = symmetric}), "one_shot, by size")
                << num_ranks << " " << bytes;
          EXPECT_EQ(chooser.chosen(below - 1, {.symmetric = symmetric}), "one_shot, by size");
          EXPECT_NE(chooser.chosen(below, {.symmetric = symmetric}), "one_shot, by size") << num_ranks << " " << below;
        }
      }
}

TEST(Selector, KnowsAmdsCaches) {
  Chooser chooser(2);
  chooser.decide_for(kEpyc);
  EXPECT_EQ(chooser.chosen(128 << 10), "one_shot, by size");
  EXPECT_EQ(chooser.chosen(4 << 20), "ring, by size");
  EXPECT_EQ(chooser.chosen((4 << 20) + 4), "one_shot, by size");
  Chooser of_four(4);
  Chooser of_eight(8);
  EXPECT_EQ(of_four.chosen(128 << 10), "one_shot, by size");
  EXPECT_EQ(of_eight.chosen(64 << 10), "one_shot, by size");
  of_four.decide_for(kEpyc);
  of_eight.decide_for(kEpyc);
  EXPECT_EQ(of_four.chosen((64 << 10) - 1), "one_shot, by size");
  EXPECT_EQ(of_four.chosen(64 << 10), "two_shot_pull, by size");
  EXPECT_EQ(of_eight.chosen(32 << 10), "one_shot, by size");
  EXPECT_EQ(of_eight.chosen(64 << 10), "two_shot_pull, by size");
  EXPECT_TRUE(shipped(kXeon).pays_to_attach(Collective::all_gather, 1 << 20, 2, false, false));
  for (const Collective collective : {Collective::broadcast, Collective::all_gather, Collective::reduce_scatter})
    EXPECT_FALSE(shipped(kEpyc).pays_to_attach(collective, 128 << 10, 2, false, true));
  EXPECT_TRUE(shipped(kXeon).pays_to_attach(Collective::all_to_all, 1 << 20, 4, true, false));
  // Of two ranks, where both ends copy.
  EXPECT_FALSE(shipped(kXeon).pays_to_attach(Collective::reduce, 128 << 10, 2, false, false));
  EXPECT_TRUE(shipped(kXeon).pays_to_attach(Collective::reduce, 128 << 10, 2, false, true));
  EXPECT_FALSE(shipped(kXeon).pays_to_attach(Collective::reduce, 128 << 10, 3, false, true));
  EXPECT_FALSE(shipped(kEpyc).pays_to_attach(Collective::all_to_all, 1 << 20, 4, true, false));
}

TEST(MachineProfile, StreamsWhatDoesNotStayInTheCaches) {
  constexpr std::uint64_t kMega = 1 << 20;
  CacheSizes caches{.core = kMega, .last = 32 * kMega};
  RanksOnCores ranks{.num_cores = 1, .num_ranks = 2};
  const auto min_of = [&](std::string_view name, OutputUse use = OutputUse::kept) {
    return stream_min_of(shipped(name, caches), caches, ranks, use);
  };
  EXPECT_EQ(min_of(kEpyc), 8 * kMega);
  caches.last = 512 * kMega;
  EXPECT_EQ(min_of(kEpyc), 16 * kMega);
  caches.core = 2 * kMega;
  EXPECT_EQ(min_of(kXeon), kMega);
  EXPECT_EQ(min_of(kXeon, OutputUse::passed_on), 6 * kMega);
  EXPECT_EQ(min_of(kXeon, OutputUse::pushed), 4 * kMega);
  // Cores' own caches are as many as there are cores in use.
  ranks = {.num_cores = 2, .num_ranks = 8};
  EXPECT_EQ(min_of(kXeon), kMega);
  ranks.num_cores = 64;
  EXPECT_EQ(min_of(kXeon), 4 * kMega);
  caches.core = 256 << 10;
  EXPECT_EQ(min_of(kXeon), 4 * kMega);
  caches.last = 8 * kMega;
  EXPECT_EQ(min_of(kXeon), 2 * kMega);
}

TEST(MachineProfile, SpreadsSlotsOverNeitherTooMuchNorTooLittle) {
  constexpr std::uint64_t kMega = 1 << 20;
  CacheSizes caches{.core = kMega, .last = 32 * kMega};
  RanksOnCores ranks{.num_cores = 8};
  std::string_view name = kEpyc;
  const auto over = [&](std::uint32_t num_ranks, std::uint32_t num_groups) {
    ranks.num_ranks = num_ranks;
    return spread_of(shipped(name, caches), caches, ranks, num_groups);
  };
  const auto of_slots = [&](std::uint32_t num_ranks) { return over(num_ranks, num_ranks); };
  const auto of_connections = [&](std::uint32_t num_ranks) { return over(num_ranks, num_ranks * (num_ranks - 1)); };
  EXPECT_EQ(of_slots(2), 2 * kMega);
  EXPECT_EQ(of_slots(8), 2 * kMega);
  EXPECT_EQ(of_slots(12), 4 * kMega / 3);
  EXPECT_EQ(of_slots(16), kMega);
  EXPECT_EQ(of_slots(17), 0U);
  ranks.num_cores = 64;
  EXPECT_EQ(of_slots(16), kMega);
  EXPECT_EQ(of_slots(17), 0U);
  EXPECT_EQ(of_connections(1), 0U);
  EXPECT_EQ(of_connections(2), 2 * kMega);
  EXPECT_EQ(of_connections(4), 4 * kMega / 3);
  EXPECT_EQ(of_connections(5), 0U);
  name = kXeon;
  caches.core = 2 * kMega;
  ranks.num_cores = 8;
  EXPECT_EQ(of_slots(2), kMega / 2);
  EXPECT_EQ(of_slots(4), kMega / 4);
  EXPECT_EQ(of_slots(5), 0U);
  EXPECT_EQ(of_connections(2), kMega / 2);
  caches.core = kMega / 2;
  EXPECT_EQ(of_slots(2), 0U);
  caches.core = 2 * kMega;
  caches.last = kMega;
  EXPECT_EQ(of_slots(2), kMega / 4);
  EXPECT_EQ(of_slots(3), 0U);
  caches.last = 32 * kMega;
  ranks.num_cores = 2;
  ranks.crowded = true;
  EXPECT_EQ(of_slots(4), kMega / 8);
  EXPECT_EQ(of_slots(5), 0U);
}

// Where ranks share cores, as many fold as there are cores.
TEST(Selector, HasFewFoldWhereRanksShareCores) {
  Chooser of_two(2);
  of_two.decide_for(kEpyc, 1);
  EXPECT_EQ(of_two.chosen(1 << 20), "ring, by size");
  Chooser of_eight(8);
  for (const std::string_view profile : {kXeon, kEpyc}) {
    of_eight.decide_for(profile, 0);
    EXPECT_EQ(of_eight.chosen(1 << 20), "two_shot_pull, by size");
    of_eight.decide_for(profile, 2);
    EXPECT_EQ(of_eight.chosen(1 << 20), "two_shot_few, by size");
    EXPECT_EQ(of_eight.chosen(1 << 20, {.symmetric = true}), "two_shot, by size, in symmetric memory");
    of_eight.decide_for(profile, 3);
    EXPECT_EQ(of_eight.chosen(1 << 20), "two_shot_few(3), by size");
    of_eight.decide_for(profile, 1);
    EXPECT_EQ(of_eight.chosen(1 << 20), "two_shot_few, by size");
    EXPECT_EQ(of_eight.chosen((32 << 10)), "two_shot_few, by size");
    EXPECT_EQ(of_eight.chosen((32 << 10) - 1), "one_shot, by size");
  }
  Chooser of_four(4);
  of_four.decide_for(kEpyc, 2);
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
