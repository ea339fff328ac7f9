// SPDX-License-Identifier: Apache-2.0
#include "simulate/gemm/gemm.hpp"

#include <charconv>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "simulate/gemm/gemm_tiles.hpp"
#include "simulate/gemm/operations.hpp"

namespace tutti::simulate {

namespace {

std::uint32_t number_of(GemmPort port) { return static_cast<std::uint32_t>(port); }
std::size_t number_of(GemmStage stage) { return static_cast<std::size_t>(stage); }

// The ports of the memories, as links.
fabric::Fabric ports_of(const fabric::ProcessingElement& element) {
  fabric::Fabric fabric;
  fabric.links.resize(kGemmPortNames.size());
  fabric.links[number_of(GemmPort::hbm)].bandwidth = element.hbm_bandwidth;
  fabric.links[number_of(GemmPort::tcm_write)].bandwidth = element.tcm_bandwidth;
  fabric.links[number_of(GemmPort::tcm_read)].bandwidth = element.tcm_bandwidth;
  return fabric;
}

// The operations of a product, in an order in which they could be done one by one.
class GemmProgram {
 public:
  GemmProgram(const Tiles& tiles, const fabric::ProcessingElement& element) : tiles_(tiles), element_(element) {
    operations_.reserve(2 + 4 * tiles.count() + 2 * tiles.num_results());
    if (!tiles.streams_a()) a_ = add(GemmStage::preload, tiles.preload_a(), {});
    if (!tiles.streams_b()) b_ = add(GemmStage::preload, tiles.preload_b(), {});
    for (std::uint64_t number = 0; number < tiles.count(); ++number) add_tile(tiles[number]);
  }

  [[nodiscard]] const std::vector<Operation>& operations() const { return operations_; }
  [[nodiscard]] GemmStage stage_of(std::size_t operation) const { return stages_[operation]; }

 private:
  void add_tile(const Tile& tile) {
    // Who fills a slot comes after who has emptied it.
    const std::uint32_t loaded = slot_before(fetches_, tile.number, element_.loaded_tiles);
    if (tiles_.streams_a()) a_ = add(GemmStage::dma_in, tiles_.load_a(tile), {loaded});
    if (tiles_.streams_b()) b_ = add(GemmStage::dma_in, tiles_.load_b(tile), {loaded});
    fetches_.push_back(add(GemmStage::fetch, tiles_.fetch(tile),
                           {a_, b_, slot_before(products_, tile.number, element_.fetched_tiles)}));
    const std::uint32_t accumulator =
        tile.is_first ? slot_before(stores_, tile.result, element_.accumulators) : kNoOperation;
    const std::uint32_t before = products_.empty() ? kNoOperation : products_.back();
    products_.push_back(add(GemmStage::gemm, tiles_.gemm(tile), {fetches_.back(), before, accumulator}));
    if (!tile.is_last) return;
    stores_.push_back(add(GemmStage::store, tiles_.store(tile),
                          {products_.back(), slot_before(writes_, tile.result, element_.stored_tiles)}));
    writes_.push_back(add(GemmStage::dma_out, tiles_.dma_out(tile), {stores_.back()}));
  }

  static std::uint32_t slot_before(const std::vector<std::uint32_t>& emptying, std::uint64_t number,
                                   std::uint32_t slots) {
    return slots > 0 && number >= slots ? emptying[number - slots] : kNoOperation;
  }

  // `after` may be shorter than there is room.
  std::uint32_t add(GemmStage stage, const StageWork& work, std::initializer_list<std::uint32_t> after) {
    Operation operation{.unit = static_cast<std::uint32_t>(kUnitOfStage[number_of(stage)]),
                        .work = work.work,
                        .bytes = work.bytes,
                        .links = kPorts[number_of(stage)]};
    std::copy(after.begin(), after.end(), operation.after.begin());
    operations_.push_back(operation);
    stages_.push_back(stage);
    return static_cast<std::uint32_t>(operations_.size() - 1);
  }

