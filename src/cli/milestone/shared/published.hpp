// SPDX-License-Identifier: Apache-2.0
// Published figures that milestones show beside their own: the files of data/references, which are built into the
// program. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "simulate/gemm/gemm_references.hpp"
#include "simulate/references/references.hpp"
#include "simulate/references/shipped.hpp"

namespace tutti::cli {

[[nodiscard]] std::span<const simulate::ShippedReferences> published_figures();

// "accelerator", "bidirectional_all_gather", "vllm_all_reduce".
[[nodiscard]] Result<simulate::References> published(std::string_view name);

// Of matrix products: "accelerator_gemm".
[[nodiscard]] Result<simulate::GemmReferences> published_gemm(std::string_view name);

// Who published it and when, as figures cite it: "SOURCE (2026-03-05)", "SOURCE (date not stated)".
[[nodiscard]] std::string cited(std::string_view source, std::string_view date);
[[nodiscard]] inline std::string cited(const simulate::References& references) {
  return cited(references.source, references.date);
}

// The value of a series at that size, if it has one.
[[nodiscard]] std::optional<double> value_at(const simulate::References& references, std::string_view series,
                                             std::uint64_t bytes);

// The analytic model of the accelerator's authors, in microseconds, by the bytes of a PE: 1.346 us, and 0.0012 us for
// each packet of 128 bits.
inline constexpr std::string_view kAnalyticModel = "1.346 us and 0.0012 us a packet of 128 bits";
[[nodiscard]] constexpr double analytic_us(double bytes) { return 1.346 + 0.0012 * bytes * 8 / 128; }

}  // namespace tutti::cli
