// SPDX-License-Identifier: Apache-2.0
// Broadcasts and reduces that the system copies from both ends: who does them so, and what is told, and left alone,
// where one cannot be done.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "../ranks_of_threads.hpp"

namespace tutti {
namespace {

constexpr std::uint64_t kBytes = std::uint64_t{1} << 20;

Settings pushing() {
  Settings settings = Settings::from(Variables());
  settings.forced_of(Collective::broadcast).name = "push_pull";
  settings.forced_of(Collective::reduce).name = "push_pull";
  return settings;
}

Invocation broadcast(std::byte* buffer, std::uint64_t bytes) {
  return {.collective = Collective::broadcast, .input = buffer, .output = buffer, .count = bytes, .type = Type::u8};
}

bool is_all(std::span<const std::byte> bytes, std::byte value) {
  return std::all_of(bytes.begin(), bytes.end(), [&](std::byte each) { return each == value; });
}

class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes),
        begin_(
            static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(begin_, bytes_); }
  void protect_first_half(int protection) { EXPECT_EQ(mprotect(begin_, bytes_ / 2, protection), 0); }
  void protect_second_half(int protection) { EXPECT_EQ(mprotect(begin_ + bytes_ / 2, bytes_ / 2, protection), 0); }
  [[nodiscard]] std::byte* get() const { return begin_; }

 private:
  std::size_t bytes_;
  std::byte* begin_;
};

Invocation reduce(const std::uint32_t* input, std::uint32_t* output, std::uint64_t count, std::uint32_t root) {
  return {.collective = Collective::reduce,
          .input = input,
          .output = output,
          .count = count,
          .type = Type::u32,
          .op = {static_cast<std::uint32_t>(Op::sum)},
          .root = root};
}

// By which algorithms such collectives were done.
std::set<std::string> ways_of(const Communicator& communicator, std::string_view operation = "broadcast") {
  std::set<std::string> ways;
  for (const Statistic& row : communicator.statistics())
    if (row.operation == operation) ways.insert(std::string(row.algorithm) + " " + std::string(row.reach));
  return ways;
}

// What both ranks say of a broadcast between buffers of which the second halves are so protected.
std::array<std::string, 2> told(int protection_of_root, int protection_of_other) {
  std::array<std::string, 2> words;
  test::ThreadRanks(2, pushing()).run([&](Communicator& communicator) {
    Pages buffer(kBytes);
    buffer.protect_second_half(communicator.rank() == 0 ? protection_of_root : protection_of_other);
    words.at(communicator.rank()) = communicator.run(broadcast(buffer.get(), kBytes)).to_string();
  });
  return words;
}

TEST(BroadcastFromBothEnds, IsThatOfTwoRanksWithACoreEach) {
  for (const std::uint32_t ranks : {2U, 3U, 4U}) {
    Settings settings;
    settings.profile = choose_profile("intel_xeon");
    test::ThreadRanks(ranks, settings).run([&](Communicator& communicator) {
      std::vector<std::byte> buffer(kBytes, communicator.rank() == 0 ? std::byte{7} : std::byte{0});
      const Status status = communicator.run(broadcast(buffer.data(), kBytes));
      EXPECT_TRUE(status.ok()) << status.to_string();
      EXPECT_TRUE(is_all(buffer, std::byte{7}));
      const bool is_alone = ranks == 2 && std::thread::hardware_concurrency() >= 2;
      EXPECT_EQ(ways_of(communicator).count("push_pull attached"), is_alone ? 1U : 0U) << ranks << " ranks";
      EXPECT_EQ(ways_of(communicator).size(), 1U);
    });
  }
}

TEST(BroadcastFromBothEnds, TellsWhoseMemoryItCannotHave) {
  for (const std::string& words : told(PROT_READ | PROT_WRITE, PROT_READ))
    EXPECT_NE(words.find("the buffer of rank 1 cannot be written by rank 0"), std::string::npos) << words;
  for (const std::string& words : told(PROT_NONE, PROT_READ | PROT_WRITE))
    EXPECT_NE(words.find("rank 0 cannot read its own buffer"), std::string::npos) << words;
}

TEST(BroadcastFromBothEnds, TakesNothingFromNowhere) {
  for (const std::uint32_t ranks : {1U, 2U, 3U})
    test::ThreadRanks(ranks, pushing()).run([&](Communicator& communicator) {
      for (int turn = 0; turn < 3; ++turn) {
        const Status status = communicator.run(broadcast(nullptr, 0));
        EXPECT_TRUE(status.ok()) << status.to_string();
      }
    });
}

