// SPDX-License-Identifier: Apache-2.0
// Buffers whose bytes pass 2^31 and 2^32, staged, attached and in symmetric memory. Two ranks, as threads. What a rank
// gives is the same byte for a megabyte; of what it gets, samples are looked at, and every byte near these borders.
#include <algorithm>
#include <cstring>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "../ranks_of_threads.hpp"
#include "base/system/memory_limits.hpp"

namespace tutti {
namespace {

constexpr std::uint32_t kRanks = 2;
constexpr std::uint64_t kGuard = 64;
constexpr std::byte kGuarded{0xA5};

enum class Memory : std::uint8_t { staged, attached, symmetric };

struct Large {
  Collective collective = Collective::all_reduce;
  std::uint64_t count = 0;  // bytes of a block
  Memory memory = Memory::staged;
  bool in_place = false;
};

std::uint8_t given(std::uint32_t rank, std::uint64_t place) {
  return static_cast<std::uint8_t>((place >> 20) * 37 + std::uint64_t{rank} * 101 + (place >> 31));
}

std::uint8_t expected(const Large& large, std::uint32_t rank, std::uint64_t place) {
  const std::uint64_t within = place % large.count;
  const auto block = static_cast<std::uint32_t>(place / large.count);
  const std::uint64_t own = rank * large.count + within;
  switch (large.collective) {
    case Collective::all_reduce:
    case Collective::reduce: return static_cast<std::uint8_t>(given(0, place) + given(1, place));
    case Collective::reduce_scatter: return static_cast<std::uint8_t>(given(0, own) + given(1, own));
    case Collective::scan: return static_cast<std::uint8_t>(given(0, place) + (rank == 1 ? given(1, place) : 0));
    case Collective::broadcast: return given(0, place);
    case Collective::scatter: return given(0, own);
    case Collective::all_to_all: return given(block, own);
    default: return given(block, within);  // gathers
  }
}

// Ordinary memory that is nobody's until it is touched.
class Pages {
 public:
  explicit Pages(std::uint64_t bytes)
      : bytes_(bytes),
        memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    EXPECT_NE(memory_, MAP_FAILED);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(memory_, bytes_); }
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_); }

 private:
  std::uint64_t bytes_;
  void* memory_;
};

void give(std::byte* input, std::uint64_t bytes, std::uint32_t rank) {
  constexpr std::uint64_t kRun = 1 << 20;
  for (std::uint64_t place = 0; place < bytes; place += kRun)
    std::memset(input + place, given(rank, place), std::min(kRun, bytes - place));
}

void expect_right(const Large& large, std::uint32_t rank, const std::byte* output, std::uint64_t bytes) {
  const auto first_wrong = [&](std::uint64_t from, std::uint64_t to, std::uint64_t step) {
    for (std::uint64_t place = from; place < to; place += step)
      if (std::to_integer<std::uint8_t>(output[place]) != expected(large, rank, place)) return place;
    return bytes;
  };
  EXPECT_EQ(first_wrong(0, bytes, 997), bytes) << "rank " << rank;
  for (const std::uint64_t border :
       {std::uint64_t{0}, std::uint64_t{1} << 31, std::uint64_t{1} << 32, large.count, bytes}) {
    const std::uint64_t from = border - std::min<std::uint64_t>(border, 10'000);
    EXPECT_EQ(first_wrong(std::min(from, bytes), std::min(border + 10'000, bytes), 1), bytes) << "rank " << rank;
  }
  EXPECT_TRUE(std::all_of(output + bytes, output + bytes + kGuard, [](std::byte each) { return each == kGuarded; }));
}

class LargeBuffers : public testing::TestWithParam<Large> {};

TEST_P(LargeBuffers, AreRight) {
  const Large& large = GetParam();
  const CollectiveFacts& facts = facts_of(large.collective);
  const std::uint64_t inputs = large.count * (facts.many_inputs ? kRanks : 1);
  const std::uint64_t outputs = large.count * (facts.many_outputs ? kRanks : 1);
  const std::uint64_t of_rank = (large.in_place ? std::max(inputs, outputs) : inputs + outputs) + 2 * kGuard;
  const std::uint64_t wanted = kRanks * of_rank + (std::uint64_t{2} << 30);
  if (MemoryLimits::of_this_process().available < wanted)
    GTEST_SKIP() << fmt::format("{} MiB of memory are available, and {} are needed",
                                MemoryLimits::of_this_process().available >> 20, wanted >> 20);
  Settings settings = Settings::from(Variables());
  settings.attach_min = large.memory == Memory::attached ? 1 : std::uint64_t{1} << 60;
  test::ThreadRanks group(kRanks, settings);
  group.run([&](Communicator& communicator) {
    const std::uint32_t rank = communicator.rank();
    const bool is_symmetric = large.memory == Memory::symmetric;
    const Pages pages(is_symmetric ? 4096 : of_rank);
    std::byte* input = pages.data();
    if (is_symmetric) {
      const Result<void*> memory = communicator.allocate(of_rank);
      ASSERT_TRUE(memory.ok()) << memory.status().to_string();
      input = static_cast<std::byte*>(*memory);
    }
    std::byte* const begin = input;
    std::byte* output = large.in_place ? input : input + inputs + kGuard;
    std::memset(output + outputs, static_cast<int>(kGuarded), kGuard);
    give(input, inputs, rank);
    const Status status = communicator.run(
        {.collective = large.collective, .input = input, .output = output, .count = large.count, .type = Type::u8});
    EXPECT_TRUE(status.ok()) << status.to_string();
    const bool only_root = large.collective == Collective::reduce || large.collective == Collective::gather;
    if (rank == 0 || !only_root) expect_right(large, rank, output, outputs);
    if (is_symmetric) {
      EXPECT_TRUE(communicator.free(begin).ok());
    }
  });
}

std::string name_of_parameter(const testing::TestParamInfo<Large>& large) {
  constexpr const char* kMemories[] = {"staged", "attached", "symmetric"};
  return fmt::format("{}_{}{}", name_of(large.param.collective),
                     kMemories[static_cast<std::size_t>(large.param.memory)], large.param.in_place ? "_in_place" : "");
}

constexpr std::uint64_t k31 = std::uint64_t{1} << 31;
constexpr std::uint64_t k32 = std::uint64_t{1} << 32;

INSTANTIATE_TEST_SUITE_P(All, LargeBuffers,
                         testing::Values(Large{Collective::all_reduce, k32 + 7, Memory::staged, true},
                                         Large{Collective::all_reduce, k32 + 7, Memory::symmetric, true},
                                         Large{Collective::all_gather, k31 + 5, Memory::attached, false},
                                         Large{Collective::broadcast, k32 + 7, Memory::attached, true},
                                         Large{Collective::reduce, k32 + 7, Memory::attached, true},
                                         Large{Collective::all_to_all, (k31 >> 1) + 3, Memory::attached, false}),
                         name_of_parameter);

}  // namespace
}  // namespace tutti
