// SPDX-License-Identifier: Apache-2.0
// Forces one instruction set after the other, so that a test sees the kernels of each. For tests only: the choice is
// the whole process's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hwy/targets.h>

namespace tutti {

// Those that kernels are compiled for and that this processor has; the fallback in plain C++ is always one.
inline std::vector<std::int64_t> available_instruction_sets() {
  std::vector<std::int64_t> sets;
  for (const std::int64_t set : {HWY_AVX3, HWY_AVX2, HWY_SSE4, HWY_NEON}) {
    if ((hwy::SupportedTargets() & set) != 0) sets.push_back(set);
  }
#if HWY_ARCH_X86
  sets.push_back(HWY_SCALAR);
#endif
  return sets;
}

class ForcedInstructionSet {
 public:
  explicit ForcedInstructionSet(std::int64_t set) {
    hwy::SetSupportedTargetsForTest(set);
    hwy::GetChosenTarget().Update(set);
  }
  ~ForcedInstructionSet() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ForcedInstructionSet(const ForcedInstructionSet&) = delete;
  ForcedInstructionSet& operator=(const ForcedInstructionSet&) = delete;
};

}  // namespace tutti
