// SPDX-License-Identifier: Apache-2.0
// MSCCL programs as schedules: what each type of step becomes, and whole programs of 8 and 16 ranks, proven and
// executed on numbers.
#include "schedule/msccl/msccl.hpp"

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "msccl_programs.hpp"
#include "same_schedule.hpp"
#include "schedule/numbers.hpp"
#include "schedule/prove/definition.hpp"
#include "schedule/prove/prove.hpp"
#include "schedule/text/text_form.hpp"

namespace tutti {
namespace {

namespace programs = msccl_programs;
using programs::Writer;
using programs::Place::both;
using programs::Place::in;
using programs::Place::out;

Schedule read(const std::string& text) {
  const Result<Schedule> schedule = read_msccl(text, "program.xml");
  if (!schedule.ok()) ADD_FAILURE() << schedule.status().to_string();
  return schedule.ok() ? schedule.value() : Schedule{};
}

// The steps of a rank's lane, each on a line, with what they wait for.
std::string steps_of(const Schedule& schedule, std::uint32_t rank, std::uint32_t lane) {
  if (!schedule.lane) return "";
  std::string text;
  const Program program = collect(schedule, rank, Fusion::none);
  for (const Step& step : program.lanes[lane]) {
    text += to_string(step);
    for (const After& after : step.after) text += fmt::format(" after {}.{}", after.lane, after.step);
    text += step.completes ? " completes\n" : "\n";
  }
  return text;
}

TEST(Msccl, RingIsSendsThatFoldAndStoreWhatTheirTypesSay) {
  const Schedule schedule = read(programs::ring_all_reduce(3, 2));
  EXPECT_EQ(schedule.name, "generated");
  EXPECT_EQ(schedule.num_lanes, 2U);
  EXPECT_EQ(schedule.division(Space::input), (Division{1, 6}));
  EXPECT_EQ(schedule.division(Space::scratch).blocks, 0U);
  EXPECT_TRUE(schedule.allows_in_place);
  EXPECT_FALSE(schedule.allows_out_of_place);
  EXPECT_EQ(steps_of(schedule, 0, 1),
            "send message(1, channel 1) = input[0.1]\n"
            "recv_reduce_send message(1, channel 1) = message(2, channel 1) + input[0.5]\n"
            "recv_reduce_send output[0.3], message(1, channel 1) = message(2, channel 1) + input[0.3] completes\n"
            "recv_send output[0.1], message(1, channel 1) = message(2, channel 1)\n"
            "recv output[0.5] = message(2, channel 1)\n");
}

TEST(Msccl, ScratchIsBlocksThatHoldThePiecesThatCome) {
  const Schedule schedule = read(programs::hierarchical_all_reduce(1, 3, 2));
  EXPECT_EQ(schedule.division(Space::scratch), (Division{2, 6}));
  EXPECT_EQ(steps_of(schedule, 1, 0),
            "reduce output[0.2-3] = input[0.2-3] + scratch[0.2-3] after 1.1 after 2.1\n"
            "reduce output[0.2-3] = output[0.2-3] + scratch[1.2-3] completes\n");
  EXPECT_EQ(steps_of(schedule, 1, 1),
            "send message(2) = input[0.4-5]\n"
            "recv scratch[0.2-3] = message(2)\n"
            "send message(2) = output[0.2-3] after 0.1\n"
            "recv output[0.4-5] = message(2)\n");
}

TEST(Msccl, PiecesOfAChunkOfScratchFollowTheData) {
  const Schedule schedule = read(programs::ring_reduce_scatter(3, 2, out));
  EXPECT_EQ(steps_of(schedule, 0, 0),
            "send message(1) = input[2.0-1]\n"
            "recv_reduce scratch[0.0-1] = message(2) + input[1.0-1]\n"
            "send message(1) = scratch[0.0-1]\n"
            "recv_reduce output[0.0-1] = message(2) + input[0.0-1] completes\n");
}

TEST(Msccl, InPlaceWhatIsStoredOverInputsOfOthersGoesToScratch) {
  const Schedule schedule = read(programs::ring_reduce_scatter(3, 1, in));
  EXPECT_EQ(steps_of(schedule, 0, 0),
            "send message(1) = input[2.0]\n"
            "recv_reduce scratch[0.0] = message(2) + input[1.0]\n"
            "send message(1) = scratch[0.0]\n"
            "recv_reduce output[0.0] = message(2) + input[0.0] completes\n");
}

TEST(Msccl, InPlaceAnAllGatherReadsItsPartOfTheOutput) {
  const Schedule schedule = read(programs::ring_all_gather(3, 2, in));
  EXPECT_EQ(steps_of(schedule, 1, 0),
            "send message(2) = input[0.0-1]\n"
            "recv_send output[0.0-1], message(2) = message(0)\n"
            "recv output[2.0-1] = message(0)\n"
            "copy output[1.0-1] = input[0.0-1]\n");
  EXPECT_EQ(steps_of(read(programs::ring_all_gather(3, 2, both)), 1, 0),
            "send message(2) = input[0.0-1]\n"
            "copy output[1.0-1] = input[0.0-1]\n"
            "recv_send output[0.0-1], message(2) = message(0)\n"
            "recv output[2.0-1] = message(0)\n");
}

TEST(Msccl, StepsOfSeveralChunksAreCutAlikeAtBothEnds) {
  // The sender's chunks are side by side; the receiver puts them into different blocks.
  const Schedule schedule = read(programs::two_step_all_to_all(2, 2));
  EXPECT_EQ(steps_of(schedule, 0, 3),
            "send message(2) = scratch[2.0] after 0.1 after 1.3\n"
            "send message(2) = scratch[3.0]\n"
            "recv output[2.0] = message(2)\n"
            "recv output[3.0] = message(2)\n");
}

TEST(Msccl, CutsGoOnThroughThoseWhoOnlyPassOn) {
  // Rank 2 has another piece 0 in scratch already, so what it receives does not stand side by side; rank 1 relays.
  Writer w({"allgather", 3, 6, 1, out});
  w.gpu(0, 2, 6, 0);
  w.block(1, -1);
  w.step("s", {'i', 0}, {'o', 0}, 2);
  w.gpu(1, 2, 6, 0);
  w.block(2, 0);
  w.step("rcs", {'i', 0}, {'o', 0}, 2);
  w.gpu(2, 2, 6, 3);
  w.block(-1, 1);
  w.step("cpy", {'i', 0}, {'s', 0});
  w.step("r", {'i', 0}, {'s', 1}, 2);
  const Schedule schedule = read(w.finish());
  EXPECT_EQ(steps_of(schedule, 0, 0), "send message(1) = input[0.0]\nsend message(1) = input[0.1]\n");
  EXPECT_EQ(steps_of(schedule, 1, 0),
            "recv_send output[0.0], message(2) = message(0)\nrecv_send output[0.1], message(2) = message(0)\n");
  EXPECT_EQ(steps_of(schedule, 2, 0),
            "copy scratch[0.0] = input[0.0]\nrecv scratch[1.0] = message(1)\nrecv scratch[0.1] = message(1)\n");
}

TEST(Msccl, AStepCompletesAllOfItsPiecesOrNone) {
  // Of what rank 2 folds, one piece lacks rank 0's contribution still.
  Writer w({"allreduce", 3, 2, 1, out});
  w.gpu(0, 2, 2, 0);
  w.block(1, -1);
  w.step("s", {'i', 0}, {'i', 0});
  w.gpu(1, 2, 2, 2);
  w.block(2, 0);
  w.step("rrc", {'i', 0}, {'s', 0});
  w.step("cpy", {'i', 1}, {'s', 1});
  w.step("s", {'s', 0}, {'i', 0}, 2);
  w.gpu(2, 2, 2, 0);
  w.block(-1, 1);
  w.step("rrc", {'i', 0}, {'o', 0}, 2);
  EXPECT_EQ(steps_of(read(w.finish()), 2, 0),
            "recv_reduce output[0.0] = message(1) + input[0.0] completes\n"
            "recv_reduce output[0.1] = message(1) + input[0.1]\n");
}

// The first thread block stores what the second reads in its second step, and waits for step `waits_for` of it.
std::string end_of_writer(int waits_for) {
  Writer w({"allreduce", 1, 2, 1, out});
  w.gpu(0, 2, 2, 1);
  w.block(-1, -1);
  w.step("cpy", {'i', 0}, {'s', 0});
  w.step("cpy", {'i', 0}, {'o', 0}, 1, {1, waits_for});
  w.block(-1, -1);
  w.step("cpy", {'i', 1}, {'o', 1});
  w.step("cpy", {'s', 0}, {'o', 0}, 1, {0, 0});
  const std::string steps = steps_of(read(w.finish()), 0, 0);
  return steps.substr(steps.find("after"));
}

TEST(Msccl, RoundsAreKeptApartWhereNothingElseDoes) {
  EXPECT_EQ(end_of_writer(1), "after 1.1 completes\n");
  EXPECT_EQ(end_of_writer(0), "after 1.0 completes\nclose after 1.1\n");
}

TEST(Msccl, ScratchThatLanesShareIsKeptFromTheNextRound) {
  const Schedule schedule = read(programs::two_step_all_to_all(2, 2));
  EXPECT_EQ(steps_of(schedule, 0, 1),
            "send message(1) = input[1.0]\n"
            "send message(1) = input[3.0]\n"
            "recv scratch[1.0] = message(1)\n"
            "recv scratch[3.0] = message(1)\n"
            "close after 2.1 after 3.1\n");
}

// A copy in each of three thread blocks, the last after `dep`.
Schedule three_copies(const std::function<programs::Dep(Writer&)>& dep, bool second_announces) {
  Writer w({"allreduce", 1, 3, 1, out});
  w.gpu(0, 3, 3, 0);
  w.block(-1, -1);
  w.step("cpy", {'i', 0}, {'o', 0}, 1, {}, false);
  w.step("cpy", {'i', 0}, {'o', 0}, 1, {}, second_announces);
  w.block(-1, -1);
  w.step("cpy", {'i', 1}, {'o', 1});
  w.block(-1, -1);
  w.step("cpy", {'i', 2}, {'o', 2}, 1, dep(w));
  return read(w.finish());
}

TEST(Msccl, NopsHandTheirDependenciesToTheNextStep) {
  const Schedule schedule = three_copies(
      [](Writer& w) {
        w.nop({0, 1});
        w.nop({-1, -1});
        return programs::Dep{1, 0};
      },
      true);
  EXPECT_EQ(steps_of(schedule, 0, 2), "copy output[0.2] = input[0.2] after 0.1 after 1.0 completes\n");
}

TEST(Msccl, WhoeverWaitsForASilentStepWaitsForTheNextThatTells) {
  const Schedule schedule = three_copies([](Writer&) { return programs::Dep{0, 0}; }, true);
  EXPECT_EQ(steps_of(schedule, 0, 2), "copy output[0.2] = input[0.2] after 0.1 completes\n");
}

TEST(Msccl, ConnectionsOfAPairAreCountedFromZeroWhateverTheirChannels) {
  Writer w({"allgather", 2, 2, 6, out});
  for (int rank = 0; rank < 2; ++rank) {
    w.gpu(rank, 1, 2, 0);
    w.block(1 - rank, 1 - rank, 5);
    w.step("s", {'i', 0}, {'o', rank});
    w.step("r", {'i', 0}, {'o', 1 - rank});
    w.step("cpy", {'i', 0}, {'o', rank});
  }
  EXPECT_EQ(steps_of(read(w.finish()), 0, 0),
            "send message(1) = input[0.0]\nrecv output[1.0] = message(1)\ncopy output[0.0] = input[0.0]\n");
}

TEST(Msccl, CommentsAndUnknownAttributesAreSkipped) {
  std::string text = programs::ring_all_reduce(2, 1);
  text.insert(0, "<?xml version=\"1.0\"?>\n<!-- by hand -->\n");
  text.replace(text.find("hasdep="), 0, "note=\"x\" ");
  EXPECT_TRUE(prove(read(text)).ok());
}

// --- whole programs ---

std::int64_t input_value(std::uint32_t rank, std::uint32_t block, std::uint64_t element) {
  return static_cast<std::int64_t>((std::uint64_t{block} * 1009 + element + 1) * (std::uint64_t{2} * rank + 1));
}

// What definition.hpp asks of every output, computed from the inputs' formula.
void expect_outputs(const Schedule& schedule, const std::vector<std::vector<std::byte>>& outputs, std::uint64_t count) {
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
    for (std::uint32_t block = 0; block < schedule.division(Space::output).blocks; ++block) {
      for (std::uint64_t element = 0; element < count; ++element) {
        // Blocks are cut alike, so an element stays where it is and only the origin's block counts.
        const auto expected = expected_output(schedule, rank, {block, 0});
        std::int64_t wanted = 0;
        for (std::uint32_t each = expected->first; each < expected->end; ++each)
          wanted += input_value(each, expected->origin.block, element);
        std::int64_t got = 0;
        std::memcpy(&got, outputs[rank].data() + (block * count + element) * sizeof got, sizeof got);
        ASSERT_EQ(got, wanted) << "rank " << rank << ", block " << block << ", element " << element;
      }
    }
  }
}

void expect_right(const std::string& text) {
  const Schedule schedule = read(text);
  ASSERT_TRUE(schedule.lane);
  const Proof proof = prove(schedule);
  ASSERT_TRUE(proof.ok()) << proof.failure->to_string();
  // More than a round of each piece, and pieces that are not all alike.
  const std::uint64_t count = 3 * std::uint64_t{schedule.division(Space::input).pieces} + 1;
  const NumbersData data{sizeof(std::int64_t), count, 2, fold_of<std::int64_t>(std::plus<>())};
  std::vector<std::vector<std::byte>> inputs;
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
    std::vector<std::byte>& bytes = inputs.emplace_back();
    for (std::uint32_t block = 0; block < schedule.division(Space::input).blocks; ++block) {
      for (std::uint64_t element = 0; element < count; ++element) {
        const std::int64_t value = input_value(rank, block, element);
        bytes.resize(bytes.size() + sizeof value);
        std::memcpy(bytes.data() + bytes.size() - sizeof value, &value, sizeof value);
      }
    }
  }
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    NumbersOptions options{.seed = seed, .fusion = seed % 2 == 0 ? Fusion::none : Fusion::neighbours};
    options.depth = options.fusion == Fusion::none ? proof.least_depth : proof.least_depth_fused;
    options.in_place = !schedule.allows_out_of_place || (schedule.allows_in_place && seed == 2);
    const auto outputs = run_on_numbers(schedule, inputs, data, options);
    ASSERT_TRUE(outputs.ok()) << outputs.status().to_string();
    expect_outputs(schedule, outputs.value(), count);
  }
}

