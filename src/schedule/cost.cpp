#include "schedule/cost.hpp"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "schedule/meaning.hpp"
#include "schedule/symbolic_run.hpp"
#include "schedule/world.hpp"

namespace tutti {

namespace {

// Watches how many ranks deep each step is: the Machine that answers every condition with yes and counts.
class Depths final : public Observer {
 public:
  explicit Depths(const Programs& programs)
      : programs_(programs), depths_(std::size_t{programs.num_ranks()} * programs.num_lanes()), done_(depths_) {}

  [[nodiscard]] std::uint32_t deepest() const {
    return depths_.empty() ? 0 : *std::max_element(depths_.begin(), depths_.end());
  }

  void ready(const World& world, const LaneState& lane, const Step& step) override {
    world_ = &world;
    lane_ = &lane;
    for (const After& after : step.after) {
      const std::uint32_t other = programs_.lane_id(lane.rank, after.lane);
      reach(passed_[key(other, programs_.index_of(lane.rank, after.lane, after.step))]);
    }
    static_cast<void>(is_ready(step, *this));
  }
  void take(const World&, const LaneState& lane, const Endpoint& end) override {
    queues_[connection_key(end.rank, lane.rank, end.channel)].pop_front();
  }
  void publish(const World&, const LaneState& lane, const Endpoint& end) override {
    queues_[connection_key(lane.rank, end.rank, end.channel)].push_back(own());
  }
  void post(const World&, const LaneState& lane, const Step& step) override {
    posts_[key(lane.rank, step.post)] = own();
  }
  void passed(const World&, const LaneState& lane, const Step&) override {
    const Programs::LaneFacts& facts = programs_.lane_facts(lane.id);
    if (facts.is_waited_for[lane.index]) passed_[key(lane.id, lane.index)] = own();
    if (facts.last_remote == lane.index) done_[lane.id] = own();
  }

  bool has_message(const Endpoint& end) {
    return reach(queues_[connection_key(end.rank, lane_->rank, end.channel)].front() + 1);
  }
  bool has_credit(const Endpoint&) { return true; }
  bool has_posted(std::uint32_t rank, std::uint32_t post) {
    return reach(posts_[key(rank, post)] + (rank == lane_->rank ? 0 : 1));
  }
  bool has_slot(const Step&) { return true; }
  [[nodiscard]] std::uint32_t num_ranks() const { return programs_.num_ranks(); }
  bool all_done() {
    if (!world_->close_waits(lane_->rank)) return true;
    for (std::uint32_t lane = 0; lane < done_.size(); ++lane)
      if (lane / programs_.num_lanes() != lane_->rank && done_[lane] != 0) reach(done_[lane] + 1);
    return true;
  }

 private:
  static std::uint64_t key(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32U | low; }
  std::uint32_t& own() { return depths_[lane_->id]; }
  bool reach(std::uint32_t depth) {
    own() = std::max(own(), depth);
    return true;
  }

  const Programs& programs_;
  const World* world_ = nullptr;
  const LaneState* lane_ = nullptr;
  std::vector<std::uint32_t> depths_;  // by lane
  std::vector<std::uint32_t> done_;
  std::unordered_map<std::uint64_t, std::deque<std::uint32_t>> queues_;
  std::unordered_map<std::uint64_t, std::uint32_t> posts_;
  std::unordered_map<std::uint64_t, std::uint32_t> passed_;
};

RankCost count(const Program& program) {
  RankCost cost;
  cost.steps = program.num_steps();
  for (const auto& lane : program.lanes) {
    for (const Step& step : lane) {
      if (step.kind != StepKind::combine) continue;
      for (const Endpoint& end : step.sources) {
        if (end.place == Place::message) cost.pieces_received += end.slice.size();
        if (end.place == Place::remote || end.place == Place::multicast) cost.pieces_pulled += end.slice.size();
      }
      for (const Endpoint& end : step.destinations) {
        if (end.place == Place::message) ++cost.messages;
        if (end.place == Place::message) cost.pieces_sent += end.slice.size();
        if (end.place == Place::remote || end.place == Place::multicast) cost.pieces_pushed += end.slice.size();
      }
    }
  }
  return cost;
}

}  // namespace

Cost cost_of(const Schedule& schedule) {
  constexpr std::uint64_t RankCost::*kCounts[] = {&RankCost::steps,         &RankCost::messages,
                                                  &RankCost::pieces_sent,   &RankCost::pieces_received,
                                                  &RankCost::pieces_pulled, &RankCost::pieces_pushed};
  const Programs programs(schedule, Fusion::neighbours);
  Cost cost;
  cost.num_pieces = schedule.division(Space::input).pieces;
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
    const RankCost& own = cost.ranks.emplace_back(count(programs.program(rank)));
    for (const auto each : kCounts) {
      cost.total.*each += own.*each;
      cost.most.*each = std::max(cost.most.*each, own.*each);
    }
  }
  Conditions one_round;
  one_round.operations = {1};
  Depths depths(programs);
  static_cast<void>(World(programs, one_round, &depths).run());
  cost.longest_path = depths.deepest();
  ValueTable values(schedule.num_ranks, schedule.division(Space::input));
  SymbolicRun run(programs, one_round, false, values);
  static_cast<void>(World(programs, one_round, &run).run());
  cost.roundings = run.roundings();
  return cost;
}

}  // namespace tutti
