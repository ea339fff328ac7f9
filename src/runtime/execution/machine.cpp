// SPDX-License-Identifier: Apache-2.0
#include "runtime/execution/machine.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/plan/block_table.hpp"

namespace tutti {

// What is one run of memory: a single piece, or, where one round carries everything, all of the slice's pieces of one
// block. (Where blocks differ in size only a single piece: pieces are packed a window apart, and a smaller block's are
// shorter.)
Slice Machine::part_of(const Slice& slice, std::uint32_t part) const {
  const std::uint32_t blocks = call_.plan->schedule.division(slice.space).blocks;
  if (!takes_whole_blocks_) return piece_at(slice, part, blocks);
  return {slice.space, block_at(slice, part, blocks), slice.first_piece, slice.num_pieces};
}

const PieceLayout& Machine::layout_of(const Slice& slice) const {
  if (call_.varying != nullptr) return call_.varying->at(slice.space, slice.block).layout;
  return call_.layouts[static_cast<std::size_t>(slice.space)];
}

Run Machine::run(const Slice& slice) const {
  const PieceLayout& layout = layout_of(slice);
  return slice.num_pieces == 1 ? layout.run(slice.first_piece, round_)
                               : layout.whole(slice.first_piece, slice.num_pieces);
}

std::uint64_t Machine::first_element(const Slice& slice) const {
  const std::uint64_t block = call_.varying != nullptr
                                  ? call_.varying->at(slice.space, slice.block).offset
                                  : slice.block * call_.block_elements[static_cast<std::size_t>(slice.space)];
  return block + run(slice).offset;
}

// What a slot must hold for the slice: packed pieces, each in a window of its own but for the last.
std::uint64_t Machine::bytes(const Slice& slice) const {
  const std::uint32_t parts = num_parts_of_block(slice);
  // Where all blocks are of one size and the first of them is empty, all are; else any may be the last with something.
  std::uint32_t part = call_.varying != nullptr ? parts * slice.num_blocks : parts;
  const std::uint32_t before = call_.varying != nullptr ? 0 : (slice.num_blocks - 1) * slice.num_pieces;
  while (part-- > 0) {
    const std::uint64_t length = run(part_of(slice, part)).length;
    if (length > 0) return packed(before + part) + length * call_.element;
  }
  return 0;
}

std::byte* Machine::local(const Slice& slice) const {
  const std::uint64_t offset = first_element(slice) * call_.element;
  switch (slice.space) {
    case Space::input: return const_cast<std::byte*>(call_.input) + offset;
    case Space::output: return call_.output + offset;
    case Space::scratch: return call_.scratch + offset;
  }
  return nullptr;
}

bool Machine::has_slot(const Step& step) {
  if (call_.by_name() || !call_.begins_slot(call_.plan->posts[executor_.rank_][step.post].expose)) return true;
  return (!call_.posts_once() || executor_.line_is_free(call_.post_value(round_, step.post))) &&
         executor_.slot_is_free(slot_of(executor_.rank_, step.post));
}

std::uint64_t Machine::slot_of(std::uint32_t rank, std::uint32_t post) const {
  return call_.slot(round_, call_.plan->posts[rank][post].expose);
}

bool Machine::all_done() { return !call_.by_name() || executor_.everyone_finished(call_.round_base + round_ + 1); }

std::byte* Machine::remote(const Endpoint& end) const {
  const Posted& posted = call_.plan->posts[end.rank][end.post];
  const shm::Region& region = executor_.region_;
  if (posted.kind == StepKind::open || call_.by_name()) {
    const SymmetricBuffer& buffer = end.slice.space == Space::input ? call_.symmetric_input : call_.symmetric_output;
    std::byte* base = buffer.of(end.rank, region.place(end.rank, end.post).load(std::memory_order_relaxed));
    return base + first_element(end.slice) * call_.element;
  }
  const std::uint64_t within = packed(end.slice.first_piece - posted.slice.first_piece);
  if (is_inline(posted.slice))
    return executor_.region_.post_line(end.rank, call_.post_value(round_, end.post)).payload +
           call_.within_slot(posted.expose) + within;
  return executor_.staged(call_, end.rank, round_, posted.expose) + within;
}

void Machine::check(std::uint32_t rank, std::uint64_t theirs) {
  if (theirs == call_.description || mismatched_) return;
  mismatched_ = true;
  static_cast<void>(executor_.mismatch_with(rank, theirs));
}

const std::byte* Machine::source(const Endpoint& end) {
  switch (end.place) {
    case Place::local: return local(end.slice);
    case Place::message: return executor_.messages_.receiver(end.rank).data(message_bytes_);
    case Place::remote:
    case Place::multicast: return remote(end);  // no plan has multicast (plan.cpp)
  }
  return nullptr;
}

std::byte* Machine::destination(const Endpoint& end) {
  switch (end.place) {
    case Place::local: return local(end.slice);
    case Place::message: return executor_.messages_.sender(end.rank).slot(message_bytes_);
    case Place::remote:
    case Place::multicast: return remote(end);
  }
  return nullptr;
}

// What a rank sends of its own, as it is.
bool Machine::is_copied_to_message(const Step& step) const {
  const Op op = call_.operation->op;
  return step.sources.size() == 1 && step.destinations.size() == 1 && step.sources[0].place == Place::local &&
         step.destinations[0].place == Place::message &&
         !(op == Op::premultiplied_sum && step.sources[0].slice.space == Space::input) &&
         !(op == Op::average && step.completes);
}

std::byte* Machine::place_of_message(const Step& step) const {
  const bool only_copies = step.kind == StepKind::combine && step.sources.size() == 1 &&
                           step.sources[0].place == Place::message && is_one_part(step.sources[0].slice) &&
                           !(call_.operation->op == Op::average && step.completes);
  if (!only_copies) return nullptr;
  const Endpoint* own = nullptr;
  for (const Endpoint& end : step.destinations) {
    if (end.place == Place::message) continue;
    if (end.place != Place::local || own != nullptr || !is_one_part(end.slice)) return nullptr;
    own = &end;
  }
  return own == nullptr ? nullptr : local(part_of(own->slice, 0));
}

const std::byte* Machine::bytes_in_place(const Step& step) {
  if (executor_.endpoint_ == nullptr) return nullptr;
  if (is_copied_to_message(step)) {
    const Slice& slice = step.sources[0].slice;
    const bool is_lent =
        is_one_part(slice) && executor_.messages_.sender(step.destinations[0].rank).may_borrow(message_bytes_);
    return is_lent ? local(part_of(slice, 0)) : nullptr;
  }
  if (message_bytes_ < kLeastPlaced) return nullptr;
  const std::byte* const place = place_of_message(step);
  if (place == nullptr) return nullptr;
  return executor_.messages_.receiver(step.sources[0].rank).data(message_bytes_) == place ? place : nullptr;
}

void Machine::expect(const Step& step) {
  if (message_bytes_ < kLeastPlaced) return;
  std::byte* const place = place_of_message(step);
  if (place == nullptr) return;
  MessageReceiver& receiver = executor_.messages_.receiver(step.sources[0].rank);
  std::vector<MessageReceiver*>& expected = executor_.expected_;
  if (!receiver.is_far() || std::find(expected.begin(), expected.end(), &receiver) != expected.end()) return;
  expected.push_back(&receiver);
  receiver.expect(place, message_bytes_);
}

void Machine::combine_part(const Step& step, std::uint32_t part, std::uint64_t length) {
  // Messages are packed, so the beginning of the message is the same for all its parts; everything else has an address
  // of its own for each.
  const auto at = [&](const Endpoint& end) {
    if (end.place == Place::message) return end;
    Endpoint own = end;
    own.slice = part_of(end.slice, part);
    return own;
  };
  const std::uint64_t within = packed(takes_whole_blocks_ ? part * step.sources[0].slice.num_pieces : part);
  ReduceCall reduce;
  for (std::size_t i = 0; i < step.sources.size(); ++i) {
    const Endpoint& end = step.sources[i];
    executor_.sources_[i] = source(at(end)) + (end.place == Place::message ? within : 0);
    if (end.place == Place::local && end.slice.space == Space::input) reduce.raw_source = static_cast<std::uint32_t>(i);
  }
  for (std::size_t i = 0; i < step.destinations.size(); ++i) {
    const Endpoint& end = step.destinations[i];
    executor_.destinations_[i] = destination(at(end)) + (end.place == Place::message ? within : 0);
  }
  if (is_copied_to_message(step)) {
    executor_.stores_.copy(static_cast<std::byte*>(executor_.destinations_[0]),
                           static_cast<const std::byte*>(executor_.sources_[0]), length * call_.element);
    return;
  }
  reduce.sources = executor_.sources_.data();
  reduce.num_sources = static_cast<std::uint32_t>(step.sources.size());
  reduce.destinations = executor_.destinations_.data();
  reduce.num_destinations = static_cast<std::uint32_t>(step.destinations.size());
  reduce.count = length;
  reduce.final = step.completes;
  call_.kernel(*call_.operation, reduce);
}

// Whether the post that the endpoint relies on is of this call.
void Machine::check_post(const Endpoint& end) {
  const std::uint64_t value = call_.post_value(round_, end.post);
  const StepKind kind = call_.plan->posts[end.rank][end.post].kind;
  const bool is_by_name = call_.by_name() || kind != StepKind::expose;
  if (call_.posts_once() && !is_by_name) {
    // Then the line stays as it is until this rank is done with the round.
    check(end.rank, executor_.region_.post_line(end.rank, value).description.load(std::memory_order_relaxed));
  } else if (const auto theirs = executor_.differing_round(call_, end.rank, round_, value)) {
    check(end.rank, *theirs);
  }
  // By name every rank's buffer must lie in the same allocation: that is how this rank knows where it is.
  if (mismatched_ || !is_by_name) return;
  const SymmetricBuffer& buffer = end.slice.space == Space::input ? call_.symmetric_input : call_.symmetric_output;
  if (buffer.of(end.rank, executor_.region_.place(end.rank, end.post).load(std::memory_order_relaxed)) != nullptr)
    return;
  mismatched_ = true;
  static_cast<void>(executor_.mismatch_with(end.rank, call_.description));
}

void Machine::check_posts(const Step& wait) {
  const std::uint64_t value = call_.post_value(round_, wait.post);
  for (const std::uint32_t peer : wait.peers) {
    const auto theirs = executor_.differing_round(call_, peer, round_, value);
    if (theirs) check(peer, *theirs);
  }
}

void Machine::combine(const Step& step) {
  for (const Endpoint& end : step.sources) {
    if (end.place == Place::message && !is_skipped())
      check(end.rank, executor_.messages_.receiver(end.rank).description());
    if (end.place == Place::remote) check_post(end);
  }
  for (const Endpoint& end : step.destinations)
    if (end.place == Place::remote) check_post(end);
  if (mismatched_) return;
  in_place_ = bytes_in_place(step);
  if (in_place_ != nullptr) {
    for (const Endpoint& end : step.destinations)
      if (end.place == Place::message && !executor_.messages_.sender(end.rank).is_far())
        executor_.stores_.copy(destination(end), in_place_, message_bytes_);
    return;
  }
  if (executor_.sources_.size() < step.sources.size()) executor_.sources_.resize(step.sources.size());
  if (executor_.destinations_.size() < step.destinations.size())
    executor_.destinations_.resize(step.destinations.size());
  const Slice& slice = step.destinations[0].slice;
  const std::uint32_t parts = slice.num_blocks * num_parts_of_block(slice);
  for (std::uint32_t part = 0; part < parts; ++part) {
    const std::uint64_t length = run(part_of(slice, part)).length;
    if (length > 0) combine_part(step, part, length);
  }
}

void Machine::publish(const Endpoint& end) {
  if (mismatched_ || is_skipped()) return;
  MessageSender& sender = executor_.messages_.sender(end.rank);
  if (in_place_ != nullptr && sender.is_far())
    sender.publish_from(in_place_, message_bytes_, call_.description);
  else
    sender.publish(call_.description);
  executor_.waiter_.wake_others();
}

void Machine::post(const Step& step) {
  const std::uint64_t value = call_.post_value(round_, step.post);
  if (step.kind == StepKind::open || (step.kind == StepKind::expose && call_.by_name())) {
    const SymmetricBuffer& buffer =
        step.sources[0].slice.space == Space::input ? call_.symmetric_input : call_.symmetric_output;
    executor_.say_place(step.post, buffer.place());
  } else if (step.kind == StepKind::expose) {
    return expose(step, value);
  }
  executor_.publish_post(value, call_.description);
}

void Machine::expose(const Step& step, std::uint64_t value) {
  const Slice& slice = step.sources[0].slice;
  const std::uint64_t busy = call_.round_base + round_ + 1;
  const std::uint32_t expose = call_.plan->posts[executor_.rank_][step.post].expose;
  const bool is_in_line = is_inline(slice);
  std::byte* slot = nullptr;
  // The line also tells what the slot is about, so it stays as long.
  if (call_.posts_once()) executor_.line_busy_[value % shm::kPostLines] = busy;
  if (is_in_line) {
    slot = executor_.gathered_ + call_.within_slot(expose);
  } else {
    const std::uint64_t number = slot_of(executor_.rank_, step.post);
    executor_.slot_busy_[number] = busy;
    slot = executor_.staged(call_, executor_.rank_, round_, expose);
  }
  const auto store = [&](const Slice& pieces) {
    for (std::uint32_t number = 0; number < num_parts_of_block(pieces); ++number) {
      const Slice part = part_of(pieces, number);
      const std::uint64_t length = run(part).length;
      if (length == 0) continue;
      const bool first_touch = slice.space == Space::input && call_.operation->op == Op::premultiplied_sum;
      executor_.store_exposed(call_, slot + packed(part.first_piece - slice.first_piece), local(part), length,
                              first_touch);
    }
  };
  if (is_in_line) {
    store(slice);
  } else {
    for (const Slice& pieces : call_.plan->posts[executor_.rank_][step.post].read) store(pieces);
  }
  if (!call_.ends_slot(expose)) return;
  if (is_in_line) {
    executor_.publish_inline(value, call_.description, executor_.gathered_, call_.bytes_in_slot(bytes(slice)));
  } else {
    executor_.publish_post(value, call_.description);
  }
}

}  // namespace tutti
