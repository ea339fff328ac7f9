// SPDX-License-Identifier: Apache-2.0
// The walker of lists (lowered.hpp): no lanes and no schedule, step after step over offsets. A step is done once what
// it needs is there; a blocking call waits for that, a pending operation comes back later.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "runtime/execution/executor.hpp"

namespace tutti {

namespace {

using List = Lowered;

bool is_inline(const Call& call, std::uint64_t bytes) { return bytes < call.inline_end; }

const SymmetricBuffer& symmetric(const Call& call, Space space) {
  return space == Space::input ? call.symmetric_input : call.symmetric_output;
}

// Posts are one round ahead, so that a round's data cross between the caches while the one before is worked on; not
// where slots are too few for two rounds.
std::uint64_t rounds_ahead(const Call& call) {
  return call.by_name() || call.depth >= 2 * call.plan->exposes_per_round ? 1 : 0;
}

}  // namespace

End Executor::walk_list(const Call& call, const Lowered& list, bool may_wait) {
  ListState& state = started_.state;
  const std::uint64_t ahead = rounds_ahead(call);
  for (; state.round < call.rounds; ++state.round, state.next = list.num_posts) {
    for (; state.posted < call.rounds && state.posted <= state.round + ahead; ++state.posted, state.next_post = 0)
      if (const End end = walk_steps(call, list, state.next_post, list.num_posts, state.posted, may_wait);
          end != End::done)
        return end;
    if (const End end = walk_steps(call, list, state.next, list.steps.size(), state.round, may_wait); end != End::done)
      return end;
  }
  // A rank posts only when it has finished all operations before.
  if (list.meets_all) known_finished_ = std::max(known_finished_, call.round_base);
  end_call(call);
  return End::done;
}

inline End Executor::walk_steps(const Call& call, const Lowered& list, std::size_t& next, std::size_t end,
                                std::uint64_t round, bool may_wait) {
  std::size_t at = next;
  End went = End::done;
  for (; at < end; ++at) {
    went = try_step(call, list, list.steps[at], round);
    while (went == End::pending && may_wait) {
      if (went = wait_for_missing(); went == End::done) went = try_step(call, list, list.steps[at], round);
    }
    if (went != End::done) break;
  }
  progress_ += at - next;
  next = at;
  return went;
}

// Does the step, or says in missing_ what it needs first.
inline End Executor::try_step(const Call& call, const Lowered& list, const Lowered::Step& step, std::uint64_t round) {
  switch (step.kind) {
    case List::Kind::expose: return try_expose(call, step, round);
    case List::Kind::name:
    case List::Kind::signal: return try_post(call, step, round);
    case List::Kind::await: return try_await(call, step.rank, step.post, round);
    case List::Kind::combine: return try_combine(call, list, step, round);
    case List::Kind::move: return try_move(call, list, step);
    case List::Kind::finish:
      // The next call's line, which a peer has looked at, comes back meanwhile: see run_inline().
      if (spins_ != 0) shm::expect_store(own_lines_[call.post_value(round + 1, 0) % shm::kPostLines]);
      finish_rounds(call.round_base + round + 1);
      return End::done;
    case List::Kind::close: return try_finished(call.round_base + round + 1);
  }
  return End::done;
}

inline End Executor::try_finished(std::uint64_t count) {
  if (known_finished_ >= count || everyone_finished(count)) return End::done;
  missing_ = {.kind = Missing::Kind::finished, .number = count};
  return End::pending;
}

// A post of several leaves its line to later ones whoever has looked; that of one keeps it for the round.
inline End Executor::try_post(const Call& call, const Lowered::Step& step, std::uint64_t round) {
  const std::uint64_t value = call.post_value(round, step.post);
  std::uint64_t& busy = line_busy_[value % shm::kPostLines];
  if (const End end = try_finished(busy); end != End::done) return end;
  if (step.kind == List::Kind::name) {
    const std::byte* buffer = step.space == Space::input ? call.input : call.output;
    say_place(step.post, call.reach == Reach::attached ? reinterpret_cast<std::uintptr_t>(buffer)
                                                       : symmetric(call, step.space).place());
  }
  if (call.posts_once()) busy = call.round_base + round + 1;
  publish_post(value, call.description);
  return End::done;
}

inline End Executor::try_expose(const Call& call, const Lowered::Step& step, std::uint64_t round) {
  const std::uint64_t value = call.post_value(round, step.post);
  std::uint64_t& line_busy = line_busy_[value % shm::kPostLines];
  const std::uint64_t until = call.round_base + round + 1;
  const std::uint64_t length = call.length_of(step.length, round);
  const std::uint64_t bytes = length * call.element;
  const std::byte* from =
      (step.space == Space::input ? call.input : call.output) + step.offset + round * call.window * call.element;
  const bool first_touch = step.space == Space::input && call.operation->op == Op::premultiplied_sum;
  const std::uint64_t in_slot = call.bytes_in_slot(bytes);
  if (is_inline(call, in_slot)) {
    if (call.begins_slot(step.expose))
      if (const End end = try_finished(line_busy); end != End::done) return end;
    line_busy = until;
    if (first_touch) {
      first_touch_copy(*call.operation, gathered_ + call.within_slot(step.expose), from, length, false);
      from = gathered_;
    } else if (call.gathered > 0) {
      if (bytes > 0) std::memcpy(gathered_ + call.within_slot(step.expose), from, bytes);
      from = gathered_;
    }
    if (call.ends_slot(step.expose)) publish_inline(value, call.description, from, in_slot);
    return End::done;
  }
  const std::uint64_t slot = call.slot(round, step.expose);
  if (call.begins_slot(step.expose))
    if (const End end = try_finished(std::max(line_busy, slot_busy_[slot])); end != End::done) return end;
  slot_busy_[slot] = until;
  if (call.posts_once()) line_busy = until;
  store_exposed(call, staged(call, rank_, round, step.expose), from, length, first_touch);
  if (!call.ends_slot(step.expose)) return End::done;
  publish_post(value, call.description);
  // While the others' posts are on their way, the slot of the next call: see run_slotted().
  if (spins_ != 0 && !stores_.goes_past(bytes) && call.posts_once() && call.depth >= 4 && round + 1 == call.rounds)
    shm::expect_stores(staged(call, rank_, round + 1, 0), in_slot, profile_.lists_ask_most);
  return End::done;
}

inline End Executor::try_await(const Call& call, std::uint32_t rank, std::uint32_t post, std::uint64_t round) {
  const std::uint64_t value = call.post_value(round, post);
  const shm::FlagLine& line = region_.post_line(rank, value);
  const auto lacks_post = [&] {
    missing_ = {.kind = Missing::Kind::post, .rank = rank, .number = value};
    return End::pending;
  };
  if (!call.posts_once()) {
    if (!has_posted(rank, value)) return lacks_post();
    const auto theirs = differing_round(call, rank, round, value);
    return theirs ? mismatch_with(rank, *theirs) : End::done;
  }
  // The line stays as it is until this rank is done with the round. Acquire: partner of publish_post().
  if (line.sequence.load(std::memory_order_acquire) < value) return lacks_post();
  const std::uint64_t theirs = line.description.load(std::memory_order_relaxed);
  if (theirs != call.description) [[unlikely]]
    return mismatch_with(rank, theirs);
  return End::done;
}

// Where the other rank's data lie, once its post has been seen; null where they lie in another allocation than this
// rank's. Attached, an address of the other process.
std::byte* Executor::address_of(const Call& call, const Lowered::End& end, std::uint64_t round) const {
  const std::uint64_t value = call.post_value(round, end.post);
  if (call.reach == Reach::attached) {
    const std::uint64_t base = region_.place(end.rank, end.post).load(std::memory_order_relaxed);
    return reinterpret_cast<std::byte*>(base + end.offset);
  }
  if (call.reach == Reach::symmetric) {
    std::byte* base =
        symmetric(call, end.space).of(end.rank, region_.place(end.rank, end.post).load(std::memory_order_relaxed));
    return base == nullptr ? nullptr : base + end.offset;
  }
  const std::uint32_t expose = call.plan->posts[end.rank][end.post].expose;
  if (is_inline(call, call.bytes_in_slot(exposed_bytes(call, end, round))))
    return region_.post_line(end.rank, value).payload + call.within_slot(expose) + end.offset;
  return staged(call, end.rank, round, expose) + end.offset;
}

std::uint64_t Executor::exposed_bytes(const Call& call, const Lowered::End& end, std::uint64_t round) {
  const Slice& slice = call.plan->posts[end.rank][end.post].slice;
  if (call.varying != nullptr) return 0;  // its size is not known, nor does it matter: see Call::inline_end
  const PieceLayout& layout = call.layouts[static_cast<std::size_t>(slice.space)];
  const Run run = call.rounds > 1 ? layout.run(0, round) : layout.whole(slice.first_piece, slice.num_pieces);
  return run.length * call.element;
}

End Executor::try_combine(const Call& call, const Lowered& list, const Lowered::Step& step, std::uint64_t round) {
  const std::uint64_t moved = round * call.window * call.element;
  const std::uint32_t all = step.num_sources + step.num_destinations;
  if (sources_.size() < step.num_sources) sources_.resize(step.num_sources);
  if (destinations_.size() < step.num_destinations) destinations_.resize(step.num_destinations);
  bool has_remote = false;
  for (std::uint32_t index = 0; index < all; ++index) {
    const Lowered::End& end = list.ends[step.first + index];
    std::byte* address = nullptr;
    switch (end.base) {
      case Lowered::End::Base::input: address = const_cast<std::byte*>(call.input) + end.offset + moved; break;
      case Lowered::End::Base::output: address = call.output + end.offset + moved; break;
      case Lowered::End::Base::scratch: address = call.scratch + end.offset; break;
      case Lowered::End::Base::remote:
        has_remote = true;
        if (const End awaited = try_await(call, end.rank, end.post, round); awaited != End::done) return awaited;
        address = address_of(call, end, round);
        if (address == nullptr && call.reach == Reach::symmetric) return mismatch_with(end.rank, call.description);
        break;
    }
    if (index < step.num_sources) {
      sources_[index] = address;
    } else {
      destinations_[index - step.num_sources] = address;
    }
  }
  const std::uint64_t length = call.length_of(step.length, round);
  if (length == 0) return End::done;
  if (has_remote && call.reach == Reach::attached) {
    if (const End end = combine_attached(call, list, step); end != End::done) return end;
  } else {
    call.kernel(*call.operation, reduce_call(step, length));
  }
  // Where an operation breaks, who has returned from it may change what was being read here.
  if (has_remote && call.by_name()) {
    std::atomic_thread_fence(std::memory_order_acquire);
    if (region_.is_broken()) [[unlikely]]
      return End::broken;
  }
  return End::done;
}

// Over sources_ and destinations_.
ReduceCall Executor::reduce_call(const Lowered::Step& step, std::uint64_t length) const {
  return {.destinations = destinations_.data(),
          .num_destinations = step.num_destinations,
          .sources = sources_.data(),
          .num_sources = step.num_sources,
          .count = length,
          .raw_source = step.raw_source,
          .final = step.completes};
}

inline End Executor::try_move(const Call& call, const Lowered& list, const Lowered::Step& step) {
  const Lowered::End& from = list.ends[step.first];
  const std::byte* source = nullptr;
  switch (from.base) {
    case Lowered::End::Base::input: source = call.input + from.offset; break;
    case Lowered::End::Base::output: source = call.output + from.offset; break;
    case Lowered::End::Base::scratch: source = call.scratch + from.offset; break;
    case Lowered::End::Base::remote:
      if (const End awaited = try_await(call, from.rank, from.post, 0); awaited != End::done) return awaited;
      source = from.offset + (from.in_line ? region_.post_line(from.rank, call.post_value(0, from.post)).payload +
                                                 call.within_slot(from.expose)
                                           : staged(call, from.rank, 0, from.expose));
      break;
  }
  std::byte* destination = call.output + list.ends[step.first + 1].offset;
  if (source != destination && step.length > 0) std::memcpy(destination, source, step.length * call.element);
  return End::done;
}

}  // namespace tutti
