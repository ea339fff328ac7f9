// The walker for exchanges: every rank exposes a round of its input in a staging slot or in the flag's own line, and
// folds what the ranks have exposed into its output. Exposing is one round ahead of folding, so that a round's data
// cross between the caches while the one before is folded.
//
// run_small() is the same for a single round and without the bookkeeping of rounds. It is all there is between the API
// and the cache line for small calls; docs/design/executor.md has its costs.
#include <algorithm>
#include <cstring>

#include "runtime/executor.hpp"

namespace tutti {

namespace {

// At most kInlineBytes, in a few moves of fixed size that overlap in the middle.
inline void copy_inline(std::byte* to, const void* from, std::uint64_t bytes) {
  const auto* source = static_cast<const std::byte*>(from);
  if (bytes >= 16) {
    std::memcpy(to, source, 16);
    if (bytes > 32) std::memcpy(to + 16, source + 16, 16);
    std::memcpy(to + bytes - 16, source + bytes - 16, 16);
  } else if (bytes >= 8) {
    std::memcpy(to, source, 8);
    std::memcpy(to + bytes - 8, source + bytes - 8, 8);
  } else if (bytes >= 4) {
    std::memcpy(to, source, 4);
    std::memcpy(to + bytes - 4, source + bytes - 4, 4);
  } else {
    for (std::uint64_t i = 0; i < bytes; ++i) to[i] = source[i];
  }
}

inline bool has_first_touch(const Operator& operation) { return operation.op == Op::premultiplied_sum; }

}  // namespace

End Executor::run_small(const Small& call) {
  begin(call.description);
  const std::uint64_t value = posts_ + 1;
  const std::uint64_t number = exposes_;
  const bool is_inline = call.bytes <= shm::kInlineBytes;
  std::uint64_t& busy = is_inline ? line_busy_[value & 1] : slot_busy_[slot_of(number)];
  const std::uint64_t free_at = std::max(busy, line_busy_[value & 1]);
  if (known_finished_ < free_at) [[unlikely]] {
    const shm::WaitEnd end = waiter_.until([&] { return everyone_finished(free_at); });
    if (end != shm::WaitEnd::ready) return end_of(end);
  }
  busy = rounds_ + 1;

  std::byte* exposed = is_inline ? region_.post_line(rank_, value).payload : staging_slot(rank_, number);
  if (has_first_touch(*call.operation)) [[unlikely]] {
    first_touch_copy(*call.operation, exposed, call.input, call.count, false);
  } else if (is_inline) {
    copy_inline(exposed, call.input, call.bytes);
  } else {
    std::memcpy(exposed, call.input, call.bytes);
  }
  publish_post(value, call.description);

  const std::vector<std::uint32_t>& order = call.plan->fold_order;
  ReduceCall reduce;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t peer = order[i];
    if (peer == rank_) {
      sources_[i] = call.input;
      reduce.raw_source = static_cast<std::uint32_t>(i);
      continue;
    }
    const shm::FlagLine& line = region_.post_line(peer, value);
    const shm::WaitEnd end = waiter_.until([&] { return line.sequence.load(std::memory_order_acquire) >= value; });
    if (end != shm::WaitEnd::ready) return end_of(end);
    if (line.description.load(std::memory_order_relaxed) != call.description) [[unlikely]] {
      if (const auto theirs = differing_post(peer, value, call.description)) return mismatch_with(peer, *theirs);
    }
    sources_[i] = is_inline ? line.payload : staging_slot(peer, number);
  }
  void* destination = call.output;
  reduce.sources = sources_.data();
  reduce.num_sources = static_cast<std::uint32_t>(order.size());
  reduce.destinations = &destination;
  reduce.num_destinations = 1;
  reduce.count = call.count;
  reduce.final = true;
  call.kernel(*call.operation, reduce);

  // Every rank's post of this operation has been seen, and a rank posts once it has finished all before.
  if (call.plan->schedule.num_ranks == order.size()) known_finished_ = std::max(known_finished_, rounds_);
  posts_ = value;
  exposes_ = number + 1;
  finish_rounds(++rounds_);
  return End::done;
}

End Executor::walk_exchange(const Call& call) {
  const PieceLayout& layout = call.layouts[static_cast<std::size_t>(Space::input)];
  const std::vector<std::uint32_t>& order = call.plan->fold_order;
  const auto expose = [&](std::uint64_t round) {
    const std::uint64_t value = call.post_value(round, 0);
    const std::uint64_t number = call.expose_base + round;
    const shm::WaitEnd end = waiter_.until([&] { return line_is_free(value) && slot_is_free(number); });
    if (end != shm::WaitEnd::ready) return end_of(end);
    const Run run = layout.run(0, round);
    const bool is_inline = run.length * call.element <= shm::kInlineBytes;
    std::byte* exposed = is_inline ? region_.post_line(rank_, value).payload : staging_slot(rank_, number);
    (is_inline ? line_busy_[value & 1] : slot_busy_[slot_of(number)]) = call.round_base + round + 1;
    const std::byte* source = call.input + run.offset * call.element;
    if (has_first_touch(*call.operation)) {
      first_touch_copy(*call.operation, exposed, source, run.length, false);
    } else {
      std::memcpy(exposed, source, run.length * call.element);
    }
    publish_post(value, call.description);
    return End::done;
  };
  const auto fold = [&](std::uint64_t round) {
    const std::uint64_t value = call.post_value(round, 0);
    const Run run = layout.run(0, round);
    const bool is_inline = run.length * call.element <= shm::kInlineBytes;
    ReduceCall reduce;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint32_t peer = order[i];
      if (peer == rank_) {
        sources_[i] = call.input + run.offset * call.element;
        reduce.raw_source = static_cast<std::uint32_t>(i);
        continue;
      }
      const shm::FlagLine& line = region_.post_line(peer, value);
      const shm::WaitEnd end = waiter_.until([&] { return line.sequence.load(std::memory_order_acquire) >= value; });
      if (end != shm::WaitEnd::ready) return end_of(end);
      if (const auto theirs = differing_post(peer, value, call.description)) return mismatch_with(peer, *theirs);
      sources_[i] = is_inline ? line.payload : staging_slot(peer, call.expose_base + round);
    }
    void* destination = call.output + run.offset * call.element;
    reduce.sources = sources_.data();
    reduce.num_sources = static_cast<std::uint32_t>(order.size());
    reduce.destinations = &destination;
    reduce.num_destinations = 1;
    reduce.count = run.length;
    reduce.final = true;
    call.kernel(*call.operation, reduce);
    finish_rounds(call.round_base + round + 1);
    return End::done;
  };

  if (const End end = expose(0); end != End::done) return end;
  for (std::uint64_t round = 0; round < call.rounds; ++round) {
    if (round + 1 < call.rounds)
      if (const End end = expose(round + 1); end != End::done) return end;
    if (const End end = fold(round); end != End::done) return end;
  }
  return End::done;
}

}  // namespace tutti
