// SPDX-License-Identifier: Apache-2.0
// One call of a collective, bound: a plan together with this call's buffers, count, type and operator. Lives on the
// stack of the call; allocates nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "data/kernel.hpp"
#include "runtime/communicator/invocation.hpp"
#include "runtime/plan/plan.hpp"
#include "schedule/layout.hpp"
#include "table/decision_table.hpp"
#include "transport/shm/spread.hpp"

namespace tutti {

class BlockTable;

// How a rank reads what another exposes.
enum class Reach : std::uint8_t {
  staged,     // from a staging slot that its owner has copied it to
  symmetric,  // where it lies, in symmetric memory
  attached,   // where it lies, in the other process: the system copies
};

// What a communicator does for itself, between the calls of its program.
enum class OwnCall : std::uint8_t { making, allocation, freeing, splitting };

// What a call is, in 64 bits. It travels beside every flag, so ranks whose calls differ find out, and can say how.
struct CallDescription {
  static constexpr std::uint32_t kMostAlgorithm = 63;
  static constexpr std::uint32_t kSubjects = 1024;

  std::uint64_t count = 0;  // elements of the largest block, at most kMaxCount
  Collective collective = Collective::all_reduce;
  Type type = Type::f32;
  Op op = Op::sum;
  std::uint32_t algorithm = 0;  // the plan's number in its communicator, at most kMostAlgorithm
  std::uint32_t subject = 0;    // below kSubjects: subject_of(), or which OwnCall it is
  Reach reach = Reach::staged;
  bool is_own = false;  // the communicator's; such are staged

  [[nodiscard]] constexpr std::uint64_t pack() const {
    return count | std::uint64_t{static_cast<std::uint8_t>(collective)} << 36 |
           std::uint64_t{static_cast<std::uint8_t>(type)} << 40 | std::uint64_t{static_cast<std::uint8_t>(op)} << 44 |
           std::uint64_t{algorithm} << 48 | std::uint64_t{subject} << 54 |
           (is_own ? kOwnCall : std::uint64_t{static_cast<std::uint8_t>(reach)}) << 34;
  }
  [[nodiscard]] static constexpr CallDescription unpack(std::uint64_t word) {
    const std::uint64_t reach = (word >> 34) & 3;
    return {word & kMaxCount,
            static_cast<Collective>((word >> 36) & 15),
            static_cast<Type>((word >> 40) & 15),
            static_cast<Op>((word >> 44) & 15),
            static_cast<std::uint32_t>((word >> 48) & 63),
            static_cast<std::uint32_t>(word >> 54),
            reach == kOwnCall ? Reach::staged : static_cast<Reach>(reach),
            reach == kOwnCall};
  }

  // Root and operator in one number. Built-in operators have no part in it, since `op` says which it is, and of those
  // that were made as many can be told apart as the roots leave room for. Roots from kSubjects on look like lower ones.
  [[nodiscard]] static std::uint32_t subject_of(const Invocation& asked, std::uint32_t num_ranks) {
    const std::uint32_t roots = num_roots(asked.collective, num_ranks);
    const bool is_made = facts_of(asked.collective).folds && asked.op.value >= OperatorHandle::kFirstCustom;
    const std::uint32_t made =
        is_made ? (asked.op.value - OperatorHandle::kFirstCustom) % std::max(1U, kSubjects / roots) : 0;
    return (made * roots + (roots > 1 ? asked.root : 0)) % kSubjects;
  }
  [[nodiscard]] std::uint32_t root(std::uint32_t num_ranks) const { return subject % num_roots(collective, num_ranks); }
  // The number of the operator among those made, where there are no more than kSubjects / num_roots().
  [[nodiscard]] std::uint32_t made(std::uint32_t num_ranks) const { return subject / num_roots(collective, num_ranks); }
  [[nodiscard]] static std::uint32_t num_roots(Collective collective, std::uint32_t num_ranks) {
    return facts_of(collective).has_root ? num_ranks : 1;
  }

 private:
  static constexpr std::uint64_t kOwnCall = 3;  // where others have their reach
};

// Where a symmetric buffer is: the ranks' parts of one segment lie at equal distances.
struct SymmetricBuffer {
  static constexpr std::uint64_t kNumSegments = 1 << 24;  // told apart

  std::byte* segment = nullptr;      // rank 0's part; null where the buffer is ordinary memory
  std::uint64_t stride = 0;          // from one rank's part to the next
  std::uint64_t offset = 0;          // of the buffer within this rank's part
  std::uint64_t segment_number = 0;  // the same on all ranks

