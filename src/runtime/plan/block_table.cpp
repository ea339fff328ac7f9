// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/block_table.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "schedule/prove/definition.hpp"

namespace tutti {

namespace {

// Further from its beginning no buffer reaches.
constexpr std::uint64_t kFarthest = std::uint64_t{1} << 62;

const BlockRuns& runs_of(const VaryingBlocks& blocks, Space space) {
  return space == Space::input ? blocks.input : blocks.output;
}

const void* buffer_of(const Invocation& asked, Space space) {
  return space == Space::input ? asked.input : asked.output;
}

}  // namespace

Status BlockTable::place(const Schedule& header, std::uint32_t rank, const Invocation& asked) {
  element_ = size_of(asked.type);
  largest_ = 0;
  buffers_ = {};
  for (const Space space : {Space::input, Space::output}) TUTTI_TRY(place_space(header, rank, asked, space));
  return {};
}

Status BlockTable::find_buffers(const Schedule& header, std::uint32_t rank, const Invocation& asked) {
  for (const auto& [space, bytes] :
       {std::pair{Space::input, buffers_.input_bytes}, std::pair{Space::output, buffers_.output_bytes}})
    if (bytes > 0 && buffer_of(asked, space) == nullptr)
      return {Code::invalid_argument, fmt::format("the {} is null, and {} {} asked for", name_of(space),
                                                  counted(bytes / element_, "element"), are(bytes / element_))};
  buffers_.in_place = is_in_place(header, rank, asked);
  if (stands_in_order(Space::output) && (buffers_.in_place || buffers_are_apart(asked))) return {};
  return find_overlap(asked);
}

Status BlockTable::place_space(const Schedule& header, std::uint32_t rank, const Invocation& asked, Space space) {
  std::vector<PlacedBlock>& placed = blocks(space);
  placed.clear();
  if (!has_block(header, rank, space, 0)) return {};
  BlockRuns runs = runs_of(*asked.varying, space);
  // Of what is folded a rank's result is as large as its block of every input.
  if (space == Space::output && facts_of(header.collective).folds && asked.varying->input.counts != nullptr)
    runs = {.counts = asked.varying->input.counts + rank};
  if (runs.counts == nullptr)
    return {Code::invalid_argument, fmt::format("the counts of the {} are null", name_of(space))};
  placed.resize(header.division(space).blocks);
  std::uint64_t next = 0;
  std::uint64_t elements = 0;
  for (std::uint32_t block = 0; block < placed.size(); ++block) {
    const std::uint64_t count = runs.counts[block];
    const std::uint64_t offset = runs.displacements == nullptr ? next : runs.displacements[block];
    if (count > kMaxCount)
      return {Code::invalid_argument, fmt::format("block {} of the {} has {} elements, which are too many; {} are "
                                                  "possible",
                                                  block, name_of(space), count, kMaxCount)};
    if (count > 0 && offset > kFarthest / element_ - count)
      return {Code::invalid_argument, fmt::format("block {} of the {} begins at element {}, which is too far away",
                                                  block, name_of(space), offset)};
    placed[block] = {.offset = offset, .count = count};
    next = offset + count;
    elements += count;
    largest_ = std::max(largest_, count);
  }
  (space == Space::input ? buffers_.input_bytes : buffers_.output_bytes) = elements * element_;
  return {};
}

void BlockTable::cut(const Spaces& spaces, std::uint64_t window) {
  for (const Space space : {Space::input, Space::output})
    for (PlacedBlock& block : blocks(space))
      block.layout = PieceLayout(block.count, spaces[static_cast<std::size_t>(space)].pieces, window);
}

BlockTable::Extent BlockTable::extent_of(const Invocation& asked, Space space, std::uint32_t block) const {
  const PlacedBlock& placed = at(space, block);
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(buffer_of(asked, space)) + placed.offset * element_;
  return {begin, begin + placed.count * element_, space == Space::output, block};
}

// Every block that could be the same memory as one of the other buffer is, and there is something in one of them.
bool BlockTable::is_in_place(const Schedule& header, std::uint32_t rank, const Invocation& asked) const {
  bool any = false;
  if (blocks(Space::input).empty()) return false;
  for (std::uint32_t block = 0; block < blocks(Space::output).size(); ++block) {
    const auto twin = input_behind(header, rank, block);
    if (!twin) continue;
    const Extent output = extent_of(asked, Space::output, block);
    const Extent input = extent_of(asked, Space::input, *twin);
    if (output.end - output.begin != input.end - input.begin) return false;
    if (output.begin == output.end) continue;
    if (output.begin != input.begin) return false;
    any = true;
  }
  return any;
}

bool BlockTable::stands_in_order(Space space) const {
  std::uint64_t end = 0;
  for (const PlacedBlock& block : blocks(space)) {
    if (block.count == 0) continue;
    if (block.offset < end) return false;
    end = block.offset + block.count;
  }
  return true;
}

// From the first to the last byte; blocks of one may stand in gaps of the other, which find_overlap() sees.
bool BlockTable::buffers_are_apart(const Invocation& asked) const {
  const auto around = [&](Space space) {
    Extent whole{.begin = UINTPTR_MAX};
    for (std::uint32_t block = 0; block < blocks(space).size(); ++block) {
      const Extent each = extent_of(asked, space, block);
      if (each.begin == each.end) continue;
      whole.begin = std::min(whole.begin, each.begin);
      whole.end = std::max(whole.end, each.end);
    }
    return whole;
  };
  const Extent input = around(Space::input);
  const Extent output = around(Space::output);
  return input.end <= output.begin || output.end <= input.begin;
}

// Nothing may be written twice, nor what is read; in place the outputs alone can be wrong.
Status BlockTable::find_overlap(const Invocation& asked) {
  extents_.clear();
  for (const Space space : {Space::input, Space::output}) {
    if (space == Space::input && buffers_.in_place) continue;
    for (std::uint32_t block = 0; block < blocks(space).size(); ++block)
      if (at(space, block).count > 0) extents_.push_back(extent_of(asked, space, block));
  }
  std::sort(extents_.begin(), extents_.end(), [](const Extent& a, const Extent& b) {
    return std::tie(a.begin, a.is_output) < std::tie(b.begin, b.is_output);
  });
  // Of those that begin before the present one, the output and the input that reach furthest.
  Extent output;
  Extent input;
  for (const Extent& each : extents_) {
    const Extent& other = each.is_output && input.end > output.end ? input : output;
    if (each.begin < other.end) {
      const auto name = [](const Extent& extent) {
        return fmt::format("block {} of the {}", extent.block, extent.is_output ? "output" : "input");
      };
      return {Code::invalid_argument,
              fmt::format("{} and {} overlap by {}; input and output must be apart, or in place", name(other),
                          name(each), counted(std::min(each.end, other.end) - each.begin, "byte"))};
    }
    Extent& furthest = each.is_output ? output : input;
    if (each.end > furthest.end) furthest = each;
  }
  return {};
}

}  // namespace tutti
