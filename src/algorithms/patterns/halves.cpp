#include "algorithms/patterns/halves.hpp"

#include <algorithm>

namespace tutti::patterns {

namespace {

Halves cut(std::uint32_t first, std::uint32_t end) { return {first, first + (end - first + 1) / 2, end}; }

// Walks down all groups with the number of blocks that each rank keeps in them.
class Counting {
 public:
  explicit Counting(std::uint32_t num_ranks) : kept_(num_ranks, 1) { visit(0, num_ranks); }
  [[nodiscard]] std::uint32_t most() const { return most_; }

 private:
  void visit(std::uint32_t first, std::uint32_t end) {
    const std::uint32_t size = end - first;
    for (std::uint32_t rank = first; rank < end; ++rank)
      if (cuts_around(rank - first, size).size() == 2) most_ = std::max(most_, kept_[rank] - 1);
    if (size == 1) return;
    const Halves halves = cut(first, end);
    std::vector<std::uint32_t> within(kept_.begin() + first, kept_.begin() + end);
    for (std::uint32_t rank = first; rank < end; ++rank) within[halves.counterpart(rank) - first] += kept_[rank];
    std::copy(within.begin(), within.end(), kept_.begin() + first);
    visit(first, halves.middle);
    visit(halves.middle, end);
  }

  std::vector<std::uint32_t> kept_;
  std::uint32_t most_ = 0;
};

}  // namespace

RankRun Halves::own(std::uint32_t rank) const {
  return is_low(rank) ? RankRun{first, middle - first} : RankRun{middle, end - middle};
}

RankRun Halves::other(std::uint32_t rank) const {
  return is_low(rank) ? RankRun{middle, end - middle} : RankRun{first, middle - first};
}

std::uint32_t Halves::counterpart(std::uint32_t rank) const {
  const RankRun there = other(rank);
  return there.first + std::min(rank - own(rank).first, there.count - 1);
}

RankRun Halves::followers(std::uint32_t rank) const {
  const RankRun here = own(rank);
  const RankRun there = other(rank);
  const std::uint32_t place = rank - here.first;
  if (place >= there.count) return {there.first, 0};
  const bool is_last = place + 1 == here.count;
  return {there.first + place, is_last ? there.count - place : 1};
}

std::vector<Halves> cuts_around(std::uint32_t rank, std::uint32_t num_ranks) {
  std::vector<Halves> cuts;
  for (RankRun group{0, num_ranks}; group.count > 1; group = cuts.back().own(rank))
    cuts.push_back(cut(group.first, group.first + group.count));
  return cuts;
}

std::uint32_t keeper_of(std::uint32_t block, std::span<const Halves> cuts, std::uint32_t rank) {
  std::uint32_t keeper = block;
  for (const Halves& halves : cuts)
    if (halves.is_low(keeper) != halves.is_low(rank)) keeper = halves.counterpart(keeper);
  return keeper;
}

std::uint32_t most_kept_after_two_folds(std::uint32_t num_ranks) { return Counting(num_ranks).most(); }

}  // namespace tutti::patterns
