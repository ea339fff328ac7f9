// SPDX-License-Identifier: Apache-2.0
// Schedules that are not even well formed: steps that name what is not there, or mean nothing.
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "schedule/prove/prove.hpp"
#include "scripted.hpp"

namespace tutti {
namespace {

struct Malformed {
  const char* name;
  Fault fault;
  const char* words;
  Shape shape;
  LaneFunction lane;
};

const Step& with(Builder& b, std::vector<Endpoint> sources, std::vector<Endpoint> destinations) {
  return b.combine(sources, destinations);
}

Lane one_step(Builder& b, const Step& (*step)(Builder&)) { co_yield step(b); }
LaneFunction only(const Step& (*step)(Builder&)) {
  return [step](Builder& b, std::uint32_t) { return one_step(b, step); };
}

Lane pull_beyond(Builder& b) {
  co_yield b.expose(b.input(0));
  co_yield b.pull(b.neighbour(1), 0, b.input(1), b.output(1));
}
Lane pull_several_blocks(Builder& b) {
  co_yield b.expose(b.scratch(0));
  co_yield b.pull(b.neighbour(1), 0, Builder::blocks(Space::scratch, 0, 2), Builder::blocks(Space::scratch, 2, 2));
}
Lane pull_from_signal(Builder& b) {
  co_yield b.signal();
  co_yield b.pull(b.neighbour(1), 0, b.input(), b.output());
}
Lane push_without_open(Builder& b) {
  co_yield b.expose(b.output());
  co_yield b.push_to_all_others(0, b.input(), b.output());
}
Lane after_nothing(Builder& b, std::uint32_t lane, std::uint32_t step) {
  b.after(lane, step);
  co_yield b.signal();
}
Lane half_a_conversation(Builder& b) {
  if (b.rank() == 0) co_yield b.send(1, b.input());
}

std::vector<Malformed> out_of_bounds() {
  const Fault bounds = Fault::out_of_bounds;
  return {
      {"piece", bounds, "2 pieces", {.pieces = 2}, only([](Builder& b) -> const Step& {
         return b.copy(b.input(2), b.output(2));
       })},
      {"run_of_pieces", bounds, "2 pieces", {.pieces = 2}, only([](Builder& b) -> const Step& {
         return b.copy(b.input(1, 2), b.output(1, 2));
       })},
      {"block", bounds, "block 3 of 1", {}, only([](Builder& b) -> const Step& {
         return b.copy({Space::input, 3, 0, 1}, b.output());
       })},
      {"run_of_blocks",
       bounds,
       "goes around to its first block",
       {.scratch_blocks = 4},
       only([](Builder& b) -> const Step& {
         return b.send(b.neighbour(1), Builder::blocks(Space::scratch, 0, 3, {1, 2}));
       })},
      {"scratch", bounds, "block 0 of 0", {}, only([](Builder& b) -> const Step& {
         return b.copy(b.input(), b.scratch(0));
       })},
      {"rank", bounds, "rank 7 of 2", {}, only([](Builder& b) -> const Step& { return b.send(7, b.input()); })},
      {"post", bounds, "post 4", {}, only([](Builder& b) -> const Step& { return b.wait_for_all_others(4); })},
      {"after_lane", bounds, "lane 5", {}, [](Builder& b, std::uint32_t) { return after_nothing(b, 5, 0); }},
      {"after_step", bounds, "step 9", {}, [](Builder& b, std::uint32_t) { return after_nothing(b, 0, 9); }},
  };
}

// A step that cannot be one, whatever the others do.
std::vector<Malformed> malformed() {
  return {
      {"own_rank", Fault::malformed, "its own rank", {}, only([](Builder& b) -> const Step& {
         return b.send(b.rank(), b.input());
       })},
      {"no_sources", Fault::malformed, "no sources", {}, only([](Builder& b) -> const Step& {
         return with(b, {}, {{Place::local, 0, 0, b.output()}});
       })},
      {"no_destinations", Fault::malformed, "no destination", {}, only([](Builder& b) -> const Step& {
         return with(b, {{Place::local, 0, 0, b.input()}}, {});
       })},
      {"no_pieces", Fault::malformed, "no pieces", {}, only([](Builder& b) -> const Step& {
         return b.copy(b.input(0, 0), b.output(0, 0));
       })},
      {"unequal_slices", Fault::malformed, "same pieces", {.pieces = 4}, only([](Builder& b) -> const Step& {
         return b.copy(b.input(0, 3), b.output(1, 3));
       })},
      {"same_twice", Fault::malformed, "twice", {}, only([](Builder& b) -> const Step& {
         return with(b, {{Place::local, 0, 0, b.input()}},
                     {{Place::local, 0, 0, b.output()}, {Place::local, 0, 0, b.output()}});
       })},
      {"sends_twice_at_once",
       Fault::malformed,
       "sends two messages on one connection",
       {},
       only([](Builder& b) -> const Step& {
         return with(b, {{Place::local, 0, 0, b.input()}},
                     {{Place::message, b.neighbour(1), 0, b.input()}, {Place::message, b.neighbour(1), 0, b.output()}});
       })},
      {"receives_twice_at_once",
       Fault::malformed,
       "receives two messages on one connection",
       {},
       only([](Builder& b) -> const Step& {
         return with(b,
                     {{Place::message, b.neighbour(1), 0, b.input()}, {Place::message, b.neighbour(1), 0, b.input()}},
                     {{Place::local, 0, 0, b.output()}});
       })},
      {"waits_for_nobody", Fault::malformed, "nobody", {}, only([](Builder& b) -> const Step& {
         return b.wait({}, 0);
       })},
  };
}

// Runs of blocks, where they are none or where only one may be.
std::vector<Malformed> with_wrong_blocks() {
  return {
      {"no_blocks", Fault::malformed, "no blocks", {}, only([](Builder& b) -> const Step& {
         return b.send(b.neighbour(1), Builder::blocks(Space::input, 0, 0));
       })},
      {"overlapping_runs",
       Fault::malformed,
       "at least that far apart",
       {.scratch_blocks = 4},
       only([](Builder& b) -> const Step& {
         return b.send(b.neighbour(1), {Space::scratch, 0, 0, 1, 3, 2, 1});
       })},
      {"other_numbers_of_blocks",
       Fault::malformed,
       "as many blocks",
       {.scratch_blocks = 4},
       only([](Builder& b) -> const Step& { return b.copy(b.scratch(0), Builder::blocks(Space::scratch, 1, 2)); })},
      {"posts_several_blocks",
       Fault::malformed,
       "posts several blocks",
       {.scratch_blocks = 4},
       only([](Builder& b) -> const Step& { return b.expose(Builder::blocks(Space::scratch, 1, 2)); })},
      {"reaches_several_blocks",
       Fault::malformed,
       "directly in one step",
       {.scratch_blocks = 4},
       [](Builder& b, std::uint32_t) { return pull_several_blocks(b); }},
  };
}

// The input belongs to the caller.
std::vector<Malformed> that_change_the_input() {
  return {
      {"gives_up_input", Fault::malformed, "belongs to the caller", {}, only([](Builder& b) -> const Step& {
         return b.send_away(b.neighbour(1), b.input());
       })},
      {"writes_input", Fault::malformed, "belongs to the caller", {}, only([](Builder& b) -> const Step& {
         return b.copy(b.output(), b.input());
       })},
      {"opens_input", Fault::malformed, "belongs to the caller", {}, only([](Builder& b) -> const Step& {
         return b.open(b.input());
       })},
  };
}

// Steps of which each is one, but that do not go together.
std::vector<Malformed> at_odds() {
  return {
      {"pulls_beyond_what_is_exposed",
       Fault::not_exposed,
       "permits input[0.0] only",
       {.pieces = 2},
       [](Builder& b, std::uint32_t) { return pull_beyond(b); }},
      {"pulls_from_a_signal",
       Fault::not_exposed,
       "needs an expose",
       {},
       [](Builder& b, std::uint32_t) { return pull_from_signal(b); }},
      {"stores_without_open",
       Fault::not_exposed,
       "needs an open",
       {},
       [](Builder& b, std::uint32_t) { return push_without_open(b); }},
      {"posts_in_two_lanes",
       Fault::shared_end,
       "both make posts",
       {.num_lanes = 2},
       only([](Builder& b) -> const Step& { return b.signal(); })},
      {"sends_in_two_lanes", Fault::shared_end, "both send to", {.num_lanes = 2}, only([](Builder& b) -> const Step& {
         return b.send(b.neighbour(1), b.input());
       })},
      {"unmatched",
       Fault::unmatched,
       "sends rank 1 1 messages a round, which receives 0",
       {},
       [](Builder& b, std::uint32_t) { return half_a_conversation(b); }},
  };
}

TEST(ProveMalformed, StepsThatNameWhatIsNotThere) {
  for (const std::vector<Malformed>& table :
       {out_of_bounds(), malformed(), with_wrong_blocks(), that_change_the_input(), at_odds()}) {
    for (const Malformed& each : table) {
      SCOPED_TRACE(each.name);
      const Proof proof = prove(scripted(each.shape, each.lane));
      ASSERT_FALSE(proof.ok()) << "nothing was found wrong";
      EXPECT_EQ(proof.failure->fault, each.fault) << proof.failure->to_string();
      EXPECT_NE(proof.failure->to_string().find(each.words), std::string::npos) << proof.failure->to_string();
    }
  }
}

}  // namespace
}  // namespace tutti
