// SPDX-License-Identifier: Apache-2.0
// The walker for lowered calls (lowered.hpp): no lanes and no schedule, step after step over offsets.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "runtime/execution/executor.hpp"
#include "transport/shm/attach.hpp"

namespace tutti {

namespace {

bool is_inline(const Call& call, std::uint64_t bytes) { return bytes < call.inline_end; }

const SymmetricBuffer& symmetric(const Call& call, Space space) {
  return space == Space::input ? call.symmetric_input : call.symmetric_output;
}

}  // namespace

// Posts are one round ahead, so that a round's data cross between the caches while the one before is worked on; not
// where slots are too few for two rounds.
std::uint64_t Executor::rounds_ahead(const Call& call) {
  return call.by_name() || call.depth >= 2 * call.plan->exposes_per_round ? 1 : 0;
}

End Executor::run_lowered(Call& call, const Lowered& lowered) {
  begin_call(call);
  if (call.rounds == 1) return walk_once(call, lowered);
  const std::uint64_t ahead = rounds_ahead(call);
  std::uint64_t posted = 0;
  for (std::uint64_t round = 0; round < call.rounds; ++round) {
    for (; posted < call.rounds && posted <= round + ahead; ++posted)
      for (std::size_t each = 0; each < lowered.num_posts; ++each)
        if (const End end = lowered_step(call, lowered, each, posted); end != End::done) [[unlikely]]
          return end;
    for (std::size_t each = lowered.num_posts; each < lowered.steps.size(); ++each)
      if (const End end = lowered_step(call, lowered, each, round); end != End::done) [[unlikely]]
        return end;
  }
  end_lowered(call, lowered);
  return End::done;
}

// A single round. What small calls consist of stands here, so that it costs no call of its own.
End Executor::walk_once(const Call& call, const Lowered& lowered) {
  const bool posts_once = call.posts_once();
  const std::uint64_t value = call.post_value(0, 0);  // of the only post, then
  const std::uint64_t place = value % shm::kPostLines;
  for (std::size_t number = 0; number < lowered.steps.size(); ++number) {
    const Lowered::Step& step = lowered.steps[number];
    End end = End::done;
    if (step.kind == Lowered::Kind::await && posts_once) {
      end = await_post(region_.post_line(step.rank, value), step.rank, value, call.description);
    } else if (step.kind == Lowered::Kind::signal && posts_once && known_finished_ >= line_busy_[place]) {
      line_busy_[place] = call.round_base + 1;
      publish_post(value, call.description);
    } else if (step.kind == Lowered::Kind::finish) {
      // The next call's line, which a peer has looked at, comes back meanwhile: see run_inline().
      if (spins_ != 0) shm::expect_store(own_lines_[(value + call.num_posts()) % shm::kPostLines]);
      finish_rounds(call.round_base + 1);
    } else {
      end = lowered_step(call, lowered, number, 0);
    }
    if (end != End::done) [[unlikely]]
      return end;
  }
  end_lowered(call, lowered);
  return End::done;
}

void Executor::end_lowered(const Call& call, const Lowered& lowered) {
  // A rank posts only when it has finished all operations before.
  if (lowered.meets_all) known_finished_ = std::max(known_finished_, rounds_);
  end_call(call);
}

End Executor::advance_lowered(const Call& call, const Lowered& lowered, LoweredState& state) {
  const std::uint64_t ahead = rounds_ahead(call);
  // As run_lowered(), but that it stops in front of a step that would wait.
  const auto go = [&](std::size_t& next, std::size_t end, std::uint64_t round) {
    for (; next < end; ++next) {
      if (!is_lowered_ready(call, lowered, lowered.steps[next], round)) return End::pending;
      if (const End failed = lowered_step(call, lowered, next, round); failed != End::done) return failed;
      ++progress_;
    }
    return End::done;
  };
  for (; state.round < call.rounds; ++state.round, state.next = lowered.num_posts) {
    for (; state.posted < call.rounds && state.posted <= state.round + ahead; ++state.posted, state.next_post = 0)
      if (const End end = go(state.next_post, lowered.num_posts, state.posted); end != End::done) return end;
    if (const End end = go(state.next, lowered.steps.size(), state.round); end != End::done) return end;
  }
  end_lowered(call, lowered);
  return End::done;
}

// Whether the step would be done without waiting.
bool Executor::is_lowered_ready(const Call& call, const Lowered& lowered, const Lowered::Step& step,
                                std::uint64_t round) {
  const auto is_posted = [&](std::uint32_t rank, std::uint32_t post) {
    const std::uint64_t value = call.post_value(round, post);
    if (seen_posts_[rank] < value)
      seen_posts_[rank] =
          std::max(seen_posts_[rank], region_.post_line(rank, value).sequence.load(std::memory_order_acquire));
    return seen_posts_[rank] >= value;
  };
  switch (step.kind) {
    case Lowered::Kind::expose: {
      const std::uint64_t value = call.post_value(round, step.post);
      if (!call.begins_slot(step.expose)) return true;
      const std::uint64_t bytes = call.length_of(step.length, round) * call.element;
      const bool in_line = is_inline(call, call.bytes_in_slot(bytes));
      return line_is_free(value) && (in_line || slot_is_free(call.slot(round, step.expose)));
    }
    case Lowered::Kind::name:
    case Lowered::Kind::signal: return line_is_free(call.post_value(round, step.post));
    case Lowered::Kind::await: return is_posted(step.rank, step.post);
    case Lowered::Kind::combine:
    case Lowered::Kind::move:
      for (std::uint32_t index = 0; index < step.num_sources + step.num_destinations; ++index) {
        const Lowered::End& end = lowered.ends[step.first + index];
        if (end.base == Lowered::End::Base::remote && !is_posted(end.rank, end.post)) return false;
      }
      return true;
    case Lowered::Kind::close: return everyone_finished(call.round_base + round + 1);
    case Lowered::Kind::finish: return true;
  }
  return true;
}

End Executor::lowered_step(const Call& call, const Lowered& lowered, std::size_t number, std::uint64_t round) {
  const Lowered::Step& step = lowered.steps[number];
  const std::uint64_t done = call.round_base + round + 1;
  switch (step.kind) {
    case Lowered::Kind::expose: return lowered_expose(call, step, round);
    case Lowered::Kind::name: {
      const std::byte* buffer = step.space == Space::input ? call.input : call.output;
      say_place(step.post, call.reach == Reach::attached ? reinterpret_cast<std::uintptr_t>(buffer)
                                                         : symmetric(call, step.space).place());
      return lowered_post(call, step, round);
    }
    case Lowered::Kind::signal: return lowered_post(call, step, round);
    case Lowered::Kind::await: return lowered_await(call, step.rank, step.post, round);
    case Lowered::Kind::combine: return lowered_combine(call, lowered, step, round);
    case Lowered::Kind::move: return lowered_move(call, lowered, step);
    case Lowered::Kind::finish: finish_rounds(done); return End::done;
    case Lowered::Kind::close: return end_of(waiter_.until([&] { return everyone_finished(done); }));
  }
  return End::done;
}

// A post of several leaves its line to later ones whoever has looked; that of one keeps it for the round.
End Executor::lowered_post(const Call& call, const Lowered::Step& step, std::uint64_t round) {
  const std::uint64_t value = call.post_value(round, step.post);
  const std::uint64_t place = value % shm::kPostLines;
  if (known_finished_ < line_busy_[place])
    if (const End end = await_lines(value, 0); end != End::done) return end;
  if (call.posts_once()) line_busy_[place] = call.round_base + round + 1;
  publish_post(value, call.description);
  return End::done;
}

End Executor::lowered_expose(const Call& call, const Lowered::Step& step, std::uint64_t round) {
  const std::uint64_t value = call.post_value(round, step.post);
  const std::uint64_t place = value % shm::kPostLines;
  const std::uint64_t until = call.round_base + round + 1;
  const std::uint64_t length = call.length_of(step.length, round);
  const std::uint64_t bytes = length * call.element;
  const std::byte* from =
      (step.space == Space::input ? call.input : call.output) + step.offset + round * call.window * call.element;
  const bool first_touch = step.space == Space::input && call.operation->op == Op::premultiplied_sum;
  const std::uint64_t in_slot = call.bytes_in_slot(bytes);
  if (is_inline(call, in_slot)) {
    if (call.begins_slot(step.expose) && known_finished_ < line_busy_[place]) [[unlikely]]
      if (const End end = await_lines(value, 0); end != End::done) return end;
    line_busy_[place] = until;
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
  const std::uint64_t busy = std::max(line_busy_[place], slot_busy_[slot]);
  if (call.begins_slot(step.expose) && known_finished_ < busy) [[unlikely]]
    if (const End end = await_lines(value, busy); end != End::done) return end;
  slot_busy_[slot] = until;
  if (call.posts_once()) line_busy_[place] = until;
  store_exposed(call, staged(call, rank_, round, step.expose), from, length, first_touch);
  if (!call.ends_slot(step.expose)) return End::done;
  publish_post(value, call.description);
  // While the others' posts are on their way, the slot of the next call: see run_slotted().
  if (spins_ != 0 && !stores_.goes_past(bytes) && call.posts_once() &&
      (call.rounds == 1 ? call.turns : call.depth) >= 4 && round + 1 == call.rounds)
    shm::expect_stores(staged(call, rank_, round + 1, 0), in_slot, profile_.lists_ask_most);
  return End::done;
}

End Executor::lowered_await(const Call& call, std::uint32_t rank, std::uint32_t post, std::uint64_t round) {
  const std::uint64_t value = call.post_value(round, post);
  const shm::FlagLine& line = region_.post_line(rank, value);
  if (call.posts_once()) return await_post(line, rank, value, call.description);
  std::uint64_t& seen = seen_posts_[rank];
  for (std::uint32_t look = 0; seen < value; ++look) {
    seen = std::max(seen, line.sequence.load(std::memory_order_acquire));
    if (seen >= value) break;
    if (look < spins_) {
      relax();
      continue;
    }
    const shm::WaitEnd end = waiter_.until_posted(rank, value);
    if (end != shm::WaitEnd::ready) return end_of(end);
  }
  const auto theirs = differing_round(call, rank, round, value);
  return theirs ? mismatch_with(rank, *theirs) : End::done;
}

// Where the other rank's data lie, once its post has been seen; null where they lie in another allocation than this
// rank's. Attached, an address of the other process.
std::byte* Executor::lowered_address(const Call& call, const Lowered::End& end, std::uint64_t round) const {
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

End Executor::lowered_combine(const Call& call, const Lowered& lowered, const Lowered::Step& step,
                              std::uint64_t round) {
  const std::uint64_t moved = round * call.window * call.element;
  const std::uint64_t length = call.length_of(step.length, round);
  const std::uint32_t all = step.num_sources + step.num_destinations;
  if (sources_.size() < step.num_sources) sources_.resize(step.num_sources);
  if (destinations_.size() < step.num_destinations) destinations_.resize(step.num_destinations);
  bool has_remote = false;
  for (std::uint32_t index = 0; index < all; ++index) {
    const Lowered::End& end = lowered.ends[step.first + index];
    std::byte* address = nullptr;
    switch (end.base) {
      case Lowered::End::Base::input: address = const_cast<std::byte*>(call.input) + end.offset + moved; break;
      case Lowered::End::Base::output: address = call.output + end.offset + moved; break;
      case Lowered::End::Base::scratch: address = call.scratch + end.offset; break;
      case Lowered::End::Base::remote:
        has_remote = true;
        if (const End awaited = lowered_await(call, end.rank, end.post, round); awaited != End::done) return awaited;
        address = lowered_address(call, end, round);
        if (address == nullptr && call.reach == Reach::symmetric) return mismatch_with(end.rank, call.description);
        break;
    }
    if (index < step.num_sources) {
      sources_[index] = address;
    } else {
      destinations_[index - step.num_sources] = address;
    }
  }
  if (length == 0) return End::done;
  if (has_remote && call.reach == Reach::attached) {
    if (const End end = combine_attached(call, lowered, step); end != End::done) return end;
  } else {
    ReduceCall reduce;
    reduce.sources = sources_.data();
    reduce.num_sources = step.num_sources;
    reduce.destinations = destinations_.data();
    reduce.num_destinations = step.num_destinations;
    reduce.count = length;
    reduce.raw_source = step.raw_source;
    reduce.final = step.completes;
    call.kernel(*call.operation, reduce);
  }
  // Where an operation breaks, who has returned from it may change what was being read here.
  if (has_remote && call.by_name()) {
    std::atomic_thread_fence(std::memory_order_acquire);
    if (region_.is_broken()) [[unlikely]]
      return End::broken;
  }
  return End::done;
}

End Executor::lowered_move(const Call& call, const Lowered& lowered, const Lowered::Step& step) {
  const Lowered::End& from = lowered.ends[step.first];
  const std::byte* source = nullptr;
  switch (from.base) {
    case Lowered::End::Base::input: source = call.input + from.offset; break;
    case Lowered::End::Base::output: source = call.output + from.offset; break;
    case Lowered::End::Base::scratch: source = call.scratch + from.offset; break;
    case Lowered::End::Base::remote:
      if (const End awaited = lowered_await(call, from.rank, from.post, 0); awaited != End::done) [[unlikely]]
        return awaited;
      source = from.offset + (from.in_line ? region_.post_line(from.rank, call.post_value(0, from.post)).payload +
                                                 call.within_slot(from.expose)
                                           : staged(call, from.rank, 0, from.expose));
      break;
  }
  std::byte* destination = call.output + lowered.ends[step.first + 1].offset;
  if (source != destination && step.length > 0) std::memcpy(destination, source, step.length * call.element);
  return End::done;
}

pid_t Executor::process_of(std::uint32_t rank) const {
  return static_cast<pid_t>(region_.call(rank).process.load(std::memory_order_relaxed));
}

// So many bytes from `offset` on of what every destination is to have, in parts: whoever gives up waits for no more
// than one (Communicator::await_stores).
End Executor::store_attached(const Lowered& lowered, const Lowered::Step& step, const std::byte* from,
                             std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t part = profile_.lists_store_part;
  for (std::uint64_t done = 0; done < bytes; done += part)
    for (std::uint32_t each = 0; each < step.num_destinations; ++each) {
      const std::uint32_t rank = lowered.ends[step.first + step.num_sources + each].rank;
      // Sequentially consistent, as in await_stores(): either this rank sees there that all is over, or that rank sees
      // here that its memory is being written to.
      own_call_->is_storing.store(1, std::memory_order_seq_cst);
      std::atomic_thread_fence(std::memory_order_seq_cst);
      if (region_.is_broken()) [[unlikely]] {
        own_call_->is_storing.store(0, std::memory_order_release);
        return End::broken;
      }
      const shm::AttachEnd end =
          shm::write_to(process_of(rank), reinterpret_cast<std::uintptr_t>(destinations_[each]) + offset + done,
                        from + done, std::min(part, bytes - done));
      own_call_->is_storing.store(0, std::memory_order_release);
      if (end == shm::AttachEnd::done) continue;
      region_.break_with(shm::breakage_of(end, shm::Access::write, rank_, rank));
      return End::broken;
    }
  return End::done;
}

// What is only moved goes where it belongs at once; what is folded comes in parts that stay in the cache until then,
// and goes from there where the result belongs to others.
End Executor::combine_attached(const Call& call, const Lowered& lowered, const Lowered::Step& step) {
  const std::uint64_t room = profile_.lists_fetch_part;  // of each source: fewer parts, fewer system calls
  const auto is_remote = [&](std::uint32_t end) {
    return lowered.ends[step.first + end].base == Lowered::End::Base::remote;
  };
  const auto fetch = [&](std::uint32_t source, std::uint64_t offset, void* to, std::uint64_t bytes) {
    const std::uint32_t rank = lowered.ends[step.first + source].rank;
    const shm::AttachEnd end =
        shm::read_from(process_of(rank), reinterpret_cast<std::uintptr_t>(sources_[source]) + offset, to, bytes);
    if (end == shm::AttachEnd::done) return true;
    region_.break_with(shm::breakage_of(end, shm::Access::read, rank_, rank));  // the first reason stays
    return false;
  };
  const std::uint64_t bytes = step.length * call.element;
  const bool goes_away = is_remote(step.num_sources);
  if (step.num_sources == 1 && goes_away && !is_remote(0))
    return store_attached(lowered, step, static_cast<const std::byte*>(sources_[0]), 0, bytes);
  if (step.num_sources == 1 && step.num_destinations == 1 && !goes_away)
    return fetch(0, 0, destinations_[0], bytes) ? End::done : End::broken;
  const std::uint64_t part = room / call.element;
  // A single one is fetched to where the result will be, if nothing of this rank's lies there: so much less to cache.
  std::uint32_t num_remote = 0;
  bool has_room = step.num_destinations == 1 && !goes_away;
  for (std::uint32_t source = 0; source < step.num_sources; ++source) {
    if (is_remote(source)) ++num_remote;
    has_room = has_room && sources_[source] != destinations_[0];
  }
  has_room = has_room && num_remote == 1;
  // Behind what is fetched there is room for a result that goes away.
  if (!has_room)
    fetched_.resize(std::max<std::size_t>(fetched_.size(), (step.num_sources + (goes_away ? 1 : 0)) * room));
  std::vector<const void*>& sources = part_sources_;
  std::vector<void*>& destinations = part_destinations_;
  sources.resize(step.num_sources);
  destinations.resize(goes_away ? 1 : step.num_destinations);
  for (std::uint64_t done = 0; done < step.length; done += part) {
    const std::uint64_t length = std::min(part, step.length - done);
    const std::uint64_t offset = done * call.element;
    for (std::uint32_t source = 0; source < step.num_sources; ++source) {
      sources[source] = static_cast<const std::byte*>(sources_[source]) + offset;
      if (!is_remote(source)) continue;
      std::byte* const to =
          has_room ? static_cast<std::byte*>(destinations_[0]) + offset : fetched_.data() + source * room;
      if (!fetch(source, offset, to, length * call.element)) return End::broken;
      sources[source] = to;
    }
    if (goes_away) {
      destinations[0] = fetched_.data() + step.num_sources * room;
    } else {
      for (std::uint32_t each = 0; each < step.num_destinations; ++each)
        destinations[each] = static_cast<std::byte*>(destinations_[each]) + offset;
    }
    ReduceCall reduce;
    reduce.sources = sources.data();
    reduce.num_sources = step.num_sources;
    reduce.destinations = destinations.data();
    reduce.num_destinations = static_cast<std::uint32_t>(destinations.size());
    reduce.count = length;
    reduce.raw_source = step.raw_source;
    reduce.final = step.completes;
    call.kernel(*call.operation, reduce);
    if (!goes_away) continue;
    const auto* const result = static_cast<const std::byte*>(destinations[0]);
    if (const End end = store_attached(lowered, step, result, offset, length * call.element); end != End::done)
      return end;
  }
  return End::done;
}

}  // namespace tutti
