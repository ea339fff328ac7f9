// What a communicator says when something is wrong: who is late, who is lost, whose call differs.
#include <fmt/format.h>

#include "runtime/communicator.hpp"

namespace tutti {

std::string Communicator::describe(std::uint64_t word) const {
  const CallDescription call = CallDescription::unpack(word);
  const CollectiveFacts& facts = facts_of(call.collective);
  const std::deque<Way>& ways = portfolio_.of(call.collective);
  std::string text = fmt::format("{} of {} {} elements", facts.name, call.count, name_of(call.type));
  if (facts.varies) text = fmt::format("{} of {}", facts.name, name_of(call.type));
  if (call.collective == Collective::barrier) text = facts.name;
  if (facts.folds) text += fmt::format(", {}", name_of(call.op));
  if (facts.has_root) text += fmt::format(", root {}", call.root);
  constexpr std::string_view kReach[] = {"", ", in symmetric memory", ", attached", ""};
  text += kReach[static_cast<std::size_t>(call.reach)];
  if (facts.varies && call.algorithm == kNotChosenYet) return text;
  return text + (call.algorithm < ways.size() ? ", by " + ways[call.algorithm].name
                                              : fmt::format(", by schedule {}", call.algorithm));
}

std::string Communicator::present_call() const {
  const shm::CallLine& line = region_->call(rank_);
  const std::uint64_t number = line.operation.load(std::memory_order_acquire);
  if (number == 0) return "the start";
  return fmt::format("operation {} ({})", number, describe(line.description[number & 1].load()));
}

std::string Communicator::absent_ranks() const {
  const std::uint64_t mine = region_->call(rank_).operation.load(std::memory_order_acquire);
  std::string absent;
  for (std::uint32_t peer = 0; peer < num_ranks_; ++peer) {
    const shm::CallLine& line = region_->call(peer);
    const bool here = mine > 0 ? line.operation.load(std::memory_order_acquire) >= mine
                               : line.presence.load(std::memory_order_acquire) != shm::Presence::none;
    if (!here) absent += fmt::format("{}{}", absent.empty() ? "" : ", ", peer);
  }
  return absent.empty() ? "all ranks have arrived there" : "not there yet: rank " + absent;
}

bool Communicator::persist(std::chrono::nanoseconds waited) {
  const std::uint64_t operation = region_->call(rank_).operation.load(std::memory_order_relaxed);
  if (settings_.late_warning.count() > 0 && waited >= settings_.late_warning && operation_warned_ != operation + 1) {
    operation_warned_ = operation + 1;
    log_.warn(LogSubsystem::coll, "waiting in {} for {:.0f} s; {}", present_call(),
              std::chrono::duration<double>(waited).count(), absent_ranks());
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
  switch (breakage.code) {
    case Code::rank_lost:
      return {Code::rank_lost, fmt::format("rank {} was lost: its process ended; this rank was at {}", rank, where),
              rank};
    case Code::aborted:
      return {Code::aborted, fmt::format("rank {} aborted the communicator; this rank was at {}", rank, where), rank};
    case Code::timeout:
      return {
          Code::timeout,
          fmt::format("rank {} gave up waiting (TUTTI_TIMEOUT); this rank was at {}; {}", rank, where, absent_ranks()),
          rank};
    case Code::invalid_usage:
      return {Code::invalid_usage,
              fmt::format("rank {} has left the communicator, or its call differs from the others'; this rank was at "
                          "{}",
                          rank, where),
              rank};
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
    case End::timed_out: region_->break_with({Code::timeout, rank_}); return failure();
    case End::mismatched: {
      if (left_) {
        region_->break_with({Code::invalid_usage, *left_});
        return {Code::invalid_usage,
                fmt::format("rank {} has left the communicator and will not come to {}", *left_, present_call()),
                static_cast<int>(*left_)};
      }
      const Mismatch& mismatch = executor_->mismatch();
      const shm::CallLine& own = region_->call(rank_);
      const std::uint64_t number = own.operation.load(std::memory_order_relaxed);
      const std::uint64_t ours = own.description[number & 1].load(std::memory_order_relaxed);
      if (mismatch.theirs == ours) {
        region_->break_with({Code::invalid_usage, mismatch.rank});
        return {Code::invalid_usage,
                fmt::format("the ranks' buffers differ: those of rank {} and rank {} lie in different allocations of "
                            "symmetric memory at {}",
                            rank_, mismatch.rank, present_call()),
                static_cast<int>(mismatch.rank)};
      }
      Status status(Code::invalid_usage,
                    fmt::format("the ranks' calls differ: operation {} is {} on rank {} and {} on rank {}", number,
                                describe(ours), rank_, describe(mismatch.theirs), mismatch.rank),
                    static_cast<int>(mismatch.rank));
      region_->break_with({Code::invalid_usage, mismatch.rank});
      return status;
    }
  }
  return {Code::internal, "an operation ended in a way that nobody knows"};
}

void Communicator::abort(std::string_view reason) {
  log_.warn(LogSubsystem::coll, "abort: {}", reason);
  region_->break_with({Code::aborted, rank_});
  if (watch_) watch_->abort(reason);
}

}  // namespace tutti
