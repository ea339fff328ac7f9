// Broadcasts that the system copies from both ends: who does them so, and what is told, and left alone, where one
// cannot be done.
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "ranks_of_threads.hpp"

namespace tutti {
namespace {

constexpr std::uint64_t kBytes = std::uint64_t{1} << 20;

Settings pushing() {
  Settings settings = Settings::from(Variables());
  settings.forced_of(Collective::broadcast).name = "push_pull";
  return settings;
}

Invocation broadcast(std::byte* buffer, std::uint64_t bytes) {
  return {.collective = Collective::broadcast, .input = buffer, .output = buffer, .count = bytes, .type = Type::u8};
}

bool is_all(std::span<const std::byte> bytes, std::byte value) {
  return std::all_of(bytes.begin(), bytes.end(), [&](std::byte each) { return each == value; });
}

// Pages, of which the half behind the middle has such a protection.
class HalfProtected {
 public:
  explicit HalfProtected(int protection)
      : bytes_(static_cast<std::byte*>(
            mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    EXPECT_EQ(mprotect(bytes_ + kBytes / 2, kBytes / 2, protection), 0);
  }
  HalfProtected(const HalfProtected&) = delete;
  HalfProtected& operator=(const HalfProtected&) = delete;
  ~HalfProtected() { munmap(bytes_, kBytes); }
  [[nodiscard]] std::byte* get() const { return bytes_; }

 private:
  std::byte* bytes_;
};

// What both ranks say of a broadcast between buffers of which the second halves are so protected.
std::array<std::string, 2> told(int protection_of_root, int protection_of_other) {
  std::array<std::string, 2> words;
  test::ThreadRanks(2, pushing()).run([&](Communicator& communicator) {
    const HalfProtected buffer(communicator.rank() == 0 ? protection_of_root : protection_of_other);
    words.at(communicator.rank()) = communicator.run(broadcast(buffer.get(), kBytes)).to_string();
  });
  return words;
}

TEST(BroadcastFromBothEnds, IsThatOfTwoRanksWithACoreEach) {
  for (const std::uint32_t ranks : {2U, 3U, 4U}) {
    test::ThreadRanks(ranks).run([&](Communicator& communicator) {
      std::vector<std::byte> buffer(kBytes, communicator.rank() == 0 ? std::byte{7} : std::byte{0});
      const Status status = communicator.run(broadcast(buffer.data(), kBytes));
      EXPECT_TRUE(status.ok()) << status.to_string();
      EXPECT_TRUE(is_all(buffer, std::byte{7}));
      const bool is_alone = ranks == 2 && std::thread::hardware_concurrency() >= 2;
      for (const Statistic& row : communicator.statistics())
        if (row.operation == "broadcast") {
          EXPECT_EQ(row.algorithm, is_alone ? "push_pull" : "direct") << ranks << " ranks";
          if (is_alone) {
            EXPECT_EQ(row.reach, "attached");
          }
        }
    });
  }
}

TEST(BroadcastFromBothEnds, TellsWhoseMemoryItCannotHave) {
  for (const std::string& words : told(PROT_READ | PROT_WRITE, PROT_READ))
    EXPECT_NE(words.find("the buffer of rank 1 cannot be written by rank 0"), std::string::npos) << words;
  for (const std::string& words : told(PROT_NONE, PROT_READ | PROT_WRITE))
    EXPECT_NE(words.find("rank 0 cannot read its own buffer"), std::string::npos) << words;
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
