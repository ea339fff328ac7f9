// SPDX-License-Identifier: Apache-2.0
// What a Bench (tutti/bench.hpp) holds. A value.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/axes/case.hpp"
#include <tutti/bench.hpp>

namespace tutti::harness {

struct Declaration {
  std::string name;
  std::vector<int> num_ranks;
  std::vector<Axis> axes;
  std::vector<EnvironmentAxis> environment;
  std::vector<Rule> rules;
  std::vector<AxisCheck> checks;
  // Once in a group, where they are there.
  std::function<void(Context&)> set_up;
  std::function<void(Context&)> tear_down;
  std::function<void(State&, Context&)> body;
  // The first thing that is wrong with it: told when it is used.
  Status error;
};

// The declaration of that name; null where there is none.
[[nodiscard]] const Declaration* find(const std::vector<Bench>& benches, std::string_view name);

}  // namespace tutti::harness
