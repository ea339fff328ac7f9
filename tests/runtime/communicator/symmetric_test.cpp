// SPDX-License-Identifier: Apache-2.0
// Symmetric memory: where it lies, and that what a rank sets aside stays so until it gives it back.
#include "runtime/communicator/symmetric.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../ranks_of_threads.hpp"

namespace tutti {
namespace {

constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;
constexpr std::uint64_t kPage = 4096;

class SymmetricMemory : public testing::Test {
 protected:
  [[nodiscard]] std::uint64_t blocks() const {
    struct stat facts {};
    EXPECT_EQ(fstat(region_->descriptor(), &facts), 0);
    return static_cast<std::uint64_t>(facts.st_blocks);
  }

  std::unique_ptr<shm::Region> region_ = std::move(shm::Region::create({.num_ranks = 2}).value());
  std::array<SymmetricHeap, 2> heaps_{SymmetricHeap{*region_, 0}, SymmetricHeap{*region_, 1}};
};

// What the system says of the mapping in which the address lies.
std::string flags_of(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream file("/proc/self/smaps");
  bool is_there = false;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    if (words >> std::hex >> begin >> dash >> end && dash == '-') is_there = begin <= wanted && wanted < end;
    if (is_there && line.starts_with("VmFlags:")) return line;
  }
  return "";
}

TEST_F(SymmetricMemory, LiesWhereHugePagesCan) {
  for (const std::uint64_t bytes : {std::uint64_t{100}, 3 * kHugePage, 5 * kPage}) {
    const Result<std::byte*> part = heaps_[0].allocate(bytes);
    ASSERT_TRUE(part.ok()) << part.status().to_string();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*part) % kHugePage, heaps_[0].segment_of(*part) % kHugePage);
    if (std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) {
      EXPECT_NE(flags_of(*part).find(" hg"), std::string::npos) << flags_of(*part);
    }
  }
}

TEST_F(SymmetricMemory, IsGivenBackWhole) {
  const std::uint64_t before = blocks();
  const Result<std::byte*> first = heaps_[0].allocate(3 * kPage + 100);
  const Result<std::byte*> second = heaps_[1].allocate(3 * kPage + 100);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_GE(blocks(), before + 2 * 4 * kPage / 512);
  EXPECT_TRUE(heaps_[0].free(*first).ok());
  EXPECT_TRUE(heaps_[1].free(*second).ok());
  EXPECT_EQ(blocks(), before);
}

TEST_F(SymmetricMemory, BeyondWhatTheMachineHasIsAnError) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  if (static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * kPage >= kMost) GTEST_SKIP() << "there may be room for it";
  const Result<std::byte*> part = heaps_[0].allocate(kMost);
  EXPECT_EQ(part.status().code(), Code::system);
  EXPECT_EQ(part.status().to_string().find("cannot set 1099511627776 bytes of symmetric memory aside on each of 2 "),
            0U)
      << part.status().to_string();
}

// One rank may still be giving back when another allocates anew, with other borders.
TEST(SymmetricMemoryOfRanks, StaysSetAside) {
  constexpr std::uint32_t kRanks = 3;
  constexpr int kTurns = 200;
  test::ThreadRanks group(kRanks);
  group.run([&](Communicator& communicator) {
    for (int turn = 0; turn < kTurns && !HasFailure(); ++turn) {
      const std::uint64_t bytes = (1 + static_cast<std::uint64_t>(turn) * 7 % 5) * 8 * kPage;
      const Result<void*> memory = communicator.allocate(bytes);
      ASSERT_TRUE(memory.ok()) << memory.status().to_string();
      // The file has no hole there.
      if (communicator.rank() == 0) {
        const auto begin = static_cast<off_t>(group.region().heap_offset());
        const off_t hole = lseek(group.region().descriptor(), begin, SEEK_HOLE);
        EXPECT_GE(hole, begin + static_cast<off_t>(kRanks * bytes)) << "turn " << turn;
      }
      ASSERT_TRUE(communicator.free(*memory).ok());
    }
  });
}

// The small path does not ask where buffers lie, and takes fewer bytes while there is symmetric memory.
TEST(SymmetricMemoryOfRanks, IsMadeUseOfFromSomeKilobytes) {
  constexpr std::uint64_t kCount = 2048;  // 8 KiB
  test::ThreadRanks group(2);
  group.run([&](Communicator& communicator) {
    std::vector<float> input(kCount, static_cast<float>(communicator.rank() + 1));
    std::vector<float> output(kCount);
    const auto expect_sum = [&](const float* from, float* to, std::uint64_t count, std::string_view where) {
      std::fill_n(to, kCount, 0.0F);
      ASSERT_TRUE(communicator.all_reduce(from, to, count, Type::f32, {}).ok());
      EXPECT_EQ(std::count(to, to + kCount, 3.0F), static_cast<std::ptrdiff_t>(count)) << where;
    };
    const auto symmetric_calls = [&] {
      std::uint64_t calls = 0;
      for (const Statistic& row : communicator.statistics())
        if (row.reach == "symmetric") calls += row.calls;
      return calls;
    };
    for (int turn = 0; turn < 3 && !HasFailure(); ++turn) {
      expect_sum(input.data(), output.data(), kCount, "before");
      const std::uint64_t before = symmetric_calls();
      const Result<void*> memory = communicator.allocate(2 * kCount * sizeof(float));
      ASSERT_TRUE(memory.ok()) << memory.status().to_string();
      auto* const shared = static_cast<float*>(*memory);
      std::copy(input.begin(), input.end(), shared);
      for (int again = 0; again < 3; ++again) {
        expect_sum(shared, shared + kCount, kCount, "symmetric");
        expect_sum(input.data(), output.data(), kCount, "ordinary beside it");
        expect_sum(shared, shared + kCount, 16, "few");
        expect_sum(shared, output.data(), kCount, "from it");
      }
      EXPECT_EQ(symmetric_calls(), before + 3);
      ASSERT_TRUE(communicator.free(*memory).ok());
      expect_sum(input.data(), output.data(), kCount, "behind");
    }
  });
}

}  // namespace
}  // namespace tutti
