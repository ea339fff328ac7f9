// SPDX-License-Identifier: Apache-2.0
// Points of a sweep, and how they are grouped so that the fewest processes are started. Values and pure functions;
// thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "bench/axes/algorithm_axis.hpp"
#include "bench/axes/environment_axis.hpp"
#include "bench/axes/value.hpp"

namespace tutti::harness {

// A named list of values; `peer` scopes it to one peer, for whom its values replace those of the axis without one.
struct Axis {
  std::string name;
  std::vector<Value> values;
  std::string peer;
};

// The values that one case has, in the order of the axes.
struct Point {
  std::vector<std::pair<std::string, Value>> values;

  [[nodiscard]] const Value* find(std::string_view name) const;
  friend bool operator==(const Point&, const Point&) = default;
};

// Why a combination is not run; empty where it is. The same for all ranks, so it depends on nothing but its arguments.
using Rule = std::function<std::string(const Point& point, int num_ranks)>;

// Returns what is wrong with a value of an axis; empty if nothing is. May rewrite the value to the form that rows show.
struct AxisCheck {
  std::string axis;
  std::function<std::string(Value& value)> objection;
};

// What is to be run, as a declaration and a command line together say it.
struct Sweep {
  std::string bench;
  std::vector<std::string> peers;  // names; at least one
  std::vector<int> num_ranks;
  std::vector<Axis> axes;
  std::vector<EnvironmentAxis> environment;
  // The values of axis `algorithm`, by peer; where it is not swept, nobody is here.
  std::map<std::string, std::vector<ForcedAlgorithm>> algorithms = {};
  std::vector<Rule> rules;
  std::vector<AxisCheck> checks = {};
  // Instead of num_ranks, by peer.
  std::map<std::string, std::vector<int>> num_ranks_of = {};
};

struct Case {
  Point point;
  std::string skipped;  // why; empty where it is run
};

// The processes that are started once for all of these cases.
struct Group {
  std::string peer;
  std::string label;              // the peer, told apart where it is there more than once: "openmpi", "openmpi#2"
  int num_ranks = 1;              // 0: not known
  std::vector<Setting> settings;  // in the order of the axes
  std::string algorithm;          // a value of that axis; empty where it is not swept
  std::vector<Setting> forced;    // what it takes besides, which its name stands for
  std::vector<Case> cases;

  // What its processes are started with.
  [[nodiscard]] std::vector<Setting> all_settings() const;
};

// Applies the axis's check to the values, which it may rewrite; the error begins with `what`. For every value of a
// sweep, before it is planned.
[[nodiscard]] Status check_values(const Sweep& sweep, std::string_view axis, std::string_view what,
                                  std::vector<Value>& values);

// Peers in their order, for each the numbers of ranks, for each the algorithms that work with so many, for each the
// combinations of settings that concern the peer, for each the cases. Combinations that are all skipped make no group;
// it is an error if there is none.
[[nodiscard]] Result<std::vector<Group>> plan(const Sweep& sweep);

// "peer openmpi, 4 ranks, A=1, B unset".
[[nodiscard]] std::string to_string(const Group& group);
// "bytes=64, type=f32".
[[nodiscard]] std::string to_string(const Point& point);

}  // namespace tutti::harness
