// Collectives and transfers that are begun now and waited for later. Those of a communicator are done in the order of
// their start, transfers beside them; whoever waits, or only looks, goes on with everything of its thread.
#include <algorithm>
#include <chrono>
#include <new>

#include <fmt/format.h>

#include "runtime/communicator.hpp"
#include "runtime/thread_work.hpp"

namespace tutti {

namespace {

// Where a thread waits on several communicators at once only one of them can wake it, so it sleeps no longer.
constexpr std::chrono::microseconds kSharedSleep{50};

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see thread_work.hpp
constinit thread_local ThreadWork thread_work;

Operation& Communicator::take_operation(Operation::Kind kind) {
  if (free_operations_.empty()) {
    operations_.emplace_back().owner = this;
    // So that putting one back needs no memory.
    free_operations_.reserve(operations_.size());
    free_operations_.push_back(&operations_.back());
  }
  Operation& operation = *free_operations_.back();
  free_operations_.pop_back();
  operation.kind = kind;
  operation.is_taken = true;
  operation.is_persistent = false;
  return operation;
}

void Communicator::release(Operation& operation) {
  operation.is_taken = false;
  free_operations_.push_back(&operation);
}

void Communicator::join_thread_work() {
  if (is_in_thread_work_) return;
  is_in_thread_work_ = true;
  next_pending_ = thread_work.pending;
  thread_work.pending = this;
}

void Communicator::leave_thread_work() {
  if (!is_in_thread_work_) return;
  is_in_thread_work_ = false;
  Communicator** link = &thread_work.pending;
  while (*link != nullptr && *link != this) link = &(*link)->next_pending_;
  if (*link == this) *link = next_pending_;
}

Status Communicator::check(const Transfer& transfer) const {
  const bool sends = transfer.direction == Transfer::Direction::send;
  if (transfer.peer >= num_ranks_)
    return {Code::invalid_argument,
            fmt::format("the rank to {} is {}; of {} it must be 0 to {}", sends ? "send to" : "receive from",
                        static_cast<std::int32_t>(transfer.peer), num_ranks_, num_ranks_ - 1)};
  if (static_cast<int>(transfer.type) >= kNumTypes)
    return {Code::invalid_argument,
            fmt::format("{} is no type; 0 to {} are", static_cast<int>(transfer.type), kNumTypes - 1)};
  if (transfer.count > kMaxCount)
    return {Code::invalid_argument,
            fmt::format("{} elements are too many; {} are possible", transfer.count, kMaxCount)};
  if (transfer.data == nullptr && transfer.count > 0)
    return {Code::invalid_argument, fmt::format("the buffer is null, and {} elements are to be {}", transfer.count,
                                                sends ? "sent" : "received")};
  return {};
}

Result<Operation*> Communicator::prepare(const Invocation& asked, bool is_persistent) {
  if (region_->is_broken()) return failure();
  // The ranks tell each other their counts before they do it, and wait for that.
  if (asked.varying != nullptr)
    return Status(Code::unsupported, fmt::format("{} cannot be begun and waited for later", name_of(asked.collective)));
  Result<BoundCall*> bound = bound_for(asked);
  if (!bound.ok()) return bound.status();
  TUTTI_TRY(find_places(**bound, asked));
  Operation& operation = take_operation(Operation::Kind::collective);
  operation.is_persistent = is_persistent;
  // The table's own may be bound to another call before this one is done.
  operation.bound = **bound;
  return &operation;
}

Result<Operation*> Communicator::prepare(const Transfer& transfer, bool is_persistent) {
  if (region_->is_broken()) return failure();
  TUTTI_TRY(check(transfer));
  Operation& operation = take_operation(Operation::Kind::transfer);
  operation.is_persistent = is_persistent;
  operation.transfer = transfer;
  return &operation;
}

Status Communicator::start(Operation& operation) {
  if (region_->is_broken()) return failure();
  if (!operation.is_done()) return {Code::invalid_usage, "an operation is started that has not ended yet"};
  if (operation.kind == Operation::Kind::transfer) {
    pairs_->start(operation.transfer);
  } else {
    operation.is_pending = true;
    operation.is_begun = false;
    operation.next = nullptr;
    (last_operation_ == nullptr ? first_operation_ : last_operation_->next) = &operation;
    last_operation_ = &operation;
  }
  join_thread_work();
  return move_on();
}

End Communicator::advance() {
  while (first_operation_ != nullptr) {
    Operation& operation = *first_operation_;
    if (!operation.is_begun) {
      find_scratch(operation.bound.call);
      operation.bound.counted->add(operation.bound.buffers.message_bytes);
      executor_->start(operation.bound.call, operation.bound.is_lowered ? &operation.bound.lowered : nullptr);
      operation.is_begun = true;
    }
    if (const End end = executor_->advance(); end == End::pending) {
      break;
    } else if (end != End::done) {
      return end;
    }
    operation.is_pending = false;
    first_operation_ = operation.next;
    if (first_operation_ == nullptr) last_operation_ = nullptr;
  }
  return pairs_->advance(*waiter_);
}

Status Communicator::move_on() {
  Status status = guarded("what was begun", [&]() -> Status {
    const End end = advance();
    return end == End::pending ? Status() : fail(end);
  });
  // What is broken is waited for no longer.
  if (!status.ok() || (first_operation_ == nullptr && pairs_->is_idle())) leave_thread_work();
  return status;
}

Status Communicator::move_thread_on() {
  Status own;
  for (Communicator* each = thread_work.pending; each != nullptr;) {
    Communicator* const next = each->next_pending_;
    Status status = each->move_on();
    if (each == this) own = std::move(status);
    each = next;
  }
  return own;
}

Result<bool> Communicator::test(const Operation& operation) {
  if (operation.is_done()) return true;
  if (region_->is_broken()) return failure();
  TUTTI_TRY(move_thread_on());
  return operation.is_done();
}

Status Communicator::wait(const Operation& operation) {
  const auto progress = [&] { return executor_->progress() + pairs_->progress(); };
  waited_for_ = &operation;
  transfer_warned_ = nullptr;
  while (!operation.is_done()) {
    if (region_->is_broken()) return failure();
    Status status;
    const std::uint64_t before = progress();
    const shm::WaitEnd end = waiter_->until(
        [&] {
          status = move_thread_on();
          return !status.ok() || progress() != before || operation.is_done();
        },
        next_pending_ != nullptr || thread_work.pending != this ? kSharedSleep : shm::kLongestSleep);
    if (!status.ok()) return status;
    if (end != shm::WaitEnd::ready) {
      leave_thread_work();
      return fail(executor_->end_of(end));
    }
  }
  waited_for_ = nullptr;
  return {};
}

Status Communicator::transfer(const Transfer& asked) {
  const Result<Operation*> operation = prepare(asked, false);
  if (!operation.ok()) return operation.status();
  if (asked.peer == rank_ && !pairs_->has_counterpart(asked)) {
    release(**operation);
    return {Code::invalid_usage,
            "a rank that sends to itself, or receives from itself, begins both before it waits: "
            "in a group, or with requests"};
  }
  const Status status = finish(**operation);
  return status;
}

Status Communicator::finish(Operation& operation) {
  Status status = start(operation);
  if (status.ok()) status = wait(operation);
  release(operation);
  return status;
}

Status Communicator::begin_in_group(Result<Operation*> operation) {
  if (!operation.ok()) return operation.status();
  grouped_.push_back(*operation);
  return start(**operation);
}

Status Communicator::end_group() {
  Status status;
  for (Operation* each : grouped_) {
    if (status.ok()) status = wait(*each);
    release(*each);
  }
  grouped_.clear();
  return status;
}

std::vector<Statistic> Communicator::statistics() const {
  std::vector<Statistic> all = counts_.statistics(executor_->operations());
  pairs_->append_statistics(all);
  return all;
}

Status Communicator::settle() {
  if (!is_of_this_process()) return {};
  for (const Operation& each : operations_)
    if (each.is_taken && !each.is_done()) TUTTI_TRY(wait(each));
  return {};
}

}  // namespace tutti
