// SPDX-License-Identifier: Apache-2.0
// The tiles of a matrix product in their order, and what each stage has to do with one. Values; pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simulate/gemm/gemm.hpp"

namespace tutti::simulate {

// One product of a tile of A and a tile of B. Tiles of the result follow each other row by row; each is the sum of its
// products over k.
struct Tile {
  std::uint64_t number = 0;
  std::uint64_t result = 0;  // the tile of the result that it goes to
  bool is_first = false;     // of its products
  bool is_last = false;
  std::uint64_t m = 0;
  std::uint64_t k = 0;
  std::uint64_t n = 0;
};

// What a stage's operation takes.
struct StageWork {
  double work = 0;
  double bytes = 0;
};

class Tiles {
 public:
  Tiles(const GemmWork& work, const fabric::ProcessingElement& element) : work_(work), element_(element) {}

  [[nodiscard]] std::uint64_t count() const { return rows() * columns() * depth(); }
  [[nodiscard]] std::uint64_t num_results() const { return rows() * columns(); }
  [[nodiscard]] Tile operator[](std::uint64_t number) const {
    const std::uint64_t at = number % depth();
    const std::uint64_t result = number / depth();
    return {.number = number,
            .result = result,
            .is_first = at == 0,
            .is_last = at + 1 == depth(),
            .m = length(result / columns(), element_.tile_m, work_.shape.m),
            .k = length(at, element_.tile_k, work_.shape.k),
            .n = length(result % columns(), element_.tile_n, work_.shape.n)};
  }

  [[nodiscard]] bool streams_a() const { return work_.preloaded == Preloaded::none; }
  [[nodiscard]] bool streams_b() const { return work_.preloaded != Preloaded::both; }
  [[nodiscard]] StageWork preload_a() const { return dma(std::uint64_t{work_.shape.m} * work_.shape.k); }
  [[nodiscard]] StageWork preload_b() const { return dma(std::uint64_t{work_.shape.k} * work_.shape.n); }
  [[nodiscard]] StageWork load_a(const Tile& tile) const { return dma(tile.m * tile.k); }
  [[nodiscard]] StageWork load_b(const Tile& tile) const { return dma(tile.k * tile.n); }
  [[nodiscard]] StageWork fetch(const Tile& tile) const {
    return {element_.fetch_store_overhead, bytes(tile.m * tile.k + tile.k * tile.n)};
  }
  [[nodiscard]] StageWork gemm(const Tile& tile) const {
    const auto products = static_cast<double>(tile.m * tile.k * tile.n);
    const double cycles = element_.multiplications > 0 ? products / element_.multiplications : 0;
    return {element_.gemm_overhead + cycles * element_.cycle, 0};
  }
  [[nodiscard]] StageWork store(const Tile& tile) const {
    return {element_.fetch_store_overhead, bytes(tile.m * tile.n)};
  }
  [[nodiscard]] StageWork dma_out(const Tile& tile) const { return dma(tile.m * tile.n); }

 private:
  static std::uint64_t parts(std::uint64_t length, std::uint64_t part) { return (length + part - 1) / part; }
  static std::uint64_t length(std::uint64_t number, std::uint64_t part, std::uint64_t whole) {
    return std::min(part, whole - number * part);
  }
  [[nodiscard]] std::uint64_t rows() const { return parts(work_.shape.m, element_.tile_m); }
  [[nodiscard]] std::uint64_t columns() const { return parts(work_.shape.n, element_.tile_n); }
  [[nodiscard]] std::uint64_t depth() const { return parts(work_.shape.k, element_.tile_k); }
  [[nodiscard]] double bytes(std::uint64_t elements) const {
    return static_cast<double>(elements) * work_.element_size;
  }
  [[nodiscard]] StageWork dma(std::uint64_t elements) const { return {element_.dma_overhead, bytes(elements)}; }

  const GemmWork& work_;
  const fabric::ProcessingElement& element_;
};

[[nodiscard]] GemmModel model_of(const Tiles& tiles, const fabric::ProcessingElement& element);

}  // namespace tutti::simulate
