// SPDX-License-Identifier: Apache-2.0
#include "bench/axes/case.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"

namespace tutti::harness {

namespace {

constexpr std::size_t kMostCases = 1'000'000;

// Counts through all combinations, the last place fastest. False when all have been.
bool advance(std::vector<std::size_t>& places, const std::vector<std::size_t>& sizes) {
  for (std::size_t axis = places.size(); axis-- > 0;) {
    if (++places[axis] < sizes[axis]) return true;
    places[axis] = 0;
  }
  return false;
}

// The axes as they are for this peer.
std::vector<const Axis*> axes_of(const Sweep& sweep, std::string_view peer) {
  std::vector<const Axis*> axes;
  for (const Axis& axis : sweep.axes) {
    if (!axis.peer.empty() && axis.peer != peer) continue;
    const auto same =
        std::find_if(axes.begin(), axes.end(), [&](const Axis* other) { return other->name == axis.name; });
    if (same == axes.end()) {
      axes.push_back(&axis);
    } else if (!axis.peer.empty()) {
      *same = &axis;
    }
  }
  return axes;
}

// `algorithm` is a value of the axis of that name; without one there is no such axis.
std::vector<Case> cases_of(const Sweep& sweep, std::string_view peer, int num_ranks, const std::string& algorithm) {
  const std::vector<const Axis*> axes = axes_of(sweep, peer);
  std::vector<std::size_t> sizes;
  sizes.reserve(axes.size());
  for (const Axis* axis : axes) sizes.push_back(axis->values.size());
  std::vector<std::size_t> places(axes.size());
  std::vector<Case> cases;
  do {
    Case each;
    if (!algorithm.empty()) each.point.values.emplace_back(kAlgorithmAxis, Value(algorithm));
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
      each.point.values.emplace_back(axes[axis]->name, axes[axis]->values[places[axis]]);
    for (const Rule& rule : sweep.rules) {
      each.skipped = rule(each.point, num_ranks);
      if (!each.skipped.empty()) break;
    }
    cases.push_back(std::move(each));
  } while (advance(places, sizes) && cases.size() <= kMostCases);
  return cases;
}

std::vector<std::vector<Setting>> settings_of(const Sweep& sweep, std::string_view peer) {
  std::vector<const EnvironmentAxis*> axes;
  std::vector<std::size_t> sizes;
  for (const EnvironmentAxis& axis : sweep.environment) {
    if (!axis.peer.empty() && axis.peer != peer) continue;
    axes.push_back(&axis);
    sizes.push_back(axis.points.size());
  }
  std::vector<std::size_t> places(axes.size());
  std::vector<std::vector<Setting>> all;
  do {
    std::vector<Setting>& settings = all.emplace_back();
    for (std::size_t axis = 0; axis < axes.size(); ++axis)
      for (std::size_t name = 0; name < axes[axis]->names.size(); ++name)
        settings.push_back({axes[axis]->names[name], axes[axis]->points[places[axis]][name]});
  } while (advance(places, sizes) && all.size() <= kMostCases);
  return all;
}

// What forces an algorithm is no axis besides.
Status check_algorithms(const Sweep& sweep) {
  for (const auto& [peer, algorithms] : sweep.algorithms)
    for (const ForcedAlgorithm& algorithm : algorithms)
      for (const Setting& setting : algorithm.settings)
        for (const EnvironmentAxis& axis : sweep.environment) {
          const bool concerns = axis.peer.empty() || axis.peer == peer;
          if (concerns && std::find(axis.names.begin(), axis.names.end(), setting.name) != axis.names.end())
            return {Code::invalid_argument,
                    fmt::format("variable {} is swept, and forces {}'s algorithm {}; leave out one of them",
                                setting.name, peer, algorithm.name)};
        }
  return {};
}

Status check(const Sweep& sweep) {
  for (const Axis& axis : sweep.axes)
    if (axis.values.empty()) return {Code::invalid_argument, fmt::format("axis {} has no values", axis.name)};
  for (const Axis& axis : sweep.axes)
    for (std::size_t each = 0; each < axis.values.size(); ++each)
      if (std::count(axis.values.begin(), axis.values.end(), axis.values[each]) > 1)
        return {Code::invalid_argument, fmt::format("axis {} has {} twice", axis.name, axis.values[each].text())};
  for (const EnvironmentAxis& axis : sweep.environment)
    if (axis.points.empty())
      return {Code::invalid_argument, fmt::format("{} has no values", axis.names.empty() ? "" : axis.names[0])};
  for (std::size_t each = 0; each < sweep.environment.size(); ++each)
    for (std::size_t other = each + 1; other < sweep.environment.size(); ++other)
      for (const std::string& name : sweep.environment[each].names) {
        const EnvironmentAxis& second = sweep.environment[other];
        const bool meet =
            sweep.environment[each].peer.empty() || second.peer.empty() || sweep.environment[each].peer == second.peer;
        if (meet && std::find(second.names.begin(), second.names.end(), name) != second.names.end())
          return {Code::invalid_argument, fmt::format("variable {} is on two axes", name)};
      }
  TUTTI_TRY(check_algorithms(sweep));
  if (sweep.peers.empty()) return {Code::invalid_argument, "there is no peer to measure"};
  if (sweep.num_ranks.empty()) return {Code::invalid_argument, "there is no number of ranks"};
  return {};
}

}  // namespace

const Value* Point::find(std::string_view name) const {
  const auto found = std::find_if(values.begin(), values.end(), [&](const auto& pair) { return pair.first == name; });
  return found == values.end() ? nullptr : &found->second;
}

namespace {

// Makes the groups of one peer after the other.
class Planner {
 public:
  explicit Planner(const Sweep& sweep) : sweep_(sweep) {}

