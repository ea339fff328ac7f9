// SPDX-License-Identifier: Apache-2.0
// What a symbolic run tells when it fails: the part of SymbolicRun that puts its failures into words.
#include <algorithm>

#include <fmt/format.h>

#include "schedule/prove/symbolic_run.hpp"

namespace tutti {

Failure SymbolicRun::failure_here(Fault fault, std::string what, std::string piece) const {
  const bool in_step = now_.step != nullptr;
  return {fault,           now_.lane->rank,     now_.lane->lane, in_step ? now_.step->number : 0, std::move(piece),
          std::move(what), {describe(access())}};
}

bool SymbolicRun::fail(Fault fault, std::string what, std::string piece) {
  failure_ = failure_here(fault, std::move(what), std::move(piece));
  return false;
}

bool SymbolicRun::fail_race(const Access& earlier, bool writes, const std::string& piece) {
  fail(Fault::race,
       fmt::format("{} a piece that another lane may be using at the same time", writes ? "writes" : "reads"), piece);
  failure_->story.insert(failure_->story.begin(), describe(earlier));
  failure_->story.emplace_back("nothing orders the one before the other");
  return false;
}

bool SymbolicRun::fail_doubled(ValueId left, ValueId right, std::uint32_t rank) {
  fail(Fault::doubled,
       fmt::format("folds {} and {}, which both hold the contribution of rank {}", values_.expression(left),
                   values_.expression(right), rank),
       to_string(now_.step->sources[0].slice));
  failure_->story.clear();
  tell_path(left, rank);
  failure_->story.emplace_back("and again");
  tell_path(right, rank);
  failure_->story.push_back(describe(access()));
  return false;
}

void SymbolicRun::tell_path(ValueId id, std::uint32_t rank) {
  constexpr std::size_t kMostLines = 4;
  const std::vector<ValueId> path = values_.path_of(id, rank);
  if (path.empty()) failure_->story.push_back(fmt::format("rank {} brings its own contribution", rank));
  const std::size_t begin = path.size() > kMostLines ? path.size() - kMostLines : 0;
  for (std::size_t each = begin; each < path.size(); ++each) {
    const Maker& maker = values_[path[each]].maker;
    const std::uint32_t owner = maker.lane_id / programs_.num_lanes();
    const std::uint32_t lane = maker.lane_id % programs_.num_lanes();
    const Step& step = programs_.steps(owner, lane)[programs_.index_of(owner, lane, maker.number)];
    failure_->story.push_back(fmt::format("rank {}, lane {}, step {} made {}: {}", owner, lane, step.number,
                                          values_.expression(path[each]), tutti::to_string(step)));
  }
}

std::string SymbolicRun::describe(const Access& access) const {
  const std::uint32_t rank = access.lane / programs_.num_lanes();
  const std::uint32_t lane = access.lane % programs_.num_lanes();
  const std::vector<Step>& steps = programs_.steps(rank, lane);
  // A lane counts one a step, and lane 0 one more when the caller has the buffers between operations.
  std::size_t past = access.time == 0 ? 0 : access.time - 1;
  std::size_t round = 0;
  for (const std::uint32_t rounds : conditions_.operations) {
    if (past < rounds * steps.size()) {
      const Step& step = steps[past % steps.size()];
      return fmt::format("rank {}, lane {}, step {} of round {}: {}", rank, lane, step.number,
                         round + past / steps.size(), tutti::to_string(step));
    }
    past -= rounds * steps.size();
    round += rounds;
    if (lane == 0 && past-- == 0) break;
  }
  return fmt::format("rank {}, its caller, when the operation that ends with round {} is over", rank, round - 1);
}

}  // namespace tutti