TEST(MscclPrograms, RingsWithChannels) {
  expect_right(programs::ring_all_reduce(2, 1));
  expect_right(programs::ring_all_reduce(8, 4));
  expect_right(programs::ring_all_reduce(16, 2));
}

TEST(MscclPrograms, AllPairsThroughScratchWithChainsOfNops) {
  expect_right(programs::hierarchical_all_reduce(1, 8, 1));
  expect_right(programs::hierarchical_all_reduce(1, 8, 4));
  expect_right(programs::hierarchical_all_reduce(1, 16, 2));
}

TEST(MscclPrograms, AllPairsThatShareTheReducing) {
  expect_right(programs::shared_all_reduce(3, 1));
  expect_right(programs::shared_all_reduce(8, 2));
  expect_right(programs::shared_all_reduce(16, 1));
}

TEST(MscclPrograms, HierarchicalAllPairs) {
  expect_right(programs::hierarchical_all_reduce(2, 4, 2));
  expect_right(programs::hierarchical_all_reduce(2, 8, 3));
  expect_right(programs::hierarchical_all_reduce(4, 4, 1));
}

TEST(MscclPrograms, AllGathers) {
  for (const programs::Place place : {out, in, both}) {
    expect_right(programs::ring_all_gather(8, 3, place));
    expect_right(programs::ring_all_gather(16, 1, place));
  }
}

