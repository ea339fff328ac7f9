// SPDX-License-Identifier: Apache-2.0
// What a communicator says when something is wrong: who is late, who is lost, whose call differs.
#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "data/elements.hpp"
#include "runtime/communicator/communicator.hpp"
#include "runtime/failure/lateness.hpp"

namespace tutti {

namespace {

std::string_view name_of(OwnCall call) {
  switch (call) {
    case OwnCall::making: return "the making of the communicator";
    case OwnCall::allocation: return "an allocation of symmetric memory";
    case OwnCall::freeing: return "the freeing of symmetric memory";
    case OwnCall::splitting: return "a split of the communicator";
  }
  return "a call of the communicator's own";
}

}  // namespace

std::string Communicator::describe(std::uint64_t word) const {
  const CallDescription call = CallDescription::unpack(word);
  if (call.is_own) return std::string(name_of(static_cast<OwnCall>(call.subject)));
  const CollectiveFacts& facts = facts_of(call.collective);
  const std::deque<Way>& ways = portfolio_.of(call.collective);
  std::string text = fmt::format("{} of {}", facts.name, elements_in_words(call.count, call.type));
  if (facts.varies) text = fmt::format("{} of {}", facts.name, name_of(call.type));
  if (call.collective == Collective::barrier) text = facts.name;
  if (facts.folds) text += fmt::format(", {}", name_of(call.op));
  const bool is_made = facts.folds && (call.op == Op::user || call.op == Op::premultiplied_sum);
  if (is_made && custom_.size() * CallDescription::num_roots(call.collective, num_ranks_) <= CallDescription::kSubjects)
    text += fmt::format(" (operator {})", OperatorHandle::kFirstCustom + call.made(num_ranks_));
  if (facts.has_root) text += fmt::format(", root {}", call.root(num_ranks_));
  // Of one description.
  if (facts.has_root && call.root(num_ranks_) + CallDescription::kSubjects < num_ranks_)
    text += fmt::format(" or one {} apart", CallDescription::kSubjects);
  constexpr std::string_view kReach[] = {"", ", in symmetric memory", ", attached", ""};
  text += kReach[static_cast<std::size_t>(call.reach)];
  if (facts.varies && call.algorithm == kNotChosenYet) return text;
  return text + (call.algorithm < ways.size() ? ", by " + ways[call.algorithm].name
                                              : fmt::format(", by schedule {}", call.algorithm));
}

std::string Communicator::describe(const Operation& operation) const {
  if (operation.kind == Operation::Kind::collective)
    return describe(operation.is_varying ? operation.varying->about : operation.bound.call.described);
  return tutti::describe(operation.transfer);
}

bool Communicator::is_inner(std::uint64_t word) {
  const CallDescription call = CallDescription::unpack(word);
  if (call.is_own) return true;
  return facts_of(call.collective).varies && (call.algorithm != kNotChosenYet || call.count == kFurtherStep);
}

std::optional<std::uint64_t> Communicator::number_of(std::uint64_t operation) const {
  const std::uint64_t begun = executor_->operations();
  if (operation > begun + 1) return std::nullopt;
  std::uint64_t calls = begun - inner_operations_;
  std::uint64_t word = 0;
  for (std::uint64_t each = begun; each >= operation; --each) {
    const std::optional<std::uint64_t> call = executor_->own_call(each);
    if (!call) return std::nullopt;
    word = *call;
    if (!is_inner(word)) --calls;
  }
  const bool is_further_step = operation <= begun && is_inner(word) && !CallDescription::unpack(word).is_own;
  return is_further_step ? calls : calls + 1;
}

std::string Communicator::present_call() const {
  const std::uint64_t operation = executor_ ? executor_->operations() : 0;
  const std::uint64_t word = executor_ ? executor_->own_call(operation).value_or(0) : 0;
  if (operation == 0) return std::string(name_of(OwnCall::making));
  if (!CallDescription::unpack(word).is_own)
    return fmt::format("collective {} ({})", number_of(operation).value_or(0), describe(word));
  const std::uint64_t calls = operation - inner_operations_;
  return calls == 0 ? describe(word) : fmt::format("{}, behind collective {}", describe(word), calls);
}

// Where the making is over, it is no place to be at.
std::string Communicator::present_place() const {
  const bool has_begun = executor_ && executor_->operations() > 0;
  const std::uint64_t word = has_begun ? executor_->own_call(executor_->operations()).value_or(0) : 0;
  const CallDescription call = CallDescription::unpack(word);
  if (!has_begun || (call.is_own && call.subject == static_cast<std::uint32_t>(OwnCall::making)))
    return "before its first collective";
  return "at " + present_call();
}

// What this thread waits in; that may be a transfer.
std::string Communicator::waited_call() const {
  if (waited_for_ == nullptr || waited_for_->kind != Operation::Kind::transfer) return present_call();
  return "a " + describe(*waited_for_);
}

Lateness Communicator::late(std::chrono::nanoseconds waited) const {
  const bool is_in_transfer = waited_for_ != nullptr && waited_for_->kind == Operation::Kind::transfer;
  if (is_in_transfer && waited_for_->transfer.peer == rank_)
    return {{static_cast<int>(rank_)},
            fmt::format("rank {} has not begun the other end of it, and nobody else will", rank_)};
  if (is_in_transfer) return find_late_partner(*region_, rank_, waited_for_->transfer.peer, knows_processes_);
  return find_late(*region_, rank_, waited, knows_processes_);
}

// An operation in progress may well end without a rank that has left after it; one that it never began may not.
std::optional<std::uint32_t> Communicator::deserter() const {
  const std::uint64_t operation = region_->call(rank_).operation.load(std::memory_order_relaxed);
  for (std::uint32_t peer = 0; peer < num_ranks_; ++peer) {
    if (region_->has_left(peer) && region_->operations_of_left(peer) < operation) return peer;
  }
  const Transfer* const transfer = pairs_ ? pairs_->deserted() : nullptr;
  return transfer != nullptr ? std::optional(transfer->peer) : std::nullopt;
}

bool Communicator::persist(std::chrono::nanoseconds waited) noexcept {
  const bool is_in_transfer = waited_for_ != nullptr && waited_for_->kind == Operation::Kind::transfer;
  tell_awaited_transfer(*region_, rank_, is_in_transfer ? &waited_for_->transfer : nullptr);
  try {
    if (endpoint_ != nullptr) tell_awaited_elsewhere();
    warn_of_wait(waited);
    notice_unreachable();
  } catch (const std::bad_alloc&) {
    // Waiting needs no memory, and words do.
  }
  // Rank 0, which watches over all, may be stopped itself.
  if (const auto lost = find_lost(*region_, rank_)) break_all({Code::rank_lost, static_cast<std::uint32_t>(*lost)});
  return !deserter() && (!executor_ || executor_->persist());
}

void Communicator::tell_awaited_elsewhere() {
  const bool is_in_transfer = waited_for_ != nullptr && waited_for_->kind == Operation::Kind::transfer;
  const bool is_in_call = executor_ && !is_in_transfer;
  tutti::tell_awaited_elsewhere(*region_, rank_, is_in_call ? executor_->awaited_elsewhere() : std::nullopt);
}

// Once in each operation.
void Communicator::warn_of_wait(std::chrono::nanoseconds waited) {
  if (settings_.late_warning.count() == 0 || waited < settings_.late_warning) return;
  const std::uint64_t operation = region_->call(rank_).operation.load(std::memory_order_relaxed);
  const bool is_in_transfer = waited_for_ != nullptr && waited_for_->kind == Operation::Kind::transfer;
  if (is_in_transfer ? waited_for_->is_late : operation_warned_ == operation + 1) return;
  if (is_in_transfer) {
    waited_for_->is_late = true;
  } else {
    operation_warned_ = operation + 1;
  }
  log_.warn(LogSubsystem::coll, "waiting in {} for {:.1f} s; {}", waited_call(),
            std::chrono::duration<double>(waited).count(), late(waited).words);
}

Status Communicator::status_of(const shm::Breakage& breakage) const {
  const int rank = static_cast<int>(breakage.rank);
  const std::string where = present_place();
  if (!breakage.words.empty()) return {breakage.code, fmt::format("{}; this rank was {}", breakage.words, where), rank};
  switch (breakage.code) {
    case Code::rank_lost:
      return {Code::rank_lost, fmt::format("rank {} was lost: its process ended; this rank was {}", rank, where), rank};
    case Code::aborted:
      return {Code::aborted, fmt::format("rank {} aborted the communicator; this rank was {}", rank, where), rank};
    case Code::system:
      return {Code::system, fmt::format("rank {} had no memory to go on with; this rank was {}", rank, where), rank};
    default:
      return {Code::internal, fmt::format("rank {} broke the communicator; this rank was {}", rank, where), rank};
  }
}

Status Communicator::failure() const {
  if (is_copy_)
    return {Code::invalid_usage,
            fmt::format("this process is a child that process {}, which is rank {}, has forked: it can make "
                        "communicators of its own and destroy this one, but not call it",
                        process_, rank_)};
  const std::optional<shm::Breakage> breakage = region_->breakage();
  return breakage ? status_of(*breakage) : Status();
}

Code Communicator::async_error() const { return is_copy_ ? Code::invalid_usage : region_->broken_by(); }

Status Communicator::fail(End end) {
  const Caretaker::Relief relief = relieve();
  switch (end) {
    case End::done:
    case End::pending: return {};
    case End::broken: break;
    case End::timed_out: break_all(lateness()); break;
    case End::mismatched: break_all(difference()); break;
  }
  pass_on_breakage();
  await_stores();
  return failure();
}

// Of what has broken nobody stores any more in other ranks' memory, which is their callers' again, but for a part that
// is on its way. One that takes longer than any part is that of a rank that is stopped, or dead.
void Communicator::await_stores() const {
  constexpr std::chrono::milliseconds kLongestPart{50};
  const auto end = std::chrono::steady_clock::now() + kLongestPart;
  // Partner of Executor::store_attached().
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::uint32_t peer = 0; peer < num_ranks_; ++peer)
    while (peer != rank_ && region_->is_here(peer) &&
           region_->call(peer).is_storing.load(std::memory_order_seq_cst) != 0 &&
           std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
}

// The ranks whose fault it may be are named, not the one whose patience ended first.
shm::Breakage Communicator::lateness() const {
  const Lateness found = late(settings_.timeout);
  return {Code::timeout, found.ranks.empty() ? rank_ : static_cast<std::uint32_t>(found.ranks.front()),
          fmt::format("{}; rank {} has waited {} (TUTTI_TIMEOUT) in {}", found.words, rank_,
                      to_text(Nanos(settings_.timeout.count())), waited_call())};
}

// Of the call that has ended as mismatched.
shm::Breakage Communicator::difference() const {
  if (const auto left = deserter())
    return {Code::invalid_usage, *left,
            fmt::format("rank {} has left the communicator and will not come to {}", *left, waited_call())};
  if (pairs_ && pairs_->mismatch()) {
    const auto& [received, sent] = *pairs_->mismatch();
    return {
        Code::invalid_usage, received.peer,
        fmt::format("the ranks' transfers differ: rank {} sends {} where rank {} receives {}", received.peer,
                    elements_in_words(sent.count, sent.type), rank_, elements_in_words(received.count, received.type))};
  }
  const Mismatch& mismatch = executor_->mismatch();
  if (mismatch.theirs == mismatch.ours)
    return {Code::invalid_usage, mismatch.rank,
            fmt::format("the ranks' buffers differ: those of rank {} and rank {} lie in different allocations of "
                        "symmetric memory",
                        rank_, mismatch.rank)};
  const auto said = [&](const std::optional<std::uint64_t>& description) {
    return description ? describe(*description) : "another call";
  };
  const std::optional<std::uint64_t> number = number_of(mismatch.operation);
  return {Code::invalid_usage, mismatch.rank,
          fmt::format("the ranks' calls differ: {} is {} on rank {} and {} on rank {}",
                      number ? fmt::format("collective {}", *number) : "an earlier collective", said(mismatch.ours),
                      rank_, said(mismatch.theirs), mismatch.rank)};
}

void Communicator::abort(std::string_view reason) {
  if (is_copy_) return;
  log_.info(LogSubsystem::coll, "abort: {}", reason);
  break_all({Code::aborted, rank_});
  if (watch_) watch_->abort(reason);
  await_stores();
}

}  // namespace tutti
