// SPDX-License-Identifier: Apache-2.0
// When copies to slots go through the caches and when past them, by a clock that the test sets.
#include "runtime/execution/slot_stores.hpp"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/selection/profile_choice.hpp"

namespace tutti {
namespace {

constexpr std::uint32_t kSlots = 4;
constexpr std::uint64_t kCopy = 512 << 10;  // each is a look, through the caches

thread_local std::uint64_t present = 0;
thread_local std::uint64_t each_takes = 0;  // between two readings
thread_local int more_for = -1;             // of the five readings of a long look; -1: none
thread_local int reading = 0;
constexpr std::uint64_t kMore = 4000;
std::uint64_t set_clock() {
  present += each_takes;
  if (reading++ % 5 == more_for) present += kMore;
  return present;
}
constexpr std::uint64_t kQuick = 500;
constexpr std::uint64_t kSlow = 4000;

const MachineProfile& profile() {
  static const MachineProfile kProfile = *choose_profile("intel_xeon").profile;
  return kProfile;
}
constexpr std::uint64_t kLeast = 4 << 10;      // as the profile says
constexpr std::uint64_t kMostShort = 8 << 10;  // as it says too

class Copies {
 public:
  explicit Copies(StoresChoice choice) : stores_(choice, profile(), kSlots, set_clock) {}
  // So many copies, each of which takes that time; whether they go past the caches afterwards.
  bool go_past_after(int number, std::uint64_t time, std::uint64_t bytes = kCopy) {
    each_takes = time;
    for (int each = 0; each < number; ++each) {
      std::vector<std::byte> from(bytes);
      for (std::size_t at = 0; at < bytes; ++at) from[at] = static_cast<std::byte>(at / 64 + at % 61);
      std::vector<std::byte> to(bytes);
      stores_.copy(to.data(), from.data(), bytes);
      EXPECT_EQ(to, from);
    }
    return stores_.goes_past(bytes < kLeast ? kLeast : bytes);
  }

  std::uint32_t num_past(std::uint64_t bytes = kCopy) { return stores_.num_past(bytes); }

 private:
  SlotStores stores_;
};

TEST(SlotStores, GoPastTheCachesWhereTheyAreSlowThere) {
  Copies copies(StoresChoice::automatic);
  EXPECT_FALSE(copies.go_past_after(kSlots + 10, kQuick));
  EXPECT_TRUE(copies.go_past_after(2, kSlow));
  EXPECT_TRUE(copies.go_past_after(1000, kSlow));
  // They are looked at now and then, and come back at the first sign.
  EXPECT_FALSE(copies.go_past_after(64, kQuick));
  EXPECT_TRUE(copies.go_past_after(2, kSlow));
}

TEST(SlotStores, MindNoneThatIsSlowByItself) {
  Copies copies(StoresChoice::automatic);
  copies.go_past_after(kSlots, kQuick);
  for (int turn = 0; turn < 10; ++turn) {
    EXPECT_FALSE(copies.go_past_after(1, kSlow));
    EXPECT_FALSE(copies.go_past_after(1, kQuick));
  }
}

// The system has to find pages for them.
TEST(SlotStores, MindNoneOfTheFirst) {
  Copies copies(StoresChoice::automatic);
  EXPECT_FALSE(copies.go_past_after(kSlots, 100 * kSlow));
  EXPECT_FALSE(copies.go_past_after(100, kQuick));
}

TEST(SlotStores, NeverGoPastWhatIsShort) {
  Copies copies(StoresChoice::automatic);
  EXPECT_FALSE(copies.go_past_after(1000, kSlow, kLeast - 1));
  EXPECT_TRUE(copies.go_past_after(1000, kSlow, kLeast));
  SlotStores past(StoresChoice::past, profile(), kSlots, set_clock);
  EXPECT_FALSE(past.takes(kLeast - 1));
  EXPECT_TRUE(past.takes(kLeast));
}

// Each quarter of a long copy by itself, and short ones by themselves.
TEST(SlotStores, GoPastInPart) {
  reading = 0;
  Copies copies(StoresChoice::automatic);
  EXPECT_FALSE(copies.go_past_after(kSlots + 1, kQuick));
  more_for = 3;
  EXPECT_FALSE(copies.go_past_after(1, kQuick));
  EXPECT_TRUE(copies.go_past_after(1, kQuick));
  EXPECT_TRUE(copies.go_past_after(100, kQuick));
  EXPECT_EQ(copies.num_past(), 1U);
  EXPECT_EQ(copies.num_past(kMostShort), 0U);
  for (const std::uint64_t bytes : {kMostShort + 1, std::uint64_t{12'345}, std::uint64_t{65 * 1024 + 1}})
    EXPECT_TRUE(copies.go_past_after(3, kQuick, bytes)) << bytes;
  more_for = -1;
  EXPECT_FALSE(copies.go_past_after(0, kQuick, kMostShort));
  EXPECT_FALSE(copies.go_past_after(32, kQuick));
}

TEST(SlotStores, DoWhatIsChosen) {
  EXPECT_FALSE(Copies(StoresChoice::cached).go_past_after(100, kSlow));
  EXPECT_TRUE(Copies(StoresChoice::past).go_past_after(100, kQuick));
}

TEST(SlotStores, CopyEveryByte) {
  for (const StoresChoice choice : {StoresChoice::automatic, StoresChoice::cached, StoresChoice::past}) {
    SlotStores stores(choice, profile(), 0, set_clock);
    each_takes = kSlow;
    for (const std::size_t bytes : {0U, 1U, 4095U, 4096U, 4097U, 8192U, 8193U, 100'001U})
      for (int turn = 0; turn < 3; ++turn) {
        std::vector<std::byte> from(bytes + 3);
        for (std::size_t at = 0; at < from.size(); ++at) from[at] = static_cast<std::byte>(at * 37 + bytes);
        std::vector<std::byte> to(bytes + 9, std::byte{0x5A});
        stores.copy(to.data() + 8, from.data() + 3, bytes);
        EXPECT_TRUE(bytes == 0 || std::memcmp(to.data() + 8, from.data() + 3, bytes) == 0) << bytes;
        EXPECT_EQ(to[7], std::byte{0x5A});
        EXPECT_EQ(to.back(), std::byte{0x5A});
      }
  }
}

}  // namespace
}  // namespace tutti
