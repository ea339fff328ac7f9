// SPDX-License-Identifier: Apache-2.0
#include "schedule/oracle/oracle_code.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace tutti::oracle {

namespace {

// What the steps of a rank say together.
struct RankFacts {
  std::vector<const Step*> posts;     // by number
  std::vector<std::uint32_t> copies;  // by post: its number among the exposes of a round
  std::uint32_t num_exposes = 0;
  bool opens = false;
};

// A connection, and what it carries in a round.
struct Connection {
  std::uint32_t sending_lane = kNone;
  std::uint32_t receiving_lane = kNone;
  std::vector<std::pair<std::uint32_t, const Endpoint*>> sent;  // by whom, in which order
  std::uint32_t received = 0;
  std::uint32_t published = 0, taken = 0;    // the counters
  std::vector<std::uint32_t> first_cell;     // of each message of all rounds
  std::vector<std::uint32_t> cells;          // how many each has
  std::vector<std::uint32_t> next = {0, 0};  // message to be sent, and to be received
};

class Compiler {
 public:
  Compiler(const Schedule& schedule, const Setting& setting, std::uint64_t seed)
      : schedule_(schedule), setting_(setting), memory_(schedule, setting.sizes, setting.in_place, seed) {}

  Code compile() {
    code_.num_lanes = schedule_.num_lanes;
    code_.is_barrier = schedule_.collective == Collective::barrier;
    code_.compares_bits = schedule_.collective == Collective::all_reduce;
    code_.num_results = memory_.num_results();
    for (std::uint32_t rank = 0; rank < schedule_.num_ranks; ++rank)
      code_.programs.push_back(collect(schedule_, rank, setting_.fusion));
    code_.num_counters = schedule_.num_ranks * schedule_.num_lanes;
    code_.first_begun = code_.num_counters;
    code_.num_counters += schedule_.num_ranks;
    first_posted_ = code_.num_counters;
    code_.num_counters += schedule_.num_ranks;
    code_.num_cells = memory_.num_cells();
    if (learn() && place_slots() && place_messages()) write_rows();
    if (code_.malformed.empty()) mark_shared(code_);
    return std::move(code_);
  }

 private:
  bool fail(std::string why) {
    if (code_.malformed.empty()) code_.malformed = std::move(why);
    return false;
  }

  [[nodiscard]] const std::vector<Step>& steps(std::uint32_t rank, std::uint32_t lane) const {
    return code_.programs[rank].lanes[lane];
  }
  [[nodiscard]] std::uint32_t row_of(std::uint32_t rank, std::uint32_t lane) const {
    return rank * schedule_.num_lanes + lane;
  }
  [[nodiscard]] std::uint32_t num_steps(std::uint32_t rank, std::uint32_t lane) const {
    return static_cast<std::uint32_t>(steps(rank, lane).size());
  }
  Connection& connection(std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
    return connections_[{from, to, channel}];
  }

  // --- facts ---

  bool learn() {
    ranks_.resize(schedule_.num_ranks);
    for (std::uint32_t rank = 0; rank < schedule_.num_ranks; ++rank) {
      std::uint32_t posting_lane = kNone;
      for (std::uint32_t lane = 0; lane < schedule_.num_lanes; ++lane) {
        std::uint32_t last_remote = kNone;
        for (std::uint32_t index = 0; index < num_steps(rank, lane); ++index) {
          const Step& step = steps(rank, lane)[index];
          if (!learn_ends(rank, lane, step)) return false;
          if (is_direct(step)) last_remote = index;
          if (!is_post(step)) continue;
          if (posting_lane != kNone && posting_lane != lane) return fail("posts in two lanes");
          posting_lane = lane;
          if (!learn_post(rank, step)) return false;
        }
        last_remote_.push_back(last_remote);
      }
    }
    for (auto& [ends, each] : connections_) {
      if (each.sent.size() != each.received) return fail("messages are sent and not received, or the other way");
      each.published = code_.num_counters++;
      each.taken = code_.num_counters++;
    }
    return true;
  }

