// SPDX-License-Identifier: Apache-2.0
// Ranks whose calls differ: each gets an error that says how, within a second, and nobody's memory is touched beside
// its buffers. Ranks are threads; the one with the last number is at odds with the others.
#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../ranks_of_threads.hpp"

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Collective kAll[] = {Collective::all_reduce,     Collective::all_gather, Collective::reduce_scatter,
                               Collective::broadcast,      Collective::reduce,     Collective::all_to_all,
                               Collective::gather,         Collective::scatter,    Collective::scan,
                               Collective::exclusive_scan, Collective::barrier};

// A call and the memory for it, with guards around both buffers.
class GuardedCall {
 public:
  explicit GuardedCall(const Invocation& asked, std::uint32_t num_ranks, bool in_place = false) : asked_(asked) {
    const CollectiveFacts& facts = facts_of(asked.collective);
    const std::size_t block = asked.count * size_of(asked.type);
    input_.assign(2 * kGuard + block * (facts.many_inputs ? num_ranks : 1), kGiven);
    output_.assign(2 * kGuard + block * (facts.many_outputs ? num_ranks : 1), kGuarded);
    if (in_place) input_.swap(output_);
    asked_.input = (in_place ? output_ : input_).data() + kGuard;
    asked_.output = output_.data() + kGuard;
  }

  [[nodiscard]] Status run(Communicator& communicator) const { return communicator.run(asked_); }

  [[nodiscard]] bool is_intact() const {
    const auto is = [](std::byte value) { return [value](std::byte each) { return each == value; }; };
    const std::byte edge = output_.front();
    return std::all_of(input_.begin(), input_.end(), is(input_.front())) &&
           std::all_of(output_.begin(), output_.begin() + kGuard, is(edge)) &&
           std::all_of(output_.end() - kGuard, output_.end(), is(edge));
  }

 private:
  static constexpr std::ptrdiff_t kGuard = 128;
  static constexpr std::byte kGiven{1};
  static constexpr std::byte kGuarded{0xA5};
  Invocation asked_;
  std::vector<std::byte> input_;
  std::vector<std::byte> output_;
};

// What rank `rank` of that many calls; nothing further behind the last.
using Calls = std::function<std::vector<Invocation>(bool at_odds, std::uint32_t rank)>;

// All call what they do, and a barrier. Each must be told by then; the words, of which all have the same. In little
// time: what is slow because the cores were needed elsewhere is done again.
std::string expect_told(std::uint32_t num_ranks, const Calls& calls, const Settings& settings, const std::string& what,
                        int attempts = 3) {
  test::ThreadRanks group(num_ranks, settings);
  std::vector<std::string> words(num_ranks);
  const auto start = Clock::now();
  group.run([&](Communicator& communicator) {
    const std::uint32_t rank = communicator.rank();
    std::vector<Invocation> asked = calls(rank + 1 == num_ranks, rank);
    asked.push_back({.collective = Collective::barrier});
    Status status;
    for (std::size_t each = 0; each < asked.size() && status.ok(); ++each) {
      const GuardedCall call(asked[each], num_ranks);
      status = call.run(communicator);
      EXPECT_TRUE(call.is_intact()) << what << ": rank " << rank << ", call " << each;
    }
    EXPECT_EQ(status.code(), Code::invalid_usage) << what << ": rank " << rank << " " << status.to_string();
    words[rank] = status.to_string();
  });
  const bool is_slow = Clock::now() - start >= std::chrono::seconds(TUTTI_MOST_SECONDS);
  if (is_slow && attempts > 1) return expect_told(num_ranks, calls, settings, what, attempts - 1);
  EXPECT_FALSE(is_slow) << what;
  const auto reason = [](const std::string& text) { return text.substr(0, text.find("; this rank was ")); };
  for (const std::string& each : words) {
    EXPECT_EQ(reason(each), reason(words.front())) << what;
    EXPECT_NE(each.find("the ranks' calls differ"), std::string::npos) << what << ": " << each;
  }
  return words.front();
}

std::string expect_told(std::uint32_t num_ranks, const Calls& calls, const std::string& what) {
  return expect_told(num_ranks, calls, Settings::from(Variables()), what);
}

