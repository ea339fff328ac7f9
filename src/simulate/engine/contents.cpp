// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/contents.hpp"

#include <fmt/format.h>

#include "schedule/prove/definition.hpp"

namespace tutti::simulate {

namespace {

std::uint64_t cells_of(const Division& division) { return std::uint64_t{division.blocks} * division.pieces; }

std::uint64_t place_of(std::uint32_t rank, std::uint32_t post) { return std::uint64_t{rank} << 32U | post; }

}  // namespace

Contents::Contents(const Schedule& schedule)
    : schedule_(schedule),
      outputs_(cells_of(schedule.division(Space::output))),
      stride_(outputs_ + cells_of(schedule.division(Space::scratch))),
      cells_(stride_ * schedule.num_ranks) {}

std::uint64_t Contents::needed(const Schedule& schedule) {
  return (cells_of(schedule.division(Space::output)) + cells_of(schedule.division(Space::scratch))) *
         schedule.num_ranks;
}

Fingerprint Contents::at(std::uint32_t rank, const Slice& piece) const {
  if (piece.space == Space::input) return contribution(rank, piece.block, piece.first_piece);
  return cells_[index(rank, piece)];
}

void Contents::copy(std::uint32_t rank, std::uint32_t post, const Slice& slice) {
  Copy& copy = copies_[place_of(rank, post)];
  copy.slice = slice;
  copy.values.clear();
  const std::uint32_t blocks = schedule_.division(slice.space).blocks;
  for (std::uint32_t i = 0; i < slice.size(); ++i) copy.values.push_back(at(rank, piece_at(slice, i, blocks)));
}

Fingerprint Contents::copied(std::uint32_t rank, std::uint32_t post, const Slice& piece) const {
  const auto found = copies_.find(place_of(rank, post));
  if (found == copies_.end()) return 0;
  const Slice& copy = found->second.slice;
  if (copy.space != piece.space || copy.block != piece.block || piece.first_piece < copy.first_piece) return 0;
  const std::uint32_t offset = piece.first_piece - copy.first_piece;
  return offset < found->second.values.size() ? found->second.values[offset] : 0;
}

std::uint32_t Contents::add_payload(std::span<const Fingerprint> values) {
  if (free_.empty()) {
    payloads_.emplace_back();
    free_.push_back(static_cast<std::uint32_t>(payloads_.size() - 1));
  }
  const std::uint32_t number = free_.back();
  free_.pop_back();
  payloads_[number].assign(values.begin(), values.end());
  return number;
}

std::optional<std::string> Contents::wrong(const Sizes& sizes, Watch& watch) const {
  const RankSums sums(schedule_.num_ranks);
  const Division& outputs = schedule_.division(Space::output);
  for (std::uint32_t rank = 0; rank < schedule_.num_ranks; ++rank) {
    for (std::uint32_t block = 0; block < outputs.blocks; ++block) {
      for (std::uint32_t piece = 0; piece < outputs.pieces; ++piece) {
        if (watch.is_over(1)) return std::nullopt;
        const std::optional<Expected> expected = expected_output(schedule_, rank, {block, piece});
        const Slice slice{Space::output, block, piece, 1};
        if (!expected || sizes.bytes(rank, slice, 0) == 0) continue;
        const Fingerprint right =
            sums.fold(expected->first, expected->end, expected->origin.block, expected->origin.piece);
        if (at(rank, slice) == right) continue;
        return fmt::format("rank {} does not hold what {} defines: {} is {}", rank, name_of(schedule_.collective),
                           to_string(slice), at(rank, slice) == 0 ? "never written" : "of other contributions");
      }
    }
  }
  return std::nullopt;
}

}  // namespace tutti::simulate