  Status add(const std::string& peer, const std::string& label) {
    const std::vector<std::vector<Setting>> all_settings = settings_of(sweep_, peer);
    const auto found = sweep_.algorithms.find(peer);
    const std::vector<ForcedAlgorithm> unforced(1);
    const std::vector<ForcedAlgorithm>& algorithms = found == sweep_.algorithms.end() ? unforced : found->second;
    const auto own = sweep_.num_ranks_of.find(peer);
    for (const int num_ranks : own == sweep_.num_ranks_of.end() ? sweep_.num_ranks : own->second)
      for (const ForcedAlgorithm& algorithm : algorithms) {
        if (!allows(algorithm.ranks, num_ranks)) {
          skip(fmt::format("{} with {}: it wants {}", algorithm.name, counted(num_ranks, "rank"),
                           name_of(algorithm.ranks)));
          continue;
        }
        const std::vector<Case> cases = cases_of(sweep_, peer, num_ranks, algorithm.name);
        num_cases_ += cases.size() * all_settings.size();
        if (num_cases_ > kMostCases)
          return {Code::invalid_argument, fmt::format("the sweep has more than {} cases", kMostCases)};
        if (std::all_of(cases.begin(), cases.end(), [](const Case& each) { return !each.skipped.empty(); })) {
          if (!cases.empty()) skip(fmt::format("{}: {}", to_string(cases[0].point), cases[0].skipped));
          continue;
        }
        for (const std::vector<Setting>& settings : all_settings)
          groups_.push_back({peer, label, num_ranks, settings, algorithm.name, algorithm.settings, cases});
      }
    return {};
  }

  [[nodiscard]] Result<std::vector<Group>> take() && {
    if (groups_.empty())
      return Status(Code::invalid_argument, fmt::format("every case is skipped; the first, {}", first_skipped_));
    return std::move(groups_);
  }

 private:
  void skip(std::string why) {
    if (first_skipped_.empty()) first_skipped_ = std::move(why);
  }

  const Sweep& sweep_;
  std::vector<Group> groups_;
  std::size_t num_cases_ = 0;
  std::string first_skipped_;
};

}  // namespace

Status check_values(const Sweep& sweep, std::string_view axis, std::string_view what, std::vector<Value>& values) {
  for (const AxisCheck& check : sweep.checks) {
    if (check.axis != axis) continue;
    for (Value& value : values) {
      const std::string given = value.text();
      if (const std::string why = check.objection(value); !why.empty())
        return {Code::invalid_argument, fmt::format("{} has {}; {}", what, in_quotes(given), why)};
    }
  }
  return {};
}

std::vector<Setting> Group::all_settings() const {
  std::vector<Setting> all = forced;
  all.insert(all.end(), settings.begin(), settings.end());
  return all;
}

Result<std::vector<Group>> plan(const Sweep& sweep) {
  TUTTI_TRY(check(sweep));
  Planner planner(sweep);
  for (std::size_t place = 0; place < sweep.peers.size(); ++place) {
    const std::string& peer = sweep.peers[place];
    const auto before = std::count(sweep.peers.begin(), sweep.peers.begin() + static_cast<std::ptrdiff_t>(place), peer);
    TUTTI_TRY(planner.add(peer, before == 0 ? peer : fmt::format("{}#{}", peer, before + 1)));
  }
  return std::move(planner).take();
}

std::string to_string(const Group& group) {
  std::string text = fmt::format("peer {}", group.label);
  if (group.num_ranks > 0) text += ", " + counted(group.num_ranks, "rank");
  for (const Setting& setting : group.all_settings())
    text += setting.value ? fmt::format(", {}={}", setting.name, printable(*setting.value))
                          : fmt::format(", {} unset", setting.name);
  return text;
}

std::string to_string(const Point& point) {
  std::string text;
  for (const auto& [name, value] : point.values)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value.text());
  return text;
}

}  // namespace tutti::harness
