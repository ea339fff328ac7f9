// SPDX-License-Identifier: Apache-2.0
// Runs all ranks' programs on expressions instead of numbers, and watches every access: what every output piece holds
// in the end, where contributions and final results are touched, and whether anything is read or written that another
// lane may be writing at the same time.
//
// An observer of a World, used once. Queues are not counted as order: a message tells its receiver what the sender
// knew, but that a queue had room tells the sender nothing, nor that a staging slot was free. What holds so holds at
// every depth and with any slots. One thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "schedule/collective.hpp"
#include "schedule/prove/definition.hpp"
#include "schedule/prove/failure.hpp"
#include "schedule/prove/happens_before.hpp"
#include "schedule/prove/symbolic_memory.hpp"
#include "schedule/prove/symbolic_value.hpp"
#include "schedule/prove/world.hpp"

namespace tutti {

class SymbolicRun final : public Observer {
 public:
  // Runs of one schedule may share their table of values, which saves most of the work.
  SymbolicRun(const Programs& programs, const Conditions& conditions, bool in_place, ValueTable& values);

  [[nodiscard]] const std::optional<Failure>& failure() const { return failure_; }
  // The first step that is marked as completing and does not complete its result, or the other way about. For whoever
  // finds nothing else wrong: it may be no more than what that brings with it.
  [[nodiscard]] const std::optional<Failure>& wrong_mark() const { return wrong_mark_; }
  // The strictest class that all results checked so far keep.
  [[nodiscard]] OrderClass order() const;
  // Why it is not a stricter one: the first result that does not keep it.
  [[nodiscard]] const std::string& why_not_stricter() const { return why_not_; }
  // The most roundings on the way from an input to a result.
  [[nodiscard]] std::uint32_t roundings() const { return roundings_; }

  void ready(const World& world, const LaneState& lane, const Step& step) override;
  void combine(const World& world, const LaneState& lane, const Step& step) override;
  void take(const World& world, const LaneState& lane, const Endpoint& end) override;
  void publish(const World& world, const LaneState& lane, const Endpoint& end) override;
  void post(const World& world, const LaneState& lane, const Step& step) override;
  void passed(const World& world, const LaneState& lane, const Step& step) override;
  void ended(const World& world, std::uint32_t rank, std::uint32_t first_round, std::uint32_t next_round) override;
  [[nodiscard]] bool wants_to_stop() const override { return failure_.has_value(); }

 private:
  class Edges;
  struct Message {
    Moment moment;
    std::vector<Held> values;
  };
  struct Queue {
    std::vector<Message> messages;
    std::size_t oldest = 0;
  };
  // What is being done at the moment: the step, for failures and for accesses.
  struct Now {
    const World* world = nullptr;
    const LaneState* lane = nullptr;
    const Step* step = nullptr;
  };

  const Clock::Known& all_done(std::uint32_t round);
  Clock& clock() { return clocks_[now_.lane->id]; }
  [[nodiscard]] Access access() const { return {now_.lane->id, clocks_[now_.lane->id].time()}; }
  [[nodiscard]] std::uint64_t event(std::uint32_t owner, std::uint32_t round, std::uint32_t number) const;

  // Piece number `offset` of a slice, and what is there in the present round.
  [[nodiscard]] Slice piece_of(const Slice& slice, std::uint32_t offset) const;
  Cell& cell_of(std::uint32_t rank, const Slice& piece);

  bool check_places(const Step& step);
  // One source of the present step, piece number `offset` of its slice; as it enters the fold, so pre-scaled. False
  // where that is an error.
  bool load(const Endpoint& end, std::uint32_t rank, std::uint32_t offset, Held& held);
  bool load_cell(std::uint32_t rank, const Slice& piece, Held& held);
  void load_copy(const Endpoint& end, std::uint32_t rank, std::uint32_t offset, Held& held) const;
  bool store(const Endpoint& end, std::uint32_t offset, Held held);
  bool store_cell(std::uint32_t rank, const Slice& piece, Held held);
  bool fold_piece(std::uint32_t offset, Held& result, bool& finishes);
  bool check_operand(const Held& held, const std::string& where);
  bool check_touch(const Slice& slice, Held& held);
  bool check_barrier(std::uint32_t rank, std::uint32_t first_round, std::uint32_t next_round);
  bool check_result(std::uint32_t rank, Origin output, std::uint32_t round);
  bool check_contributions(std::uint32_t rank, const Expected& expected, Origin output, ValueId id);
  Message& oldest(const Endpoint& end);
  bool fits(std::uint32_t rank, const Slice& piece, const Held& held);
  void note_order(std::uint32_t rank, const Expected& expected, const Value& value, ValueId id);

  void note_mark(const Step& step, bool completes);
  [[nodiscard]] Failure failure_here(Fault fault, std::string what, std::string piece) const;
  bool fail(Fault fault, std::string what, std::string piece = "");
  bool fail_race(const Access& earlier, bool writes, const std::string& piece);
  bool fail_doubled(ValueId left, ValueId right, std::uint32_t rank);
  [[nodiscard]] std::string describe(const Access& access) const;
  void tell_path(ValueId id, std::uint32_t rank);

  const Programs& programs_;
  bool needs_clocks_;  // else every piece is one lane's own, and no clock need know of another
  Conditions conditions_;
  ValueTable& values_;
  SymbolicMemory memory_;
  std::vector<Clock> clocks_;                           // by lane
  std::vector<Queue> queues_;                           // by Programs::connection()
  std::unordered_map<std::uint64_t, Moment> posts_;     // by event of a rank
  std::unordered_map<std::uint64_t, Moment> steps_;     // by event of a lane: steps that an After names
  std::vector<std::vector<Moment>> done_;               // by lane, by round
  std::vector<Clock::Known> all_done_;                  // by round, what all done_ lanes knew then; once asked for
  std::vector<std::vector<std::vector<Held>>> copies_;  // by rank, by expose counted through all rounds
  std::vector<Held> result_;                            // of the present combine
  std::vector<std::map<std::uint32_t, std::uint32_t>> left_;  // barriers: by rank, when it left the one before a round
  Now now_;
  std::optional<Failure> failure_;
  std::optional<Failure> wrong_mark_;

  using Result = std::array<std::uint32_t, 4>;  // block and piece of the origin, first and end of the ranks
  std::map<Result, std::uint32_t> bits_of_;     // of the first of each result seen
  bool all_left_folds_ = true;
  bool all_in_rank_order_ = true;
  bool all_uniform_ = true;
  std::string why_not_;
  std::uint32_t roundings_ = 0;
};

}  // namespace tutti