  bool learn_post(std::uint32_t rank, const Step& step) {
    RankFacts& facts = ranks_[rank];
    if (step.post != facts.posts.size()) return fail("posts are not numbered as they are made");
    facts.posts.push_back(&step);
    facts.copies.push_back(step.kind == StepKind::expose ? facts.num_exposes++ : kNone);
    if (step.kind == StepKind::signal) return true;
    facts.opens = facts.opens || step.kind == StepKind::open;
    if (step.sources.size() != 1 || step.sources[0].place != Place::local) return fail("posts no slice of its own");
    const Slice& slice = step.sources[0].slice;
    if (step.kind == StepKind::open && slice.space == Space::input) return fail("opens an input");
    if (slice.num_blocks != 1) return fail("posts several blocks");
    return (memory_.is_inside(slice) && memory_.has(rank, slice)) || fail("posts what is not there");
  }

  bool learn_ends(std::uint32_t rank, std::uint32_t lane, const Step& step) {
    if (step.kind != StepKind::combine) return true;
    if (step.sources.empty() || step.destinations.empty()) return fail("combines nothing");
    if (step.gives_up_source && (step.sources.size() != 1 || step.sources[0].place != Place::local))
      return fail("gives up what is not one slice of its own");
    const Slice& model = step.sources[0].slice;
    for (const auto* ends : {&step.sources, &step.destinations}) {
      const bool writes = ends == &step.destinations;
      for (const Endpoint& end : *ends) {
        if (!memory_.is_inside(end.slice)) return fail("names a slice that is not there");
        if (end.slice.first_piece != model.first_piece || end.slice.num_pieces != model.num_pieces ||
            end.slice.num_blocks != model.num_blocks)
          return fail("works on different pieces");
        if (end.slice.num_blocks != 1 && (end.place == Place::remote || end.place == Place::multicast))
          return fail("reaches several blocks directly");
        if (writes && end.place != Place::message && end.slice.space == Space::input) return fail("writes an input");
        if (!writes && end.place == Place::multicast && ends->size() != 1) return fail("folds what is folded already");
        if (end.place == Place::local && !memory_.has(rank, end.slice))
          return fail("names a block that the rank does not have");
        if (end.place == Place::local || end.place == Place::multicast) continue;
        if (end.rank >= schedule_.num_ranks || end.rank == rank) return fail("names no other rank");
        if (end.place == Place::remote && !memory_.has(end.rank, end.slice))
          return fail("names a block that the other rank does not have");
        if (end.place == Place::message && !learn_message(rank, lane, end, writes)) return false;
      }
    }
    return true;
  }

  bool learn_message(std::uint32_t rank, std::uint32_t lane, const Endpoint& end, bool sends) {
    Connection& with = sends ? connection(rank, end.rank, end.channel) : connection(end.rank, rank, end.channel);
    std::uint32_t& keeper = sends ? with.sending_lane : with.receiving_lane;
    if (keeper != kNone && keeper != lane) return fail("two lanes are at one end of a connection");
    keeper = lane;
    if (sends) {
      with.sent.emplace_back(rank, &end);
    } else {
      ++with.received;
    }
    return true;
  }

  // --- memory beside the buffers ---

  [[nodiscard]] std::uint32_t length(std::uint32_t rank, const Slice& slice, When when) const {
    std::uint32_t count = 0;
    for (const std::uint32_t block : memory_.blocks_of(slice))
      for (std::uint32_t piece = 0; piece < slice.num_pieces; ++piece)
        count += memory_.length(rank, slice.space, block, slice.first_piece + piece, when);
    return count;
  }

  template <typename Visit>
  void for_each_round(Visit visit) const {
    const std::vector<std::uint32_t>& operations = setting_.sizes.operations;
    for (std::uint32_t operation = 0; operation < operations.size(); ++operation)
      for (std::uint32_t round = 0; round < operations[operation]; ++round) visit(When{operation, round});
  }

  bool place_slots() {
    for (std::uint32_t rank = 0; rank < schedule_.num_ranks; ++rank) {
      std::uint32_t largest = 0;
      for (const Step* post : ranks_[rank].posts)
        if (post->kind == StepKind::expose)
          largest = std::max(largest, post->sources[0].slice.num_pieces * setting_.sizes.window);
      if (setting_.staged && largest > 0 && setting_.slots == 0) return fail("there are no staging slots");
      first_slot_.push_back(code_.num_cells);
      slot_size_.push_back(largest);
      if (setting_.staged) code_.num_cells += largest * setting_.slots;
    }
    return true;
  }

