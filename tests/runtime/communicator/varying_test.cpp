// SPDX-License-Identifier: Apache-2.0
// Calls whose blocks differ in size, where ranks contradict each other or one has passed something wrong: every rank
// returns an error that says what it is, nothing is written, and the communicator goes on. Ranks are threads.
#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../ranks_of_threads.hpp"
#include "runtime/plan/block_table.hpp"

namespace tutti {
namespace {

using Sizes = std::vector<std::size_t>;
constexpr std::int32_t kUntouched = -7;

// What one rank passes.
struct Passed {
  Sizes input_counts = {};
  Sizes input_places = {};
  Sizes output_counts = {};
  Sizes output_places = {};
  bool has_input_counts = true;
  bool has_output_counts = true;
  bool has_output = true;
  bool within_output = false;  // the input begins where the output does
  Type type = Type::i32;
  std::uint32_t root = 0;
};

// The right ones: rank i gives rank j 10·i + j elements, or of a single block 10·i.
Passed right_for(Collective collective, std::uint32_t rank, std::uint32_t ranks, std::uint32_t root = 0) {
  Passed passed{.root = root};
  const CollectiveFacts& facts = facts_of(collective);
  const auto size = [&](std::uint32_t from, std::uint32_t to) {
    if (facts.folds) return std::size_t{to} + 1;
    if (!facts.many_outputs) return std::size_t{to};
    return std::size_t{10} * from + (facts.many_inputs ? to : 0);
  };
  for (std::uint32_t each = 0; each < (facts.many_inputs ? ranks : 1); ++each)
    passed.input_counts.push_back(size(rank, each));
  for (std::uint32_t each = 0; each < (facts.many_outputs ? ranks : 1); ++each)
    passed.output_counts.push_back(facts.many_outputs ? size(each, rank) : size(root, rank));
  return passed;
}

// The status of the rank's call, whose output must be as it was where that is an error.
Status run(Communicator& communicator, Collective collective, const Passed& passed) {
  std::vector<std::int32_t> input(2000, 1);
  std::vector<std::int32_t> output(2000, kUntouched);
  const auto runs = [](bool has_counts, const Sizes& counts, const Sizes& places) {
    return BlockRuns{has_counts ? counts.data() : nullptr, places.empty() ? nullptr : places.data()};
  };
  const VaryingBlocks varying{.input = runs(passed.has_input_counts, passed.input_counts, passed.input_places),
                              .output = runs(passed.has_output_counts, passed.output_counts, passed.output_places)};
  Status status = communicator.run({.collective = collective,
                                    .input = passed.within_output ? output.data() : input.data(),
                                    .output = passed.has_output ? output.data() : nullptr,
                                    .type = passed.type,
                                    .root = passed.root,
                                    .varying = &varying});
  if (!status.ok()) {
    EXPECT_EQ(std::count(output.begin(), output.end(), kUntouched), 2000) << status.to_string();
  }
  return status;
}

struct Mistake {
  Collective collective;
  std::uint32_t rank;  // who makes it
  std::function<void(Passed&)> make;
  std::string everywhere;        // what every rank says
  std::string at_the_rank = {};  // or what that rank says, while the others say that it has refused
};

const std::vector<Mistake>& mistakes() {
  static const std::vector<Mistake> all = {
      {Collective::all_gather_v, 1, [](Passed& passed) { passed.output_counts[2] = 21; },
       "the ranks' counts differ in all_gather_v: rank 2 gives 20 elements to rank 1, which expects 21"},
      {Collective::all_gather_v, 2, [](Passed& passed) { passed.input_counts[0] = 0; },
       "the ranks' counts differ in all_gather_v: rank 2 gives 0 elements to rank 0, which expects 20"},
      {Collective::reduce_scatter_v, 1, [](Passed& passed) { passed.input_counts[2] = 4; },
       "the ranks' counts differ in reduce_scatter_v: block 2 has 3 elements on rank 0 and 4 on rank 1"},
      {Collective::all_to_all_v, 2, [](Passed& passed) { passed.output_counts[1] = 13; },
       "the ranks' counts differ in all_to_all_v: rank 1 gives 12 elements to rank 2, which expects 13"},
      {Collective::all_to_all_v, 1, [](Passed& passed) { passed.input_counts[1] = 12; },
       "the ranks' counts differ in all_to_all_v: rank 1 gives 12 elements to itself, and expects 11"},
      {Collective::all_to_all_v, 1, [](Passed& passed) { passed.output_counts[0] = 3; },
       "the ranks' counts differ in all_to_all_v: rank 0 gives 1 element to rank 1, which expects 3"},
      // Blocks exchanged between two ranks, so that sums of sizes are right.
      {Collective::all_to_all_v, 0, [](Passed& passed) { std::swap(passed.input_counts[1], passed.input_counts[2]); },
       "the ranks' counts differ in all_to_all_v: rank 0 gives 2 elements to rank 1, which expects 1"},
      {Collective::gather_v, 0, [](Passed& passed) { passed.output_counts[1] = 9; },
       "the ranks' counts differ in gather_v: rank 1 gives 10 elements to rank 0, which expects 9"},
      {Collective::scatter_v, 2, [](Passed& passed) { passed.output_counts[0] = 300; },
       "the ranks' counts differ in scatter_v: rank 0 gives 2 elements to rank 2, which expects 300"},
      {Collective::all_gather_v, 2, [](Passed& passed) { passed.has_output_counts = false; }, "",
       "the counts of the output are null"},
      {Collective::reduce_scatter_v, 1, [](Passed& passed) { passed.has_input_counts = false; }, "",
       "the counts of the input are null"},
      {Collective::gather_v, 1, [](Passed& passed) { passed.input_counts[0] = kMaxCount + 1; }, "",
       "block 0 of the input has 17179869184 elements, which are too many; 17179869183 are possible"},
      {Collective::all_to_all_v, 1,
       [](Passed& passed) {
         passed.output_places = {0, 100, ~std::size_t{0} - 3};
       },
       "", "block 2 of the output begins at element 18446744073709551612, which is too far away"},
      {Collective::all_to_all_v, 2, [](Passed& passed) { passed.has_output = false; }, "",
       "the output is null, and 36 elements are asked for"},
      {Collective::all_gather_v, 1,
       [](Passed& passed) {
         passed.output_places = {0, 25, 6};
       },
       "",
       "block 2 of the output and block 1 of the output overlap by 4 bytes; input and output must be apart, or in "
       "place"},
      {Collective::all_to_all_v, 1,
       [](Passed& passed) {
         passed.within_output = true;
         passed.output_places = {9, 30, 60};
       },
       "",
       "block 0 of the input and block 0 of the output overlap by 4 bytes; input and output must be apart, or in "
       "place"},
      // In place a pair gives what it gets.
      {Collective::all_to_all_v, 2, [](Passed& passed) { passed.within_output = true; }, "",
       "block 0 of the input and block 0 of the output overlap by 8 bytes; input and output must be apart, or in "
       "place"},
  };
  return all;
}

TEST(VaryingCalls, ThatContradictEachOtherAreAnErrorOnEveryRankAndBreakNothing) {
  constexpr std::uint32_t kRanks = 3;
  test::ThreadRanks(kRanks).run([&](Communicator& communicator) {
    for (const Mistake& mistake : mistakes()) {
      SCOPED_TRACE(testing::Message() << name_of(mistake.collective) << ": " << mistake.everywhere
                                      << mistake.at_the_rank << ", on rank " << communicator.rank());
      const Passed right = right_for(mistake.collective, communicator.rank(), kRanks);
      Passed passed = right;
      if (communicator.rank() == mistake.rank) mistake.make(passed);
      const Status status = run(communicator, mistake.collective, passed);
      const std::string refused = "rank " + std::to_string(mistake.rank) + " has refused what it was passed for " +
                                  std::string(name_of(mistake.collective)) + ", and says why; nothing was done";
      const std::string& theirs = mistake.everywhere.empty() ? refused : mistake.everywhere;
      const bool knows = communicator.rank() == mistake.rank && mistake.everywhere.empty();
      EXPECT_EQ(status.to_string(), knows ? mistake.at_the_rank : theirs);
      const Status next = run(communicator, mistake.collective, right);
      EXPECT_TRUE(next.ok()) << next.to_string();
    }
  });
}

TEST(VaryingCalls, OfOtherTypesOrRootsBreakTheCommunicator) {
  for (const bool by_root : {false, true}) {
    test::ThreadRanks(2).run([&](Communicator& communicator) {
      Passed passed = right_for(Collective::gather_v, communicator.rank(), 2);
      passed.output_counts[0] = 10;
      passed.type = !by_root && communicator.rank() == 1 ? Type::f32 : Type::i32;
      passed.root = by_root ? communicator.rank() : 0;
      const Status status = run(communicator, Collective::gather_v, passed);
      EXPECT_EQ(status.code(), Code::invalid_usage);
      const std::string words = status.to_string();
      EXPECT_TRUE(words.find("gather_v of i32, root 0") != std::string::npos) << words;
      const Status next = communicator.run({.collective = Collective::barrier});
      EXPECT_EQ(next.code(), Code::invalid_usage) << next.to_string();
    });
  }
}

// As a neighbour of another kind: the words say which call each is in.
TEST(VaryingCalls, BesideAnotherCollectiveBreakTheCommunicator) {
  test::ThreadRanks(2).run([&](Communicator& communicator) {
    std::int32_t value = 1;
    const Status status = communicator.rank() == 0
                              ? run(communicator, Collective::all_gather_v, right_for(Collective::all_gather_v, 0, 2))
                              : communicator.run({.collective = Collective::all_reduce,
                                                  .input = &value,
                                                  .output = &value,
                                                  .count = 1,
                                                  .type = Type::i32});
    EXPECT_EQ(status.code(), Code::invalid_usage);
    EXPECT_NE(status.to_string().find("all_gather_v of i32"), std::string::npos) << status.to_string();
  });
}

// A schedule of one's own may cut blocks into pieces, which are packed a window apart, and read some of what is
// exposed.
TEST(VaryingCalls, GoByAScheduleInPiecesOfWhichOneIsReadAlone) {
  std::string text = "tutti schedule 1\nname pieces\ncollective all_gather_v\nranks 2\npieces 3\nlanes 2\n";
  for (const int self : {0, 1})
    text += fmt::format(
        "rank {0}\nexpose input\nlane 1\ncopy output[{0}] = input after lane 0 step 0\n"
        "pull output[{1}.2] = rank {1} input[0.2] (post 0)\n"
        "pull output[{1}.0-1] = rank {1} input[0.0-1] (post 0)\nclose\n",
        self, 1 - self);
  Settings settings = Settings::from(Variables());
  settings.region.staging_slot = settings.region.message_slot = 4096;
  settings.forced_of(Collective::all_gather_v) = {
      .name = "file:pieces", .file = AlgorithmFile{.variable = "V", .path = "pieces", .text = text, .unread = {}}};
  test::ThreadRanks(2, settings).run([](Communicator& communicator) {
    for (const Sizes& sizes : {Sizes{7, 100}, Sizes{1, 4}, Sizes{0, 2000}, Sizes{1999, 3}}) {
      const std::uint32_t rank = communicator.rank();
      std::vector<std::int32_t> input(sizes[rank]);
      std::iota(input.begin(), input.end(), static_cast<std::int32_t>(rank * 10000));
      std::vector<std::int32_t> output(sizes[0] + sizes[1]);
      const VaryingBlocks varying{.input = {&sizes[rank]}, .output = {sizes.data()}};
      const Status status = communicator.run({.collective = Collective::all_gather_v,
                                              .input = input.data(),
                                              .output = output.data(),
                                              .type = Type::i32,
                                              .varying = &varying});
      ASSERT_TRUE(status.ok()) << status.to_string();
      for (std::size_t i = 0; i < output.size(); ++i)
        ASSERT_EQ(output[i], static_cast<std::int32_t>(i < sizes[0] ? i : 10000 + i - sizes[0])) << i;
    }
  });
}

class Table : public testing::Test {
 protected:
  // Of rank 1 of three, in one buffer of 100 elements, the input from that element on.
  Status find(Collective collective, const VaryingBlocks& varying, std::size_t input_at, std::size_t output_at = 0) {
    Schedule header;
    header.collective = collective;
    header.num_ranks = 3;
    header.spaces = spaces_of(collective, 3);
    const Invocation asked{.collective = collective,
                           .input = buffer_.data() + input_at,
                           .output = buffer_.data() + output_at,
                           .type = Type::i32,
                           .varying = &varying};
    TUTTI_TRY(table_.place(header, 1, asked));
    return table_.find_buffers(header, 1, asked);
  }

