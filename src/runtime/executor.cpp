#include "runtime/executor.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace tutti {

Executor::Executor(const shm::Region& region, std::uint32_t rank, shm::Waiter& waiter)
    : region_(region),
      rank_(rank),
      waiter_(waiter),
      slot_busy_(region.shape().num_slots(), 0),
      spins_(waiter.policy().crowded ? 0 : waiter.policy().eager) {
  const std::uint32_t ranks = region.shape().num_ranks;
  for (std::uint32_t peer = 0; peer < ranks; ++peer) {
    senders_.emplace_back(region, rank, peer);
    receivers_.emplace_back(region, rank, peer);
  }
  own_call_ = &region.call(rank);
  own_finished_ = &region.finished(rank);
  for (std::uint64_t line = 0; line < shm::kPostLines; ++line) own_lines_[line] = &region.post_line(rank, line);
  sources_.resize(ranks);
  destinations_.resize(ranks);
}

bool Executor::everyone_finished(std::uint64_t count) {
  if (known_finished_ >= count) return true;
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint32_t peer = 0; peer < region_.shape().num_ranks; ++peer) {
    if (peer == rank_) continue;
    // Acquire: partner of finish_rounds().
    least = std::min(least, region_.finished(peer).value.load(std::memory_order_acquire));
  }
  known_finished_ = std::max(known_finished_, least);
  return known_finished_ >= count;
}

std::optional<std::uint64_t> Executor::differing_post(std::uint32_t rank, std::uint64_t value,
                                                      std::uint64_t description) const {
  const shm::FlagLine& line = region_.post_line(rank, value);
  // Acquire: the sequence is looked at after the description.
  const std::uint64_t theirs = line.description.load(std::memory_order_acquire);
  if (theirs == description) return std::nullopt;
  // The peer may be about to use the line for its next post, whose description is stored before its number. Then the
  // number moves on soon; if it stays, the calls do differ.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (line.sequence.load(std::memory_order_acquire) == value) {
    if (std::chrono::steady_clock::now() >= patience) return theirs;
    relax();
  }
  // It is beyond that post; its call tells, as long as it is in this operation or the next.
  const shm::CallLine& call = region_.call(rank);
  const auto is_near = [&] {
    const std::uint64_t number = call.operation.load(std::memory_order_acquire);
    return number == operations_ || number == operations_ + 1;
  };
  if (!is_near()) return std::nullopt;
  const std::uint64_t called = call.description[operations_ & 1].load(std::memory_order_acquire);
  return called != description && is_near() ? std::optional(called) : std::nullopt;
}

End Executor::end_of(shm::WaitEnd end) const {
  switch (end) {
    case shm::WaitEnd::ready: return End::done;
    case shm::WaitEnd::broken: return End::broken;
    case shm::WaitEnd::timed_out: return End::timed_out;
    case shm::WaitEnd::given_up: return End::mismatched;
  }
  return End::broken;
}

End Executor::mismatch_with(std::uint32_t rank, std::uint64_t theirs) {
  mismatch_ = {rank, theirs};
  return End::mismatched;
}

bool Executor::persist() {
  const std::uint64_t mine = own_call_->description[operations_ & 1].load(std::memory_order_relaxed);
  for (std::uint32_t peer = 0; peer < region_.shape().num_ranks; ++peer) {
    const shm::CallLine& line = region_.call(peer);
    // Acquire: partner of begin(). Number, description, and the same number again belong together.
    if (line.operation.load(std::memory_order_acquire) != operations_) continue;
    const std::uint64_t theirs = line.description[operations_ & 1].load(std::memory_order_acquire);
    if (theirs == mine || line.operation.load(std::memory_order_acquire) != operations_) continue;
    mismatch_ = {peer, theirs};
    return false;
  }
  return true;
}

End Executor::run(Call& call, WalkerChoice choice) {
  const Plan& plan = *call.plan;
  begin(call.description);
  call.post_base = posts_;
  call.round_base = rounds_;
  call.expose_base = exposes_;
  // Posts of other shapes do not ask for their line, so payloads of earlier operations must have been read.
  if (plan.shape != Shape::exchange) {
    const std::uint64_t busy = *std::max_element(std::begin(line_busy_), std::end(line_busy_));
    const shm::WaitEnd ready = waiter_.until([&] { return everyone_finished(busy); });
    if (ready != shm::WaitEnd::ready) return end_of(ready);
  }
  End end = End::done;
  if (choice != WalkerChoice::generic && plan.shape == Shape::exchange && !call.by_name() && call.varying == nullptr) {
    end = walk_exchange(call);
  } else if (choice != WalkerChoice::generic && plan.num_lanes() == 1) {
    end = walk_straight(call);
  } else {
    end = walk_general(call);
  }
  if (end != End::done) return end;
  // Everyone's posts of this operation have been seen, and a rank posts only when it has finished all before.
  if (plan.shape == Shape::exchange && plan.fold_order.size() == region_.shape().num_ranks)
    known_finished_ = std::max(known_finished_, rounds_);
  posts_ += call.rounds * plan.posts_per_round;
  rounds_ += call.rounds;
  exposes_ += call.rounds * plan.exposes_per_round;
  finish_rounds(rounds_);
  return End::done;
}

}  // namespace tutti
