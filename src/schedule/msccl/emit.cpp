// SPDX-License-Identifier: Apache-2.0
#include "schedule/msccl/emit.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>

#include "schedule/listed.hpp"

namespace tutti::msccl {

namespace {

// Where steps of several chunks have to be taken apart. A step of a schedule works on one slice of each of its ends,
// and a message is one on both ends: so all steps through whose hands the same data goes are cut alike.
class Cuts {
 public:
  Cuts(const Lanes& lanes, const Followed& followed) : followed_(followed), parents_(lanes.num_messages) {
    std::iota(parents_.begin(), parents_.end(), 0U);
    for (const BlockLane& lane : lanes.lanes)
      for (const LaneStep& step : lane.steps)
        if (step.received != kNone && step.sent != kNone) parents_[root_of(step.received)] = root_of(step.sent);
    for (const BlockLane& lane : lanes.lanes) {
      for (const LaneStep& step : lane.steps) {
        const std::uint32_t message = message_of(step);
        for (std::uint32_t chunk = 1; message != kNone && chunk < count_of(step); ++chunk) {
          if (continues(step, chunk)) continue;
          std::vector<bool>& cuts = cuts_[root_of(message)];
          cuts.resize(count_of(step));
          cuts[chunk] = true;
        }
      }
    }
  }

  [[nodiscard]] static std::uint32_t count_of(const LaneStep& step) {
    return static_cast<std::uint32_t>(step.file->count);
  }

  // Whether the step is cut before its chunk number `chunk`.
  [[nodiscard]] bool cut(const LaneStep& step, std::uint32_t chunk) {
    const std::uint32_t message = message_of(step);
    if (message == kNone) return !continues(step, chunk);
    const auto found = cuts_.find(root_of(message));
    return found != cuts_.end() && found->second[chunk];
  }

  [[nodiscard]] std::uint32_t num_parts(const LaneStep& step) {
    std::uint32_t parts = 1;
    for (std::uint32_t chunk = 1; chunk < count_of(step); ++chunk) parts += cut(step, chunk) ? 1 : 0;
    return parts;
  }

 private:
  static std::uint32_t message_of(const LaneStep& step) { return step.sent != kNone ? step.sent : step.received; }

  std::uint32_t root_of(std::uint32_t message) {
    while (parents_[message] != message) message = parents_[message] = parents_[parents_[message]];
    return message;
  }

  // Whether the chunk and the one before are next to each other wherever the step reads and writes them.
  [[nodiscard]] bool continues(const LaneStep& step, std::uint32_t chunk) const {
    const Move& move = followed_.moves[step.first_move + chunk];
    const Move& before = followed_.moves[step.first_move + chunk - 1];
    const auto follows = [](const Spot& a, const Spot& b) {
      return a.space == b.space && a.block == b.block && a.piece + 1 == b.piece;
    };
    const StepType& type = *step.file->type;
    return move.completes == before.completes && (!type.reads_source || follows(before.source, move.source)) &&
           (!type.reads_destination || follows(before.old, move.old)) &&
           (!type.writes || follows(before.destination, move.destination));
  }

  const Followed& followed_;
  std::vector<std::uint32_t> parents_;                         // by message
  std::unordered_map<std::uint32_t, std::vector<bool>> cuts_;  // by root
};

class Emitter {
 public:
  Emitter(const File& file, const Lanes& lanes, const Buffers& buffers, const Followed& followed)
      : file_(file), lanes_(lanes), buffers_(buffers), followed_(followed), cuts_(lanes, followed) {}

  Schedule emit() {
    number_parts();
    std::vector<Program> programs(static_cast<std::size_t>(file_.num_ranks));
    for (Program& program : programs) program.lanes.resize(lanes_.most_lanes);
    for (std::uint32_t id = 0; id < lanes_.lanes.size(); ++id) {
      const BlockLane& lane = lanes_.lanes[id];
      std::vector<Step>& steps = programs[lane.rank].lanes[lane.number];
      for (const LaneStep& step : lane.steps) add(lane, step, steps);
    }
    touch_what_stays(programs);
    for (Program& program : programs) keep_rounds_apart(program);
    Schedule header{.name = file_.name,
                    .collective = file_.collective,
                    .num_ranks = static_cast<std::uint32_t>(file_.num_ranks),
                    .root = 0,
                    .num_lanes = lanes_.most_lanes,
                    .spaces = spaces_of(file_.collective, static_cast<std::uint32_t>(file_.num_ranks),
                                        buffers_.pieces(), followed_.scratch_blocks),
                    .order = OrderClass::free,
                    .allows_in_place = file_.in_place,
                    .allows_out_of_place = file_.out_of_place};
    return listed(std::move(header), std::move(programs));
  }

