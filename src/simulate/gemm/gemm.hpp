// SPDX-License-Identifier: Apache-2.0
// A product of two matrices on one processing element of an accelerator, in virtual time: tile after tile goes through
// the stages of a pipeline, each the work of a unit, with room for some tiles between them. docs/design/simulate.md has
// the model. Pure; thread-safe.
//
//   HBM ─ dma_in ─▶ TCM ─ fetch ─▶ gemm (adds up over k) ─ store ─▶ TCM ─ dma_out ─▶ HBM
//
// An operand that is preloaded is brought into TCM whole before the pipeline begins; else its tiles are streamed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "fabric/processing_element.hpp"
#include "simulate/network/network.hpp"

namespace tutti::simulate {

// m×k by k×n.
struct GemmShape {
  std::uint32_t m = 0;
  std::uint32_t k = 0;
  std::uint32_t n = 0;
};
// "32x3072x32".
[[nodiscard]] std::string to_text(const GemmShape& shape);
[[nodiscard]] Result<GemmShape> parse_gemm_shape(std::string_view text);
inline constexpr std::uint32_t kLongestSide = 1U << 20U;
// So that its operations fit in memory.
inline constexpr std::uint64_t kMostTiles = std::uint64_t{1} << 18U;

// What milestones sweep: from one pair of tiles to 2048 of them.
inline constexpr std::array<GemmShape, 8> kGemmShapes = {{{32, 64, 32},
                                                          {32, 256, 32},
                                                          {32, 1024, 32},
                                                          {32, 3072, 32},
                                                          {64, 512, 64},
                                                          {128, 128, 128},
                                                          {256, 256, 256},
                                                          {512, 512, 512}}};

// The operands that are in TCM before the pipeline begins; of one it is A, the left one.
enum class Preloaded : std::uint8_t { none, one, both };
inline constexpr std::array<std::string_view, 3> kPreloadedNames = {"none", "one", "both"};
[[nodiscard]] inline std::string_view name_of(Preloaded preloaded) {
  return kPreloadedNames[static_cast<std::size_t>(preloaded)];
}
[[nodiscard]] std::optional<Preloaded> preloaded_from_name(std::string_view name);

enum class GemmStage : std::uint8_t { preload, dma_in, fetch, gemm, store, dma_out };
inline constexpr std::array<std::string_view, 6> kGemmStageNames = {"preload", "dma_in", "fetch",
                                                                    "gemm",    "store",  "dma_out"};
enum class GemmUnit : std::uint8_t { dma, fetch_store, gemm };
inline constexpr std::array<std::string_view, 3> kGemmUnitNames = {"dma", "fetch_store", "gemm"};
inline constexpr std::array<GemmUnit, 6> kUnitOfStage = {GemmUnit::dma,  GemmUnit::dma,         GemmUnit::fetch_store,
                                                         GemmUnit::gemm, GemmUnit::fetch_store, GemmUnit::dma};
enum class GemmPort : std::uint8_t { hbm, tcm_write, tcm_read };
inline constexpr std::array<std::string_view, 3> kGemmPortNames = {"hbm", "tcm_write", "tcm_read"};

struct GemmWork {
  GemmShape shape;
  Preloaded preloaded = Preloaded::none;
  std::uint32_t element_size = 2;
};

// What a stage, or a unit, has done.
struct GemmUse {
  std::uint64_t records = 0;  // operations
  double bytes = 0;
  double busy = 0;
  double first = 0;  // of its operations the first begins, and
  double last = 0;   // the last ends
};

// What the machine takes at least and a little more: the slowest unit, which never waits once it has begun; the way of
// the first tile to it before (fill), and of the last tile from it behind (drain).
struct GemmModel {
  double preload = 0;
  double fill = 0;
  double busy = 0;
  double drain = 0;
  GemmUnit slowest = GemmUnit::dma;
  [[nodiscard]] double tiled() const { return fill + busy + drain; }
  [[nodiscard]] double all() const { return preload + tiled(); }
};

// Times are nanoseconds.
struct GemmAnswer {
  std::uint64_t tiles = 0;
  double all = 0;          // the window over all work
  double tiled = 0;        // and over the tiled pipeline alone
  double tiled_begin = 0;  // of the first
  std::array<GemmUse, kGemmStageNames.size()> stages;
  std::array<GemmUse, kGemmUnitNames.size()> units;        // over all work
  std::array<GemmUse, kGemmUnitNames.size()> units_tiled;  // in the tiled pipeline
  std::array<LinkUse, kGemmPortNames.size()> ports;
  GemmModel model;
  std::uint64_t events = 0;
};

[[nodiscard]] Result<GemmAnswer> simulate_gemm(const GemmWork& work, const fabric::ProcessingElement& element);

}  // namespace tutti::simulate