  // What this rank's post says of its buffer. Offsets are below 2^40 (SymmetricHeap).
  [[nodiscard]] std::uint64_t place() const { return segment_number << 40 | offset; }
  // Where the buffer of `rank` is that has posted `place`; null where that is in another segment than this rank's.
  [[nodiscard]] std::byte* of(std::uint32_t rank, std::uint64_t place) const {
    if (segment == nullptr || place >> 40 != segment_number) return nullptr;
    return segment + rank * stride + (place & ((std::uint64_t{1} << 40) - 1));
  }
};

// How many of `depth` staging slots the operations of a single exposure take in turn. Four, or two where there are no
// four: when a rank has seen all posts of one operation, nobody reads the slot of the next but one.
[[nodiscard]] constexpr std::uint64_t slot_turns(std::uint32_t depth) { return depth < 4 ? 2 : 4; }
// The slot of such an operation, by the number of its post.
[[nodiscard]] constexpr std::uint64_t small_slot(std::uint64_t post, std::uint64_t turns) { return post & (turns - 1); }

struct Call {
  const CallTuning* tuning = nullptr;  // what a decision table says of it; borrowed; null: the profile says all
  const Plan* plan = nullptr;
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::byte* scratch = nullptr;
  SymmetricBuffer symmetric_input;
  SymmetricBuffer symmetric_output;
  Reach reach = Reach::staged;
  std::uint64_t element = 1;      // bytes
  std::uint64_t described = 0;    // CallDescription
  std::uint64_t description = 0;  // the same as it travels beside flags, filled in when the call begins (history.hpp)
  const Operator* operation = nullptr;
  ReduceKernel kernel = nullptr;
  std::uint64_t window = 0;  // elements of each piece that a round carries
  std::uint32_t depth = 1;   // staging slots that exposures go through in turn
  shm::Places places;        // in a slot
  std::uint64_t rounds = 1;
  // All that a rank exposes lies in one slot, so many bytes apart, and its last expose posts for all. 0: it does not.
  std::uint64_t gathered = 0;
  // What is exposed in a list (lowered.hpp) and has fewer bytes travels with its flag. Both ends must know; so where
  // blocks differ in size, all do or none.
  std::uint64_t inline_end = 0;
  std::uint64_t move_most = 0;  // bytes of a block that a list moves by memcpy
  // By space: how one block's elements are cut (all blocks of a space are alike).
  PieceLayout layouts[kNumSpaces] = {{0, 1, 1}, {0, 1, 1}, {0, 1, 1}};
  std::uint64_t block_elements[kNumSpaces] = {0, 0, 0};
  // Instead of both, where blocks differ in size; then all ranks have the window and the rounds of the largest of all.
  const BlockTable* varying = nullptr;
  bool is_brief = false;        // so little that an oversubscribed rank keeps its core for a moment (small.brief_most)
  bool may_go_unheard = false;  // some rank may hear nothing from the others: alike on all that call alike
  // Where this operation begins in the communicator's count of posts and of rounds.
  std::uint64_t post_base = 0;
  std::uint64_t round_base = 0;
  std::uint64_t expose_base = 0;

  // Exposures name the buffers themselves instead of a copy in a staging slot.
  [[nodiscard]] bool by_name() const { return reach != Reach::staged; }

  // Of a round.
  [[nodiscard]] std::uint32_t num_posts() const { return gathered > 0 ? 1 : plan->posts_per_round; }
  [[nodiscard]] std::uint32_t num_exposes() const { return gathered > 0 ? 1 : plan->exposes_per_round; }
  // How many slots take turns where there is one exposure in all.
  [[nodiscard]] std::uint64_t turns() const { return slot_turns(depth); }
  // One post a round: then its line stays as it is until everyone is done with the round, and may carry a payload.
  [[nodiscard]] bool posts_once() const { return num_posts() == 1; }
  // Whether that expose of a round begins a slot, and whether it posts.
  [[nodiscard]] bool begins_slot(std::uint32_t expose) const { return gathered == 0 || expose == 0; }
  [[nodiscard]] bool ends_slot(std::uint32_t expose) const {
    return gathered == 0 || expose + 1 == plan->exposes_per_round;
  }
  // What a slot holds of which an expose has so many bytes.
  [[nodiscard]] std::uint64_t bytes_in_slot(std::uint64_t bytes) const {
    return gathered > 0 ? gathered * plan->exposes_per_round : bytes;
  }
  // Where that expose lies in what its slot, or its line, holds.
  [[nodiscard]] std::uint64_t within_slot(std::uint32_t expose) const { return gathered * expose; }

  // The staging slot of expose number `expose` of `round`. Operations of a single exposure go by their posts, so that
  // the slot of the next is known; others go through all.
  [[nodiscard]] std::uint64_t slot(std::uint64_t round, std::uint32_t expose) const {
    if (rounds == 1 && posts_once()) return small_slot(post_value(round, 0), turns());
    return number_of(round, expose) % depth;
  }
  // And where in that slot it begins.
  [[nodiscard]] std::uint64_t begin_in_slot(std::uint64_t round, std::uint32_t expose) const {
    if (rounds == 1 && posts_once()) return places.begin(post_value(round, 0), turns()) + within_slot(expose);
    return places.begin(number_of(round, expose), depth);
  }
  [[nodiscard]] std::uint64_t number_of(std::uint64_t round, std::uint32_t expose) const {
    return expose_base + round * plan->exposes_per_round + expose;
  }

  // Of a block's elements in a window, of which `first` are in the first round, those in that round.
  [[nodiscard]] std::uint64_t length_of(std::uint64_t first, std::uint64_t round) const {
    if (rounds == 1) return first;
    const std::uint64_t elements = block_elements[static_cast<std::size_t>(Space::input)];
    const std::uint64_t before = round * window;
    return before >= elements ? 0 : std::min(window, elements - before);
  }

  // The number of post `post` of `round`; flags carry it.
  [[nodiscard]] std::uint64_t post_value(std::uint64_t round, std::uint32_t post) const {
    return post_base + round * num_posts() + (gathered > 0 ? 0 : post) + 1;
  }
};

}  // namespace tutti
