// Long rows of calls in which every collective follows every other, in many sizes, roots and forms: what one leaves
// behind in lines, slots and counts must not be in the way of the next. Ranks are threads.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ranks_of_threads.hpp"
#include "schedule/definition.hpp"

namespace tutti {
namespace {

struct Called {
  Collective collective = Collective::all_reduce;
  std::uint64_t count = 0;
  std::uint32_t root = 0;
  bool in_place = false;
  bool symmetric = false;
};

constexpr std::uint64_t kMostCount = 6000;

// The same for every rank.
std::vector<Called> row_of_calls(std::uint32_t num_ranks, std::uint64_t seed) {
  constexpr Collective kAll[] = {Collective::all_reduce,       Collective::all_gather,   Collective::reduce_scatter,
                                 Collective::broadcast,        Collective::reduce,       Collective::all_to_all,
                                 Collective::gather,           Collective::scatter,      Collective::scan,
                                 Collective::exclusive_scan,   Collective::barrier,      Collective::all_gather_v,
                                 Collective::reduce_scatter_v, Collective::all_to_all_v, Collective::gather_v,
                                 Collective::scatter_v};
  constexpr std::uint64_t kCounts[] = {0, 1, 2, 5, 12, 13, 100, 511, 1024, 1025, 4096, kMostCount};
  std::mt19937_64 random(seed);
  std::vector<Called> calls(300);
  for (Called& call : calls)
    call = {.collective = kAll[random() % std::size(kAll)],
            .count = kCounts[random() % std::size(kCounts)],
            .root = static_cast<std::uint32_t>(random() % num_ranks),
            .in_place = random() % 2 == 0,
            .symmetric = random() % 3 == 0};
  return calls;
}

std::int32_t given(std::uint32_t rank, std::uint64_t place, std::size_t turn) {
  return static_cast<std::int32_t>(rank * 100003 + place * 7 + turn);
}

// Of blocks that vary: each begins where it would if all were of `count` elements, and has these of them.
std::vector<std::size_t> sizes_of_blocks(const Called& call, std::uint32_t rank, std::uint32_t num_ranks, Space space,
                                         std::size_t turn) {
  Schedule header;
  header.collective = call.collective;
  header.num_ranks = num_ranks;
  header.root = call.root;
  const CollectiveFacts& facts = facts_of(call.collective);
  std::vector<std::size_t> sizes((space == Space::input ? facts.many_inputs : facts.many_outputs) ? num_ranks : 1);
  for (std::uint32_t block = 0; block < sizes.size(); ++block) {
    const std::uint32_t number = size_class(header, rank, space, block);
    // Each pair of an all-to-all gives and gets the same, so that all can be in place.
    const std::uint32_t pair = std::min(number, number % num_ranks * num_ranks + number / num_ranks);
    const std::uint64_t drawn = (call.collective == Collective::all_to_all_v ? pair : number) * 37 + turn;
    sizes[block] = !facts.varies ? call.count : drawn % 5 == 0 ? 0 : drawn * 101 % (call.count + 1);
  }
  return sizes;
}

// Element `place` of the rank's output; sums are of i32, which wrap alike in any order.
std::int32_t expected(const Called& call, std::uint32_t rank, std::uint32_t num_ranks, std::uint64_t place,
                      std::size_t turn) {
  const std::uint64_t block = call.count == 0 ? 0 : place / call.count;
  const std::uint64_t within = call.count == 0 ? 0 : place % call.count;
  const auto sum = [&](std::uint32_t ranks, std::uint64_t at) {
    std::int32_t total = 0;
    for (std::uint32_t each = 0; each < ranks; ++each) total += given(each, at, turn);
    return total;
  };
  switch (call.collective) {
    case Collective::all_reduce:
    case Collective::reduce: return sum(num_ranks, place);
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_v: return sum(num_ranks, rank * call.count + place);
    case Collective::scan: return sum(rank + 1, place);
    case Collective::exclusive_scan: return sum(rank, place);
    case Collective::all_gather:
    case Collective::all_gather_v:
    case Collective::gather_v:
    case Collective::gather: return given(static_cast<std::uint32_t>(block), within, turn);
    case Collective::broadcast: return given(call.root, place, turn);
    case Collective::all_to_all:
    case Collective::all_to_all_v: return given(static_cast<std::uint32_t>(block), rank * call.count + within, turn);
    case Collective::scatter:
    case Collective::scatter_v: return given(call.root, rank * call.count + place, turn);
    default: return 0;
  }
}

struct Memory {
  std::vector<std::int32_t> ordinary;
  std::int32_t* symmetric = nullptr;
};

void do_call(Communicator& communicator, const Called& call, std::size_t turn, Memory& memory) {
  const std::uint32_t rank = communicator.rank();
  const std::uint32_t ranks = communicator.num_ranks();
  const CollectiveFacts& facts = facts_of(call.collective);
  const std::uint64_t inputs = call.count * (facts.many_inputs ? ranks : 1);
  const std::uint64_t outputs = call.count * (facts.many_outputs ? ranks : 1);
  std::int32_t* const base = call.symmetric ? memory.symmetric : memory.ordinary.data();
  std::int32_t* input = base;
  std::int32_t* output = base + kMostCount * ranks;
  const bool is_root = rank == call.root;
  if (call.in_place) {
    // The smaller lies within the larger, at this rank's own block, where both are there.
    output = base;
    if (facts.many_outputs && !facts.many_inputs && (!facts.has_root || is_root)) input = base + rank * call.count;
    if (facts.many_inputs && !facts.many_outputs && (!facts.has_root || is_root)) output = base + rank * call.count;
  }
  const std::vector<std::size_t> input_sizes = sizes_of_blocks(call, rank, ranks, Space::input, turn);
  const std::vector<std::size_t> output_sizes = sizes_of_blocks(call, rank, ranks, Space::output, turn);
  std::vector<std::size_t> places(ranks);
  for (std::uint32_t block = 0; block < ranks; ++block) places[block] = block * call.count;
  const VaryingBlocks varying{.input = {input_sizes.data(), places.data()},
                              .output = {output_sizes.data(), places.data()}};
  const auto is_there = [&](const std::vector<std::size_t>& sizes, std::uint64_t place) {
    return place % call.count < sizes[place / call.count];
  };
  for (std::uint64_t i = 0; i < outputs; ++i) output[i] = -1;
  for (std::uint64_t i = 0; i < inputs; ++i)
    if (is_there(input_sizes, i)) input[i] = given(rank, i, turn);
  const std::vector<std::int32_t> before(output, output + outputs);
  const Status status = communicator.run({.collective = call.collective,
                                          .input = input,
                                          .output = output,
                                          .count = call.count,
                                          .type = Type::i32,
                                          .root = call.root,
                                          .varying = facts.varies ? &varying : nullptr});
  ASSERT_TRUE(status.ok()) << status.to_string();
  const bool only_at_root = call.collective == Collective::reduce || call.collective == Collective::gather ||
                            call.collective == Collective::gather_v;
  const bool has_output = call.collective != Collective::barrier && (is_root || !only_at_root) &&
                          (call.collective != Collective::exclusive_scan || rank > 0);
  if (!has_output) return;
  // Without an assertion a time, which sanitizers make long.
  std::uint64_t right = 0;
  const auto should_be = [&](std::uint64_t place) {
    return is_there(output_sizes, place) ? expected(call, rank, ranks, place, turn) : before[place];
  };
  while (right < outputs && output[right] == should_be(right)) ++right;
  ASSERT_EQ(right, outputs) << name_of(call.collective) << " number " << turn << " of " << call.count << ", root "
                            << call.root << (call.in_place ? ", in place" : "") << (call.symmetric ? ", symmetric" : "")
                            << ": rank " << rank << " has " << output[right] << " there";
}

struct Way {
  std::string name;
  std::uint64_t slot;
  WalkerChoice walker;
  std::optional<std::uint64_t> attach_min;
};

class MixedCalls : public testing::TestWithParam<Way> {};

TEST_P(MixedCalls, AreAllRight) {
  Settings settings = Settings::from(Variables());
  settings.region.staging_slot = settings.region.message_slot = GetParam().slot;
  settings.walker = GetParam().walker;
  settings.attach_min = GetParam().attach_min;
  for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 10U}) {
    const std::vector<Called> calls = row_of_calls(ranks, ranks);
    test::ThreadRanks group(ranks, settings);
    group.run([&](Communicator& communicator) {
      Memory memory{.ordinary = std::vector<std::int32_t>(2 * kMostCount * ranks)};
      const Result<void*> allocated = communicator.allocate(2 * kMostCount * ranks * sizeof(std::int32_t));
      ASSERT_TRUE(allocated.ok()) << allocated.status().to_string();
      memory.symmetric = static_cast<std::int32_t*>(*allocated);
      for (std::size_t turn = 0; turn < calls.size(); ++turn) {
        do_call(communicator, calls[turn], turn, memory);
        if (testing::Test::HasFatalFailure()) {
          communicator.abort("a result is wrong");
          return;
        }
      }
      EXPECT_TRUE(communicator.free(memory.symmetric).ok());
    });
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, MixedCalls,
                         testing::Values(Way{"usual", 128 << 10, WalkerChoice::automatic, {}},
                                         Way{"attached", 128 << 10, WalkerChoice::automatic, 1},
                                         Way{"many_rounds", 4096, WalkerChoice::automatic, 1 << 30},
                                         Way{"generic", 4096, WalkerChoice::generic, {}}),
                         [](const auto& way) { return way.param.name; });

TEST(Calls, SayWhatIsWrongWithAnArgument) {
  test::ThreadRanks group(1);
  group.run([&](Communicator& communicator) {
    std::array<float, 16> buffer{};
    const auto message = [&](const Invocation& asked) { return communicator.run(asked).to_string(); };
    EXPECT_EQ(message({.collective = Collective::broadcast,
                       .input = buffer.data(),
                       .output = buffer.data(),
                       .count = 2,
                       .root = 3}),
              "the root is rank 3; of 1 it must be 0 to 0");
    EXPECT_EQ(message({.collective = Collective::broadcast,
                       .input = buffer.data(),
                       .output = buffer.data(),
                       .count = 2,
                       .root = 65536}),
              "the root is rank 65536; of 1 it must be 0 to 0");
    EXPECT_EQ(message({.collective = Collective::reduce,
                       .input = buffer.data(),
                       .output = buffer.data(),
                       .count = 2,
                       .op = {0x80000000U}}),
              "-2147483648 is no operator of this communicator");
    EXPECT_EQ(message({.collective = Collective::all_gather, .input = buffer.data(), .output = nullptr, .count = 2}),
              "the output is null, and 2 elements are asked for");
    EXPECT_EQ(
        message(
            {.collective = Collective::all_gather, .input = buffer.data() + 1, .output = buffer.data(), .count = 4}),
        "input and output overlap by 12 bytes; they must be the same or apart");
  });
}

// What was bound in symmetric memory is no answer for the same call elsewhere, also when there is no such memory any
// more.
TEST(Calls, AreRightInOrdinaryMemoryAfterSymmetricMemoryIsFreed) {
  test::ThreadRanks group(2);
  group.run([&](Communicator& communicator) {
    constexpr std::uint64_t kCount = 1 << 16;
    const Result<void*> memory = communicator.allocate(3 * kCount * sizeof(float));
    ASSERT_TRUE(memory.ok()) << memory.status().to_string();
    std::vector<float> ordinary(3 * kCount, 1.0F);
    for (float* buffer : {static_cast<float*>(*memory), ordinary.data()}) {
      for (const Collective collective : {Collective::all_reduce, Collective::all_gather}) {
        const Status status =
            communicator.run({.collective = collective, .input = buffer, .output = buffer + kCount, .count = kCount});
        ASSERT_TRUE(status.ok()) << status.to_string();
      }
      if (buffer != ordinary.data()) {
        ASSERT_TRUE(communicator.free(buffer).ok());
      }
    }
  });
}

// Ranks that only receive have no other buffer to speak of, wherever the root has its own.
TEST(Calls, WithARootTakeNoNoticeOfBuffersThatARankHasNot) {
  test::ThreadRanks group(3);
  group.run([&](Communicator& communicator) {
    constexpr std::uint64_t kCount = 1 << 14;
    const Result<void*> memory = communicator.allocate(2 * kCount * sizeof(std::int32_t));
    ASSERT_TRUE(memory.ok()) << memory.status().to_string();
    auto* shared = static_cast<std::int32_t*>(*memory);
    std::vector<std::int32_t> ordinary(kCount, 7);
    for (std::uint32_t root = 0; root < 3; ++root)
      for (const bool from_shared : {false, true}) {
        const bool is_root = communicator.rank() == root;
        const std::int32_t* input = !is_root ? nullptr : from_shared ? shared : ordinary.data();
        if (is_root) std::fill_n(from_shared ? shared : ordinary.data(), kCount, static_cast<std::int32_t>(root));
        const Status status = communicator.run({.collective = Collective::broadcast,
                                                .input = input,
                                                .output = shared + kCount,
                                                .count = kCount,
                                                .type = Type::i32,
                                                .root = root});
        ASSERT_TRUE(status.ok()) << status.to_string();
        for (std::uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(shared[kCount + i], static_cast<std::int32_t>(root));
      }
    ASSERT_TRUE(communicator.free(shared).ok());
  });
}

// A root is done when it has posted, so it is told at its next call.
TEST(Calls, ThatDifferAreAnErrorOnEveryRank) {
  for (const Collective collective : {Collective::broadcast, Collective::reduce, Collective::all_gather}) {
    test::ThreadRanks group(2);
    group.run([&](Communicator& communicator) {
      std::array<float, 8> from{};
      std::array<float, 8> to{};
      const Status status = communicator.run(
          {.collective = collective, .input = from.data(), .output = to.data(), .count = 1 + communicator.rank()});
      const Status next = communicator.run({.collective = Collective::barrier});
      EXPECT_EQ(next.code(), Code::invalid_usage) << name_of(collective) << ": " << next.to_string();
      if (!status.ok()) {
        EXPECT_NE(status.to_string().find("calls differ"), std::string::npos) << status.to_string();
      }
    });
  }
}

}  // namespace
}  // namespace tutti
