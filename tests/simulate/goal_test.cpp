// SPDX-License-Identifier: Apache-2.0
// GOAL: schedules that are written and read back take the time that they take themselves; traces that are reckoned by
// hand; mistakes with their places; garbage.
#include "simulate/trace/goal.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "simulate/trace/simulate_trace.hpp"
#include "small_fabrics.hpp"
#include "small_runs.hpp"

namespace tutti::simulate {
namespace {

Result<Answer> run_goal(std::string_view text, const fabric::Fabric& fabric) {
  TUTTI_TRY_ASSIGN(Trace trace, read_goal(text, "t.goal"));
  TUTTI_TRY_ASSIGN(const PreparedTrace prepared, PreparedTrace::prepare(std::move(trace)));
  return simulate_trace(prepared, fabric, {});
}

std::string problem_with(std::string_view text) {
  const Result<Answer> answer = run_goal(text, wires(2, 100, 1));
  return answer.ok() ? "none" : std::string(answer.status().message());
}

// On wires of 100 ns and 1 byte a nanosecond, whose cores take 10 ns to send and 20 ns to receive.
fabric::Fabric with_overheads(fabric::Fabric made) {
  made.costs[0].send_overhead = 10;
  made.costs[0].receive_overhead = 20;
  return made;
}
std::vector<double> ends_of(std::string_view body) {
  const Result<Answer> answer = run_goal(fmt::format("num_ranks 2\n{}", body), with_overheads(wires(2, 100, 1)));
  EXPECT_TRUE(answer.ok()) << answer.status().to_string();
  return answer.ok() ? answer->rank_times : std::vector<double>{};
}
using Ends = std::vector<double>;

// --- there and back

struct Machine {
  std::string_view name;
  fabric::Fabric fabric;
  bool receives_cost = false;
};

std::vector<Machine> machines(std::uint32_t num_ranks) {
  std::vector<Machine> made{{"wires", wires(num_ranks, 700, 3)},
                            {"star", star(num_ranks, 250, 7)},
                            {"ring", ring(num_ranks, 100, 2)},
                            {"receives", wires(num_ranks, 700, 3), true}};
  for (Machine& machine : made) {
    fabric::Costs& costs = machine.fabric.costs[0];
    costs.launch = 50;
    costs.finish = 30;
    costs.send_overhead = 11;
    costs.send_per_byte = 0.25;
    if (machine.receives_cost) {
      costs.receive_overhead = 17;
      costs.receive_per_byte = 0.125;
    }
    for (fabric::Link& link : machine.fabric.links) link.gap = 5;
  }
  return made;
}

// A step of several messages receives them all at once; operations of a trace receive each as it comes.
bool receives_one_at_a_time(const Schedule& schedule) {
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank)
    for (const std::vector<Step>& lane : collect(schedule, rank, Fusion::neighbours).lanes)
      for (const Step& step : lane)
        if (std::count_if(step.sources.begin(), step.sources.end(),
                          [](const Endpoint& end) { return end.place == Place::message; }) > 1)
          return false;
  return true;
}

TEST(GoalThereAndBack, ASchedulesMessagesTakeTheTimeOfTheSchedule) {
  int compared = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    if (algorithm->channel != Channel::message) continue;
    for (const std::uint32_t num_ranks : {2U, 4U, 7U, 8U}) {
      const Cases cases = find_cases(*algorithm, num_ranks);
      if (cases.requests.empty()) continue;
      const Schedule schedule = algorithm->make(cases.requests.front());
      const bool is_in_turn = receives_one_at_a_time(schedule);
      for (const std::uint64_t count : {1U, 1000U}) {
        const Result<std::string> text = write_goal(schedule, {.count = count, .element_size = 4});
        ASSERT_TRUE(text.ok()) << text.status().to_string();
        for (const Machine& machine : machines(num_ranks)) {
          if (machine.receives_cost && !is_in_turn) continue;
          const Answer itself = run(schedule, machine.fabric, {.count = count, .element_size = 4});
          const Result<Answer> back = run_goal(*text, machine.fabric);
          ASSERT_TRUE(back.ok()) << back.status().to_string();
          EXPECT_EQ(back->time, itself.time) << name_of(schedule.collective) << " " << schedule.name << " of "
                                             << num_ranks << ", " << count << ", " << machine.name;
          EXPECT_EQ(back->rank_times, itself.rank_times);
          EXPECT_EQ(back->messages, itself.messages);
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 500);
}

// Folds are calculations of whole nanoseconds.
TEST(GoalThereAndBack, FoldsTakeTheTimeOfTheFabricsMemoryToANanosecondEach) {
  fabric::Fabric fabric = with_overheads(wires(8, 700, 3));
  fabric.memories[0].bandwidth = 7;
  fabric.memories[0].latency = 40;
  for (const char* name : {"ring", "recursive_doubling", "rabenseifner"}) {
    const Schedule schedule = schedule_of(Collective::all_reduce, name, 8);
    const Options options{.count = 999, .element_size = 4};
    const Result<std::string> text =
        write_goal(schedule, {.count = options.count, .element_size = options.element_size, .fabric = &fabric});
    ASSERT_TRUE(text.ok());
    EXPECT_NE(text->find("calc "), std::string::npos);
    const Result<Answer> back = run_goal(*text, fabric);
    ASSERT_TRUE(back.ok()) << back.status().to_string();
    EXPECT_NEAR(back->time, run(schedule, fabric, options).time, 0.5 * 8) << name;
    EXPECT_GT(back->shares.of(Share::reducing), 100);
  }
}

// --- by hand

// LogGOPSim's README: its dissemination of 16 ranks ends at 22000 ns on every host with L = 2500, o = 1500 and messages
// of a byte.
TEST(Goal, DisseminationTakesWhatLogGOPSimSays) {
  std::string text = "num_ranks 16\n";
  for (int rank = 0; rank < 16; ++rank) {
    text += fmt::format("rank {} {{\n", rank);
    for (int step = 0; step < 4; ++step) {
      text += fmt::format("s{}: send 1b to {} tag {}\nr{}: recv 1b from {} tag {}\n", step, (rank + (1 << step)) % 16,
                          step, step, (rank + 16 - (1 << step)) % 16, step);
      if (step > 0) text += fmt::format("s{} requires r{}\nr{} requires r{}\n", step, step - 1, step, step - 1);
    }
    text += "}\n";
  }
  fabric::Fabric fabric = wires(16, 2500, 0);
  fabric.costs[0].send_overhead = fabric.costs[0].receive_overhead = 1500;
  const Result<Answer> answer = run_goal(text, fabric);
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  EXPECT_EQ(answer->rank_times, std::vector<double>(16, 22000));
}

TEST(Goal, AMessageIsOverheadsAndWire) {
  EXPECT_EQ(ends_of("rank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n"), (Ends{10, 138}));
  EXPECT_EQ(ends_of("rank 0 {\nsend 0b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n"), (Ends{10, 130})) << "with less";
  EXPECT_EQ(ends_of("rank 0 {\nsend 8b to 0\nrecv 8b from 0\n}\nrank 1 {\n}\n"), (Ends{30, 0})) << "to itself";
}

TEST(Goal, WhatDoesNotDependGoesAhead) {
  // Both receive first in the file, and neither waits for that to send.
  EXPECT_EQ(ends_of("rank 0 {\nrecv 8b from 1\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\nsend 8b to 0\n}\n"),
            (Ends{138, 138}));
  // Unless it is told to.
  EXPECT_EQ(ends_of("rank 0 {\na: calc 500\nb: send 8b to 1\nb requires a\n}\nrank 1 {\nrecv 8b from 0\n}\n"),
            (Ends{510, 638}));
}

TEST(Goal, ACpuDoesOneThingAtATimeAndTwoDoTwo) {
  EXPECT_EQ(ends_of("rank 0 {\ncalc 100\ncalc 50\n}\nrank 1 {\ncalc 100\ncalc 50 cpu 1\n}\n"), (Ends{150, 100}));
  EXPECT_EQ(ends_of("rank 0 {\na: calc 100\nb: calc 50 cpu 1\nc: calc 7 cpu 1\nb requires a\nc requires b\n}\n"
                    "rank 1 {\n}\n"),
            (Ends{157, 0}));
}

TEST(Goal, AnIrequiresWaitsForTheBeginning) {
  EXPECT_EQ(ends_of("rank 0 {\na: calc 100\nb: calc 50 cpu 1\nb irequires a\n}\nrank 1 {\n}\n"), (Ends{100, 0}));
  // The second calculation begins when the cpu is free, at 100.
  EXPECT_EQ(ends_of("rank 0 {\na: calc 100\nb: calc 100\nc: calc 500 cpu 1\nc irequires b\n}\nrank 1 {\n}\n"),
            (Ends{600, 0}));
  // A receive has begun when it may take its message, which it gets at 638.
  EXPECT_EQ(ends_of("rank 0 {\na: calc 500\nb: send 8b to 1\nb requires a\n}\n"
                    "rank 1 {\na: calc 30\nb: recv 8b from 0\nc: calc 40\nb requires a\nc irequires b\n}\n"),
            (Ends{510, 638}));
  EXPECT_EQ(
      ends_of("rank 0 {\n}\nrank 1 {\na: calc 30\nb: calc 40 cpu 3\nc: calc 1 cpu 2\nb irequires a\nc requires b\n"
              "}\n"),
      (Ends{0, 41}));
}

TEST(Goal, TagsSayWhichMessageIsMeant) {
  // That of 8 bytes is on its way when that of 1000 is not yet.
  const std::string_view crossed =
      "rank 0 {\na: send 8b to 1 tag 1\nb: send 1000b to 1 tag 2\nb requires a\n}\n"
      "rank 1 {\na: recv 1000b from 0 tag 2\nb: recv 8b from 0 tag 1\nc: calc 5000\nc requires b\n}\n";
  EXPECT_EQ(ends_of(crossed), (Ends{20, 5138 + 20}));
  // A receive of any tag takes the first that no other is for.
  EXPECT_EQ(ends_of("rank 0 {\na: send 8b to 1 tag 7\nb: send 50b to 1 tag 9\nb requires a\n}\n"
                    "rank 1 {\na: recv 8b from 0 tag 7\nb: recv 50b from 0 tag -1\n}\n"),
            ends_of("rank 0 {\na: send 8b to 1 tag 7\nb: send 50b to 1 tag 9\nb requires a\n}\n"
                    "rank 1 {\na: recv 8b from 0 tag 7\nb: recv 50b from 0 tag 9\n}\n"));
  EXPECT_EQ(problem_with("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 7\nsend 50b to 1 tag 9\n}\n"
                         "rank 1 {\nrecv 8b from 0 tag -1\nrecv 50b from 0 tag 9\n}\n"),
            "none");
}

// Of one connection the messages leave in the order in which they can, whatever that of the file is.
TEST(Goal, AConnectionsOrderIsThatOfWhatCanBegin) {
  EXPECT_EQ(
      problem_with("num_ranks 2\n"
                   "rank 0 {\nlate: send 8b to 1 tag 0\nsoon: send 8b to 1 tag 0\nback: recv 8b from 1 tag 1\n"
                   "late requires back\n}\n"
                   "rank 1 {\nfirst: recv 8b from 0 tag 0\nanswer: send 8b to 0 tag 1\nsecond: recv 8b from 0 tag "
                   "0\nanswer requires first\n}\n"),
      "none");
}

TEST(Goal, ManyAtATimeAndAgainKeepFewLanes) {
  std::string text = "num_ranks 2\n";
  for (int rank = 0; rank < 2; ++rank) {
    text += fmt::format("rank {} {{\n", rank);
    for (int phase = 0; phase < 5; ++phase) {
      text += fmt::format("j{}: calc 10\n", phase);
      for (int each = 0; each < 20; ++each) {
        text += fmt::format("p{}x{}: {} 8b {} {} tag {}\np{}x{} requires j{}\n", phase, each,
                            rank == 0 ? "send" : "recv", rank == 0 ? "to" : "from", 1 - rank, each, phase, each, phase);
        if (phase > 0) text += fmt::format("j{} requires p{}x{}\n", phase, phase - 1, each);
      }
    }
    text += "}\n";
  }
  Result<Trace> trace = read_goal(text, "t.goal");
  ASSERT_TRUE(trace.ok()) << trace.status().to_string();
  const Result<PreparedTrace> prepared = PreparedTrace::prepare(*std::move(trace));
  ASSERT_TRUE(prepared.ok()) << prepared.status().to_string();
  EXPECT_EQ(prepared->schedule().num_lanes, 20U);
  // 5 times: calculating, 20 sends; the last message, and its receive.
  const Result<Answer> answer = simulate_trace(*prepared, with_overheads(wires(2, 100, 0)), {});
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  EXPECT_EQ(answer->rank_times[0], 5 * (10 + 20 * 10));
  EXPECT_EQ(answer->messages, 100U);
}

// --- mistakes

TEST(GoalMistakes, ASentenceSaysWhatWasFoundAndWhatIsRight) {
  struct Mistake {
    std::string_view text;
    std::string_view message;
  };
  const Mistake mistakes[] = {
      {"", "1:1: found the end of the file, expected num_ranks and how many there are"},
      {"// nothing\n\n", "3:1: found the end of the file, expected num_ranks and how many there are"},
      {"num_ranks 0", "1:11: found '0', expected a number of ranks from 1 to 65536"},
      {"num_ranks 99999999999999999999",
       "1:11: found '99999999999999999999', expected a number of ranks from 1 to 65536"},
      {"num_ranks 2\nrank 2 {\n}\n", "2:6: found '2', expected a rank from 0 to 1"},
      {"num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n", "4:6: found '0', expected another rank: 0 is there already"},
      {"num_ranks 2\nrank 1 {\n}\n",
       "4:1: found the end of the file, expected rank 0: each of the 2 ranks stands there once"},
      {"num_ranks 2\nrank 0\n{", "2:7: found the end of the line, expected '{' behind the rank"},
      {"num_ranks 2\nrank 0 {\n", "3:1: found the end of the file, expected send, recv, calc, a label or '}'"},
      {"num_ranks 2\nrank 0 {\nl1: put 8b to 1", "3:5: found 'put', expected send, recv or calc behind a label"},
      {"num_ranks 2\nrank 0 {\nl1 send 8b", "3:4: found 'send', expected ':', requires or irequires behind a label"},
      {"num_ranks 2\nrank 0 {\nsend b to 1", "3:6: found 'b', expected a whole number of bytes, such as 8b"},
      {"num_ranks 2\nrank 0 {\nsend 8 to 1", "3:8: found 'to', expected 'b' behind the number of bytes"},
      {"num_ranks 2\nrank 0 {\nsend 8b from 1", "3:9: found 'from', expected 'to' and a rank"},
      {"num_ranks 2\nrank 0 {\nsend 8b to 5", "3:12: found '5', expected a rank from 0 to 1"},
      {"num_ranks 2\nrank 0 {\nrecv 8b from -1",
       "3:14: found '-', expected a rank: which message a receive from any rank takes would depend on times, so it "
       "cannot be simulated"},
      {"num_ranks 2\nrank 0 {\nsend 8b to 1 tag -1", "3:18: found '-', expected a tag from 0 to 4294967294"},
      {"num_ranks 2\nrank 0 {\nsend 8b to 1 cpu 256", "3:18: found '256', expected a cpu from 0 to 255"},
      {"num_ranks 2\nrank 0 {\ncalc 1.5\n}", "3:7: found '.', expected the end of the line"},
      {"num_ranks 2\nrank 0 {\ncalc 5 nic 1\n}", "3:8: found 'nic', expected the end of the line"},
      {"num_ranks 2\nrank 0 {\na: calc 5\na: calc 6\n}",
       "4:1: found 'a', expected another label: this rank has an operation of that label already"},
      {"num_ranks 2\nrank 0 {\na: calc 5\na requires b\n}",
       "4:12: found 'b', expected the label of an operation of this rank"},
      {"num_ranks 2\nrank 0 {\na: calc 5 /* so", "3:11: found '/*', expected the end of the line"},
  };
  for (const Mistake& mistake : mistakes)
    EXPECT_EQ(problem_with(mistake.text), fmt::format("t.goal:{}", mistake.message)) << mistake.text;
  const std::string binary("\x7f\x10\0\0\0\0\0\0\2\0\0\0", 12);
  EXPECT_TRUE(looks_like_goal(binary));
  EXPECT_EQ(problem_with(binary), "t.goal: found GOAL's binary form, expected the text that it was made from");
  EXPECT_TRUE(looks_like_goal("\n// so\n/* and\nso */ num_ranks 2"));
  EXPECT_FALSE(looks_like_goal("tutti schedule 1\n"));
}

TEST(GoalMistakes, WithoutTheOtherEndAMessageIsNamed) {
  EXPECT_EQ(problem_with("num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 3\n}\nrank 1 {\n}\n"),
            "t.goal:3: found rank 0's l1: send 8b to 1 tag 3 (line 3), expected a receive of rank 1 from 0 with tag 3: "
            "there is none that takes it");
  EXPECT_EQ(problem_with("num_ranks 2\nrank 0 {\nsend 8b to 1 tag 3\n}\nrank 1 {\nrecv 8b from 0 tag 4\n}\n"),
            "t.goal:6: found rank 1's recv 8b from 0 tag 4 (line 6), expected a send of rank 0 to it with tag 4: there "
            "is none that another receive does not take; nobody receives rank 0's send 8b to 1 tag 3 (line 3)");
  EXPECT_EQ(problem_with("num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 7b from 0\n}\n"),
            "t.goal:6: found rank 1's recv 7b from 0 tag 0 (line 6), expected at least 8 bytes: it takes rank 0's send "
            "8b to 1 tag 0 (line 3)");
}

TEST(GoalMistakes, OperationsThatWaitForEachOtherAreNamed) {
  EXPECT_EQ(problem_with("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\na requires b\nb requires a\n}\n"),
            "t.goal:3: found operations that wait for each other, expected an order in which they can be done: rank "
            "0's a: calc 1 (line 3) waits for rank 0's b: calc 2 (line 4), which waits for the first");
  EXPECT_EQ(problem_with("num_ranks 1\nrank 0 {\na: calc 1\na irequires a\n}\n"),
            "t.goal:3: found operations that wait for each other, expected an order in which they can be done: rank "
            "0's a: calc 1 (line 3), which waits for the first");
  const std::string both = problem_with(
      "num_ranks 2\nrank 0 {\na: recv 8b from 1\nb: send 8b to 1\nb requires a\n}\n"
      "rank 1 {\na: recv 8b from 0\nb: send 8b to 0\nb requires a\n}\n");
  EXPECT_EQ(both.substr(0, both.find(" waits")),
            "t.goal:3: found operations that wait for each other, expected an order in which they can be done: rank "
            "0's a: recv 8b from 1 tag 0 (line 3)");
  EXPECT_NE(both.find("rank 1's b: send 8b to 0 tag 0 (line 9) waits for rank 1's a: recv"), std::string::npos) << both;
}

// --- garbage

// A text with some of its bytes changed is refused, or simulated without harm.
TEST(GoalMistakes, ChangedAnywhereItIsSimulatedOrRefused) {
  const std::string whole =
      "num_ranks 2\nrank 0 {\na: send 8b to 1 tag 1\nb: recv 9b from 1 tag -1\nc: calc 30 cpu 1\nc requires a\n"
      "c irequires b\n}\nrank 1 {\na: recv 8b from 0 tag 1\nb: send 9b to 0 tag 2 cpu 1 nic 0\nb requires a\n}\n";
  ASSERT_EQ(problem_with(whole), "none");
  for (std::size_t size = 0; size + 1 < whole.size(); ++size)
    EXPECT_TRUE(problem_with(whole.substr(0, size)).starts_with("t.goal:")) << size;
  std::mt19937 random(20261125);
  constexpr std::string_view kBytes = "0123456789abc:{}\n -/*rt\xff";
  int done = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text = whole;
    for (int change = 0; change <= trial % 3; ++change) text[random() % text.size()] = kBytes[random() % kBytes.size()];
    const std::string problem = problem_with(text);
    done += problem == "none" ? 1 : 0;
    EXPECT_TRUE(problem == "none" || problem.starts_with("t.goal:")) << text << problem;
  }
  EXPECT_GT(done, 50);
}

}  // namespace
}  // namespace tutti::simulate
