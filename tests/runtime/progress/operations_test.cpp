// SPDX-License-Identifier: Apache-2.0
// Collectives and transfers that are begun and waited for later: every rank begins the same collectives in the same
// order, and decides for itself which of them it blocks in, and when it waits for the others. Ranks are threads.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../communicator/mixed_calls.hpp"
#include "../ranks_of_threads.hpp"

namespace tutti {
namespace {

using test::Called;
using test::CalledBuffers;
using test::kMostCount;

constexpr std::size_t kMostInFlight = 4;
constexpr std::uint64_t kMostSent = 40'000;  // elements: more than one connection holds

// What all do at one turn: a collective, or a transfer from one to another.
struct Turn {
  std::optional<Called> collective;
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint64_t count = 0;
};

std::vector<Turn> row_of_turns(std::uint32_t num_ranks, std::uint64_t seed, std::size_t length) {
  const std::vector<Called> calls = test::row_of_calls(num_ranks, seed, length);
  constexpr std::uint64_t kCounts[] = {0, 1, 12, 13, 5000, kMostSent};
  std::mt19937_64 random(seed + 1);
  std::vector<Turn> turns(length);
  for (std::size_t each = 0; each < length; ++each) {
    Turn& turn = turns[each];
    if (random() % 3 != 0) turn.collective = calls[each];
    turn.from = static_cast<std::uint32_t>(random() % num_ranks);
    turn.to = static_cast<std::uint32_t>(random() % num_ranks);
    turn.count = kCounts[random() % std::size(kCounts)];
  }
  return turns;
}

// One rank's way through the turns.
class Rank {
 public:
  Rank(Communicator& communicator, std::int32_t* symmetric, std::uint64_t seed)
      : communicator_(communicator), symmetric_(symmetric), random_(seed + 100 * std::uint64_t{communicator.rank()}) {
    for (std::size_t each = 0; each < kMostInFlight; ++each) {
      ordinary_[each].resize(2 * kMostCount * communicator.num_ranks());
      sent_[each].resize(kMostSent);
      received_[each].resize(kMostSent);
    }
  }

  void go(const std::vector<Turn>& turns) {
    for (std::size_t number = 0; number < turns.size() && fault_.empty(); ++number) {
      if (turns[number].collective) {
        begin_collective(*turns[number].collective, number);
      } else {
        begin_transfers(turns[number], number);
      }
      look_around();
    }
    while (!pending_.empty() && fault_.empty()) end(0);
  }

  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  struct Pending {
    Operation* operation = nullptr;
    std::size_t place = 0;
    std::size_t number = 0;
    std::optional<CalledBuffers> buffers = {};  // of a collective
    std::uint64_t expected = 0;                 // elements of a receive
    std::uint32_t from = 0;
  };

  // Every rank uses the same place for a collective, as symmetric memory must be.
  void begin_collective(const Called& call, std::size_t number) {
    const std::size_t place = number % kMostInFlight;
    make_room(place);
    std::int32_t* const base =
        call.symmetric ? symmetric_ + place * 2 * kMostCount * communicator_.num_ranks() : ordinary_[place].data();
    CalledBuffers buffers(call, communicator_.rank(), communicator_.num_ranks(), number, base);
    buffers.fill();
    if (random_() % 2 == 0) {
      take(test::run_blocking(communicator_, buffers.invocation()));
      if (fault_.empty()) fault_ = buffers.fault();
      return;
    }
    begin(communicator_.prepare(buffers.invocation(), false), {.place = place, .number = number, .buffers = buffers});
  }

  void begin_transfers(const Turn& turn, std::size_t number) {
    const std::size_t place = number % kMostInFlight;
    make_room(place);
    const bool to_itself = turn.from == turn.to;
    Transfer transfer;
    transfer.count = turn.count;
    transfer.type = Type::i32;
    if (communicator_.rank() == turn.from) {
      std::vector<std::int32_t>& from = sent_[place];
      std::iota(from.begin(), from.end(), static_cast<std::int32_t>(number));
      transfer.direction = Transfer::Direction::send;
      transfer.peer = turn.to;
      transfer.data = reinterpret_cast<std::byte*>(from.data());
      do_or_begin(transfer, to_itself, {.place = place, .number = number});
    }
    if (communicator_.rank() == turn.to) {
      received_[place].assign(kMostSent, -1);
      transfer.direction = Transfer::Direction::receive;
      transfer.peer = turn.from;
      transfer.data = reinterpret_cast<std::byte*>(received_[place].data());
      do_or_begin(transfer, to_itself, {.place = place, .number = number, .expected = turn.count, .from = turn.from});
    }
  }

