// SPDX-License-Identifier: Apache-2.0
#include "schedule/prove/symbolic_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "schedule/meaning.hpp"
#include "schedule/prove/definition.hpp"

namespace tutti {

namespace {

std::string at_rank(std::uint32_t rank, const Slice& piece) {
  return fmt::format("{} of rank {}", to_string(piece), rank);
}

}  // namespace

// The Machine that answers every condition of a step with yes and learns what having met it means.
class SymbolicRun::Edges {
 public:
  explicit Edges(SymbolicRun& run) : run_(run), world_(*run.now_.world), lane_(*run.now_.lane) {}

  bool has_message(const Endpoint& end) {
    run_.clock().join(run_.oldest(end).moment);
    return true;
  }
  bool has_credit(const Endpoint&) { return true; }
  bool has_posted(std::uint32_t rank, std::uint32_t post) {
    run_.clock().join(run_.posts_[run_.event(rank, lane_.round, post)]);
    return true;
  }
  [[nodiscard]] std::uint32_t num_ranks() const { return world_.num_ranks(); }
  bool has_slot(const Step&) { return true; }
  bool all_done() {
    if (world_.close_waits(lane_.rank)) run_.clock().join(run_.all_done(lane_.round));
    return true;
  }

 private:
  SymbolicRun& run_;
  const World& world_;
  const LaneState& lane_;
};

SymbolicRun::SymbolicRun(const Programs& programs, const Conditions& conditions, bool in_place, ValueTable& values)
    : programs_(programs),
      needs_clocks_(programs.shares_memory() || programs.schedule().collective == Collective::barrier),
      conditions_(conditions),
      values_(values),
      memory_(programs.schedule(), conditions.operations, in_place),
      queues_(programs.num_connections()),
      done_(std::size_t{programs.num_ranks()} * programs.num_lanes()),
      copies_(programs.num_ranks()) {
  const std::uint32_t num_lanes = programs.num_ranks() * programs.num_lanes();
  clocks_.reserve(num_lanes);
  for (std::uint32_t lane = 0; lane < num_lanes; ++lane) clocks_.emplace_back(lane, num_lanes);
  for (std::uint32_t rank = 0; rank < programs.num_ranks(); ++rank)
    memory_.fill(rank, 0, conditions.operations.front(), values_);
}

// What every lane that reaches other ranks knew when it was done with the round; asked for when all are.
const Clock::Known& SymbolicRun::all_done(std::uint32_t round) {
  if (all_done_.size() <= round) all_done_.resize(round + 1);
  Clock::Known& known = all_done_[round];
  if (known == nullptr) {
    Clock everyone(Programs::kNone, programs_.num_ranks() * programs_.num_lanes());
    for (const std::vector<Moment>& lane : done_)
      if (round < lane.size()) everyone.join(lane[round]);
    known = everyone.now().known;
  }
  return known;
}

std::uint64_t SymbolicRun::event(std::uint32_t owner, std::uint32_t round, std::uint32_t number) const {
  return (std::uint64_t{owner} << 32U | number) * conditions_.operations.size() * 8 + round;
}

// --- order
// ------------------------------------------------------------------------------------------------------------

void SymbolicRun::ready(const World& world, const LaneState& lane, const Step& step) {
  now_ = {&world, &lane, &step};
  if (!needs_clocks_) {
    clock().tick();
    return;
  }
  Edges edges(*this);
  for (const After& after : step.after) {
    const std::uint32_t index = programs_.index_of(lane.rank, after.lane, after.step);
    clock().join(steps_[event(programs_.lane_id(lane.rank, after.lane), lane.round, index)]);
  }
  static_cast<void>(is_ready(step, edges));
  clock().tick();
}

void SymbolicRun::passed(const World&, const LaneState& lane, const Step&) {
  const Programs::LaneFacts& facts = programs_.lane_facts(lane.id);
  if (facts.is_waited_for[lane.index]) steps_[event(lane.id, lane.round, lane.index)] = clocks_[lane.id].now();
  if (facts.last_remote == lane.index) done_[lane.id].push_back(clocks_[lane.id].now());
}

void SymbolicRun::take(const World&, const LaneState& lane, const Endpoint& end) {
  Queue& queue = queues_[programs_.connection(end.rank, lane.rank, end.channel)];
  queue.messages[queue.oldest++] = {};
  if (queue.oldest < queue.messages.size()) return;
  queue.messages.clear();
  queue.oldest = 0;
}

void SymbolicRun::publish(const World&, const LaneState& lane, const Endpoint& end) {
  queues_[programs_.connection(lane.rank, end.rank, end.channel)].messages.push_back({clock().now(), result_});
}

SymbolicRun::Message& SymbolicRun::oldest(const Endpoint& end) {
  Queue& queue = queues_[programs_.connection(end.rank, now_.lane->rank, end.channel)];
  return queue.messages[queue.oldest];
}

void SymbolicRun::post(const World& world, const LaneState& lane, const Step& step) {
  if (step.kind == StepKind::expose && conditions_.staged) {
    const Slice& slice = step.sources[0].slice;
    std::vector<std::vector<Held>>& copies = copies_[lane.rank];
    TUTTI_ASSERT(copies.size() == world.num_exposed(lane.rank), "every expose has been copied");
    copies.emplace_back(slice.size());
    for (std::uint32_t offset = 0; offset < slice.size(); ++offset)
      if (!load_cell(lane.rank, piece_of(slice, offset), copies.back()[offset])) return;
  }
  posts_[event(lane.rank, lane.round, step.post)] = clock().now();
}

// --- data
// -------------------------------------------------------------------------------------------------------------

void SymbolicRun::combine(const World&, const LaneState&, const Step& step) {
  const std::uint32_t num_pieces = step.sources[0].slice.size();
  if (step.sources[0].slice.num_blocks > 1 && !check_places(step)) return;
  result_.assign(num_pieces, {});
  std::uint32_t num_finished = 0;
  for (std::uint32_t offset = 0; offset < num_pieces; ++offset) {
    bool finishes = false;
    if (!fold_piece(offset, result_[offset], finishes)) return;
    num_finished += finishes ? 1 : 0;
    for (const Endpoint& end : step.destinations)
      if (!store(end, offset, result_[offset])) return;
    if (!step.gives_up_source) continue;
    cell_of(now_.lane->rank, piece_of(step.sources[0].slice, offset)).held.id = kGivenUp;
  }
  if (num_finished != 0 && num_finished != num_pieces) {
    fail(Fault::touch, fmt::format("completes {} of its {} pieces, so it can neither have nor not have the final touch",
                                   num_finished, num_pieces));
  }
  note_mark(step, num_finished != 0);
}

// An average divides where steps are marked, so marks are a part of being right, whatever the operator of this run.
void SymbolicRun::note_mark(const Step& step, bool completes) {
  if (wrong_mark_ || !contributions_of_result(programs_.schedule()) || step.completes == completes) return;
  wrong_mark_ = failure_here(Fault::touch,
                             completes ? "makes the result complete and is not marked as the step that completes it"
                                       : "is marked as completing a result, which it does not",
                             to_string(step.destinations[0].slice));
}

Slice SymbolicRun::piece_of(const Slice& slice, std::uint32_t offset) const {
  return piece_at(slice, offset, programs_.schedule().division(slice.space).blocks);
}

Cell& SymbolicRun::cell_of(std::uint32_t rank, const Slice& piece) {
  return memory_.at(rank, piece.space, {piece.block, piece.first_piece}, now_.lane->round);
}

// Blocks of a step may be done in any order, so none is read for one block and written for another.
bool SymbolicRun::check_places(const Step& step) {
  std::map<const Cell*, std::uint32_t> places;
  for (const auto* ends : {&step.sources, &step.destinations}) {
    for (const Endpoint& end : *ends) {
      if (end.place != Place::local) continue;
      for (std::uint32_t offset = 0; offset < end.slice.size(); ++offset) {
        const Slice piece = piece_of(end.slice, offset);
        if (places.try_emplace(&cell_of(now_.lane->rank, piece), offset).first->second == offset) continue;
        return fail(Fault::race, "uses a piece at two places of one step", at_rank(now_.lane->rank, piece));
      }
    }
  }
  return true;
}

bool SymbolicRun::fold_piece(std::uint32_t offset, Held& result, bool& finishes) {
  const Step& step = *now_.step;
  const Maker maker{now_.lane->id, step.number};
  const bool switched = step.sources[0].place == Place::multicast;
  const std::size_t num_operands = switched ? programs_.num_ranks() : step.sources.size();
  for (std::size_t source = 0; source < num_operands; ++source) {
    const Endpoint& end = step.sources[switched ? 0 : source];
    Held held;
    if (!load(end, switched ? static_cast<std::uint32_t>(source) : end.rank, offset, held)) return false;
    if (source == 0) {
      result = held;
      continue;
    }
    if (values_[result.id].origin != values_[held.id].origin) {
      const Origin a = values_[result.id].origin;
      const Origin b = values_[held.id].origin;
      return fail(
          Fault::mixed,
          fmt::format("folds parts of piece {}.{} with parts of piece {}.{}", a.block, a.piece, b.block, b.piece),
          to_string(piece_of(end.slice, offset)));
    }
    if (const auto rank = values_.common(result.id, held.id)) return fail_doubled(result.id, held.id, *rank);
    result.id = values_.plus(result.id, held.id, source + 1 == num_operands, maker);
  }
  if (switched && num_operands > 1) result.id = values_.switched(result.id, now_.lane->rank);
  const Value& value = values_[result.id];
  const auto complete = contributions_of_result(programs_.schedule());
  finishes = complete && value.count == *complete && !value.finished;
  if (finishes) result.id = values_.finished(result.id);
  return true;
}

bool SymbolicRun::load(const Endpoint& end, std::uint32_t rank, std::uint32_t offset, Held& held) {
  switch (end.place) {
    case Place::local: return load_cell(now_.lane->rank, piece_of(end.slice, offset), held);
    case Place::message: {
      const std::vector<Held>& values = oldest(end).values;
      if (values.size() != end.slice.size()) {
        return fail(Fault::mixed,
                    fmt::format("takes a message of {} pieces for one of {}", values.size(), end.slice.size()),
                    to_string(end.slice));
      }
      held = values[offset];
      const Slice piece = piece_of(end.slice, offset);
      if (values_[held.id].origin.piece != piece.first_piece) {
        return fail(Fault::mixed,
                    fmt::format("takes piece {} from rank {} for piece {}", values_[held.id].origin.piece, end.rank,
                                piece.first_piece),
                    to_string(end.slice));
      }
      if (!fits(now_.lane->rank, piece, held)) return false;
      if (held.id > kGivenUp && held.round == now_.lane->round) return true;
      return check_operand(held, fmt::format("the message from rank {}", end.rank));
    }
    case Place::remote:
    case Place::multicast:
      if (!conditions_.staged) return load_cell(rank, piece_of(end.slice, offset), held);
      load_copy(end, rank, offset, held);
      return true;  // checked when it was exposed
  }
  return false;
}

bool SymbolicRun::load_cell(std::uint32_t rank, const Slice& piece, Held& held) {
  Cell& cell = cell_of(rank, piece);
  if (const auto earlier = cell.history.read(clock(), access()))
    return fail_race(*earlier, false, at_rank(rank, piece));
  held = cell.held;
  if (held.id <= kGivenUp || held.round != now_.lane->round) return check_operand(held, at_rank(rank, piece));
  return check_touch(piece, held);
}

void SymbolicRun::load_copy(const Endpoint& end, std::uint32_t rank, std::uint32_t offset, Held& held) const {
  const Programs::RankFacts& facts = programs_.rank_facts(rank);
  const std::uint32_t expose = now_.lane->round * facts.num_exposes + facts.slots[end.post];
  const Slice& exposed = facts.posts[end.post]->sources[0].slice;
  held = copies_[rank][expose][end.slice.first_piece - exposed.first_piece + offset];
}

bool SymbolicRun::store(const Endpoint& end, std::uint32_t offset, Held held) {
  switch (end.place) {
    case Place::message: return fits(now_.lane->rank, piece_of(end.slice, offset), held);  // goes with publish()
    case Place::local: return store_cell(now_.lane->rank, piece_of(end.slice, offset), held);
    case Place::remote: return store_cell(end.rank, piece_of(end.slice, offset), held);
    case Place::multicast: break;
  }
  for (std::uint32_t rank = 0; rank < programs_.num_ranks(); ++rank)
    if (!store_cell(rank, piece_of(end.slice, offset), held)) return false;
  return true;
}

bool SymbolicRun::store_cell(std::uint32_t rank, const Slice& piece, Held held) {
  Cell& cell = cell_of(rank, piece);
  if (const auto earlier = cell.history.write(clock(), access()))
    return fail_race(*earlier, true, at_rank(rank, piece));
  cell.held = held;
  return fits(rank, piece, held);
}

// Where blocks differ in size, only what is as large as the block may be put there, or be a message of its size.
bool SymbolicRun::fits(std::uint32_t rank, const Slice& piece, const Held& held) {
  const Schedule& schedule = programs_.schedule();
  if (!facts_of(schedule.collective).varies) return true;
  const Value& value = values_[held.id];
  if (size_class(schedule, value.first, Space::input, value.origin.block) ==
      size_class(schedule, rank, piece.space, piece.block))
    return true;
  return fail(Fault::mixed,
              fmt::format("puts what is as large as input block {} of rank {} where something of another size belongs",
                          value.origin.block, value.first),
              at_rank(rank, piece));
}

bool SymbolicRun::check_operand(const Held& held, const std::string& where) {
  if (held.id == kNothing) return fail(Fault::no_value, "reads what was never written", where);
  if (held.id == kGivenUp) return fail(Fault::no_value, "reads what an earlier step gave up", where);
  if (held.round != now_.lane->round)
    return fail(Fault::no_value, fmt::format("reads what is left over from round {}", held.round), where);
  return true;
}

// A step scales what it reads from an input, and nothing else: so that must be as the caller left it, and nothing else
// may be.
bool SymbolicRun::check_touch(const Slice& slice, Held& held) {
  const bool from_input = slice.space == Space::input;
  if (from_input == values_[held.id].touched) {
    return fail(Fault::touch,
                from_input ? "reads from an input what has been scaled already"
                           : "reads a raw input as if it had been scaled already",
                to_string(slice));
  }
  if (from_input) held.id = values_.touched(held.id);
  return true;
}

// --- results
// ----------------------------------------------------------------------------------------------------------

void SymbolicRun::ended(const World& world, std::uint32_t rank, std::uint32_t first_round, std::uint32_t next_round) {
  // The caller: after all that the rank's lanes have done, and before all that they do next. Told by lane 0.
  const std::uint32_t first_lane = programs_.lane_id(rank, 0);
  Clock& caller = clocks_[first_lane];
  for (std::uint32_t lane = 1; lane < programs_.num_lanes(); ++lane) caller.join(clocks_[first_lane + lane].now());
  caller.tick();
  LaneState state{.rank = rank, .lane = 0, .id = first_lane, .round = next_round - 1};
  now_ = {&world, &state, nullptr};
  if (programs_.schedule().collective == Collective::barrier && !check_barrier(rank, first_round, next_round)) return;
  const Division& division = programs_.schedule().division(Space::output);
  for (std::uint32_t round = first_round; round < next_round; ++round)
    for (std::uint32_t block = 0; block < division.blocks; ++block)
      for (std::uint32_t piece = 0; piece < division.pieces; ++piece)
        if (!check_result(rank, {block, piece}, round)) return;
  // Buffers are the caller's again: it may read and write all of them. So is scratch, which another operation may use.
  std::optional<Access> late;
  memory_.for_each(rank, [&](Cell& cell) {
    if (const auto earlier = cell.history.write(caller, access()); earlier && !late) late = earlier;
    cell.held = {};
  });
  if (late) {
    fail_race(*late, true, fmt::format("the buffers or scratch of rank {}", rank));
    return;
  }
  const std::vector<std::uint32_t>& operations = conditions_.operations;
  std::uint32_t begun = 0;
  for (const std::uint32_t rounds : operations) {
    if (begun == next_round) memory_.fill(rank, next_round, rounds, values_);
    begun += rounds;
  }
  for (std::uint32_t lane = 1; lane < programs_.num_lanes(); ++lane) clocks_[first_lane + lane].join(caller.now());
}

// Whoever leaves a barrier knows that every rank has come to it. The coming of an operation is the leaving of the one
// before; of the first nothing can be said, and it is the same steps.
bool SymbolicRun::check_barrier(std::uint32_t rank, std::uint32_t first_round, std::uint32_t next_round) {
  left_.resize(programs_.num_ranks());
  if (first_round > 0) {
    for (std::uint32_t other = 0; other < programs_.num_ranks(); ++other) {
      const auto came = left_[other].find(first_round);
      if (other == rank || (came != left_[other].end() && clock().knows(programs_.lane_id(other, 0), came->second)))
        continue;
      return fail(Fault::missing, fmt::format("leaves the barrier without knowing that rank {} has come", other));
    }
  }
  left_[rank][next_round] = clock().time();
  return true;
}

bool SymbolicRun::check_result(std::uint32_t rank, Origin output, std::uint32_t round) {
  const auto expected = expected_output(programs_.schedule(), rank, output);
  if (!expected) return true;
  Cell& cell = memory_.at(rank, Space::output, output, round);
  const auto where = [&] { return at_rank(rank, {Space::output, output.block, output.piece}); };
  if (const auto earlier = cell.history.read(clock(), access())) return fail_race(*earlier, false, where());
  const Held held = cell.held;
  if (held.id == kNothing) return fail(Fault::missing, "the result was never written", where());
  if (held.id == kGivenUp) return fail(Fault::missing, "the result was given up", where());
  if (held.round != round)
    return fail(Fault::missing, fmt::format("the result is left over from round {}", held.round), where());
  const Value& value = values_[held.id];
  if (value.origin != expected->origin)
    return fail(Fault::mixed, fmt::format("holds parts of piece {}.{}", value.origin.block, value.origin.piece),
                where());
  if (!check_contributions(rank, *expected, output, held.id)) return false;
  if (!value.touched) return fail(Fault::touch, "the result has a contribution that nothing has scaled", where());
  if (contributions_of_result(programs_.schedule()) && !value.finished)
    return fail(Fault::touch, "the result has had no final touch", where());
  note_order(rank, *expected, value, held.id);
  return true;
}

bool SymbolicRun::check_contributions(std::uint32_t rank, const Expected& expected, Origin output, ValueId id) {
  const Value& value = values_[id];
  // None is held twice, so as many as there are ranks are all of them; and as many as are wanted, with all of these,
  // are no others.
  if (value.count == expected.end - expected.first) {
    bool holds_all = true;
    for (std::uint32_t each = expected.first; each < expected.end && value.count < programs_.num_ranks(); ++each)
      holds_all = holds_all && values_.holds(id, each);
    if (holds_all) return true;
  }
  const std::string where = at_rank(rank, {Space::output, output.block, output.piece});
  std::vector<std::uint32_t> missing;
  for (std::uint32_t each = 0; each < programs_.num_ranks(); ++each) {
    const bool wanted = expected.first <= each && each < expected.end;
    if (wanted && !values_.holds(id, each)) missing.push_back(each);
    if (!wanted && values_.holds(id, each))
      return fail(Fault::mixed, fmt::format("holds the contribution of rank {}, which has no part in it", each), where);
  }
  if (missing.empty()) return true;
  fail(Fault::missing,
       fmt::format("holds {} and lacks the contributions of {} ranks, of which the first is rank {}",
                   values_.expression(id), missing.size(), missing[0]),
       where);
  // Where it went instead: the largest fold that holds it.
  ValueId largest = kNothing;
  for (ValueId each = kGivenUp + 1; each < values_.size(); ++each) {
    const bool holds = values_[each].origin == value.origin && values_.holds(each, missing[0]);
    if (holds && values_[each].count > values_[largest].count) largest = each;
  }
  if (largest == kNothing || values_[largest].is_contribution()) {
    failure_->story.push_back(fmt::format("no step folds the contribution of rank {} into anything", missing[0]));
  } else {
    failure_->story.push_back(fmt::format("the contribution of rank {} went here instead:", missing[0]));
    tell_path(largest, missing[0]);
  }
  return false;
}

void SymbolicRun::note_order(std::uint32_t rank, const Expected& expected, const Value& value, ValueId id) {
  roundings_ = std::max(roundings_, value.roundings);
  // The same result on another rank; in scans each rank has another.
  const Result result{expected.origin.block, expected.origin.piece, expected.first, expected.end};
  const auto [entry, is_new] = bits_of_.try_emplace(result, value.bits);
  const auto lose = [&](bool& kept, bool keeps, std::string_view why) {
    if (kept && !keeps) {
      why_not_ = fmt::format("output[{}.{}] of rank {} is {}: {}", value.origin.block, value.origin.piece, rank,
                             values_.expression(id), why);
    }
    kept = kept && keeps;
  };
  lose(all_left_folds_, value.left_fold && value.in_rank_order && value.roundings <= 1,
       "no left fold in rank order that rounds once");
  lose(all_in_rank_order_, value.in_rank_order, "not in rank order");
  lose(all_uniform_, entry->second == value.bits, "another fold than on another rank");
}

OrderClass SymbolicRun::order() const {
  if (!all_uniform_) return OrderClass::free;
  if (all_left_folds_) return OrderClass::ordered;
  return all_in_rank_order_ ? OrderClass::rank_order : OrderClass::uniform;
}

}  // namespace tutti
