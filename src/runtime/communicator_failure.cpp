// What a communicator says when something is wrong: who is late, who is lost, whose call differs.
#include <fmt/format.h>

#include "runtime/communicator.hpp"
#include "runtime/lateness.hpp"

namespace tutti {

std::string Communicator::describe(std::uint64_t word) const {
  const CallDescription call = CallDescription::unpack(word);
  const CollectiveFacts& facts = facts_of(call.collective);
  const std::deque<Way>& ways = portfolio_.of(call.collective);
  std::string text = fmt::format("{} of {} {} elements", facts.name, call.count, name_of(call.type));
  if (call.collective == Collective::barrier) text = facts.name;
  if (facts.folds) text += fmt::format(", {}", name_of(call.op));
  if (facts.has_root) text += fmt::format(", root {}", call.root);
  constexpr std::string_view kReach[] = {"", ", in symmetric memory", ", attached", ""};
  text += kReach[static_cast<std::size_t>(call.reach)];
  return text + (call.algorithm < ways.size() ? ", by " + ways[call.algorithm].name
                                              : fmt::format(", by schedule {}", call.algorithm));
}

std::string Communicator::present_call() const {
  const shm::CallLine& line = region_->call(rank_);
  const std::uint64_t number = line.operation.load(std::memory_order_acquire);
  if (number == 0) return "the start";
  return fmt::format("operation {} ({})", number, describe(line.description[number & 1].load()));
}

bool Communicator::persist(std::chrono::nanoseconds waited) {
  const std::uint64_t operation = region_->call(rank_).operation.load(std::memory_order_relaxed);
  if (settings_.late_warning.count() > 0 && waited >= settings_.late_warning && operation_warned_ != operation + 1) {
    operation_warned_ = operation + 1;
    log_.warn(LogSubsystem::coll, "waiting in {} for {:.1f} s; {}", present_call(),
              std::chrono::duration<double>(waited).count(), find_late(*region_, rank_, waited, can_attach_).words);
  }
  // An operation in progress may well end without a rank that has left after it; one that it never began may not.
  for (std::uint32_t peer = 0; peer < num_ranks_; ++peer) {
    const shm::CallLine& line = region_->call(peer);
    if (line.presence.load(std::memory_order_acquire) != shm::Presence::left) continue;
    if (line.operation.load(std::memory_order_acquire) >= operation) continue;
    left_ = peer;
    return false;
  }
  return !executor_ || executor_->persist();
}

Status Communicator::status_of(const shm::Breakage& breakage) const {
  const int rank = static_cast<int>(breakage.rank);
  const std::string where = present_call();
  if (!breakage.words.empty())
    return {breakage.code, fmt::format("{}; this rank was at {}", breakage.words, where), rank};
  switch (breakage.code) {
    case Code::rank_lost:
      return {Code::rank_lost, fmt::format("rank {} was lost: its process ended; this rank was at {}", rank, where),
              rank};
    case Code::aborted:
      return {Code::aborted, fmt::format("rank {} aborted the communicator; this rank was at {}", rank, where), rank};
    case Code::system:
      return {
          Code::system,
          fmt::format("rank {} had no memory to go on with, or what it has could not be read by others' processes (a "
                      "high TUTTI_ATTACH_MIN keeps them from it); this rank was at {}",
                      rank, where),
          rank};
    default: return {Code::internal, fmt::format("rank {} broke the communicator at {}", rank, where), rank};
  }
}

Status Communicator::failure() const {
  const std::optional<shm::Breakage> breakage = region_->breakage();
  return breakage ? status_of(*breakage) : Status();
}

Status Communicator::async_error() const { return failure(); }

Status Communicator::fail(End end) {
  switch (end) {
    case End::done:
    case End::not_begun: return {};
    case End::broken: return failure();
    case End::timed_out: region_->break_with(lateness()); return failure();
    case End::mismatched: region_->break_with(difference()); return failure();
  }
  return {Code::internal, "an operation ended in a way that nobody knows"};
}

// The ranks whose fault it may be are named, not the one whose patience ended first.
shm::Breakage Communicator::lateness() const {
  const Lateness late = find_late(*region_, rank_, settings_.timeout, can_attach_);
  return {Code::timeout, late.ranks.empty() ? rank_ : static_cast<std::uint32_t>(late.ranks.front()),
          fmt::format("{}; rank {} has waited {} (TUTTI_TIMEOUT)", late.words, rank_,
                      to_text(Nanos(settings_.timeout.count())))};
}

// Of the call that has ended as mismatched.
shm::Breakage Communicator::difference() const {
  if (left_)
    return {Code::invalid_usage, *left_,
            fmt::format("rank {} has left the communicator and will not come to {}", *left_, present_call())};
  const Mismatch& mismatch = executor_->mismatch();
  if (mismatch.theirs == mismatch.ours)
    return {Code::invalid_usage, mismatch.rank,
            fmt::format("the ranks' buffers differ: those of rank {} and rank {} lie in different allocations of "
                        "symmetric memory",
                        rank_, mismatch.rank)};
  const auto said = [&](const std::optional<std::uint64_t>& description) {
    return description ? describe(*description) : "another call";
  };
  return {Code::invalid_usage, mismatch.rank,
          fmt::format("the ranks' calls differ: operation {} is {} on rank {} and {} on rank {}", mismatch.operation,
                      said(mismatch.ours), rank_, said(mismatch.theirs), mismatch.rank)};
}

void Communicator::abort(std::string_view reason) {
  log_.warn(LogSubsystem::coll, "abort: {}", reason);
  region_->break_with({Code::aborted, rank_});
  if (watch_) watch_->abort(reason);
}

}  // namespace tutti
