// SPDX-License-Identifier: Apache-2.0
// The LogGP formula of a schedule (Alexandrov, Ionescu, Schauser, Scheiman 1995): the longest chain of overheads o,
// latencies L and bytes times G, where nothing waits for a wire or a core. It shares with the simulator what a step
// means (schedule/world.hpp) and nothing else; it knows the whole schedule at once and has neither events nor fabric.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "schedule/layout.hpp"
#include "schedule/prove/definition.hpp"
#include "schedule/prove/world.hpp"

namespace tutti::simulate {

struct LogGP {
  double latency = 0;
  double send_overhead = 0;
  double receive_overhead = 0;
  double per_byte = 0;  // G
  double fold = 0;      // a byte that a step reads or writes while it folds or copies
  // Where cores carry bytes: a pass over b of them takes a + c·b, by what is done in it, and each own end beside·b
  // more.
  struct Line {
    double a = 0;
    double c = 0;
    [[nodiscard]] double of(double bytes) const { return bytes > 0 ? a + c * bytes : 0; }
  };
  struct Carried {
    Line send, receive, fold, forward, fold_forward;
    double beside = 0;
  };
  std::optional<Carried> carried = {};
};

class Formula : public Observer {
 public:
  // The bytes of each size class of blocks; where they are all alike, there is one.
  Formula(const Programs& programs, const LogGP& costs, std::vector<std::uint64_t> bytes_of_blocks, bool staged)
      : programs_(programs), costs_(costs), blocks_(std::move(bytes_of_blocks)), staged_(staged) {}

  double time() {
    times_.resize(std::size_t{programs_.num_ranks()} * programs_.num_lanes());
    done_.resize(times_.size());
    Conditions conditions;
    conditions.operations = {1};
    conditions.staged = staged_;
    static_cast<void>(World(programs_, conditions, this).run());
    return *std::max_element(times_.begin(), times_.end());
  }

  void ready(const World& world, const LaneState& lane, const Step& step) override {
    double& time = times_[lane.id];
    for (const After& after : step.after) {
      const std::uint32_t other = programs_.lane_id(lane.rank, after.lane);
      time = std::max(time, passed_[{other, programs_.index_of(lane.rank, after.lane, after.step)}]);
    }
    const auto seen = [&](std::uint32_t rank, std::uint32_t post) {
      time = std::max(time, posts_[{rank, post}] + (rank == lane.rank ? 0 : costs_.latency));
    };
    for (const Endpoint& end : step.sources) {
      if (end.place == Place::message && !is_nothing(end, lane.rank)) {
        std::deque<double>& queue = queues_[{end.rank, lane.rank, end.channel}];
        time = std::max(time, queue.front());
        queue.pop_front();
      }
      if (end.place == Place::remote) seen(end.rank, end.post);
    }
    for (const Endpoint& end : step.destinations)
      if (end.place == Place::remote) seen(end.rank, end.post);
    if (step.kind == StepKind::wait)
      for (const std::uint32_t peer : step.peers) seen(peer, step.post);
    if (step.kind == StepKind::close && world.close_waits(lane.rank))
      for (std::uint32_t id = 0; id < done_.size(); ++id)
        if (programs_.lane_facts(id).last_remote != Programs::kNone)
          time = std::max(time, done_[id] + (id / programs_.num_lanes() == lane.rank ? 0 : costs_.latency));
    work(lane, step, time);
  }

  void post(const World&, const LaneState& lane, const Step& step) override {
    posts_[{lane.rank, step.post}] = std::max(times_[lane.id], stored_[lane.rank] - costs_.latency);
  }

  void passed(const World&, const LaneState& lane, const Step&) override {
    passed_[{lane.id, lane.index}] = times_[lane.id];
    if (programs_.lane_facts(lane.id).last_remote == lane.index) done_[lane.id] = times_[lane.id];
  }

 private:
  // Of an end of a step of that rank's.
  [[nodiscard]] double bytes(const Endpoint& end, std::uint32_t rank) const {
    const Schedule& schedule = programs_.schedule();
    const Slice& slice = end.slice;
    const Division& division = schedule.division(slice.space);
    const std::uint32_t owner = end.place == Place::remote ? end.rank : rank;
    double sum = 0;
    for (std::uint32_t i = 0; i < slice.size(); ++i) {
      const Slice piece = piece_at(slice, i, division.blocks);
      const std::uint64_t block = blocks_[size_class(schedule, owner, slice.space, piece.block)];
      sum += static_cast<double>(PieceLayout(block, division.pieces, UINT64_MAX).run(piece.first_piece, 0).length);
    }
    return sum;
  }
  [[nodiscard]] bool is_nothing(const Endpoint& end, std::uint32_t rank) const {
    return programs_.num_lanes() == 1 && programs_.schedule().collective != Collective::barrier &&
           bytes(end, rank) == 0;
  }