TEST(MscclPrograms, AllToAlls) {
  expect_right(programs::direct_all_to_all(8, 4));
  expect_right(programs::direct_all_to_all(16, 2));
  expect_right(programs::two_step_all_to_all(2, 4));
  expect_right(programs::two_step_all_to_all(2, 8));
}

TEST(MscclPrograms, InPlaceAllToAllsLeaveTheirOwnPartAlone) {
  expect_right(programs::in_place_all_to_all(8, 2));
  expect_right(programs::in_place_all_to_all(1, 2));
}

TEST(MscclPrograms, ReduceScatters) {
  for (const programs::Place place : {out, in}) {
    expect_right(programs::ring_reduce_scatter(8, 2, place));
    expect_right(programs::ring_reduce_scatter(16, 1, place));
  }
}

TEST(MscclPrograms, HaveATextFormAsAnySchedule) {
  for (const std::string& text : {programs::ring_all_reduce(4, 3), programs::hierarchical_all_reduce(2, 4, 2),
                                  programs::two_step_all_to_all(2, 4)}) {
    const Schedule schedule = read(text);
    const Result<Schedule> again = read_schedule(write_schedule(schedule), "again.sched");
    ASSERT_TRUE(again.ok()) << again.status().to_string();
    EXPECT_TRUE(same_schedule(schedule, *again));
  }
}

TEST(MscclPrograms, TheirLeastDepthIsReported) {
  // All sends of a thread block stand before its receives: as many messages must fit between two ranks.
  const Proof proof = prove(read(programs::two_step_all_to_all(2, 4)));
  ASSERT_TRUE(proof.ok());
  EXPECT_EQ(proof.least_depth, 4U);
}

TEST(MscclPrograms, AForgottenDependencyIsARace) {
  for (const int nodes : {1, 2}) {
    const Proof proof = prove(read(programs::hierarchical_all_reduce(nodes, 4, 1, true)));
    ASSERT_FALSE(proof.ok());
    EXPECT_TRUE(proof.failure->fault == Fault::race || proof.failure->fault == Fault::no_value)
        << proof.failure->to_string();
  }
}

TEST(MscclPrograms, ThirtyThousandSteps) {
  // The time is for benches; that it is read at all, completely, is for here.
  const Schedule schedule = read(programs::ring_all_reduce(32, 16));
  std::size_t steps = 0;
  for (std::uint32_t rank = 0; rank < 32; ++rank) steps += collect(schedule, rank, Fusion::none).num_steps();
  EXPECT_EQ(steps, 32U * 16U * 63U);
}

}  // namespace
}  // namespace tutti