TEST(BroadcastFromBothEnds, KeepsTheSystemOutBelowTheSizeThatIsSet) {
  Settings settings = pushing();
  settings.attach_min = kBytes + 1;
  test::ThreadRanks(2, settings).run([&](Communicator& communicator) {
    std::vector<std::byte> buffer(2 * kBytes, communicator.rank() == 0 ? std::byte{7} : std::byte{0});
    for (const std::uint64_t bytes : {kBytes, kBytes + 1}) {
      EXPECT_TRUE(communicator.run(broadcast(buffer.data(), bytes)).ok());
      EXPECT_EQ(ways_of(communicator), bytes == kBytes
                                           ? std::set<std::string>{"direct staged"}
                                           : std::set<std::string>({"direct staged", "push_pull attached"}));
    }
  });
}

// Number i of the elements of a rank.
std::uint32_t element(std::uint32_t rank, std::uint64_t i) { return static_cast<std::uint32_t>((rank + 1) * (i + 3)); }

TEST(ReduceFromBothEnds, IsRightInMorePartsThanOneAndInPlace) {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 5U})
    for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}, kBytes / 2 + 7})
      test::ThreadRanks(ranks, pushing()).run([&](Communicator& communicator) {
        const std::uint32_t root = ranks / 2;
        const bool is_root = communicator.rank() == root;
        for (const bool in_place : {false, true}) {
          std::vector<std::uint32_t> input(count);
          for (std::uint64_t i = 0; i < count; ++i) input[i] = element(communicator.rank(), i);
          std::vector<std::uint32_t> output(is_root && !in_place ? count : 0);
          std::uint32_t* const result = in_place ? input.data() : output.data();
          const Status status =
              communicator.run(reduce(input.data(), is_root || in_place ? result : nullptr, count, root));
          ASSERT_TRUE(status.ok()) << status.to_string();
          std::uint64_t num_wrong = 0;
          for (std::uint64_t i = 0; i < count; ++i)
            num_wrong += (is_root ? result[i] != ranks * (ranks + 1) / 2 * element(0, i)
                                  : input[i] != element(communicator.rank(), i))
                             ? 1
                             : 0;
          EXPECT_EQ(num_wrong, 0U) << ranks << " ranks, " << count << (in_place ? " in place" : "");
        }
        if (ranks > 1) {
          EXPECT_EQ(ways_of(communicator, "reduce"), std::set<std::string>{"push_pull attached"});
        }
      });
}

// By which way each of some sizes goes.
TEST(ReduceFromBothEnds, IsThatOfTwoRanksWithACoreEach) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "ranks share the only core";
  constexpr std::uint64_t kLeast = std::uint64_t{48} << 10;
  constexpr std::array<std::pair<std::uint64_t, std::string_view>, 6> kWays = {{{8 << 10, "direct staged"},
                                                                                {kLeast, "direct attached"},
                                                                                {kLeast + 4, "push_pull attached"},
                                                                                {256 << 10, "push_pull attached"},
                                                                                {kBytes, "push_pull attached"},
                                                                                {kBytes + 4, "direct staged"}}};
  for (const auto& [bytes, way] : kWays)
    for (const std::uint32_t ranks : {2U, 3U}) {
      Settings settings;
      settings.profile = choose_profile("intel_xeon");
      test::ThreadRanks(ranks, settings).run([&](Communicator& communicator) {
        std::vector<std::uint32_t> buffer(bytes / sizeof(std::uint32_t));
        EXPECT_TRUE(communicator.run(reduce(buffer.data(), buffer.data(), buffer.size(), 0)).ok());
        const std::set<std::string> ways = ways_of(communicator, "reduce");
        if (ranks == 2) {
          EXPECT_EQ(ways, std::set<std::string>{std::string(way)}) << bytes;
        } else {
          EXPECT_EQ(ways.count("push_pull attached"), 0U) << bytes;
        }
      });
    }
}

// What is the other rank's to write is left alone before it knows that both mean the same call.
TEST(ReduceFromBothEnds, StoresNothingWhereCallsDiffer) {
  test::ThreadRanks(2, pushing()).run([](Communicator& communicator) {
    const bool is_root = communicator.rank() == 0;
    constexpr std::uint64_t kCount = kBytes / sizeof(std::uint32_t);
    std::vector<std::uint32_t> input(kCount, 3);
    std::vector<std::uint32_t> output(kCount, 1);
    const Status status = communicator.run(reduce(input.data(), output.data(), is_root ? kCount : kCount / 2, 0));
    EXPECT_EQ(status.code(), Code::invalid_usage) << status.to_string();
    EXPECT_EQ(std::count(output.begin(), output.end(), 1U), std::ssize(output));
  });
}

