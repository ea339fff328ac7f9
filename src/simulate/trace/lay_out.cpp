// SPDX-License-Identifier: Apache-2.0
#include "simulate/trace/lay_out.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "schedule/ends.hpp"

namespace tutti::simulate {

namespace {

// The lanes of one rank.
class RankLanes {
 public:
  RankLanes(const RankTrace& rank, const std::vector<std::uint32_t>& before)
      : rank_(rank), before_(before), dependencies_(rank.dependencies), first_(rank.operations.size() + 1) {
    std::stable_sort(dependencies_.begin(), dependencies_.end(),
                     [](const Dependency& a, const Dependency& b) { return a.operation < b.operation; });
    for (const Dependency& dependency : dependencies_) ++first_[dependency.operation + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    looked_at_ = {first_.begin(), first_.end() - 1};
    places_.resize(rank.operations.size(), {.lane = kNoTraceOperation});
    for (std::uint32_t number = 0; number < rank.operations.size(); ++number) put(number);
  }

  [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& lanes() const { return lanes_; }

  // What it comes after, beside what stands before it in its lane.
  [[nodiscard]] std::vector<After> afters(std::uint32_t number, bool when_begun) const {
    std::vector<After> afters;
    for (std::uint32_t each = first_[number]; each < first_[number + 1]; ++each)
      if (dependencies_[each].when_begun == when_begun) add(afters, number, dependencies_[each].on);
    if (!when_begun && before_[number] != kNoTraceOperation) add(afters, number, before_[number]);
    return afters;
  }

 private:
  // Behind an operation that it comes after, if that is the last of its lane so far; else behind one that such an
  // operation comes after, which is over by then as well; else in a lane of its own.
  void put(std::uint32_t number) {
    for (std::uint32_t each = first_[number]; each < first_[number + 1]; ++each)
      if (!dependencies_[each].when_begun && put_behind(number, dependencies_[each].on)) return;
    if (before_[number] != kNoTraceOperation && put_behind(number, before_[number])) return;
    for (std::uint32_t each = first_[number]; each < first_[number + 1]; ++each) {
      if (dependencies_[each].when_begun) continue;
      // What is no lane's last operation now will not be again.
      const std::uint32_t on = dependencies_[each].on;
      for (std::uint32_t& at = looked_at_[on]; at < first_[on + 1]; ++at)
        if (!dependencies_[at].when_begun && put_behind(number, dependencies_[at].on)) return;
    }
    places_[number] = {static_cast<std::uint32_t>(lanes_.size()), 0};
    lanes_.push_back({number});
  }

  bool put_behind(std::uint32_t number, std::uint32_t on) {
    const After place = places_[on];
    if (place.lane == kNoTraceOperation || lanes_[place.lane].back() != on ||
        rank_.operations[on].cpu != rank_.operations[number].cpu)
      return false;
    places_[number] = {place.lane, place.step + 1};
    lanes_[place.lane].push_back(number);
    return true;
  }

  void add(std::vector<After>& afters, std::uint32_t number, std::uint32_t on) const {
    const After& place = places_[on];
    const bool is_implied = place.lane == places_[number].lane && place.step < places_[number].step;
    if (!is_implied) afters.push_back(place);
  }

  const RankTrace& rank_;
  const std::vector<std::uint32_t>& before_;
  std::vector<Dependency> dependencies_;  // by operation
  std::vector<std::uint32_t> first_;      // of each operation, among them
  std::vector<std::uint32_t> looked_at_;  // of each operation: those before are no lane's last
  std::vector<After> places_;
  std::vector<std::vector<std::uint32_t>> lanes_;  // of operations
};

// All that a lane of the engine has to know.
struct Steps {
  std::shared_ptr<const Trace> trace;
  std::vector<std::size_t> first;         // of each lane, rank by rank, and one behind
  std::vector<std::uint32_t> operations;  // numbers within their rank
  std::vector<std::size_t> first_after;   // of each, and one behind
  std::vector<After> afters;
};

Lane lane_of_trace(std::shared_ptr<const Steps> steps, std::uint32_t rank, std::size_t lane) {
  const Slice slice;
  Step step;
  for (std::size_t at = steps->first[lane]; at < steps->first[lane + 1]; ++at) {
    const TraceOperation& operation = steps->trace->ranks[rank].operations[steps->operations[at]];
    Endpoint message = message_end(operation.peer, slice);
    message.channel = operation.tag;
    step.number = static_cast<std::uint32_t>(at - steps->first[lane]);
    step.sources.clear();
    step.destinations.clear();
    if (operation.action != Action::compute) {
      step.sources.push_back(operation.action == Action::send ? local_end(slice) : message);
      step.destinations.push_back(operation.action == Action::send ? message : local_end(slice));
    }
    step.after.assign(steps->afters.begin() + static_cast<std::ptrdiff_t>(steps->first_after[at]),
                      steps->afters.begin() + static_cast<std::ptrdiff_t>(steps->first_after[at + 1]));
    co_yield step;
  }
}

void add_step(const RankLanes& lanes, const TraceOperation& operation, std::uint32_t number, Steps& steps,
              Additions& additions) {
  const bool computes = operation.action == Action::compute;
  const std::vector<After> afters = lanes.afters(number, false);
  steps.afters.insert(steps.afters.end(), afters.begin(), afters.end());
  steps.operations.push_back(number);
  steps.first_after.push_back(steps.afters.size());
  std::vector<After> begun = lanes.afters(number, true);
  if (!begun.empty()) additions.begun.emplace(additions.steps.size(), std::move(begun));
  additions.steps.push_back(
      {.bytes = computes ? 0 : operation.amount, .compute = computes ? static_cast<double>(operation.amount) : 0});
}

}  // namespace

Result<LaidOut> lay_out(const std::shared_ptr<const Trace>& trace, const Predecessors& before) {
  std::vector<RankLanes> ranks;
  std::size_t num_lanes = 1;
  for (std::uint32_t rank = 0; rank < trace->num_ranks(); ++rank) {
    ranks.emplace_back(trace->ranks[rank], before[rank]);
    num_lanes = std::max(num_lanes, ranks.back().lanes().size());
  }
  if (num_lanes * trace->num_ranks() > kMostTraceLanes)
    return Status(Code::unsupported, fmt::format("{}: some rank may do {} operations at a time; with {} ranks that "
                                                 "would take too much memory",
                                                 trace->file, num_lanes, trace->num_ranks()));
  const auto steps = std::make_shared<Steps>();
  steps->trace = trace;
  steps->first_after.push_back(0);
  LaidOut made;
  Additions& additions = made.additions;
  for (std::uint32_t rank = 0; rank < trace->num_ranks(); ++rank) {
    const std::vector<TraceOperation>& operations = trace->ranks[rank].operations;
    std::vector<std::uint32_t> core_of_cpu(std::size_t{UINT8_MAX} + 1);  // beyond the first, as they are met
    for (std::size_t lane = 0; lane < num_lanes; ++lane) {
      additions.first.push_back(additions.steps.size());
      additions.cores.push_back(0);
      if (lane >= ranks[rank].lanes().size()) continue;
      const std::vector<std::uint32_t>& numbers = ranks[rank].lanes()[lane];
      const std::uint8_t cpu = operations[numbers.front()].cpu;
      if (cpu > 0 && core_of_cpu[cpu] == 0) core_of_cpu[cpu] = ++additions.num_cores;
      additions.cores.back() = core_of_cpu[cpu];
      for (const std::uint32_t number : numbers) add_step(ranks[rank], operations[number], number, *steps, additions);
    }
  }
  steps->first = additions.first;
  steps->first.push_back(additions.steps.size());
  made.operations = steps->operations;
  made.schedule.name = trace->file;
  // No collective: of a barrier the engine asks nothing about contents, and sends messages without bytes as well.
  made.schedule.collective = Collective::barrier;
  made.schedule.num_ranks = trace->num_ranks();
  made.schedule.num_lanes = static_cast<std::uint32_t>(num_lanes);
  made.schedule.spaces = spaces_of(Collective::barrier, trace->num_ranks());
  made.schedule.lane = [steps, num_lanes](Builder& builder, std::uint32_t lane) {
    return lane_of_trace(steps, builder.rank(), builder.rank() * num_lanes + lane);
  };
  return made;
}

}  // namespace tutti::simulate