 private:
  // The number of the last part of each step in its lane: what others wait for.
  void number_parts() {
    last_part_.resize(lanes_.lanes.size());
    for (std::uint32_t id = 0; id < lanes_.lanes.size(); ++id) {
      std::uint32_t parts = 0;
      for (const LaneStep& step : lanes_.lanes[id].steps)
        last_part_[id].push_back((parts += cuts_.num_parts(step)) - 1);
    }
  }

  void add(const BlockLane& lane, const LaneStep& step, std::vector<Step>& steps) {
    const std::uint32_t count = Cuts::count_of(step);
    for (std::uint32_t begin = 0; begin < count;) {
      std::uint32_t end = begin + 1;
      while (end < count && !cuts_.cut(step, end)) ++end;
      Step& part = steps.emplace_back(part_of(lane, step, begin, end - begin));
      part.number = static_cast<std::uint32_t>(steps.size() - 1);
      for (std::uint32_t each = 0; begin == 0 && each < step.num_waits; ++each) {
        const Wait& wait = lanes_.waits[step.first_wait + each];
        part.after.push_back({lanes_.lanes[wait.lane].number, last_part_[wait.lane][wait.step]});
      }
      begin = end;
    }
  }

  [[nodiscard]] Step part_of(const BlockLane& lane, const LaneStep& step, std::uint32_t begin,
                             std::uint32_t count) const {
    const Move& move = followed_.moves[step.first_move + begin];
    const StepType& type = *step.file->type;
    const auto local = [&](const Spot& spot) {
      return Endpoint{.place = Place::local, .slice = {spot.space, spot.block, spot.piece, count}};
    };
    const auto message = [&](std::uint32_t rank, std::uint32_t channel) {
      // Of a message only the pieces count; so any end of the step's own will do.
      Endpoint end = local(type.writes ? move.destination : move.source);
      end.place = Place::message;
      end.rank = rank;
      end.channel = channel;
      return end;
    };
    Step part;
    if (type.receives) {
      const Connection& from = lanes_.connections[lane.from];
      part.sources.push_back(message(from.from, from.channel));
    }
    if (type.reads_destination) part.sources.push_back(local(move.old));
    if (type.reads_source) part.sources.push_back(local(move.source));
    if (type.writes) part.destinations.push_back(local(move.destination));
    if (type.sends) {
      const Connection& to = lanes_.connections[lane.to];
      part.destinations.push_back(message(to.to, to.channel));
    }
    part.completes = move.completes;
    return part;
  }

  // --- what stays where it is ---

  // In place, a rank's own part of a gather is in the output from the beginning, and programs leave it alone. But a
  // plan scales inputs, in the step that reads them: so every result needs a step, if only a copy onto itself. It comes
  // after all that read the input, which they expect to be as the caller left it.
  void touch_what_stays(std::vector<Program>& programs) const {
    const std::vector<Stays>& stays = followed_.stays;
    for (std::size_t first = 0; first < stays.size();) {
      const Stays& begin = stays[first];
      std::size_t end = first + 1;
      const auto continues = [&](const Stays& each) {
        const auto count = static_cast<std::uint32_t>(end - first);
        return each.rank == begin.rank &&
               each.input == Spot{Space::input, begin.input.block, begin.input.piece + count} &&
               each.output == Spot{Space::output, begin.output.block, begin.output.piece + count};
      };
      while (end < stays.size() && continues(stays[end])) ++end;
      touch(programs[begin.rank], begin, static_cast<std::uint32_t>(end - first));
      first = end;
    }
  }

  void touch(Program& program, const Stays& stays, std::uint32_t count) const {
    const Slice input{Space::input, stays.input.block, stays.input.piece, count};
    Step step;
    step.sources.push_back({.place = Place::local, .slice = input});
    step.destinations.push_back(
        {.place = Place::local, .slice = {Space::output, stays.output.block, stays.output.piece, count}});
    step.completes = file_.num_ranks == 1 && facts_of(file_.collective).folds;
    std::uint32_t host = kNone;
    for (std::uint32_t lane = 0; lane < program.lanes.size(); ++lane) {
      const std::vector<Step>& steps = program.lanes[lane];
      const auto last =
          std::find_if(steps.rbegin(), steps.rend(), [&](const Step& each) { return reads(each, input); });
      if (last == steps.rend()) continue;
      if (host == kNone) {
        host = lane;
      } else {
        step.after.push_back({lane, last->number});
      }
    }
    std::vector<Step>& steps = program.lanes[host == kNone ? 0 : host];
    step.number = static_cast<std::uint32_t>(steps.size());
    steps.push_back(std::move(step));
  }

