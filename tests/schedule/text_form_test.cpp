// SPDX-License-Identifier: Apache-2.0
// The text form of schedules: what is written is read back the same, what is read means what it says, and every mistake
// is told with its place.
#include "schedule/text/text_form.hpp"

#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "same_schedule.hpp"
#include "schedule/oracle/random_schedule.hpp"
#include "schedule/prove/prove.hpp"
#include "scripted.hpp"

namespace tutti {
namespace {

std::string problem_of(std::string_view text) {
  const Result<Schedule> schedule = read_schedule(text, "my.sched");
  return schedule.ok() ? "none" : std::string(schedule.status().message());
}

// `steps` as the program of rank 0 of three, in an all-reduce of four pieces with two lanes and a block of scratch.
std::string with_steps(std::string_view steps) {
  return fmt::format(
      "tutti schedule 1\nname a\ncollective all_reduce\nranks 3\npieces 4\nlanes 2\nscratch 1\nrank 0\n{}\nrank 1\n"
      "rank 2\n",
      steps);
}

// The one step that the text says; fails the test where there is none.
Step step_of(std::string_view text) {
  const Result<Schedule> schedule = read_schedule(with_steps(text), "my.sched");
  EXPECT_TRUE(schedule.ok()) << schedule.status().to_string();
  if (!schedule.ok()) return {};
  const Program program = collect(*schedule, 0, Fusion::none);
  EXPECT_EQ(program.num_steps(), 1U) << text;
  return program.lanes[0].at(0);
}

void expect_round_trip(const Schedule& schedule) {
  const std::string text = write_schedule(schedule);
  const Result<Schedule> read = read_schedule(text, "written");
  ASSERT_TRUE(read.ok()) << read.status().to_string() << "\n" << text;
  EXPECT_TRUE(same_schedule(schedule, *read)) << text;
  EXPECT_EQ(write_schedule(*read), text);
}

TEST(TextForm, EveryAlgorithmOfTheRegistryRoundTrips) {
  for (const Algorithm* algorithm : all_algorithms())
    for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 7U, 8U})
      for (const Request& request : cases_of(*algorithm, ranks)) {
        SCOPED_TRACE(fmt::format("{} of {} ranks", full_name(*algorithm, request), ranks));
        expect_round_trip(algorithm->make(request));
      }
}

TEST(TextForm, RandomSchedulesRoundTrip) {
  for (int family = 0; family < kNumFamilies; ++family)
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      SCOPED_TRACE(fmt::format("family {}, seed {}", family, seed));
      expect_round_trip(random_schedule(seed, static_cast<Family>(family), 1 + static_cast<std::uint32_t>(seed % 6)));
    }
}

TEST(TextForm, FusedStepsRoundTripOnceTheyAreNumberedAnew) {
  const Schedule ring = find_algorithm(Collective::all_reduce, "ring")->make({.num_ranks = 4});
  std::vector<Program> programs;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    Program& program = programs.emplace_back(collect(ring, rank, Fusion::neighbours));
    for (std::uint32_t number = 0; Step & step : program.lanes[0]) step.number = number++;
  }
  const Schedule fused = listed(ring, programs);
  EXPECT_NE(write_schedule(fused).find("recv_reduce_send message(1, output[0.2]) = message(3) + input[0.2]"),
            std::string::npos)
      << write_schedule(fused);
  expect_round_trip(fused);
}

