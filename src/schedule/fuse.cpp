// SPDX-License-Identifier: Apache-2.0
#include "schedule/fuse.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tutti {

bool fuse_into(Step& step, const Step& next) {
  if (step.kind != StepKind::combine || next.kind != StepKind::combine) return false;
  if (next.sources.size() != 1 || next.sources[0].place != Place::local || !next.after.empty()) return false;
  // From the end, where it is as a rule.
  const auto found = std::find(step.destinations.rbegin(), step.destinations.rend(), next.sources[0]);
  if (found == step.destinations.rend()) return false;
  // A local destination of the forwarding step that overlaps a source of the first would be written while the first
  // still reads it piecewise; in one elementwise pass that is only right where both are the same slice, and telling
  // those cases apart is not worth it: copies stay steps of their own.
  const bool stays_local = std::any_of(next.destinations.begin(), next.destinations.end(),
                                       [](const Endpoint& end) { return end.place == Place::local; });
  if (stays_local) return false;
  // A step waits for room for one message on each of its connections.
  const bool sends_twice = std::any_of(next.destinations.begin(), next.destinations.end(), [&](const Endpoint& end) {
    return std::any_of(step.destinations.begin(), step.destinations.end(),
                       [&](const Endpoint& other) { return is_same_connection(end, other); });
  });
  if (sends_twice) return false;
  // A final touch of what goes on must not be one of what stays.
  if (next.completes && !step.completes && !next.gives_up_source) return false;
  if (next.gives_up_source) step.destinations.erase(std::next(found).base());
  for (const Endpoint& end : next.destinations) step.destinations.push_back(end);
  step.gives_up_source = false;
  step.completes = step.completes || next.completes;
  step.number = next.number;
  return true;
}

std::vector<Step> fuse(std::vector<Step> steps) {
  std::vector<Step> fused;
  for (Step& step : steps) {
    if (!fused.empty() && fuse_into(fused.back(), step)) continue;
    fused.push_back(std::move(step));
  }
  return fused;
}

}  // namespace tutti
