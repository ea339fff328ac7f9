// Recursive halving: groups of 1, 2, 4, ... neighbouring ranks pair up; of every block each group has one partial sum,
// and of the two that a pair has one is sent to whoever keeps the other, so that at the end each rank keeps its own
// block.
//
// Meant for small and middling blocks: ceil(log2 N) steps, near ranks first: N/2 blocks go to the neighbour and one to
// the farthest, one message each. Any number of ranks: the groups are halves of halves (patterns/halves.hpp). Every
// rank sends N-1 blocks; with a power of two every rank folds as many, else the last rank of a shorter half keeps, and
// folds, for two. All folds are of neighbouring groups: in rank order. (The textbook halves blocks far ranks first,
// which is not.)
//
// Scratch: partial sums that are complete for a group and not to be sent at once: about N/4 blocks. Inputs are never
// written, so those cannot stay there.
//
// Lanes, so that the messages of one step neither wait for nor are waited for by those of the others: lane 0 sends
// inputs; lane l folds for the l-th time and sends on, in the same pass, what goes to another rank next. Every lane
// treats the blocks in ascending order, so nothing waits in a circle. The last fold, which is of one block, stands in
// lane 1 behind all other lanes: the next round writes scratch only when this one has read it.
#include <algorithm>
#include <array>

#include "algorithms/ends.hpp"
#include "algorithms/patterns/halves.hpp"
#include "algorithms/registry.hpp"

namespace tutti::reduce_scatter {

namespace {

using patterns::Halves;

// Which blocks a rank keeps when. Its fold number l joins the two groups of its l-th cut, counted from the innermost.
class Halving {
 public:
  Halving(std::uint32_t rank, std::uint32_t num_ranks)
      : cuts_(patterns::cuts_around(rank, num_ranks)), rank_(rank), num_ranks_(num_ranks) {}

  [[nodiscard]] std::uint32_t num_folds() const { return static_cast<std::uint32_t>(cuts_.size()); }
  [[nodiscard]] const Halves& cut(std::uint32_t fold) const { return cuts_[cuts_.size() - fold]; }
  // Who has the block's partial sum over the group that this fold makes.
  [[nodiscard]] std::uint32_t keeper_after(std::uint32_t fold, std::uint32_t block) const {
    return patterns::keeper_of(block, std::span(cuts_).first(cuts_.size() - fold), rank_);
  }
  [[nodiscard]] bool keeps_after(std::uint32_t fold, std::uint32_t block) const {
    return keeper_after(fold, block) == rank_;
  }
  [[nodiscard]] std::uint32_t num_kept_after(std::uint32_t fold) const {
    std::uint32_t kept = 0;
    for (std::uint32_t block = 0; block < num_ranks_; ++block) kept += keeps_after(fold, block) ? 1 : 0;
    return kept;
  }

 private:
  std::vector<Halves> cuts_;
  std::uint32_t rank_;
  std::uint32_t num_ranks_;
};

Lane sending(Builder& b) {
  const Halving halving(b.rank(), b.num_ranks());
  if (halving.num_folds() == 0) {
    b.completing();
    co_yield b.copy(b.input_block(0), b.output());
    co_return;
  }
  for (std::uint32_t block = 0; block < b.num_ranks(); ++block)
    if (!halving.keeps_after(1, block)) co_yield b.send(halving.keeper_after(1, block), b.input_block(block));
}

// The lower group's part first.
const Step& fold(Builder& b, const Halves& cut, Slice own, Endpoint into) {
  const Endpoint theirs = message_end(cut.counterpart(b.rank()), own);
  if (cut.is_low(b.rank())) return b.combine(std::array{local_end(own), theirs}, std::array{into});
  return b.combine(std::array{theirs, local_end(own)}, std::array{into});
}

// One of the folds but the last. The block that ends here is kept in the output, others in scratch.
Lane folding(Builder& b, std::uint32_t number) {
  const Halving halving(b.rank(), b.num_ranks());
  if (number < halving.num_folds()) {
    std::uint32_t steps_before = 0;  // of the lane before, which has one for each block that is kept after its fold
    std::uint32_t stored = 0;
    for (std::uint32_t block = 0; block < b.num_ranks(); ++block) {
      const std::uint32_t turn = steps_before;
      const Slice place = block == b.rank() ? b.output() : b.scratch(stored);
      if (halving.keeps_after(number - 1, block)) ++steps_before;
      if (block != b.rank() && halving.keeps_after(2, block)) ++stored;
      if (!halving.keeps_after(number, block)) continue;
      const std::uint32_t keeper = halving.keeper_after(number + 1, block);
      if (number > 1) b.after(number - 1, turn);
      const Slice own = number == 1 ? b.input_block(block) : place;
      co_yield fold(b, halving.cut(number), own, keeper == b.rank() ? local_end(place) : message_end(keeper, own));
    }
  }
  if (number != 1 || halving.num_folds() == 0) co_return;
  const std::uint32_t last = halving.num_folds();
  for (std::uint32_t lane = 2; lane < last; ++lane) b.after(lane, halving.num_kept_after(lane) - 1);
  b.completing();
  co_yield fold(b, halving.cut(last), last == 1 ? b.input_block(b.rank()) : b.output(), local_end(b.output()));
}

Schedule make(const Request& request) {
  const std::uint32_t n = request.num_ranks;
  const auto folds = static_cast<std::uint32_t>(patterns::cuts_around(0, n).size());
  Schedule schedule = header_of(recursive_halving, request, 1, n == 1 ? 1 : std::max(folds, 2U),
                                patterns::most_kept_after_two_folds(n));
  schedule.lane = [](Builder& b, std::uint32_t lane) { return lane == 0 ? sending(b) : folding(b, lane); };
  return schedule;
}

}  // namespace

const Algorithm recursive_halving = {
    .name = "recursive_halving",
    .collective = Collective::reduce_scatter,
    .channel = Channel::message,
    .order = OrderClass::rank_order,
    .method = "groups of 1, 2, 4, ... ranks exchange half of their partial sums and fold the other half",
    .citation =
        "R. Thakur, R. Rabenseifner, W. Gropp, Optimization of collective communication operations in MPICH, "
        "IJHPCA 19(1), 2005 (here near ranks first; other than powers of two by halves that differ by one)",
    .make = make,
};

}  // namespace tutti::reduce_scatter