  static bool reads(const Step& step, const Slice& slice) {
    return std::any_of(step.sources.begin(), step.sources.end(), [&](const Endpoint& end) {
      return end.place == Place::local && end.slice.space == slice.space && end.slice.block == slice.block &&
             end.slice.first_piece < slice.first_piece + slice.num_pieces &&
             slice.first_piece < end.slice.first_piece + end.slice.num_pieces;
    });
  }

  // --- rounds ---

  struct Touch {
    std::uint64_t place = 0;  // block and piece of scratch
    std::uint32_t lane = 0;
    std::uint32_t number = 0;  // of the step
    bool writes = false;
  };
  using LastTouches = std::map<std::uint32_t, std::uint32_t>;  // by lane: its last step that matters

  // MSCCL's scratch is as large as the buffers; a schedule's is used again in every round. So a lane that writes to
  // scratch which others use as well ends its round with a step that waits for them: a close, which waits for nothing
  // else here, since nothing is exposed.
  static void keep_rounds_apart(Program& program) {
    std::vector<Touch> touches = touches_of(program);
    std::sort(touches.begin(), touches.end(),
              [](const Touch& a, const Touch& b) { return std::pair(a.place, a.lane) < std::pair(b.place, b.lane); });
    std::vector<LastTouches> awaited(program.lanes.size());
    for (auto first = touches.begin(); first != touches.end();) {
      const auto end =
          std::find_if(first, touches.end(), [&](const Touch& touch) { return touch.place != first->place; });
      note_sharing({first, end}, awaited);
      first = end;
    }
    std::vector<std::vector<After>> joins(program.lanes.size());
    for (std::uint32_t lane = 0; lane < program.lanes.size(); ++lane) {
      for (const Step& step : program.lanes[lane])
        for (const After& after : step.after) {
          const auto found = awaited[lane].find(after.lane);
          if (found != awaited[lane].end() && found->second <= after.step) awaited[lane].erase(found);
        }
      for (const auto& [other, step] : awaited[lane]) joins[lane].push_back({other, step});
    }
    for (std::uint32_t lane = 0; lane < program.lanes.size(); ++lane) {
      if (joins[lane].empty()) continue;
      Step step;
      step.kind = StepKind::close;
      step.number = static_cast<std::uint32_t>(program.lanes[lane].size());
      step.after = std::move(joins[lane]);
      program.lanes[lane].push_back(std::move(step));
    }
  }

  static std::vector<Touch> touches_of(const Program& program) {
    std::vector<Touch> touches;
    for (std::uint32_t lane = 0; lane < program.lanes.size(); ++lane) {
      for (const Step& step : program.lanes[lane]) {
        for (const auto* ends : {&step.sources, &step.destinations}) {
          for (const Endpoint& end : *ends) {
            if (end.place != Place::local || end.slice.space != Space::scratch) continue;
            for (std::uint32_t each = 0; each < end.slice.num_pieces; ++each) {
              const std::uint64_t place = std::uint64_t{end.slice.block} << 32U | (end.slice.first_piece + each);
              touches.push_back({place, lane, step.number, ends == &step.destinations});
            }
          }
        }
      }
    }
    return touches;
  }

  // Of one place, lane by lane.
  static void note_sharing(std::span<const Touch> touches, std::vector<LastTouches>& awaited) {
    if (touches.front().lane == touches.back().lane) return;
    LastTouches last;
    std::vector<std::uint32_t> writers;
    for (const Touch& touch : touches) {
      std::uint32_t& number = last[touch.lane];
      number = std::max(number, touch.number);
      if (touch.writes && (writers.empty() || writers.back() != touch.lane)) writers.push_back(touch.lane);
    }
    for (const std::uint32_t writer : writers) {
      for (const auto& [lane, number] : last) {
        if (lane == writer) continue;
        std::uint32_t& step = awaited[writer][lane];
        step = std::max(step, number);
      }
    }
  }

  const File& file_;
  const Lanes& lanes_;
  const Buffers& buffers_;
  const Followed& followed_;
  Cuts cuts_;
  std::vector<std::vector<std::uint32_t>> last_part_;  // by lane, by step
};

}  // namespace

Schedule emit(const File& file, const Lanes& lanes, const Buffers& buffers, const Followed& followed) {
  return Emitter(file, lanes, buffers, followed).emit();
}

}  // namespace tutti::msccl