  void work(const LaneState& lane, const Step& step, double& time) {
    if (costs_.carried) return carry(lane, step, time);
    double own_reads = 0;
    double own_writes = 0;
    double moved = 0;
    double arrived = time;
    const double begun = time;
    if (step.kind == StepKind::expose && staged_) time += 2 * bytes(step.sources[0], lane.rank) * costs_.fold;
    if (step.kind != StepKind::combine) return;
    for (const Endpoint& end : step.sources) {
      moved += bytes(end, lane.rank);
      if (end.place == Place::local) own_reads += 1;
      if (end.place == Place::remote && end.rank != lane.rank && bytes(end, lane.rank) > 0)
        arrived = std::max(arrived, time + 2 * costs_.latency + bytes(end, lane.rank) * costs_.per_byte);
    }
    for (const Endpoint& end : step.sources)
      if (end.place == Place::message && !is_nothing(end, lane.rank)) time += costs_.receive_overhead;
    for (const Endpoint& end : step.destinations) {
      if (end.place != Place::local) continue;
      moved += bytes(end, lane.rank);
      own_writes += 1;
    }
    if (step.sources.size() > 1 || (own_reads > 0 && own_writes > 0)) time += moved * costs_.fold;
    const double first = arrived > begun ? begun + 2 * costs_.latency : 0;
    time = std::max(time, arrived);
    leave(lane, step, time, first);
  }

  // What is read from others is stored at others as it comes: from `first` on, and no sooner whole than the step has
  // it; 0: nothing is.
  void leave(const LaneState& lane, const Step& step, double& time, double first = 0) {
    for (const Endpoint& end : step.destinations) {
      if (is_nothing(end, lane.rank)) continue;
      if (end.place == Place::message) {
        time += costs_.send_overhead;
        queues_[{lane.rank, end.rank, end.channel}].push_back(time + costs_.latency +
                                                              bytes(end, lane.rank) * costs_.per_byte);
      }
      if (end.place == Place::remote && bytes(end, lane.rank) > 0)
        stored_[lane.rank] =
            std::max({stored_[lane.rank], time + costs_.latency,
                      (first > 0 ? first : time) + costs_.latency + bytes(end, lane.rank) * costs_.per_byte});
    }
  }

  // The same where the core of the rank does it all.
  void carry(const LaneState& lane, const Step& step, double& time) {
    const LogGP::Carried& carried = *costs_.carried;
    const double length = step.sources.empty() ? 0 : bytes(step.sources[0], lane.rank);
    if (step.kind == StepKind::expose && staged_) time += carried.send.of(length) + carried.beside * length;
    if (step.kind != StepKind::combine) return;
    double others_read = 0;
    double others_written = 0;
    double own = 0;
    const auto is_own = [&](const Endpoint& end) {
      return end.place == Place::local || (end.place == Place::remote && end.rank == lane.rank);
    };
    for (const Endpoint& end : step.sources) {
      if (end.place == Place::message && !is_nothing(end, lane.rank)) time += costs_.receive_overhead;
      (is_own(end) ? own : others_read) += 1;
    }
    for (const Endpoint& end : step.destinations) (is_own(end) ? own : others_written) += 1;
    const bool folds = step.sources.size() > 1;
    if (others_read > 0) {
      const LogGP::Line& kept = folds ? carried.fold : carried.receive;
      const LogGP::Line& passed_on = folds ? carried.fold_forward : carried.forward;
      time += (others_written > 0 ? passed_on : kept).of(length) + (others_read - 1) * carried.receive.of(length);
      if (others_written > 1) time += (others_written - 1) * carried.send.of(length);
    } else {
      time += others_written * carried.send.of(length);
    }
    time += own * length * (others_read + others_written > 0 ? carried.beside : costs_.fold);
    leave(lane, step, time);
  }

  const Programs& programs_;
  LogGP costs_;
  std::vector<std::uint64_t> blocks_;
  bool staged_;
  std::vector<double> times_;
  std::vector<double> done_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::deque<double>> queues_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> posts_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> passed_;
  std::map<std::uint32_t, double> stored_;  // by rank: when the last store has arrived
};

}  // namespace tutti::simulate