Calls once(const Invocation& usual, const Invocation& odd) {
  return [usual, odd](bool at_odds, std::uint32_t) { return std::vector<Invocation>{at_odds ? odd : usual}; };
}

class Mismatch : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Mismatch, OfCollectivesIsTold) {
  for (const std::uint64_t count : {8, 5000})
    for (const Collective usual : kAll)
      for (const Collective odd : kAll) {
        if (usual == odd) continue;
        const std::string what = std::string(name_of(usual)) + " and " + std::string(name_of(odd));
        const std::string words =
            expect_told(GetParam(), once({.collective = usual, .count = count}, {.collective = odd, .count = count}),
                        what + " of " + std::to_string(count));
        EXPECT_NE(words.find(std::string(name_of(usual))), std::string::npos) << what << ": " << words;
        EXPECT_NE(words.find(std::string(name_of(odd))), std::string::npos) << what << ": " << words;
        if (HasFailure()) return;
      }
}

TEST_P(Mismatch, OfCollectivesIsToldByTheOtherWalkersToo) {
  Settings general = Settings::from(Variables());
  general.walker = WalkerChoice::generic;
  Settings by_messages = general;
  by_messages.forced_of(Collective::barrier).name = "dissemination";
  by_messages.forced_of(Collective::all_reduce).name = "ring";
  by_messages.forced_of(Collective::broadcast).name = "knomial";
  by_messages.forced_of(Collective::reduce).name = "knomial";
  for (const Settings* settings : {&general, &by_messages})
    for (const std::uint64_t count : {0, 3000})
      for (const Collective usual : kAll)
        for (const Collective odd : kAll) {
          if (usual == odd) continue;
          const std::string what = std::string(name_of(usual)) + " and " + std::string(name_of(odd));
          expect_told(GetParam(), once({.collective = usual, .count = count}, {.collective = odd, .count = count}),
                      *settings, what + " of " + std::to_string(count));
          if (HasFailure()) return;
        }
}

TEST_P(Mismatch, OfCountsIsTold) {
  constexpr std::uint64_t kPairs[][2] = {{8, 9}, {8, 0}, {1000, 2000}, {200'000, 8}, {200'000, 0}, {300'000, 300'001}};
  for (const auto& [usual, odd] : kPairs)
    for (const Collective collective : kAll) {
      if (collective == Collective::barrier) continue;
      const std::string what =
          std::string(name_of(collective)) + " of " + std::to_string(usual) + " and " + std::to_string(odd);
      const std::string words = expect_told(
          GetParam(), once({.collective = collective, .count = usual}, {.collective = collective, .count = odd}), what);
      EXPECT_NE(words.find(" of " + std::to_string(usual) + " f32"), std::string::npos) << what << ": " << words;
      EXPECT_NE(words.find(" of " + std::to_string(odd) + " f32"), std::string::npos) << what << ": " << words;
      if (HasFailure()) return;
    }
}

TEST_P(Mismatch, OfTypesAndOperatorsIsTold) {
  for (const std::uint64_t count : {4, 6000})
    for (const Collective collective : kAll) {
      if (collective == Collective::barrier) continue;
      const Invocation usual = {.collective = collective, .count = count, .op = test::handle(Op::sum)};
      Invocation odd = usual;
      odd.type = Type::i32;
      const std::string what = std::string(name_of(collective)) + " of " + std::to_string(count);
      const std::string words = expect_told(GetParam(), once(usual, odd), what + " of i32");
      EXPECT_NE(words.find("i32"), std::string::npos) << words;
      if (!facts_of(collective).folds) continue;
      odd.type = usual.type;
      odd.op = test::handle(Op::maximum);
      EXPECT_NE(expect_told(GetParam(), once(usual, odd), what + ", maximum").find("maximum"), std::string::npos);
      if (HasFailure()) return;
    }
}

