// SPDX-License-Identifier: Apache-2.0
// The parts of milestone-ccl, a source each; ccl_parts() has them in their order. Values; thread-safe.
#pragma once

#include <vector>

#include "cli/milestone/milestone.hpp"

namespace tutti::cli {

// In virtual time.
[[nodiscard]] Part correctness_part();
[[nodiscard]] Part latency_part();
[[nodiscard]] Part buffers_part();
[[nodiscard]] Part topologies_part();
[[nodiscard]] Part bidirectional_part();
[[nodiscard]] Part vllm_part();
[[nodiscard]] Part regret_part();
// On this machine; the first two also in virtual time.
[[nodiscard]] Part comparison_part();
[[nodiscard]] Part api_part();
[[nodiscard]] Part communicators_part();
[[nodiscard]] Part environment_part();
[[nodiscard]] Part tuned_part();

[[nodiscard]] std::vector<Part> ccl_parts();

}  // namespace tutti::cli
