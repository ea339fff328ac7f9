#include "schedule/timeline.hpp"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "schedule/meaning.hpp"
#include "schedule/world.hpp"

namespace tutti {

namespace {

// An observer of a World, and the Machine that answers every condition with yes and learns when it was met.
class Clocked final : public Observer {
 public:
  explicit Clocked(const Programs& programs)
      : programs_(programs), times_(std::size_t{programs.num_ranks()} * programs.num_lanes()), done_(times_) {
    timeline_.ranks.resize(programs.num_ranks());
  }

  Timeline take_timeline() {
    for (std::vector<TimedStep>& rank : timeline_.ranks) {
      std::stable_sort(rank.begin(), rank.end(),
                       [](const TimedStep& a, const TimedStep& b) { return a.begin < b.begin; });
      for (const TimedStep& step : rank) timeline_.length = std::max(timeline_.length, step.end);
    }
    return std::move(timeline_);
  }

  void ready(const World& world, const LaneState& lane, const Step& step) override {
    world_ = &world;
    lane_ = &lane;
    arrivals_.clear();
    for (const After& after : step.after) {
      const std::uint32_t other = programs_.lane_id(lane.rank, after.lane);
      reach(passed_[key(other, programs_.index_of(lane.rank, after.lane, after.step))]);
    }
    step_ = &step;
    static_cast<void>(is_ready(step, *this));
    begin_ = now();
    for (Transfer& arrival : arrivals_) {
      arrival.end = begin_;
      timeline_.transfers.push_back(arrival);
    }
    if (step.kind == StepKind::combine) now() += 1;
  }
  void take(const World&, const LaneState& lane, const Endpoint& end) override {
    queues_[key(end.rank, lane.rank)].pop_front();
  }
  void publish(const World&, const LaneState& lane, const Endpoint& end) override {
    queues_[key(lane.rank, end.rank)].push_back(now());
  }
  void post(const World&, const LaneState& lane, const Step& step) override {
    posts_[key(lane.rank, step.post)] = now();
  }
  void passed(const World&, const LaneState& lane, const Step&) override {
    timeline_.ranks[lane.rank].push_back({lane.lane, lane.index, begin_, now()});
    const Programs::LaneFacts& facts = programs_.lane_facts(lane.id);
    if (facts.is_waited_for[lane.index]) passed_[key(lane.id, lane.index)] = now();
    if (facts.last_remote == lane.index) done_[lane.id] = now();
  }

  bool has_message(const Endpoint& end) {
    const double sent = queues_[key(end.rank, lane_->rank)].front();
    arrivals_.push_back({Transfer::Kind::message, end.rank, lane_->rank, sent, sent});
    return reach(sent);
  }
  bool has_credit(const Endpoint&) { return true; }
  bool has_posted(std::uint32_t rank, std::uint32_t post) {
    const double made = posts_[key(rank, post)];
    const bool reads = std::any_of(step_->sources.begin(), step_->sources.end(), [&](const Endpoint& end) {
      return end.post == post && (end.place == Place::multicast || (end.place == Place::remote && end.rank == rank));
    });
    const auto kind = step_->kind == StepKind::wait ? Transfer::Kind::wait
                      : reads                       ? Transfer::Kind::read
                                                    : Transfer::Kind::write;
    if (rank != lane_->rank) arrivals_.push_back({kind, rank, lane_->rank, made, made});
    return reach(made);
  }
  bool has_slot(const Step&) { return true; }
  [[nodiscard]] std::uint32_t num_ranks() const { return programs_.num_ranks(); }
  bool all_done() {
    if (!world_->close_waits(lane_->rank)) return true;
    return reach(*std::max_element(done_.begin(), done_.end()));
  }

 private:
  static std::uint64_t key(std::uint32_t high, std::uint32_t low) { return std::uint64_t{high} << 32U | low; }
  double& now() { return times_[lane_->id]; }
  bool reach(double time) {
    now() = std::max(now(), time);
    return true;
  }

  const Programs& programs_;
  const World* world_ = nullptr;
  const LaneState* lane_ = nullptr;
  const Step* step_ = nullptr;
  double begin_ = 0;
  std::vector<Transfer> arrivals_;  // of the present step
  std::vector<double> times_;       // by lane
  std::vector<double> done_;
  std::unordered_map<std::uint64_t, std::deque<double>> queues_;
  std::unordered_map<std::uint64_t, double> posts_;
  std::unordered_map<std::uint64_t, double> passed_;
  Timeline timeline_;
};

}  // namespace

Timeline timeline_of(const Programs& programs) {
  Conditions one_round;
  one_round.operations = {1};
  Clocked clocked(programs);
  static_cast<void>(World(programs, one_round, &clocked).run());
  return clocked.take_timeline();
}

}  // namespace tutti