  bool place_messages() {
    code_.first_message = code_.num_cells;
    for (auto& [ends, each] : connections_) {
      for_each_round([&, &connection = each](When when) {
        for (const auto& [rank, end] : connection.sent) {
          connection.first_cell.push_back(code_.num_cells);
          connection.cells.push_back(length(rank, end->slice, when));
          code_.num_cells += connection.cells.back();
        }
      });
    }
    return true;
  }

  // --- rows ---

  void write_rows() {
    for (std::uint32_t rank = 0; rank < schedule_.num_ranks; ++rank) {
      for (std::uint32_t lane = 0; lane < schedule_.num_lanes; ++lane) {
        Row& row = start_row(rank);
        lane_ = lane;
        round_ = 0;
        exposed_ = 0;
        for_each_round([&](When when) {
          when_ = when;
          if (when.round == 0) add(Act::wait, code_.first_begun + rank, when.operation + 1);
          for (step_ = 0; step_ < num_steps(rank, lane) && code_.malformed.empty(); ++step_) {
            write(steps(rank, lane)[step_]);
            row.steps.resize(row.operations.size(), step_);
          }
          ++round_;
        });
        if (!code_.malformed.empty()) return;
      }
    }
    for (std::uint32_t rank = 0; rank < schedule_.num_ranks; ++rank) write_caller(rank);
  }

  Row& start_row(std::uint32_t rank) {
    if (code_.rows.empty()) code_.rows.reserve(std::size_t{schedule_.num_ranks} * (schedule_.num_lanes + 1));
    rank_ = rank;
    code_.rows.emplace_back().rank = rank;
    return code_.rows.back();
  }

  Operation& add(Act act, std::uint32_t at, std::uint32_t number = 0) {
    Operation& operation = code_.rows.back().operations.emplace_back();
    operation.act = act;
    operation.at = at;
    operation.number = number;
    return operation;
  }

  void write_caller(std::uint32_t rank) {
    start_row(rank);
    auto& filled = code_.filled.emplace_back();
    auto& wanted = code_.wanted.emplace_back();
    auto& untouched = code_.untouched.emplace_back();
    std::uint32_t rounds = 0;
    for (std::uint32_t operation = 0; operation <= setting_.sizes.operations.size(); ++operation) {
      filled.push_back(memory_.filled(rank, operation));
      add(Act::fill, rank, operation);
      add(Act::verify, rank, operation);
      if (operation == setting_.sizes.operations.size()) break;
      wanted.push_back(memory_.wanted(rank, operation));
      untouched.push_back(memory_.untouched(rank, operation));
      add(Act::bump, code_.first_begun + rank);
      rounds += setting_.sizes.operations[operation];
      for (std::uint32_t lane = 0; lane < schedule_.num_lanes; ++lane)
        add(Act::wait, row_of(rank, lane), rounds * num_steps(rank, lane));
      // Twice, so that what is stored late is seen.
      add(Act::check, rank, operation);
      add(Act::check, rank, operation);
    }
  }

  void write(const Step& step) {
    if (!wait_for_lanes(step)) return;
    const std::uint32_t posted = first_posted_ + rank_;
    switch (step.kind) {
      case StepKind::combine: write_combine(step); break;
      case StepKind::expose:
        if (setting_.staged) write_copy(step);
        add(Act::bump, posted);
        break;
      case StepKind::open:
      case StepKind::signal: add(Act::bump, posted); break;
      case StepKind::wait:
        for (const std::uint32_t peer : step.peers)
          if (!wait_for_post(peer, step.post)) return;
        break;
      case StepKind::close:
        // Staged, its readers have copies; what is opened is written in place always.
        if (!setting_.staged || ranks_[rank_].opens) wait_until_done(round_);
        break;
    }
    add(Act::bump, row_of(rank_, lane_));
  }