// Of the root's output, in memory that is new, so that the other rank is still storing there when the root gives up.
TEST(ReduceFromBothEnds, StoresNothingBehindTheEndOfTheCall) {
  std::atomic<int> num_seen = 0;
  constexpr std::uint64_t kMuch = std::uint64_t{16} << 20;
  for (int turn = 0; turn < 16; ++turn)
    test::ThreadRanks(2, pushing()).run([&](Communicator& communicator) {
      const bool is_root = communicator.rank() == 0;
      std::vector<std::uint32_t> input(kMuch / sizeof(std::uint32_t), 7);
      Pages output(kMuch);
      std::jthread other;
      if (is_root)
        other = std::jthread([&] {
          std::this_thread::sleep_for(std::chrono::microseconds(300 * turn));
          communicator.abort("a test");
        });
      const auto begun = std::chrono::steady_clock::now();
      const Status status =
          communicator.run(reduce(input.data(), reinterpret_cast<std::uint32_t*>(output.get()), input.size(), 0));
      // Who has no core for as long as the other waits for it, 50 ms, may still store.
      const auto taken = std::chrono::steady_clock::now() - begun;
      if (!is_root || status.ok() || taken > std::chrono::milliseconds(45)) return;
      ++num_seen;
      const auto look = [&] {
        std::string looked;
        for (std::uint64_t at = kMuch - 4; at > kMuch * 2 / 3; at -= 16 << 10)
          looked += static_cast<volatile std::byte*>(output.get())[at] == std::byte{0} ? '-' : '7';
        return looked;
      };
      const std::string at_once = look();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      EXPECT_EQ(look(), at_once);
    });
  EXPECT_GT(num_seen, 0) << "none of the calls was broken in time";
}

// The root folds two thirds, and the other rank the last one.
TEST(ReduceFromBothEnds, TellsWhoseMemoryItCannotHave) {
  const auto expect_told = [](bool is_of_root, std::uint64_t count, std::string_view words) {
    test::ThreadRanks(2, pushing()).run([&](Communicator& communicator) {
      Pages buffer(kBytes);
      auto* const numbers = reinterpret_cast<std::uint32_t*>(buffer.get());
      if (is_of_root && communicator.rank() == 0) buffer.protect_second_half(PROT_READ);
      if (!is_of_root && communicator.rank() == 1) buffer.protect_first_half(PROT_NONE);
      const Status status = communicator.run(reduce(numbers, numbers, count, 0));
      EXPECT_NE(status.to_string().find(words), std::string::npos) << status.to_string();
    });
  };
  const std::uint64_t all = kBytes / sizeof(std::uint32_t);
  expect_told(true, all * 3 / 4, "the buffer of rank 0 cannot be written by rank 1");
  expect_told(false, all, "the buffer of rank 1 cannot be read by rank 0");
}

// Whoever gives up has its memory back when its call says so. The root's half is fresh memory, in which it is slower
// than the other rank in its own, so that this one is done and waits.
TEST(BroadcastFromBothEnds, StoresNothingBehindTheEndOfTheCall) {
  std::atomic<int> num_seen = 0;
  constexpr std::uint64_t kMuch = std::uint64_t{16} << 20;
  constexpr std::uint64_t kBetween = std::uint64_t{64} << 10;
  for (int turn = 0; turn < 24; ++turn)
    test::ThreadRanks(2, pushing()).run([&](Communicator& communicator) {
      Pages buffer(kMuch);
      const bool is_root = communicator.rank() == 0;
      std::fill_n(buffer.get(), is_root ? kMuch : kMuch / 2, is_root ? std::byte{7} : std::byte{1});
      std::jthread other;
      if (!is_root)
        other = std::jthread([&] {
          std::this_thread::sleep_for(std::chrono::microseconds(200 * turn));
          communicator.abort("a test");
        });
      const auto begun = std::chrono::steady_clock::now();
      const Status status = communicator.run(broadcast(buffer.get(), kMuch));
      // Who has no core for as long as the other waits for it, 50 ms, may still store.
      const auto taken = std::chrono::steady_clock::now() - begun;
      if (is_root || status.ok() || taken > std::chrono::milliseconds(45)) return;
      ++num_seen;
      const auto look = [&] {
        std::string looked;
        for (std::uint64_t at = kMuch - 1; at > kMuch / 2; at -= kBetween)
          looked += static_cast<volatile std::byte*>(buffer.get())[at] == std::byte{7} ? '7' : '-';
        return looked;
      };
      const std::string at_once = look();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      EXPECT_EQ(look(), at_once);
    });
  EXPECT_GT(num_seen, 0) << "none of the calls was broken in time";
}

// Half of the buffer is the root's to write, and it must not before it knows that both mean the same call.
TEST(BroadcastFromBothEnds, StoresNothingWhereCallsDiffer) {
  test::ThreadRanks(2, pushing()).run([](Communicator& communicator) {
    const bool is_root = communicator.rank() == 0;
    std::vector<std::byte> buffer(kBytes, is_root ? std::byte{7} : std::byte{1});
    const Status status = communicator.run(broadcast(buffer.data(), is_root ? kBytes : kBytes / 2));
    EXPECT_EQ(status.code(), Code::invalid_usage) << status.to_string();
    if (!is_root) {
      EXPECT_TRUE(is_all(std::span(buffer).subspan(kBytes / 4), std::byte{1}));
    }
  });
}

}  // namespace
}  // namespace tutti
