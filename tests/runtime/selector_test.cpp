// The choice of a way, as far as it does not follow from measured sizes.
#include "runtime/selector.hpp"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

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
  void decide_for(Processor processor) { selector_.decide_for(processor); }
  void gather_both_ways_up_to(std::uint64_t bytes) { selector_.gather_both_ways_up_to(bytes); }

 private:
  shm::RegionShape shape_;
  Portfolio portfolio_{0, shape_};
  Selector selector_;
};

TEST(Selector, GathersBothWaysUpToTheSizeThatIsSet) {
  for (const std::uint32_t num_ranks : {2, 3, 8, 16}) {
    Chooser chooser(num_ranks);
    const std::string usual = num_ranks == 2 ? "ring, by size" : "two_shot_pull, by size";
    EXPECT_EQ(chooser.chosen(1 << 20), usual) << num_ranks;
    chooser.gather_both_ways_up_to(1 << 20);
    EXPECT_EQ(chooser.chosen(1 << 20), kBidirectional) << num_ranks;
    EXPECT_EQ(chooser.chosen((1 << 20) + 4), usual) << num_ranks;
    EXPECT_EQ(chooser.chosen(64), "one_shot, by size");
    EXPECT_EQ(chooser.chosen(1 << 20, {.symmetric = true}), "two_shot, by size, in symmetric memory") << num_ranks;
    chooser.gather_both_ways_up_to(kAnySize);
    EXPECT_EQ(chooser.chosen(1 << 30), kBidirectional) << num_ranks;
    EXPECT_EQ(chooser.chosen(0), "one_shot, by size");
  }
}

// Where the small path does not ask, whatever is chosen must be what it does.
TEST(Selector, AlwaysTakesOneShotWhereTheSmallPathDoes) {
  for (const std::uint32_t num_ranks : {2, 3, 4, 8, 16, 64}) {
    for (const Processor processor : {Processor::other, Processor::amd}) {
      Chooser chooser(num_ranks);
      chooser.decide_for(processor);
      for (std::uint64_t bytes = 0; bytes < kAlwaysOneShot; bytes += 1000) {
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
  EXPECT_EQ(chooser.chosen(1 << 20), "one_shot, by size");
  EXPECT_TRUE(pays_to_attach(Collective::all_gather, 1 << 20, 2, false, Processor::other));
  EXPECT_FALSE(pays_to_attach(Collective::all_gather, 1 << 20, 2, false, Processor::amd));
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