  bool wait_for_lanes(const Step& step) {
    for (const After& after : step.after) {
      if (after.lane >= schedule_.num_lanes) return fail("comes after a lane that is not there");
      const std::vector<Step>& others = steps(rank_, after.lane);
      const auto target =
          std::find_if(others.begin(), others.end(), [&](const Step& other) { return other.number >= after.step; });
      if (target == others.end()) return fail("comes after a step that is not there");
      add(Act::wait, row_of(rank_, after.lane),
          round_ * num_steps(rank_, after.lane) + static_cast<std::uint32_t>(target - others.begin()) + 1);
    }
    return true;
  }

  bool wait_for_post(std::uint32_t rank, std::uint32_t post) {
    if (rank >= schedule_.num_ranks || post >= ranks_[rank].posts.size()) return fail("names a post that is not made");
    add(Act::wait, first_posted_ + rank, round_ * static_cast<std::uint32_t>(ranks_[rank].posts.size()) + post + 1);
    return true;
  }

  void wait_until_done(std::uint32_t round) {
    for (std::uint32_t rank = 0; rank < schedule_.num_ranks; ++rank) {
      for (std::uint32_t lane = 0; lane < schedule_.num_lanes; ++lane) {
        const std::uint32_t row = row_of(rank, lane);
        if (last_remote_[row] != kNone) add(Act::wait, row, round * num_steps(rank, lane) + last_remote_[row] + 1);
      }
    }
  }

  [[nodiscard]] std::uint32_t slot(std::uint32_t rank, std::uint32_t expose) const {
    return first_slot_[rank] + expose % setting_.slots * slot_size_[rank];
  }

  void write_copy(const Step& step) {
    const std::uint32_t exposes = ranks_[rank_].num_exposes;
    if (exposed_ >= setting_.slots) wait_until_done((exposed_ - setting_.slots) / exposes);
    const std::vector<Operand> from = cells_of(rank_, step.sources[0].slice, true);
    const std::uint32_t into = slot(rank_, exposed_++);
    for (std::uint32_t at = 0; at < from.size(); ++at) {
      add(Act::load, static_cast<std::uint32_t>(code_.operands.size()), 1);
      code_.operands.push_back(from[at]);
      add(Act::store, into + at);
    }
  }

  // The cells of a slice of `rank` in this round; its elements are scaled by who reads them from an input.
  std::vector<Operand> cells_of(std::uint32_t rank, const Slice& slice, bool reads) {
    const bool scales = reads && slice.space == Space::input && memory_.folds();
    std::vector<Operand> cells;
    for (const std::uint32_t block : memory_.blocks_of(slice)) {
      for (std::uint32_t piece = slice.first_piece; piece < slice.first_piece + slice.num_pieces; ++piece) {
        const std::uint32_t begin = memory_.cell(rank, slice.space, block, piece, when_.round);
        const std::uint32_t count = memory_.length(rank, slice.space, block, piece, when_);
        for (std::uint32_t at = 0; at < count; ++at) cells.push_back({begin + at, scales ? rank : kUnscaled});
      }
    }
    return cells;
  }

  // What a post of `rank` permits, as cells; the wait for it is written before.
  bool direct_cells(std::uint32_t rank, const Endpoint& end, bool writes, std::vector<Operand>& cells) {
    if (!wait_for_post(rank, end.post)) return false;
    const Step& post = *ranks_[rank].posts[end.post];
    if (post.kind != (writes ? StepKind::open : StepKind::expose)) return fail("needs another post");
    const Slice& given = post.sources[0].slice;
    const bool inside = given.space == end.slice.space && given.block == end.slice.block &&
                        given.first_piece <= end.slice.first_piece &&
                        end.slice.first_piece + end.slice.num_pieces <= given.first_piece + given.num_pieces;
    if (!inside || !memory_.has(rank, end.slice)) return fail("is not permitted");
    if (writes || !setting_.staged) {
      cells = cells_of(rank, end.slice, !writes);
      return true;
    }
    const Slice before{given.space, given.block, given.first_piece, end.slice.first_piece - given.first_piece};
    const std::uint32_t expose = round_ * ranks_[rank].num_exposes + ranks_[rank].copies[end.post];
    const std::uint32_t begin = slot(rank, expose) + length(rank, before, when_);
    const std::uint32_t count = length(rank, end.slice, when_);
    for (std::uint32_t at = 0; at < count; ++at) cells.push_back({begin + at, kUnscaled});
    return true;
  }