TEST(TextForm, EveryKindOfStepRoundTrips) {
  const Slice in{Space::input, 0, 1, 2};
  const Slice out{Space::output, 0, 1, 2};
  const Slice own{Space::scratch, 2, 1, 2};
  const auto local = [](Slice slice) { return Endpoint{Place::local, 0, 0, slice}; };
  const auto message = [](std::uint32_t rank, Slice slice) { return Endpoint{Place::message, rank, 0, slice}; };
  const std::vector<std::uint32_t> peers = {2, 1};
  const std::vector<Slice> slices = {in, own};
  const std::vector<Endpoint> relayed = {message(1, in), message(2, out)};
  const std::vector<Endpoint> mixed = {message(1, own), local(out), message(2, out)};
  const std::vector<Endpoint> owned = {local(own)};
  const std::vector<Endpoint> on_channels = {{Place::message, 1, 0, own, 63}, {Place::message, 1, 0, in, 2}};
  const std::vector<Endpoint> on_channel = {{Place::message, 2, 0, own, 1}};
  const LaneFunction lane = [=](Builder& b, std::uint32_t number) -> Lane {
    if (number == 1) co_return;
    b.after(0, 7);
    b.after(1, 4294967295);
    co_yield b.expose(in);
    co_yield b.open(out);
    co_yield b.signal();
    co_yield b.wait_for_all_others(2);
    co_yield b.wait(peers, 4294967295);
    b.completing();
    co_yield b.close();
    co_yield b.send_away(1, out);
    co_yield b.send(2, in);
    co_yield b.recv(1, own);
    co_yield b.recv_reduce(1, in, out);
    co_yield b.reduce_recv(in, 1, out);
    co_yield b.copy(in, out);
    co_yield b.reduce(slices, out);
    co_yield b.pull(1, 0, in, out);
    co_yield b.pull_reduce_all(0, in, out);
    co_yield b.push_to_all_others(1, own, out);
    co_yield b.multicast_reduce(0, in, out);
    co_yield b.multicast(1, out, out);
    co_yield b.combine(relayed, relayed);
    co_yield b.combine(relayed, mixed);
    co_yield b.combine(mixed, relayed);
    co_yield b.combine(owned, on_channel);
    co_yield b.combine(on_channel, owned);
    co_yield b.combine(on_channels, on_channels);
  };
  Schedule schedule = scripted({.num_ranks = 3, .num_lanes = 3, .pieces = 4, .scratch_blocks = 3}, lane);
  schedule.allows_in_place = false;
  expect_round_trip(schedule);
  schedule.allows_out_of_place = false;
  schedule.root = 2;
  expect_round_trip(schedule);
}

TEST(TextForm, AnyNameRoundTrips) {
  for (const char* name :
       {"ring", "hierarchical(2+3, ring)", "\"quoted\"", "a \"b\"", "a#b", "", " blank ", "line\nbreak", "bell\x07",
        "\xC3\xA4", "not UTF-8 \xFF", "back\\slash", "\\", "\xEF\xBB\xBF", "tab\tin"}) {
    Schedule schedule = scripted({}, [](Builder&, std::uint32_t) -> Lane { co_return; });
    schedule.name = name;
    expect_round_trip(schedule);
  }
}

TEST(TextForm, EveryCollectiveRoundTrips) {
  for (int each = 0; each < kNumCollectives; ++each) {
    const auto collective = static_cast<Collective>(each);
    Schedule schedule = scripted({}, [](Builder&, std::uint32_t) -> Lane { co_return; });
    schedule.collective = collective;
    schedule.spaces = spaces_of(collective, 2, 3);
    for (const OrderClass order :
         {OrderClass::ordered, OrderClass::rank_order, OrderClass::uniform, OrderClass::free}) {
      schedule.order = order;
      expect_round_trip(schedule);
    }
  }
}

TEST(TextForm, ReadsTheExample) {
  std::ifstream file(TUTTI_SOURCE_DIR "/examples/my_all_reduce.sched");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  ASSERT_LT(std::count(text.begin(), text.end(), '\n'), 60);
  const Result<Schedule> schedule = read_schedule(text, "my_all_reduce.sched");
  ASSERT_TRUE(schedule.ok()) << schedule.status().to_string();
  const Proof proof = prove(*schedule);
  ASSERT_TRUE(proof.ok()) << proof.failure->to_string();
  EXPECT_EQ(proof.order, OrderClass::uniform);
  EXPECT_LE(proof.least_depth_fused, 2U);
  expect_round_trip(*schedule);
}

