// SPDX-License-Identifier: Apache-2.0
// The series of published times that a fit is about. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "simulate/references/against.hpp"
#include "simulate/references/references.hpp"
#include "simulate/references/residuals.hpp"

namespace tutti::simulate {

struct Member {
  const Series* series = nullptr;  // of the references
  std::string fabric;              // its kind
  std::uint32_t ranks = 0;
  std::string way;          // the same for other numbers of ranks
  bool is_compiled = true;  // its kernel, for so many ranks
};

[[nodiscard]] Result<std::vector<Member>> members_of(const References& references, const Fit& fit);

// What is published is rounded: the standard deviation of that, as a share of the time.
[[nodiscard]] double noise_of(const Compared& time);
[[nodiscard]] Residual residual_of(const Member& member, const Compared& time);

}  // namespace tutti::simulate
