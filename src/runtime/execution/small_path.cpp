// SPDX-License-Identifier: Apache-2.0
// The small path: an exchange of one round of a built-in operator, without a Call. Every rank stores its input in a
// staging slot or, if it is short, in the line of its flag, and reduces all ranks' inputs into its output. This is all
// there is between the API and the cache line for small all-reduces, by hand and not from the schedule of one_shot;
// the tests of AnyProfile and of conformance hold it equal to that. docs/design/executor.md has its costs.
#include <algorithm>
#include <cstring>

#include "runtime/execution/executor.hpp"

namespace tutti {

void Executor::set_small_plan(const Plan& plan, const shm::Spread& spread) {
  TUTTI_ASSERT(plan.is_exchange(), "the small path walks exchanges");
  small_.peers.clear();
  small_.sources.resize(plan.fold_order.size());
  for (std::size_t i = 0; i < plan.fold_order.size(); ++i) {
    const std::uint32_t rank = plan.fold_order[i];
    if (rank == rank_) {
      small_.own_source = &small_.sources[i];
      continue;
    }
    SmallPeer& peer = small_.peers.emplace_back();
    peer.rank = rank;
    peer.source = &small_.sources[i];
    peer.slots = region_.staging(rank);
    for (std::uint64_t line = 0; line < shm::kPostLines; ++line) peer.lines[line] = &region_.post_line(rank, line);
  }
  small_.own_slots = region_.staging(rank_);
  small_.turns = slot_turns(region_.shape().staging_depth);
  small_.spread = spread;
  small_.brief_most = profile_.small_brief_most;
  small_.ask_most = profile_.small_ask_most;
  small_.ask_below = profile_.small_ask_below;
  small_.ask_from = profile_.small_ask_from;
  small_.reduce = {.destinations = &small_.output,
                   .num_destinations = 1,
                   .sources = small_.sources.data(),
                   .num_sources = static_cast<std::uint32_t>(small_.sources.size()),
                   .final = true};
}

// Until the readers of what a line, or a slot, held before are done with it.
End Executor::await_finished(std::uint64_t count) {
  missing_ = {.kind = Missing::Kind::finished, .number = count};
  return wait_for_missing();
}

End Executor::await_post_longer(const shm::FlagLine& line, std::uint32_t peer, std::uint64_t value,
                                std::uint64_t description) {
  if (const shm::WaitEnd end = waiter_.until_posted(peer, value); end != shm::WaitEnd::ready) [[unlikely]]
    return end_of(end);
  if (line.description.load(std::memory_order_relaxed) != description) [[unlikely]]
    return mismatch_with(peer, line.description.load(std::memory_order_relaxed));
  return End::done;
}

// What can be said of the operation before the others' posts have come, while there is nothing else to do.
inline void Executor::prepare_small(const void* own, void* output, std::uint64_t count, std::uint64_t value) {
  *small_.own_source = own;
  small_.output = output;
  small_.reduce.count = count;
  line_busy_[value % shm::kPostLines] = rounds_ + 1;
  posts_ = value;
  ++exposes_;
}

// Folds the sources into the output, and ends the operation.
inline void Executor::fold_small(const SmallOperator& op) {
  if (op.pair != nullptr && small_.sources.size() == 2) {
    op.pair(small_.sources[0], small_.sources[1], small_.output, small_.reduce.count);
  } else {
    op.kernel(op.operation, small_.reduce);
  }
  // Every rank's post of this operation has been seen, and a rank posts once it has finished all before.
  known_finished_ = std::max(known_finished_, rounds_);
  finish_rounds(++rounds_);
}

End Executor::run_small(const SmallOperator& op, const void* input, void* output, std::uint64_t count) {
  const std::uint64_t bytes = count * op.element;
  waiter_.expect_near_posts(bytes <= small_.brief_most);
  if (bytes <= shm::kInlineBytes) return run_inline(op, input, output, count);
  return run_slotted(op, input, output, count);
}

End Executor::run_inline(const SmallOperator& op, const void* input, void* output, std::uint64_t count) {
  const std::uint64_t value = posts_ + 1;
  const std::uint64_t place = value % shm::kPostLines;
  const std::uint64_t described = op.description | count;
  const std::uint64_t description = history_.changed(described);
  begin(described);
  if (known_finished_ < line_busy_[place]) [[unlikely]]
    if (const End end = await_finished(line_busy_[place]); end != End::done) return end;
  publish_inline(value, description, input, count * op.element);
  prepare_small(input, output, count, value);
  for (const SmallPeer& peer : small_.peers) {
    const shm::FlagLine& line = *peer.lines[place];
    *peer.source = line.payload;
    if (const End end = await_post(line, peer.rank, value, description); end != End::done) [[unlikely]]
      return end;
  }
  shm::expect_store(own_lines_[(value + 1) % shm::kPostLines]);
  fold_small(op);
  return End::done;
}

End Executor::run_slotted(const SmallOperator& op, const void* input, void* output, std::uint64_t count) {
  const std::uint64_t value = posts_ + 1;
  const std::uint64_t place = value % shm::kPostLines;
  const std::uint64_t bytes = count * op.element;
  const std::uint64_t turns = small_.turns;
  const std::uint64_t slot = small_slot(value, turns);
  const std::uint64_t described = op.description | count;
  const std::uint64_t description = history_.changed(described);
  begin(described);
  if (known_finished_ < std::max(line_busy_[place], slot_busy_[slot])) [[unlikely]]
    if (const End end = await_finished(std::max(line_busy_[place], slot_busy_[slot])); end != End::done) return end;
  const shm::Places places = small_.spread.places(bytes);
  if (places.number > 1 && !has_spread_) [[unlikely]]
    get_spread();
  const std::uint64_t begin_in_slot = places.begin(value, turns);
  std::byte* const own = small_.own_slots + slot * slot_room_ + begin_in_slot;
  if (stores_.takes(bytes)) [[unlikely]] {
    stores_.copy(own, static_cast<const std::byte*>(input), bytes);
  } else {
    std::memcpy(own, input, bytes);
  }
  publish_post(value, description);
  // What was just stored is nearer than the input, where the ranks' data compete for the caches and it is in one.
  prepare_small(spins_ != 0 || stores_.goes_past(bytes) ? input : own, output, count, value);
  slot_busy_[slot] = rounds_ + 1;
  // Not where the others need this core to come, nor where slots are so few that they may be reading that one.
  if (spins_ != 0 && turns == 4 && !stores_.goes_past(bytes) && (bytes < small_.ask_below || bytes >= small_.ask_from))
    shm::expect_stores(small_.own_slots + small_slot(value + 1, turns) * slot_room_ + places.begin(value + 1, turns),
                       bytes, small_.ask_most);
  for (const SmallPeer& peer : small_.peers) {
    const std::byte* const theirs = peer.slots + slot * slot_room_ + begin_in_slot;
    *peer.source = theirs;
    if (const End end = await_post(*peer.lines[place], peer.rank, value, description); end != End::done) [[unlikely]]
      return end;
    // The kernel is still some steps away from its first loads.
    __builtin_prefetch(theirs);
    __builtin_prefetch(theirs + shm::kLine);
  }
  fold_small(op);
  return End::done;
}

}  // namespace tutti