  // One end of the present step, as the cells of each of its elements: of every rank, where it is a multicast.
  bool resolve(const Endpoint& end, bool writes, std::vector<std::vector<Operand>>& all) {
    switch (end.place) {
      case Place::local: all.push_back(cells_of(rank_, end.slice, !writes)); return true;
      case Place::remote: return direct_cells(end.rank, end, writes, all.emplace_back());
      case Place::multicast:
        for (std::uint32_t rank = 0; rank < schedule_.num_ranks; ++rank)
          if (!direct_cells(rank, end, writes, all.emplace_back())) return false;
        return true;
      case Place::message: break;
    }
    Connection& with = writes ? connection(rank_, end.rank, end.channel) : connection(end.rank, rank_, end.channel);
    const std::uint32_t message = with.next[writes ? 0 : 1]++;
    add(writes ? Act::credit : Act::wait, writes ? with.taken : with.published, message + 1);
    std::vector<Operand>& cells = all.emplace_back();
    for (std::uint32_t at = 0; at < with.cells[message]; ++at)
      cells.push_back({with.first_cell[message] + at, kUnscaled});
    return true;
  }

  void write_combine(const Step& step) {
    std::vector<std::vector<Operand>> sources;
    std::vector<std::vector<Operand>> destinations;
    for (const Endpoint& end : step.sources)
      if (!resolve(end, false, sources)) return;
    for (const Endpoint& end : step.destinations)
      if (!resolve(end, true, destinations)) return;
    const std::size_t count = sources[0].size();
    for (const auto* ends : {&sources, &destinations})
      for (const std::vector<Operand>& cells : *ends)
        if (cells.size() != count) {
          fail("puts together what is not of one length");
          return;
        }
    for (std::size_t at = 0; at < count; ++at) {
      Operation& load =
          add(Act::load, static_cast<std::uint32_t>(code_.operands.size()), static_cast<std::uint32_t>(sources.size()));
      load.finishes = step.completes && memory_.has_finish();
      load.switched = step.sources[0].place == Place::multicast;
      for (const std::vector<Operand>& cells : sources) code_.operands.push_back(cells[at]);
      for (const std::vector<Operand>& cells : destinations) add(Act::store, cells[at].cell);
    }
    for (std::size_t at = 0; step.gives_up_source && at < count; ++at) add(Act::scribble, sources[0][at].cell);
    for (const Endpoint& end : step.sources)
      if (end.place == Place::message) add(Act::bump, connection(end.rank, rank_, end.channel).taken);
    for (const Endpoint& end : step.destinations)
      if (end.place == Place::message) add(Act::bump, connection(rank_, end.rank, end.channel).published);
    for (const Endpoint& end : step.destinations)
      if (end.place == Place::message)
        add(Act::taken, connection(rank_, end.rank, end.channel).taken,
            connection(rank_, end.rank, end.channel).next[0]);
  }

  const Schedule& schedule_;
  const Setting& setting_;
  Memory memory_;
  Code code_;
  std::vector<RankFacts> ranks_;
  std::vector<std::uint32_t> last_remote_;  // by row: the last step with a direct end, kNone without one
  std::map<std::array<std::uint32_t, 3>, Connection> connections_;  // by source, destination, channel
  std::vector<std::uint32_t> first_slot_;                           // by rank
  std::vector<std::uint32_t> slot_size_;
  std::uint32_t first_posted_ = 0;  // the first rank's counter of posts
  // What is being written down.
  std::uint32_t rank_ = 0;
  std::uint32_t lane_ = 0;
  std::uint32_t step_ = 0;
  std::uint32_t round_ = 0;    // of all operations
  std::uint32_t exposed_ = 0;  // by this rank
  When when_;
};

}  // namespace

Code compile(const Schedule& schedule, const Setting& setting, std::uint64_t seed) {
  return Compiler(schedule, setting, seed).compile();
}

}  // namespace tutti::oracle
