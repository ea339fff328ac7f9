// SPDX-License-Identifier: Apache-2.0
#include "schedule/oracle/oracle_memory.hpp"

#include <algorithm>
#include <utility>

namespace tutti::oracle {

namespace {

bool varies(Collective collective) {
  switch (collective) {
    case Collective::all_gather_v:
    case Collective::reduce_scatter_v:
    case Collective::all_to_all_v:
    case Collective::gather_v:
    case Collective::scatter_v: return true;
    default: return false;
  }
}

// With blocks of different sizes: which of the sizes a block has.
std::uint32_t size_of(const Schedule& schedule, std::uint32_t rank, Space space, std::uint32_t block) {
  const bool is_input = space == Space::input;
  switch (schedule.collective) {
    case Collective::all_gather_v:
    case Collective::gather_v: return is_input ? rank : block;
    case Collective::reduce_scatter_v:
    case Collective::scatter_v: return is_input ? block : rank;
    case Collective::all_to_all_v: {
      const std::uint32_t from = is_input ? rank : block;
      const std::uint32_t to = is_input ? block : rank;
      return from * schedule.num_ranks + to;
    }
    default: return 0;
  }
}

}  // namespace

Memory::Memory(const Schedule& schedule, Sizes sizes, bool in_place, std::uint64_t seed)
    : schedule_(schedule), sizes_(std::move(sizes)), in_place_(in_place), seed_(seed) {
  rounds_ = *std::max_element(sizes_.operations.begin(), sizes_.operations.end());
  const auto pieces_of = [&](Space space) { return schedule.division(space).blocks * schedule.division(space).pieces; };
  begin_of_output_ = pieces_of(Space::input) * rounds_ * sizes_.window;
  begin_of_scratch_ = begin_of_output_ + pieces_of(Space::output) * rounds_ * sizes_.window;
  cells_per_rank_ = begin_of_scratch_ + pieces_of(Space::scratch) * sizes_.window;
}

bool Memory::folds() const {
  switch (schedule_.collective) {
    case Collective::all_reduce:
    case Collective::reduce_scatter:
    case Collective::reduce:
    case Collective::scan:
    case Collective::exclusive_scan:
    case Collective::reduce_scatter_v: return true;
    default: return false;
  }
}

bool Memory::has_finish() const {
  return folds() && schedule_.collective != Collective::scan && schedule_.collective != Collective::exclusive_scan;
}

std::optional<Memory::Fold> Memory::fold_of(std::uint32_t rank, std::uint32_t block) const {
  const std::uint32_t all = schedule_.num_ranks;
  const std::uint32_t root = schedule_.root;
  const bool is_root = rank == root;
  switch (schedule_.collective) {
    case Collective::all_reduce: return Fold{0, 0, all};
    case Collective::reduce: return is_root ? std::optional(Fold{0, 0, all}) : std::nullopt;
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_v: return Fold{rank, 0, all};
    case Collective::scan: return Fold{0, 0, rank + 1};
    case Collective::exclusive_scan: return rank == 0 ? std::nullopt : std::optional(Fold{0, 0, rank});
    case Collective::broadcast: return Fold{0, root, root + 1};
    case Collective::scatter:
    case Collective::scatter_v: return Fold{rank, root, root + 1};
    case Collective::all_gather:
    case Collective::all_gather_v: return Fold{0, block, block + 1};
    case Collective::gather:
    case Collective::gather_v: return is_root ? std::optional(Fold{0, block, block + 1}) : std::nullopt;
    case Collective::all_to_all:
    case Collective::all_to_all_v: return Fold{rank, block, block + 1};
    case Collective::barrier: return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Memory::input_under(std::uint32_t rank, std::uint32_t block) const {
  const bool is_root = rank == schedule_.root;
  const auto where = [](bool same, std::uint32_t input) { return same ? std::optional(input) : std::nullopt; };
  switch (schedule_.collective) {
    case Collective::all_reduce:
    case Collective::scan:
    case Collective::exclusive_scan: return 0;
    case Collective::reduce:
    case Collective::broadcast: return where(is_root, 0);
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_v: return rank;
    case Collective::all_gather:
    case Collective::all_gather_v: return where(block == rank, 0);
    case Collective::gather:
    case Collective::gather_v: return where(is_root && block == rank, 0);
    case Collective::scatter:
    case Collective::scatter_v: return where(is_root, rank);
    case Collective::all_to_all:
    case Collective::all_to_all_v: return block;
    case Collective::barrier: return std::nullopt;
  }
  return std::nullopt;
}

bool Memory::is_inside(const Slice& slice) const {
  const Division& division = schedule_.division(slice.space);
  if (slice.block >= division.blocks || slice.num_pieces == 0 || slice.first_piece >= division.pieces ||
      slice.num_pieces > division.pieces - slice.first_piece)
    return false;
  // No block twice; more than there are would be.
  if (slice.num_blocks == 0 || slice.num_blocks > division.blocks || slice.run == 0 || slice.stride < slice.run)
    return false;
  const std::uint64_t last = slice.num_blocks - 1;
  return last / slice.run * slice.stride + last % slice.run < division.blocks;
}

std::vector<std::uint32_t> Memory::blocks_of(const Slice& slice) const {
  std::vector<std::uint32_t> blocks;
  std::uint64_t begin = slice.block;
  while (blocks.size() < slice.num_blocks) {
    for (std::uint64_t block = begin; block < begin + slice.run && blocks.size() < slice.num_blocks; ++block)
      blocks.push_back(static_cast<std::uint32_t>(block % schedule_.division(slice.space).blocks));
    begin += slice.stride;
  }
  return blocks;
}

bool Memory::has(std::uint32_t rank, const Slice& slice) const {
  const std::vector<std::uint32_t> blocks = blocks_of(slice);
  return std::all_of(blocks.begin(), blocks.end(), [&](std::uint32_t block) { return has(rank, slice.space, block); });
}

bool Memory::has(std::uint32_t rank, Space space, std::uint32_t block) const {
  if (space == Space::scratch) return true;
  if (space == Space::output) return fold_of(rank, block).has_value();
  switch (schedule_.collective) {
    case Collective::broadcast:
    case Collective::scatter:
    case Collective::scatter_v: return rank == schedule_.root;
    default: return true;
  }
}

std::uint32_t Memory::elements(std::uint32_t rank, Space space, std::uint32_t block, std::uint32_t piece,
                               std::uint32_t operation) const {
  if (schedule_.collective == Collective::barrier) return 0;
  const std::uint32_t whole = sizes_.operations[operation] * sizes_.window;
  const std::uint32_t pieces = schedule_.division(space).pieces;
  const std::uint32_t of_last = pieces > 1 ? sizes_.window + 1 : sizes_.window / 2;
  const std::uint32_t missing = !sizes_.ragged ? 0 : piece + 1 == pieces ? of_last : sizes_.window / 2;
  const std::uint32_t full = whole - std::min(whole, missing);
  if (!varies(schedule_.collective) || full == 0) return full;
  const std::uint64_t drawn = mix(seed_ + size_of(schedule_, rank, space, block));
  return static_cast<std::uint32_t>(sizes_.ragged ? drawn % (full + 1) : 1 + drawn % full);
}

std::uint32_t Memory::length(std::uint32_t rank, Space space, std::uint32_t block, std::uint32_t piece,
                             When when) const {
  const std::uint32_t all = elements(rank, space, block, piece, when.operation);
  return std::min(sizes_.window, all - std::min(all, when.round * sizes_.window));
}

std::uint32_t Memory::cell(std::uint32_t rank, Space space, std::uint32_t block, std::uint32_t piece,
                           std::uint32_t round) const {
  if (space == Space::output && in_place_) {
    if (const auto input = input_under(rank, block)) {
      space = Space::input;
      block = *input;
    }
  }
  const std::uint32_t at = block * schedule_.division(space).pieces + piece;
  const std::uint32_t begin = rank * cells_per_rank_;
  if (space == Space::scratch) return begin + begin_of_scratch_ + at * sizes_.window;
  return begin + (space == Space::output ? begin_of_output_ : 0) + (at * rounds_ + round) * sizes_.window;
}

Element Memory::contribution(std::uint32_t rank, std::uint32_t block, std::uint32_t piece, std::uint32_t at,
                             When when) const {
  const Division& division = schedule_.division(Space::input);
  std::uint64_t place = (std::uint64_t{rank} * division.blocks + block) * division.pieces + piece;
  place = ((place * 64 + when.operation) * 64 + when.round) * 64 + at;
  return drawn(mix(seed_ ^ mix(place)));
}

template <typename Visit>
void Memory::for_each(std::uint32_t rank, Space space, std::uint32_t operation, Visit visit) const {
  const Division& division = schedule_.division(space);
  for (std::uint32_t block = 0; block < division.blocks; ++block) {
    for (std::uint32_t piece = 0; piece < division.pieces; ++piece) {
      for (std::uint32_t round = 0; round < sizes_.operations[operation]; ++round) {
        const std::uint32_t begin = cell(rank, space, block, piece, round);
        const std::uint32_t count = length(rank, space, block, piece, {operation, round});
        for (std::uint32_t at = 0; at < count; ++at) visit(begin + at, block, piece, round, at);
      }
    }
  }
}

std::vector<Filled> Memory::filled(std::uint32_t rank, std::uint32_t operation) const {
  // Outputs first: in place the input takes their cells. Garbage is of the operation, so that what is left over shows.
  std::vector<Filled> cells;
  const std::uint32_t begin = rank * cells_per_rank_;
  for (std::uint32_t at = 0; at < cells_per_rank_; ++at)
    cells.push_back({begin + at, drawn(mix(~seed_ + begin + at) + operation)});
  if (operation == sizes_.operations.size()) return cells;
  for_each(rank, Space::input, operation,
           [&](std::uint32_t cell, std::uint32_t block, std::uint32_t piece, std::uint32_t round, std::uint32_t at) {
             if (has(rank, Space::input, block))
               cells[cell - begin].element = contribution(rank, block, piece, at, {operation, round});
           });
  return cells;
}

std::vector<Wanted> Memory::wanted(std::uint32_t rank, std::uint32_t operation) const {
  std::vector<Wanted> all;
  for_each(rank, Space::output, operation,
           [&](std::uint32_t cell, std::uint32_t block, std::uint32_t piece, std::uint32_t round, std::uint32_t at) {
             const auto fold = fold_of(rank, block);
             if (!fold) return;
             Element element;
             for (std::uint32_t from = fold->first; from < fold->end; ++from) {
               Element next = contribution(from, fold->block, piece, at, {operation, round});
               if (folds()) next.sum *= factor_of(from);
               if (from == fold->first) {
                 element = next;
               } else {
                 fold_into(element, next);
               }
             }
             if (fold->end - fold->first > 1) round_off(element);
             if (has_finish()) element.sum *= kFinalFactor;
             const std::uint32_t result = (piece * rounds_ + round) * sizes_.window + at;
             all.push_back({cell, result, block, piece, element});
           });
  return all;
}

std::vector<Filled> Memory::untouched(std::uint32_t rank, std::uint32_t operation) const {
  std::vector<Filled> cells = filled(rank, operation);
  cells.resize(begin_of_scratch_);
  for (std::uint32_t block = 0; block < schedule_.division(Space::output).blocks; ++block) {
    if (!fold_of(rank, block)) continue;
    const std::uint32_t begin = cell(rank, Space::output, block, 0, 0);
    const std::uint32_t end = begin + schedule_.division(Space::output).pieces * rounds_ * sizes_.window;
    std::erase_if(cells, [&](const Filled& each) { return begin <= each.cell && each.cell < end; });
  }
  return cells;
}

}  // namespace tutti::oracle
