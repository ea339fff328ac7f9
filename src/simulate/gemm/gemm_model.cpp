// SPDX-License-Identifier: Apache-2.0
// What a pipeline of stages takes by its closed form, without events.
#include <cmath>

#include "simulate/gemm/gemm_tiles.hpp"

namespace tutti::simulate {

namespace {

constexpr double kTie = 1e-9;

// The time of each stage with one tile, or with all.
struct StageTimes {
  double dma_in = 0;
  double fetch = 0;
  double gemm = 0;
  double store = 0;
  double dma_out = 0;

  void add(const StageTimes& other) {
    dma_in += other.dma_in;
    fetch += other.fetch;
    gemm += other.gemm;
    store += other.store;
    dma_out += other.dma_out;
  }
};

class StageClock {
 public:
  explicit StageClock(const fabric::ProcessingElement& element) : element_(element) {}

  [[nodiscard]] double with_hbm(const StageWork& work) const {
    return work.work + std::max(crossing(work.bytes, element_.hbm_bandwidth), in_tcm(work.bytes));
  }
  [[nodiscard]] double with_tcm(const StageWork& work) const { return work.work + in_tcm(work.bytes); }

  [[nodiscard]] StageTimes of(const Tiles& tiles, const Tile& tile) const {
    StageTimes times;
    if (tiles.streams_a()) times.dma_in += with_hbm(tiles.load_a(tile));
    if (tiles.streams_b()) times.dma_in += with_hbm(tiles.load_b(tile));
    times.fetch = with_tcm(tiles.fetch(tile));
    times.gemm = tiles.gemm(tile).work;
    if (!tile.is_last) return times;
    times.store = with_tcm(tiles.store(tile));
    times.dma_out = with_hbm(tiles.dma_out(tile));
    return times;
  }

 private:
  [[nodiscard]] double in_tcm(double bytes) const { return crossing(bytes, element_.tcm_bandwidth); }
  static double crossing(double bytes, double bandwidth) { return bandwidth > 0 ? bytes / bandwidth : 0; }

  const fabric::ProcessingElement& element_;
};

}  // namespace

GemmModel model_of(const Tiles& tiles, const fabric::ProcessingElement& element) {
  const StageClock clock(element);
  StageTimes all;
  for (std::uint64_t number = 0; number < tiles.count(); ++number) all.add(clock.of(tiles, tiles[number]));
  const StageTimes first = clock.of(tiles, tiles[0]);
  const StageTimes last = clock.of(tiles, tiles[tiles.count() - 1]);

  GemmModel model;
  if (!tiles.streams_a()) model.preload += clock.with_hbm(tiles.preload_a());
  if (!tiles.streams_b()) model.preload += clock.with_hbm(tiles.preload_b());
  const auto consider = [&](GemmUnit unit, double fill, double busy, double drain) {
    // Of ways that take as long, the one of the busier unit; sums of the same terms differ by rounding.
    const double difference = fill + busy + drain - model.tiled();
    const bool is_tie = std::abs(difference) <= kTie * model.tiled();
    if (is_tie ? busy <= model.busy : difference < 0) return;
    model.slowest = unit;
    model.fill = fill;
    model.busy = busy;
    model.drain = drain;
  };
  // A unit with two stages has its second one with the last tile as well, and waits for that.
  const bool is_streaming = tiles.streams_b();
  consider(GemmUnit::dma, is_streaming ? 0 : first.fetch + first.gemm + last.store, all.dma_in + all.dma_out,
           is_streaming ? last.fetch + last.gemm + last.store : 0);
  consider(GemmUnit::fetch_store, first.dma_in, all.fetch + all.store, last.gemm + last.dma_out);
  consider(GemmUnit::gemm, first.dma_in + first.fetch, all.gemm, last.store + last.dma_out);
  return model;
}

}  // namespace tutti::simulate