  std::vector<std::int32_t> buffer_ = std::vector<std::int32_t>(100);
  BlockTable table_;
};

TEST_F(Table, HasBlocksOneBehindTheOtherWhereNothingElseIsSaid) {
  const Sizes one = {5};
  const Sizes sizes = {4, 5, 0};
  ASSERT_TRUE(find(Collective::all_gather_v, {.input = {one.data()}, .output = {sizes.data()}}, 50).ok());
  EXPECT_EQ(table_.at(Space::output, 1).offset, 4U);
  EXPECT_EQ(table_.at(Space::output, 2).offset, 9U);
  EXPECT_EQ(table_.largest(), 5U);
  EXPECT_EQ(table_.buffers().output_bytes, 36U);
  EXPECT_FALSE(table_.buffers().in_place);
}

TEST_F(Table, KnowsItsOwnBlockInPlaceWhereverItStands) {
  const Sizes one = {5};
  const Sizes sizes = {4, 5, 2};
  const Sizes places = {20, 8, 0};
  const VaryingBlocks varying{.input = {one.data()}, .output = {sizes.data(), places.data()}};
  EXPECT_TRUE(find(Collective::all_gather_v, varying, 8).ok());
  EXPECT_TRUE(table_.buffers().in_place);
  EXPECT_FALSE(find(Collective::all_gather_v, varying, 9).ok());
}

TEST_F(Table, AllowsAnInputInAGapOfTheOutput) {
  const Sizes one = {5};
  const Sizes sizes = {4, 5, 2};
  const Sizes places = {20, 8, 0};
  const VaryingBlocks varying{.input = {one.data()}, .output = {sizes.data(), places.data()}};
  EXPECT_TRUE(find(Collective::all_gather_v, varying, 13).ok());
  EXPECT_FALSE(table_.buffers().in_place);
  EXPECT_TRUE(find(Collective::all_gather_v, varying, 2).ok());
  EXPECT_FALSE(find(Collective::all_gather_v, varying, 1).ok());
  EXPECT_FALSE(find(Collective::all_gather_v, varying, 4).ok());
}

// What is only read may be read twice.
TEST_F(Table, AllowsInputsThatOverlap) {
  const Sizes sizes = {4, 5, 2};
  const Sizes places = {0, 2, 3};
  const VaryingBlocks varying{.input = {sizes.data(), places.data()}, .output = {sizes.data()}};
  EXPECT_TRUE(find(Collective::all_to_all_v, varying, 50).ok());
}

TEST_F(Table, IsNotInPlaceWhereThereIsNothing) {
  const Sizes none = {0};
  const Sizes sizes = {4, 0, 2};
  EXPECT_TRUE(find(Collective::all_gather_v, {.input = {none.data()}, .output = {sizes.data()}}, 4).ok());
  EXPECT_FALSE(table_.buffers().in_place);
}

}  // namespace
}  // namespace tutti
