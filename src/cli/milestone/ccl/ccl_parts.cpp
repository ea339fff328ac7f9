// SPDX-License-Identifier: Apache-2.0
#include "cli/milestone/ccl/ccl_parts.hpp"

namespace tutti::cli {

std::vector<Part> ccl_parts() {
  return {correctness_part(), api_part(),           latency_part(),       buffers_part(),
          topologies_part(),  comparison_part(),    bidirectional_part(), vllm_part(),
          regret_part(),      communicators_part(), environment_part(),   tuned_part()};
}

}  // namespace tutti::cli
