// SPDX-License-Identifier: Apache-2.0
// What can be said of programs without running them: that every step names what exists and means something. The first
// part of prove; everything after it relies on what is checked here. Pure; thread-safe.
#pragma once

#include <optional>

#include "schedule/programs.hpp"
#include "schedule/prove/failure.hpp"

namespace tutti {

// Null where every step is well formed. `programs` are unfused: the steps as they were written.
[[nodiscard]] std::optional<Failure> find_malformed(const Programs& programs);

}  // namespace tutti
