// Whether a program obeyed the variables that it was given, as far as what it wrote tells. Pure; thread-safe.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/environment_axis.hpp"
#include "bench/result.hpp"

namespace tutti::harness {

// For each setting: confirmed where the text has NCCL's or RCCL's own word that it found the value in its environment
// (with NCCL_DEBUG=INFO), else unverifiable.
[[nodiscard]] std::map<std::string, Evidence> evidence_in(std::string_view text, const std::vector<Setting>& settings);

}  // namespace tutti::harness