// Where each rank means another root, some hear nobody, and where two ranks each mean themselves, nobody hears anybody.
TEST_P(Mismatch, OfRootsIsTold) {
  for (const std::uint64_t count : {8, 5000, 200'000})
    for (const Collective collective : kAll) {
      if (!facts_of(collective).has_root) continue;
      for (const bool meant_is_self : {false, true})
        for (const int repeats : {1, 3, 12}) {
          const auto calls = [&](bool, std::uint32_t rank) {
            const std::uint32_t root = meant_is_self ? rank : (rank + 1) % GetParam();
            return std::vector<Invocation>(static_cast<std::size_t>(repeats),
                                           {.collective = collective, .count = count, .root = root});
          };
          const std::string what = std::string(name_of(collective)) + " of " + std::to_string(count) + ", " +
                                   std::to_string(repeats) + " times" + (meant_is_self ? ", each its own root" : "");
          const std::string words = expect_told(GetParam(), calls, what);
          EXPECT_NE(words.find(", root "), words.rfind(", root ")) << what << ": " << words;
          if (HasFailure()) return;
        }
    }
}

TEST_P(Mismatch, OfOrderAndNumberIsTold) {
  const Invocation all_reduce = {.count = 10};
  const Invocation broadcast = {.collective = Collective::broadcast, .count = 10};
  const Invocation gather = {.collective = Collective::all_gather, .count = 10'000};
  struct Rows {
    std::vector<Invocation> usual;
    std::vector<Invocation> odd;
  };
  for (const Rows& rows : std::vector<Rows>{{{all_reduce, gather}, {gather, all_reduce}},
                                            {{broadcast, all_reduce}, {all_reduce, broadcast}},
                                            {{all_reduce, all_reduce}, {all_reduce}},
                                            {{broadcast}, {broadcast, broadcast}},
                                            {{gather, broadcast}, {gather}},
                                            {{broadcast, broadcast, broadcast, gather}, {broadcast, gather}}})
    expect_told(
        GetParam(), [&](bool at_odds, std::uint32_t) { return at_odds ? rows.odd : rows.usual; },
        std::to_string(rows.usual.size()) + " calls and " + std::to_string(rows.odd.size()));
}

// Messages of nothing are none: a rank with no elements runs ahead of those who wait for some of it.
TEST_P(Mismatch, WithACallOfNothingIsToldByEveryAlgorithm) {
  for (const char* algorithm : {"ring", "recursive_doubling", "reduce_broadcast", "one_shot"}) {
    Settings settings = Settings::from(Variables());
    settings.forced_of(Collective::all_reduce).name = algorithm;
    expect_told(GetParam(), once({.count = 100'000}, {.count = 0}), settings, algorithm);
    expect_told(
        GetParam(),
        [](bool at_odds, std::uint32_t) {
          std::vector<Invocation> calls(3, {.count = at_odds ? 0U : 100'000U});
          return calls;
        },
        settings, std::string(algorithm) + " three times");
  }
}

// Each rank makes two operators of a kind, and the odd one takes the other.
TEST_P(Mismatch, OfMadeOperatorsIsTold) {
  const Operator sum = {
      .op = Op::user, .type = Type::f32, .function = [](void* to, const void* next, std::size_t count, void*) {
        for (std::size_t each = 0; each < count; ++each)
          static_cast<float*>(to)[each] += static_cast<const float*>(next)[each];
      }};
  const Operator scaled = {.op = Op::premultiplied_sum, .type = Type::f32, .scalar = 2};
  for (const std::uint64_t count : {4, 6000})
    for (const Collective collective : kAll)
      for (const Operator& made : {sum, scaled}) {
        if (!facts_of(collective).folds) continue;
        test::ThreadRanks group(GetParam());
        group.run([&](Communicator& communicator) {
          const std::uint32_t rank = communicator.rank();
          const Result<OperatorHandle> usual = communicator.create_operator(made);
          const Result<OperatorHandle> odd = communicator.create_operator(made);
          ASSERT_TRUE(usual.ok() && odd.ok());
          const GuardedCall call({.collective = collective,
                                  .count = count,
                                  .op = rank + 1 == GetParam() ? *odd : *usual,
                                  .root = GetParam() - 1},
                                 GetParam());
          Status status = call.run(communicator);
          if (status.ok()) status = communicator.run({.collective = Collective::barrier});
          EXPECT_EQ(status.code(), Code::invalid_usage) << name_of(collective) << " of " << count;
          for (const char* each : {" (operator 64)", " (operator 65)", "collective 1 is "})
            EXPECT_NE(status.to_string().find(each), std::string::npos) << status.to_string();
        });
      }
}

// What the communicator does for itself is none of its program's calls, and is called by its own name.
TEST_P(Mismatch, IsToldByTheProgramsOwnCalls) {
  test::ThreadRanks group(GetParam());
  group.run([&](Communicator& communicator) {
    float value = 1;
    const auto add = [&] { return communicator.run({.input = &value, .output = &value, .count = 1}); };
    EXPECT_TRUE(add().ok());
    const Result<void*> memory = communicator.allocate(64);
    ASSERT_TRUE(memory.ok());
    EXPECT_TRUE(add().ok());
    const Status status = communicator.rank() + 1 == GetParam() ? communicator.free(*memory)
                                                                : communicator.run({.collective = Collective::barrier});
    const std::string words = status.to_string();
    EXPECT_EQ(words.find("the ranks' calls differ: collective 3 is "), 0U) << words;
    EXPECT_NE(words.find("the freeing of symmetric memory on rank " + std::to_string(GetParam() - 1)),
              std::string::npos)
        << words;
    // Who comes when all is over has not begun its third.
    const bool knows_itself =
        communicator.rank() + 1 == GetParam()
            ? words.find("; this rank was at the freeing of symmetric memory, behind collective 2") != std::string::npos
            : words.find("; this rank was at collective 3 (barrier") != std::string::npos ||
                  words.find("; this rank was at collective 2 (all_reduce") != std::string::npos;
    EXPECT_TRUE(knows_itself) << words;
  });
}

TEST_P(Mismatch, BeforeTheFirstCollectiveIsToldAsSuch) {
  test::ThreadRanks group(GetParam());
  group.run([&](Communicator& communicator) {
    if (communicator.rank() == 0) communicator.abort("");
    while (communicator.async_error() == Code::ok) std::this_thread::yield();
    EXPECT_EQ(communicator.run({.collective = Collective::barrier}).to_string(),
              "rank 0 aborted the communicator; this rank was before its first collective");
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Mismatch, testing::Values(2, 4),
                         [](const auto& ranks) { return std::to_string(ranks.param); });

// In place on some ranks, or in symmetric memory, is either no difference, and the result is right, or an error of all.
TEST(Mismatch, OfPlacesIsRightOrTold) {
  constexpr std::uint32_t kRanks = 3;  // of which two shots are taken from 16 KB of symmetric memory
  for (const Collective collective : {Collective::all_reduce, Collective::scan, Collective::broadcast})
    for (const std::uint64_t count : {8, 1000, 5000, 200'000})
      for (const bool symmetric : {false, true}) {
        test::ThreadRanks group(kRanks);
        std::vector<Code> codes(kRanks);
        group.run([&](Communicator& communicator) {
          const bool at_odds = communicator.rank() + 1 == kRanks;
          const Result<void*> memory = communicator.allocate(2 * count * sizeof(float));
          ASSERT_TRUE(memory.ok()) << memory.status().to_string();
          std::vector<float> ordinary(2 * count);
          float* in = at_odds && symmetric ? static_cast<float*>(*memory) : ordinary.data();
          float* out = at_odds && !symmetric ? in : in + count;
          std::fill_n(in, count, 1.0F);
          Status status = communicator.run({.collective = collective, .input = in, .output = out, .count = count});
          const float expected = collective == Collective::all_reduce ? kRanks
                                 : collective == Collective::scan     ? static_cast<float>(communicator.rank() + 1)
                                                                      : 1.0F;
          if (status.ok()) {
            EXPECT_EQ(std::count(out, out + count, expected), count) << name_of(collective) << " of " << count;
            status = communicator.run({.collective = Collective::barrier});
          }
          codes[communicator.rank()] = status.code();
        });
        for (const Code code : codes) {
          EXPECT_EQ(code, codes.front()) << name_of(collective) << " of " << count;
          EXPECT_TRUE(code == Code::ok || code == Code::invalid_usage);
        }
      }
}

}  // namespace
}  // namespace tutti
