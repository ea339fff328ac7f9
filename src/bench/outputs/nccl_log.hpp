// SPDX-License-Identifier: Apache-2.0
// What the log of NCCL or RCCL (NCCL_DEBUG=INFO) tells of the variables that it has read. Pure; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/axes/environment_axis.hpp"
#include "bench/results/result.hpp"

namespace tutti::harness {

// Where it has nothing on the setting, this is unverifiable: whether it would have, its reader must know.
struct NcclWord {
  Evidence evidence;
  bool is_told = false;  // whether the log has the variable
};
// A log may be that of several ranks: one that has not obeyed is enough.
[[nodiscard]] NcclWord nccl_word_on(const Setting& setting, std::string_view log);

}  // namespace tutti::harness
