// SPDX-License-Identifier: Apache-2.0
// The machine of meaning.hpp on shared memory: what a step's conditions and effects are for one call of one rank.
// Used by the general walker. Lives as long as the call; one thread.
#pragma once

#include "runtime/execution/executor.hpp"
#include "schedule/meaning.hpp"

namespace tutti {

class Machine {
 public:
  Machine(Executor& executor, const Call& call) noexcept
      : executor_(executor), call_(call), takes_whole_blocks_(call.rounds == 1 && call.varying == nullptr) {}

  // Before anything else is asked of a step.
  void set_step(const Step& step, std::uint64_t round) {
    round_ = round;
    // All ends of a step are of one shape, and so are their messages. Asked here, and not at each look for one.
    if (call_.plan->has_messages && step.kind == StepKind::combine) message_bytes_ = bytes(step.destinations[0].slice);
  }

  [[nodiscard]] bool has_message(const Endpoint& end) const {
    return is_skipped() || executor_.messages_.receiver(end.rank).has_message();
  }
  [[nodiscard]] bool has_credit(const Endpoint& end) {
    return is_skipped() || executor_.messages_.sender(end.rank).has_credit();
  }
  [[nodiscard]] bool has_posted(std::uint32_t rank, std::uint32_t post) {
    return executor_.has_posted(rank, call_.post_value(round_, post));
  }
  [[nodiscard]] std::uint32_t num_ranks() const { return executor_.region_.shape().num_ranks; }
  [[nodiscard]] bool has_slot(const Step& step);
  [[nodiscard]] bool all_done();
  void combine(const Step& step);
  // Whether the posts that a step has waited for are of this call.
  void check_posts(const Step& wait);
  void take(const Endpoint& end) {
    if (mismatched_ || is_skipped()) return;
    executor_.messages_.receiver(end.rank).take();
    executor_.waiter_.wake_others();  // the sender may be asleep for this credit
  }
  void publish(const Endpoint& end);
  void post(const Step& step);
  // Before a wait for the step: where a long message of another host is only copied, it may come to its place at once.
  void expect(const Step& step);

  // A peer was found to be in another call: executor.mismatch() says which.
  [[nodiscard]] bool mismatched() const { return mismatched_; }

 private:
  [[nodiscard]] Slice part_of(const Slice& slice, std::uint32_t part) const;
  // Into how many parts each of the slice's blocks falls.
  [[nodiscard]] std::uint32_t num_parts_of_block(const Slice& slice) const {
    return takes_whole_blocks_ ? 1 : slice.num_pieces;
  }
  // Of such a part: which elements of its block, and where they begin in its buffer.
  [[nodiscard]] const PieceLayout& layout_of(const Slice& slice) const;
  [[nodiscard]] Run run(const Slice& slice) const;
  [[nodiscard]] std::uint64_t first_element(const Slice& slice) const;
  // A message of nothing is not sent where nobody relies on its order.
  [[nodiscard]] bool is_skipped() const { return message_bytes_ == 0 && !call_.plan->orders; }
  [[nodiscard]] std::uint64_t bytes(const Slice& slice) const;
  // The same of a slice of any rank; where blocks differ in size, of the largest there can be.
  [[nodiscard]] std::uint64_t most_bytes(const Slice& slice) const {
    return call_.varying == nullptr ? bytes(slice) : packed(slice.size());
  }
  [[nodiscard]] std::byte* local(const Slice& slice) const;
  // The staging slot of the exposure that `rank` makes with that post of this round.
  [[nodiscard]] std::uint64_t slot_of(std::uint32_t rank, std::uint32_t post) const;
  // Whether what is exposed travels with the flag.
  [[nodiscard]] bool is_inline(const Slice& exposed) const {
    return call_.posts_once() && call_.bytes_in_slot(most_bytes(exposed)) <= shm::kInlineBytes;
  }
  [[nodiscard]] std::byte* remote(const Endpoint& end) const;
  [[nodiscard]] bool is_copied_to_message(const Step& step) const;
  // The local destination of a step that only copies one message, and perhaps forwards it. Null if the step does more,
  // or if the destination is in pieces.
  [[nodiscard]] std::byte* place_of_message(const Step& step) const;
  // The bytes of a long message, if the step need not copy them: the buffer that it sends as it is, or the place at
  // which its message has come. Null if it has to copy or combine.
  [[nodiscard]] const std::byte* bytes_in_place(const Step& step);
  // Of a slice that is one run of memory.
  [[nodiscard]] bool is_one_part(const Slice& slice) const {
    return slice.num_blocks == 1 && num_parts_of_block(slice) == 1;
  }
  // Where an end's part is; of messages, which are packed, where the whole begins.
  [[nodiscard]] const std::byte* source(const Endpoint& end);
  [[nodiscard]] std::byte* destination(const Endpoint& end);
  void combine_part(const Step& step, std::uint32_t part, std::uint64_t length);
  void expose(const Step& step, std::uint64_t value);
  void check(std::uint32_t rank, std::uint64_t theirs);
  void check_post(const Endpoint& end);
  // How far piece number `piece` of a packed slice lies from its beginning.
  [[nodiscard]] std::uint64_t packed(std::uint32_t piece) const { return piece * call_.window * call_.element; }

  Executor& executor_;
  const Call& call_;
  // Bytes. A place is offered to longer messages only: a copy of a short one costs little.
  static constexpr std::uint64_t kLeastPlaced = 16 << 10;

  bool takes_whole_blocks_;  // a slice's pieces of one block are one run of memory
  std::uint64_t round_ = 0;
  std::uint64_t message_bytes_ = 0;      // of the step
  const std::byte* in_place_ = nullptr;  // bytes_in_place() of the step that was combined last
  bool mismatched_ = false;
};

}  // namespace tutti
