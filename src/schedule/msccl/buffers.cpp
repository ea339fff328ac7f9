// SPDX-License-Identifier: Apache-2.0
#include "schedule/msccl/buffers.hpp"

#include <fmt/format.h>

namespace tutti::msccl {

Result<Buffers> Buffers::of(const File& file) {
  Buffers buffers;
  const auto ranks = static_cast<std::uint32_t>(file.num_ranks);
  const auto chunks = static_cast<std::uint32_t>(file.chunks_per_loop);
  const CollectiveFacts& facts = facts_of(file.collective);
  const bool divided = facts.many_inputs || facts.many_outputs;
  if (divided && chunks % ranks != 0) {
    return wrong_at(file.path, file.line,
                    fmt::format("found nchunksperloop=\"{}\", expected a multiple of the {} gpus", chunks, ranks));
  }
  buffers.collective_ = file.collective;
  buffers.shared_ = file.in_place && !file.out_of_place;
  buffers.pieces_ = divided ? chunks / ranks : chunks;
  buffers.num_inputs_ = facts.many_inputs ? chunks : buffers.pieces_;
  buffers.num_outputs_ = facts.many_outputs ? chunks : buffers.pieces_;
  buffers.scratch_chunks_.resize(ranks);
  std::uint64_t cells = std::uint64_t{ranks} * (buffers.num_inputs_ + buffers.num_outputs_);
  for (const FileGpu& gpu : file.gpus) {
    buffers.scratch_chunks_[static_cast<std::size_t>(gpu.id)] = static_cast<std::uint32_t>(gpu.scratch_chunks);
    cells += static_cast<std::uint64_t>(gpu.scratch_chunks);
  }
  if (cells > kMostCells) {
    return wrong_at(file.path, file.line,
                    fmt::format("found {} chunks in all buffers of all gpus, expected at most {}", cells, kMostCells));
  }
  return buffers;
}

std::optional<std::uint32_t> Buffers::cell(std::uint32_t rank, Buffer buffer, std::uint32_t chunk) const {
  if (chunk >= num_chunks(rank, buffer)) return std::nullopt;
  if (buffer == Buffer::scratch) return num_inputs_ + num_outputs_ + chunk;
  const bool is_input = buffer == Buffer::input;
  if (!shared_) return is_input ? chunk : num_inputs_ + chunk;
  // One of the two is part of the other, or the same: the larger one's cells stand for both.
  const std::uint32_t own = rank * pieces_;
  switch (collective_) {
    case Collective::all_gather: return num_inputs_ + (is_input ? own : 0) + chunk;
    case Collective::reduce_scatter: return (is_input ? 0 : own) + chunk;
    default: return num_inputs_ + chunk;
  }
}

std::optional<Spot> Buffers::input(std::uint32_t rank, std::uint32_t cell) const {
  std::uint32_t chunk = cell;
  if (shared_ && collective_ != Collective::reduce_scatter) {
    const std::uint32_t first = num_inputs_ + (collective_ == Collective::all_gather ? rank * pieces_ : 0);
    if (cell < first) return std::nullopt;
    chunk = cell - first;
  }
  if (chunk >= num_inputs_) return std::nullopt;
  return Spot{Space::input, chunk / pieces_, chunk % pieces_};
}

std::optional<Spot> Buffers::output(std::uint32_t rank, std::uint32_t cell) const {
  const bool within = shared_ && collective_ == Collective::reduce_scatter;
  const std::uint32_t first = within ? rank * pieces_ : num_inputs_;
  if (cell < first || cell - first >= num_outputs_) return std::nullopt;
  return Spot{Space::output, (cell - first) / pieces_, (cell - first) % pieces_};
}

std::string Buffers::name(Buffer buffer, std::uint32_t chunk) {
  constexpr char kLetters[] = {'i', 'o', 's'};
  return fmt::format("{}{}", kLetters[static_cast<std::size_t>(buffer)], chunk);
}

}  // namespace tutti::msccl