  void do_or_begin(const Transfer& transfer, bool to_itself, const Pending& pending) {
    if (!to_itself && random_() % 2 == 0) {
      take(communicator_.transfer(transfer));
      check_received(pending);
    } else {
      begin(communicator_.prepare(transfer, false), pending);
    }
  }

  void begin(const Result<Operation*>& operation, Pending pending) {
    take(operation.status());
    if (!fault_.empty()) return;
    take(communicator_.start(**operation));
    pending.operation = *operation;
    pending_.push_back(pending);
  }

  void look_around() {
    if (pending_.empty() || !fault_.empty() || random_() % 2 == 0) return;
    const std::size_t which = random_() % pending_.size();
    if (random_() % 2 == 0) return end(which);
    const Result<bool> done = communicator_.test(*pending_[which].operation);
    take(done.status());
    if (fault_.empty() && *done) end(which);
  }

  void make_room(std::size_t place) {
    for (std::size_t which = 0; which < pending_.size() && fault_.empty();) {
      if (pending_[which].place == place) {
        end(which);
      } else {
        ++which;
      }
    }
  }

  void end(std::size_t which) {
    const Pending pending = pending_[which];
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(which));
    take(communicator_.wait(*pending.operation));
    communicator_.release(*pending.operation);
    if (!fault_.empty()) return;
    if (pending.buffers) {
      fault_ = pending.buffers->fault();
    } else {
      check_received(pending);
    }
  }

  void check_received(const Pending& pending) {
    const std::vector<std::int32_t>& received = received_[pending.place];
    for (std::uint64_t i = 0; i < pending.expected && fault_.empty(); ++i)
      if (received[i] != static_cast<std::int32_t>(pending.number + i))
        fault_ = fmt::format("transfer {} of {} from rank {}: element {} is {}", pending.number, pending.expected,
                             pending.from, i, received[i]);
  }

  void take(const Status& status) {
    if (!status.ok() && fault_.empty()) fault_ = status.to_string();
  }

  Communicator& communicator_;
  std::int32_t* symmetric_;
  std::mt19937_64 random_;
  std::array<std::vector<std::int32_t>, kMostInFlight> ordinary_;
  std::array<std::vector<std::int32_t>, kMostInFlight> sent_;
  std::array<std::vector<std::int32_t>, kMostInFlight> received_;
  std::deque<Pending> pending_;
  std::string fault_;
};

class Operations : public testing::TestWithParam<test::WayToRun> {};

TEST_P(Operations, AreRightInWhateverOrderRanksWait) {
  for (const std::uint32_t ranks : {1U, 2U, 3U, 5U}) {
    const std::vector<Turn> turns = row_of_turns(ranks, ranks, TUTTI_NUM_TURNS);
    test::ThreadRanks group(ranks, GetParam().settings());
    group.run(
        [&](Communicator& communicator) {
          const Result<void*> symmetric =
              communicator.allocate(kMostInFlight * 2 * kMostCount * ranks * sizeof(std::int32_t));
          ASSERT_TRUE(symmetric.ok()) << symmetric.status().to_string();
          Rank rank(communicator, static_cast<std::int32_t*>(*symmetric), ranks);
          rank.go(turns);
          if (!rank.fault().empty()) communicator.abort("a result is wrong");
          EXPECT_EQ(rank.fault(), "");
        },
        [](std::uint32_t rank, Settings& own) { GetParam().change(rank, own); });
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, Operations, testing::ValuesIn(test::ways_to_run()),
                         [](const auto& way) { return way.param.name; });

// Rank 1 does not come before rank 0 has been told.
TEST(Operations, PolledAloneEndWithTheTimeout) {
  Settings settings = Settings::from(Variables());
  settings.timeout = std::chrono::milliseconds(300);
  test::ThreadRanks group(2, settings);
  std::atomic<bool> is_told = false;
  group.run([&](Communicator& communicator) {
    if (communicator.rank() == 1) return is_told.wait(false);
    std::byte heard{};
    Transfer transfer;
    transfer.direction = Transfer::Direction::receive;
    transfer.peer = 1;
    transfer.data = &heard;
    transfer.count = 1;
    transfer.type = Type::u8;
    const Result<Operation*> operation = communicator.prepare(transfer, false);
    ASSERT_TRUE(operation.ok());
    ASSERT_TRUE(communicator.start(**operation).ok());
    Result<bool> done = false;
    while (done.ok() && !*done) done = communicator.test(**operation);
    EXPECT_EQ(done.status().code(), Code::timeout) << done.status().to_string();
    EXPECT_TRUE(done.status().to_string().find("rank 1 is late: not there yet") != std::string::npos)
        << done.status().to_string();
    communicator.release(**operation);
    is_told = true;
    is_told.notify_all();
  });
}

}  // namespace
}  // namespace tutti