  static constexpr std::uint32_t kHbm = static_cast<std::uint32_t>(GemmPort::hbm);
  static constexpr std::uint32_t kWrite = static_cast<std::uint32_t>(GemmPort::tcm_write);
  static constexpr std::uint32_t kRead = static_cast<std::uint32_t>(GemmPort::tcm_read);
  static constexpr std::array<std::uint32_t, 2> kIn = {kHbm, kWrite};
  static constexpr std::array<std::uint32_t, 2> kOut = {kRead, kHbm};
  // The ports that each stage's bytes cross.
  static constexpr std::array<std::span<const std::uint32_t>, kGemmStageNames.size()> kPorts = {
      std::span(kIn), std::span(kIn), std::span(kOut).first(1), {}, std::span(kIn).last(1), std::span(kOut)};

  const Tiles& tiles_;
  const fabric::ProcessingElement& element_;
  std::vector<Operation> operations_;
  std::vector<GemmStage> stages_;
  // Of the operands: what brings the present tile.
  std::uint32_t a_ = kNoOperation;
  std::uint32_t b_ = kNoOperation;
  // By tile, and by tile of the result.
  std::vector<std::uint32_t> fetches_;
  std::vector<std::uint32_t> products_;
  std::vector<std::uint32_t> stores_;
  std::vector<std::uint32_t> writes_;
};

void add_to_use(const Operation& operation, const Ran& ran, GemmUse& use) {
  use.first = use.records == 0 ? ran.begin : std::min(use.first, ran.begin);
  use.last = std::max(use.last, ran.end);
  use.bytes += operation.bytes;
  use.busy += ran.end - ran.begin;
  ++use.records;
}

}  // namespace

std::string to_text(const GemmShape& shape) { return fmt::format("{}x{}x{}", shape.m, shape.k, shape.n); }

Result<GemmShape> parse_gemm_shape(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, 'x');
  std::array<std::uint32_t, 3> sides = {};
  bool is_right = parts.size() == sides.size();
  for (std::size_t i = 0; is_right && i < sides.size(); ++i) {
    const auto [end, error] = std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), sides[i]);
    is_right =
        error == std::errc() && end == parts[i].data() + parts[i].size() && sides[i] > 0 && sides[i] <= kLongestSide;
  }
  if (!is_right)
    return Status(Code::invalid_argument,
                  fmt::format("{} is no shape; write MxKxN, such as 32x3072x32, each from 1 to {}", in_quotes(text),
                              kLongestSide));
  return GemmShape{sides[0], sides[1], sides[2]};
}

std::optional<Preloaded> preloaded_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kPreloadedNames.size(); ++i)
    if (same_name(kPreloadedNames[i], name)) return static_cast<Preloaded>(i);
  return std::nullopt;
}

Result<GemmAnswer> simulate_gemm(const GemmWork& work, const fabric::ProcessingElement& element) {
  const Tiles tiles(work, element);
  if (tiles.count() > kMostTiles)
    return Status(Code::invalid_argument,
                  fmt::format("{} has {} products of tiles of {}; {} are the most", to_text(work.shape), tiles.count(),
                              to_text({element.tile_m, element.tile_k, element.tile_n}), kMostTiles));
  const GemmProgram program(tiles, element);
  const Operated operated = operate(program.operations(), kGemmUnitNames.size(), ports_of(element));

  GemmAnswer answer;
  answer.tiles = tiles.count();
  answer.events = operated.events;
  std::copy(operated.links.begin(), operated.links.end(), answer.ports.begin());
  GemmUse pipeline;
  for (std::size_t i = 0; i < program.operations().size(); ++i) {
    const Operation& operation = program.operations()[i];
    const Ran& ran = operated.operations[i];
    add_to_use(operation, ran, answer.stages[number_of(program.stage_of(i))]);
    add_to_use(operation, ran, answer.units[operation.unit]);
    if (program.stage_of(i) == GemmStage::preload) continue;
    add_to_use(operation, ran, answer.units_tiled[operation.unit]);
    add_to_use(operation, ran, pipeline);
  }
  answer.all = pipeline.last;
  answer.tiled = pipeline.last - pipeline.first;
  answer.tiled_begin = pipeline.first;
  answer.model = model_of(tiles, element);
  return answer;
}

}  // namespace tutti::simulate
