// SPDX-License-Identifier: Apache-2.0
// One processing element (PE) of an accelerator, as far as a tiled matrix product goes: its memories, the units that
// work on tiles, and how many tiles may wait between them. From a file: docs/formats/processing_element.md. Plain
// values; reading is pure.
//
// Times are nanoseconds and rates bytes a nanosecond; 0 is no limit, and takes no time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "fabric/files/fields.hpp"
#include "fabric/generators/request.hpp"

namespace tutti::fabric {

struct ProcessingElement {
  std::string name;  // as it was asked for
  // A product of m×k by k×n is made of products of tiles.
  std::uint32_t tile_m = 0;
  std::uint32_t tile_k = 0;
  std::uint32_t tile_n = 0;
  // Memories: HBM with one port, TCM with one to write and one to read.
  double hbm_bandwidth = 0;
  double tcm_bandwidth = 0;
  // What each operation of a unit takes beside bytes and arithmetic, and the next one does not hide.
  double dma_overhead = 0;
  double fetch_store_overhead = 0;
  double gemm_overhead = 0;
  std::uint32_t multiplications = 0;  // with an addition each, a cycle
  double cycle = 0;
  // Room between the units; 0: no limit.
  std::uint32_t loaded_tiles = 0;
  std::uint32_t fetched_tiles = 0;
  std::uint32_t accumulators = 0;
  std::uint32_t stored_tiles = 0;
};

inline constexpr auto kElementFields = std::to_array<Field<ProcessingElement>>({
    {"tile_m", Unit::count, &ProcessingElement::tile_m, "rows of a tile of A and of the result"},
    {"tile_k", Unit::count, &ProcessingElement::tile_k, "columns of a tile of A, rows of one of B"},
    {"tile_n", Unit::count, &ProcessingElement::tile_n, "columns of a tile of B and of the result"},
    {"hbm_bandwidth", Unit::rate, &ProcessingElement::hbm_bandwidth, "what HBM reads or writes"},
    {"tcm_bandwidth", Unit::rate, &ProcessingElement::tcm_bandwidth, "what TCM reads, and writes beside that"},
    {"dma_overhead", Unit::time, &ProcessingElement::dma_overhead, "of each transfer between HBM and TCM"},
    {"fetch_store_overhead", Unit::time, &ProcessingElement::fetch_store_overhead, "of each fetch and store"},
    {"gemm_overhead", Unit::time, &ProcessingElement::gemm_overhead, "of each product of two tiles"},
    {"multiplications", Unit::count, &ProcessingElement::multiplications, "with an addition each, a cycle"},
    {"cycle", Unit::time, &ProcessingElement::cycle, "of the GEMM unit"},
    {"loaded_tiles", Unit::count, &ProcessingElement::loaded_tiles, "room in TCM, of each operand that is streamed"},
    {"fetched_tiles", Unit::count, &ProcessingElement::fetched_tiles, "room in front of the GEMM unit, of pairs"},
    {"accumulators", Unit::count, &ProcessingElement::accumulators, "tiles of the result in the GEMM unit"},
    {"stored_tiles", Unit::count, &ProcessingElement::stored_tiles, "tiles of the result in TCM"},
});

// What the text of a file describes. `file` stands in messages. The parameters of `changes`, named as the keys are,
// come in place of the file's; its text is the name.
[[nodiscard]] Result<ProcessingElement> read_processing_element(std::string_view text, std::string_view file,
                                                                const Request& changes);

}  // namespace tutti::fabric
