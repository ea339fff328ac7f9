// SPDX-License-Identifier: Apache-2.0
// Parameters of a fabric that bring what is simulated as near to figures as they can: coordinate descent in the
// logarithms of the parameters, with steps that shrink. Nothing in it is random. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "simulate/references/references.hpp"

namespace tutti::simulate {

struct Fitted {
  std::vector<ParameterValue> parameters;
  double loss_before = 0;
  double loss = 0;
  std::size_t tries = 0;
  std::size_t cells = 0;  // it has seen
};

// `progress` is told after each pass.
[[nodiscard]] Result<Fitted> fit(const References& references, const Fit& what,
                                 const std::function<void(const Fitted&)>& progress);

}  // namespace tutti::simulate