// The specification shows one whole schedule: the last block of it.
TEST(TextForm, ReadsTheExampleOfTheSpecification) {
  std::ifstream file(TUTTI_SOURCE_DIR "/docs/formats/schedule.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::size_t end = text.rfind("\n```");
  const std::size_t begin = text.rfind("```\n", end - 1);
  ASSERT_NE(begin, std::string::npos);
  const Result<Schedule> schedule = read_schedule(text.substr(begin + 4, end - begin - 3), "schedule.md");
  ASSERT_TRUE(schedule.ok()) << schedule.status().to_string();
  const Proof proof = prove(*schedule);
  EXPECT_TRUE(proof.ok()) << proof.failure->to_string();
}

TEST(TextForm, ShortFormsOfSlices) {
  EXPECT_EQ(step_of("send input to 1"), step_of("send input[0.0-3] to 1"));
  EXPECT_EQ(step_of("send scratch[0] to 1"), step_of("send scratch[0.0-3] to 1"));
  EXPECT_EQ(step_of("send input[0.2] to 1"), step_of("send input[0.2-2] to 1"));
  const Slice all{Space::input, 0, 0, 4};
  EXPECT_EQ(step_of("expose input").sources[0].slice, all);
}

struct Mistake {
  std::string text;
  std::string message;
};

// `step` as a step of rank 0 of an all-to-all of 8 ranks with two pieces and 8 blocks of scratch.
std::string with_blocks(std::string_view step) {
  std::string text =
      fmt::format("tutti schedule 1\nname a\ncollective all_to_all\nranks 8\npieces 2\nscratch 8\nrank 0\n{}\n", step);
  for (int rank = 1; rank < 8; ++rank) text += fmt::format("rank {}\n", rank);
  return text;
}

TEST(TextForm, SlicesOfSeveralBlocks) {
  const auto slice_of = [](std::string_view slice) {
    const std::string text = with_blocks(fmt::format("send {} to 1", slice));
    const Result<Schedule> schedule = read_schedule(text, "my.sched");
    EXPECT_TRUE(schedule.ok()) << schedule.status().to_string();
    if (!schedule.ok()) return Slice{};
    expect_round_trip(*schedule);
    return collect(*schedule, 0, Fusion::none).lanes[0].at(0).sources[0].slice;
  };
  EXPECT_EQ(slice_of("input[3 blocks from 6]"), (Slice{Space::input, 6, 0, 2, 3}));
  EXPECT_EQ(slice_of("input[3 blocks from 6.1]"), (Slice{Space::input, 6, 1, 1, 3}));
  EXPECT_EQ(slice_of("scratch[3 blocks from 1.0-1, 1 every 2]"), (Slice{Space::scratch, 1, 0, 2, 3, 1, 2}));
  EXPECT_EQ(slice_of("scratch[4 blocks from 7.0, 2 every 4]"), (Slice{Space::scratch, 7, 0, 1, 4, 2, 4}));
  EXPECT_EQ(slice_of("input[1 blocks from 2]"), (Slice{Space::input, 2, 0, 2}));
}

TEST(TextForm, MistakesInSlicesOfSeveralBlocks) {
  const Mistake mistakes[] = {
      {"send input[9 blocks from 0] to 1", "8:12: found '9', expected how many blocks from 0 to 8"},
      {"send input[0 blocks from 0] to 1", "8:12: found '0', expected how many blocks, at least 1"},
      {"send input[2 blocks 0] to 1", "8:21: found '0', expected 'from' behind 'blocks'"},
      {"send input[2 blocks from 8] to 1", "8:26: found '8', expected a block of input from 0 to 7"},
      {"send input[3 blocks from 0, 3 every 4] to 1", "8:27: found ',', expected runs of 1 to 2 of the blocks"},
      {"send input[3 blocks from 0, 2 every 2] to 1",
       "8:27: found ',', expected runs that are farther apart than they are long"},
      {"send input[3 blocks from 0, 1 every 4] to 1",
       "8:27: found ',', expected blocks that do not go around to the first: there are 8"},
      {"send input[3 blocks from 0, 1] to 1", "8:30: found ']', expected 'every' behind how many neighbours"},
      {"send input[0, 1 every 4] to 1", "8:13: found ',', expected ']' at the end of the slice"},
  };
  for (const Mistake& mistake : mistakes)
    EXPECT_EQ(problem_of(with_blocks(mistake.text)), "my.sched:" + mistake.message) << mistake.text;
}

TEST(TextForm, ShortFormsOfSteps) {
  EXPECT_EQ(step_of("send input[0.1] to 2"), step_of("combine message(2, input[0.1]) = input[0.1]"));
  EXPECT_EQ(step_of("recv output[0.1] from 2"), step_of("recv output[0.1] = message(2)"));
  EXPECT_EQ(step_of("Recv-Reduce output[0.1] = message(2) + input[0.1]"),
            step_of("combine output[0.1] = message(2, input[0.1]) + input[0.1]"));
  EXPECT_EQ(step_of("wait for post 3 of others"), step_of("wait for post 3 of 1, 2"));
  EXPECT_EQ(step_of("signal"), step_of("signal as post 0"));
  EXPECT_EQ(step_of("close after lane 1 step 2 completes"), step_of("close completes after lane 1 step 2"));
}

// A message's slice is that of the first end on its own side, or else on the other.
TEST(TextForm, MessagesTakeTheirSlicesFromOtherEnds) {
  const Slice in{Space::input, 0, 1, 1};
  const Slice out{Space::output, 0, 1, 1};
  const Step step = step_of("combine message(1), output[0.1] = message(2) + input[0.1] + scratch[0.1]");
  EXPECT_EQ(step.destinations[0].slice, out);
  EXPECT_EQ(step.sources[0].slice, in);
  EXPECT_EQ(step_of("combine message(1) = message(2) + input[0.1]").destinations[0].slice, in);
}

TEST(TextForm, MessagesMaySayTheirChannel) {
  const Slice in{Space::input, 0, 1, 1};
  const Endpoint expected{.place = Place::message, .rank = 2, .slice = in, .channel = 63};
  EXPECT_EQ(step_of("send message(2, channel 63) = input[0.1]").destinations[0], expected);
  EXPECT_EQ(step_of("combine message(2, channel 63, input[0.1]) = input[0.1]").destinations[0], expected);
  EXPECT_EQ(step_of("send input[0.1] to 2").destinations[0].channel, 0U);
}

TEST(TextForm, BlanksCommentsAndLineEndsDoNotMatter) {
  const std::string plain =
      "tutti schedule 1\nname a\ncollective all_reduce\nranks 1\nrank 0\ncopy output=input completes\n";
  const std::string other =
      "\xEF\xBB\xBF\r\n# a comment\r\n\ttutti  schedule 01 # one\r\nranks 1\r\nname   a   # of mine\r\n"
      "collective All-Reduce\r\n\r\nrank 0#first\r\n  lane 0\r\n copy output [ 0 . 0 ] = input completes#";
  const Result<Schedule> a = read_schedule(plain, "a");
  const Result<Schedule> b = read_schedule(other, "b");
  ASSERT_TRUE(a.ok() && b.ok()) << b.status().to_string();
  EXPECT_TRUE(same_schedule(*a, *b));
}

TEST(TextForm, WhatATextDoesNotSay) {
  const Result<Schedule> schedule =
      read_schedule("tutti schedule 1\nname a\ncollective reduce\nranks 2\nrank 0\nrank 1", "a");
  ASSERT_TRUE(schedule.ok()) << schedule.status().to_string();
  EXPECT_EQ(schedule->order, OrderClass::free);
  EXPECT_EQ(schedule->root, 0U);
  EXPECT_EQ(schedule->num_lanes, 1U);
  EXPECT_EQ(schedule->spaces, spaces_of(Collective::reduce, 2));
  EXPECT_TRUE(schedule->allows_in_place && schedule->allows_out_of_place);
}

TEST(TextForm, MistakesInTheSettings) {
  const std::string head = "tutti schedule 1\n";
  const std::string all = head + "name a\ncollective all_reduce\nranks 2\n";
  const Mistake mistakes[] = {
      {"", "my.sched:1:1: found the end of the file, expected 'tutti schedule 1'"},
      {"# nothing\n", "my.sched:1:10: found the end of the file, expected 'tutti schedule 1'"},
      {"rank 0", "my.sched:1:1: found 'rank', expected the first line of a schedule, 'tutti schedule 1'"},
      {"tutti schedule 2\n", "my.sched:1:16: found '2', expected 1, the version that is read here"},
      {"tutti schedule 1 0", "my.sched:1:18: found '0', expected the end of the line"},
      {head + "name\n", "my.sched:2:5: found the end of the line, expected a name"},
      {head + "name \"a\n", "my.sched:2:8: found the end of the line, expected '\"'"},
      {head + "name \"a\\n\"\n", "my.sched:2:8: found '\\', expected \\\", \\\\ or \\x and two hexadecimal digits"},
      {head + "name \"a\" b\n", "my.sched:2:10: found 'b', expected the end of the line"},
      {head + "collective all\n",
       "my.sched:2:12: found 'all', expected a collective: all_reduce, all_gather, reduce_scatter, broadcast, reduce, "
       "all_to_all, gather, scatter, scan, exclusive_scan, barrier, all_gather_v, reduce_scatter_v, all_to_all_v, "
       "gather_v, scatter_v"},
      {head + "ranks 0\n", "my.sched:2:7: found '0', expected a number from 1 to 4096"},
      {head + "ranks 4097\n", "my.sched:2:7: found '4097', expected a number from 1 to 4096"},
      {head + "ranks four\n", "my.sched:2:7: found 'four', expected a number from 1 to 4096"},
      {head + "lanes 1025\n", "my.sched:2:7: found '1025', expected a number from 1 to 1024"},
      {head + "pieces 99999999999999999999\n",
       "my.sched:2:8: found '99999999999999999999', expected a number from 1 to 1048576"},
      {head + "scratch -1\n", "my.sched:2:9: found '-', expected a number from 0 to 1048576"},
      {head + "order left\n",
       "my.sched:2:7: found 'left', expected an order class: ordered, rank_order, uniform or free"},
      {head + "in_place maybe\n", "my.sched:2:10: found 'maybe', expected 'yes' or 'no'"},
      {head + "order free\norder free\n", "my.sched:3:1: found 'order', expected it once; line 2 has it already"},
      {head + "colour red\n",
       "my.sched:2:1: found 'colour', expected a setting (name, collective, ranks, root, order, pieces, lanes, "
       "scratch, "
       "in_place, out_of_place) or 'rank 0'"},
      {head + "name a\nranks 2\nrank 0\n", "my.sched:4:1: found 'rank', expected the setting 'collective' before it"},
      {head + "name a\n", "my.sched:2:7: found the end of the file, expected the setting 'collective'"},
      {all, "my.sched:4:8: found the end of the file, expected 'rank 0'"},
      {all + "root 2\nrank 0\n", "my.sched:5:6: found '2', expected a rank from 0 to 1"},
      {all + "pieces 1048576\nscratch 1048576\nrank 0\n",
       "my.sched:7:1: found 2 ranks with 1048578 blocks of 1048576 pieces, expected 4194304 pieces in all at most"},
      {all + "rank 1\n", "my.sched:5:6: found '1', expected 0: ranks stand in their order, each once"},
      {all + "rank 0\nrank 0\n", "my.sched:6:6: found '0', expected 1: ranks stand in their order, each once"},
      {all + "rank 0\n", "my.sched:5:7: found the end of the file, expected 'rank 1'"},
      {all + "rank 0\nrank 1\nrank 2\n", "my.sched:7:6: found '2', expected no more than the 2 ranks that there are"},
      {all + "rank 0:\n", "my.sched:5:7: found ':', expected the end of the line"},
      {"tutti\tschedule 1\x01\n", "my.sched:1:17: found '\\x01', expected no control characters"},
      {"# \xC3\n", "my.sched:1:3: found '\\xc3', expected UTF-8 text"},
      {"#" + std::string(2 << 20, ' ') + "\n", "my.sched:1:1: found a line of 2097153 bytes, expected 2097152 at most"},
  };
  for (const Mistake& mistake : mistakes) EXPECT_EQ(problem_of(mistake.text), mistake.message) << mistake.text;
}

TEST(TextForm, MistakesInEndsOfSteps) {
  constexpr std::string_view kSteps =
      "a step (send, recv, recv_reduce, copy, reduce, expose, open, signal, wait, close, pull, pull_reduce, push, "
      "multicast, combine ...), 'lane' or 'rank'";
  const Mistake mistakes[] = {
      {"sned input to 1", fmt::format("9:1: found 'sned', expected {}", kSteps)},
      {"= input", fmt::format("9:1: found '=', expected {}", kSteps)},
      {"pieces 3", fmt::format("9:1: found 'pieces', expected {}", kSteps)},
      {"send",
       "9:5: found the end of the line, expected a slice such as input[0.0], message(RANK), rank RANK SLICE "
       "(post NUMBER) or all ranks' SLICE (post NUMBER)"},
      {"send input", "9:11: found the end of the line, expected 'to' or '='"},
      {"send input from 1", "9:12: found 'from', expected 'to' or '='"},
      {"recv output to 1", "9:13: found 'to', expected 'from' or '='"},
      {"recv output, output from 1", "9:21: found 'from', expected '='"},
      {"send input to 3", "9:15: found '3', expected a rank from 0 to 2"},
      {"send input[1.0] to 1", "9:12: found '1', expected a block of input from 0 to 0"},
      {"send input[0.4] to 1", "9:14: found '4', expected a piece from 0 to 3"},
      {"send input[0.3-4] to 1", "9:16: found '4', expected the last piece from 0 to 3"},
      {"send input[0.3-2] to 1", "9:16: found '2', expected a last piece that is not below the first, 3"},
      {"send input[0.3 to 1", "9:16: found 'to', expected ']' at the end of the slice"},
      {"copy output = inputs",
       "9:15: found 'inputs', expected a slice such as input[0.0], message(RANK), rank RANK "
       "SLICE (post NUMBER) or all ranks' SLICE (post NUMBER)"},
      {"expose it", "9:8: found 'it', expected a slice of input, output or scratch, such as input[0.0]"},
      {"copy output + input", "9:13: found '+', expected '=' behind the destinations"},
      {"reduce output = input +",
       "9:24: found the end of the line, expected a slice such as input[0.0], "
       "message(RANK), rank RANK SLICE (post NUMBER) or all ranks' SLICE (post NUMBER)"},
      {"recv output = message(1) + input",
       "9:1: found 'recv', expected 'recv_reduce' or 'combine' in front of these "
       "ends"},
      {"combine message(1) = message(2)",
       "9:9: found 'message', expected its slice as well, as in "
       "message(1, output[0.0]), where all ends are messages"},
      {"recv output = message 1", "9:23: found '1', expected '(' behind 'message'"},
      {"recv output = message(1, channel 64)", "9:34: found '64', expected a channel from 0 to 63"},
      {"recv output = message(1", "9:24: found the end of the line, expected ')' at the end of the message"},
      {"pull output = rank 1 input",
       "9:27: found the end of the line, expected '(' and 'post NUMBER)': what permits "
       "it"},
      {"pull output = rank 1 input (0)", "9:29: found '0', expected 'post' behind '('"},
      {"multicast all output (post 0) = output", "9:15: found 'output', expected 'ranks'' behind 'all'"},
  };
  for (const Mistake& mistake : mistakes)
    EXPECT_EQ(problem_of(with_steps(mistake.text)), "my.sched:" + mistake.message) << mistake.text;
}

TEST(TextForm, MistakesInWhatFollowsTheEnds) {
  const Mistake mistakes[] = {
      {"expose input as post 1", "9:22: found '1', expected 0: posts of a rank stand in one lane and count from 0"},
      {"expose input\nsignal as post 2",
       "10:16: found '2', expected 1: posts of a rank stand in one lane and count from 0"},
      {"wait for post 0", "9:16: found the end of the line, expected 'of' behind the post"},
      {"wait for post 4294967296 of 1", "9:15: found '4294967296', expected the number of a post from 0 to 4294967295"},
      {"wait for post 0 of 1 2",
       "9:22: found '2', expected the end of the step, or 'completes', 'away' (each once) or "
       "'after lane NUMBER step NUMBER'"},
      {"close completes completes",
       "9:17: found 'completes', expected the end of the step, or 'completes', 'away' "
       "(each once) or 'after lane NUMBER step NUMBER'"},
      {"close after 1", "9:13: found '1', expected 'lane' behind 'after'"},
      {"close after lane 2 step 0", "9:18: found '2', expected a lane from 0 to 1"},
      {"close after lane 1", "9:19: found the end of the line, expected 'step' behind the lane"},
      {"lane 2", "9:6: found '2', expected a lane from 0 to 1; lanes stand in their order, each once"},
      {"lane 1\nlane 0", "10:6: found '0', expected no more than the 2 lanes that there are"},
      {"close\nlane 0", "10:6: found '0', expected a lane from 1 to 1; lanes stand in their order, each once"},
      {"send \xE2\x86\x92 1",
       "9:6: found '\xE2\x86\x92', expected a slice such as input[0.0], message(RANK), rank "
       "RANK SLICE (post NUMBER) or all ranks' SLICE (post NUMBER)"},
  };
  for (const Mistake& mistake : mistakes)
    EXPECT_EQ(problem_of(with_steps(mistake.text)), "my.sched:" + mistake.message) << mistake.text;
  EXPECT_EQ(problem_of("tutti schedule 1\nname a\ncollective barrier\nranks 1\nrank 0\nrecv output from 0"),
            "my.sched:6:6: found 'output', expected another space: barrier has no output");
  EXPECT_EQ(problem_of("tutti schedule 1\nname a\ncollective barrier\nranks 1\nrank 0\nrecv scratch from 0"),
            "my.sched:6:6: found 'scratch', expected another space: there is no scratch ('scratch NUMBER' sets some)");
}

TEST(TextForm, StepsHaveLimits) {
  const auto repeated = [](std::string_view front, std::string_view part, std::uint32_t times) {
    std::string text(front);
    for (std::uint32_t i = 0; i < times; ++i) text += part;
    return text;
  };
  const std::uint32_t most = schedule_text::kMostEndsOfStep;
  EXPECT_EQ(problem_of(with_steps(repeated("combine output = input", "+input", most - 1))), "none");
  EXPECT_EQ(problem_of(with_steps(repeated("combine output = input", "+input", most))),
            fmt::format("my.sched:9:{}: found 'input', expected no more than 8192 of them", 18 + 6 * most));
  EXPECT_EQ(problem_of(with_steps(repeated("close", " after lane 0 step 0", schedule_text::kMostAfters))), "none");
  EXPECT_EQ(problem_of(with_steps(repeated("close", " after lane 0 step 0", schedule_text::kMostAfters + 1))),
            fmt::format("my.sched:9:{}: found 'after', expected no more than 1024 of them", 7 + 20 * 1024));
}

// Every beginning of a good text is either refused or a schedule that is written and read back.
TEST(TextForm, CutAnywhereItIsReadOrRefused) {
  const Schedule schedule = find_algorithm(Collective::all_reduce, "two_shot")->make({.num_ranks = 3});
  const std::string text = write_schedule(schedule);
  int refused = 0;
  for (std::size_t size = 0; size < text.size(); ++size) {
    const Result<Schedule> read = read_schedule(text.substr(0, size), "cut");
    if (read.ok()) {
      expect_round_trip(*read);
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace tutti
