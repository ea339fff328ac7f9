// The choice of a way, as far as it does not follow from measured sizes.
#include "runtime/selector.hpp"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace tutti {
namespace {

class SelectorTest : public testing::Test {
 protected:
  std::string chosen(std::uint64_t bytes) {
    const Result<Choice> choice = selector_.choose(Collective::all_reduce, bytes, {});
    return choice.ok() ? choice->way->name + ", " + std::string(choice->why) : choice.status().to_string();
  }

  shm::RegionShape shape_{.num_ranks = 2};
  Portfolio portfolio_{0, shape_};
  Selector selector_{portfolio_, 2};
};

TEST_F(SelectorTest, TheRingGathersBothWaysUpToTheSizeThatIsSet) {
  EXPECT_EQ(chosen(1 << 20), "ring, by size");
  selector_.gather_both_ways_up_to(1 << 20);
  EXPECT_EQ(chosen(1 << 20), "ring_bidir_ag, by TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE");
  EXPECT_EQ(chosen((1 << 20) + 4), "ring, by size");
  // It decides between those two only, and after what is forced.
  EXPECT_EQ(chosen(64), "one_shot, by size");
  const Result<Way*> ring = portfolio_.find(Collective::all_reduce, "ring");
  ASSERT_TRUE(ring.ok());
  selector_.force(Collective::all_reduce, **ring);
  EXPECT_EQ(chosen(1 << 20), "ring, forced");
}

}  // namespace
}  // namespace tutti
