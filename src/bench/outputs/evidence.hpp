// SPDX-License-Identifier: Apache-2.0
// Whether a program obeyed the variables that it was given, as far as what it wrote tells. Pure; thread-safe.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/axes/environment_axis.hpp"
#include "bench/results/result.hpp"

namespace tutti::harness {

// For each setting: what NCCL or RCCL says of it in the text (with NCCL_DEBUG=INFO): confirmed where it found the value
// in its environment, ignored where it has another or takes the value for invalid; else unverifiable.
[[nodiscard]] std::map<std::string, Evidence> evidence_in(std::string_view text, const std::vector<Setting>& settings);

// A row that was measured without a variable being obeyed is an error, as it is of peers.
void fail_if_ignored(Row& row);

}  // namespace tutti::harness
