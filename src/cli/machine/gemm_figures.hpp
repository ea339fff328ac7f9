// SPDX-License-Identifier: Apache-2.0
// Pictures of what `tutti gemm` answers. Pure; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "report/chart.hpp"
#include "simulate/gemm/gemm.hpp"
#include "simulate/gemm/gemm_references.hpp"

namespace tutti::cli {

struct GemmRow {
  simulate::GemmWork work;
  simulate::GemmAnswer answer;
};

struct GemmChart {
  std::string name;  // of its file, without an ending
  report::BarChart chart;
};

// A panel for each shape, in which the placements stand side by side: both windows beside the model's, the time that
// each stage is at work, and how busy the units are while tiles go through. Published windows, where there are any
// (else null), stand beside those of the same shape and placement.
[[nodiscard]] std::vector<GemmChart> gemm_charts(const std::vector<GemmRow>& rows,
                                                 const simulate::GemmReferences* references);

}  // namespace tutti::cli
