// SPDX-License-Identifier: Apache-2.0
// Collectives and transfers that are begun now and waited for later. Those of a communicator are done in the order of
// their start, transfers beside them; whoever waits, or only looks, goes on with everything of its thread.
#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "runtime/communicator/communicator.hpp"
#include "runtime/progress/thread_work.hpp"

namespace tutti {

namespace {

// Where a thread waits on several communicators at once only one of them can wake it, so it sleeps no longer.
constexpr std::chrono::milliseconds kSharedSleep{1};

std::chrono::nanoseconds present() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

// What the thread waits for, or asks about, for as long as it does.
class Communicator::Watched {
 public:
  Watched(Communicator& communicator, Operation& operation) : communicator_(communicator) {
    communicator_.waited_for_ = &operation;
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() { communicator_.waited_for_ = nullptr; }

 private:
  Communicator& communicator_;
};

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
    return {Code::invalid_argument,
            fmt::format("the buffer is null, and {} {} to be {}", counted(transfer.count, "element"),
                        are(transfer.count), sends ? "sent" : "received")};
  return {};
}

Result<Operation*> Communicator::prepare(const Invocation& asked, bool is_persistent) {
  if (is_over()) return failure();
  if (asked.varying != nullptr) {
    Taken taken(operations_, operations_.take(*this, Operation::Kind::collective, is_persistent));
    Operation& operation = *taken;
    if (operation.varying == nullptr) operation.varying = std::make_unique<VaryingCall>();
    operation.is_varying = true;
    TUTTI_TRY(bind_varying(asked, *operation.varying));
    return taken.keep();
  }
  Result<BoundCall*> bound = bound_for(asked);
  if (!bound.ok()) return bound.status();
  TUTTI_TRY(find_places(**bound, asked));
  Taken taken(operations_, operations_.take(*this, Operation::Kind::collective, is_persistent));
  // The table's own may be bound to another call before this one is done.
  taken->bound = **bound;
  return taken.keep();
}

Result<Operation*> Communicator::prepare(const Transfer& transfer, bool is_persistent) {
  if (is_over()) return failure();
  TUTTI_TRY(check(transfer));
  Operation& operation = operations_.take(*this, Operation::Kind::transfer, is_persistent);
  operation.transfer = transfer;
  return &operation;
}

Status Communicator::start(Operation& operation) {
  if (is_over()) return failure();
  TUTTI_TRY(check_not_finalized());
  // By what the caller has been told, so that the answer does not depend on timing.
  if (operation.is_active)
    return {Code::invalid_usage,
            "the request is active: wait for it, or test it until it is done, before it is started again"};
  if (traces_) [[unlikely]]
    trace_operation(operation, "begun");
  return begin(operation);
}

Status Communicator::begin(Operation& operation) {
  place_.prepare();
  operation.is_active = true;
  operation.is_late = false;
  has_begun_ = true;
  small_end_ = 0;
  if (operation.kind == Operation::Kind::transfer) {
    pairs_->start(operation.transfer);
  } else {
    if (operation.is_varying) operation.varying->step = VaryingCall::Step::stating;
    operations_.append(operation);
  }
  place_.enter();
  return is_over() && !operation.is_done() ? give_up(End::broken) : Status();
}

End Communicator::advance() {
  while (Operation* const operation = operations_.first()) {
    if (!operation->is_begun) {
      begin_step(operation->is_varying ? operation->varying->stating : operation->bound);
      operation->is_begun = true;
    }
    if (const End end = executor_->advance(); end == End::pending) {
      break;
    } else if (end != End::done) {
      return end;
    }
    if (!operation->is_varying || !begin_next_step(*operation)) operations_.finish_first();
  }
  return pairs_->advance(*waiter_);
}

void Communicator::begin_step(BoundCall& step) {
  find_scratch(step.call);
  count(step);
  executor_->start(step.call, step.is_lowered ? &step.lowered : nullptr);
}

bool Communicator::begin_next_step(Operation& operation) {
  const Result<BoundCall*> next = next_step(*operation.varying);
  if (next.ok() && *next != nullptr) {
    begin_step(**next);
    return true;
  }
  operation.outcome = next.status();
  return false;
}

// Of what is over nothing goes on: the buffers are the caller's again once a call has said so.
Work::Went Communicator::go_on() {
  const Caretaker::Relief relief = relieve();
  const std::uint64_t before = progress();
  if (!is_over()) {
    Status status = guarded("what was begun", [&]() -> Status {
      const End end = advance();
      return end == End::pending ? Status() : fail(end);
    });
    if (!status.ok()) fault_ = std::move(status);
  }
  if (is_over()) abandon();
  return is_idle() ? Went::to_its_end : progress() != before ? Went::on : Went::nowhere;
}

void Communicator::abandon() {
  await_stores();
  operations_.abandon();
  pairs_->abandon();
}

Status Communicator::give_up(End end) {
  Status why = fail(end);
  if (!fault_.ok()) why = std::exchange(fault_, Status());
  place_.leave();
  abandon();
  return why;
}

void Communicator::rest() {
  if (!has_begun_ || !is_idle()) return;
  has_begun_ = false;
  rest_small_path();
  polling_.forget();
}

Result<bool> Communicator::test(Operation& operation) {
  const auto is_done = [&] {
    if (operation.is_done()) rest();
    return operation.is_done();
  };
  const auto given_up = [&](End end) {
    operation.is_active = false;
    return give_up(end);
  };
  const auto outcome = [&]() -> Result<bool> {
    operation.is_active = false;
    Status status = std::exchange(operation.outcome, Status());
    if (!status.ok()) return status;
    return true;
  };
  if (is_done()) return outcome();
  const Caretaker::Relief relief = relieve();
  const Watched watched(*this, operation);
  go_on_with_thread();
  if (is_done()) return outcome();
  if (is_over()) return given_up(End::broken);
  if (const auto stuck = polling_.stuck_for(progress(), present)) {
    // Who waits for this rank sees that it waits too.
    region_->doorbell(rank_).looked.store(present().count(), std::memory_order_relaxed);
    const bool is_late = settings_.timeout.count() > 0 && *stuck >= settings_.timeout;
    if (is_late || !persist(*stuck)) {
      // The others may have come to it since.
      go_on_with_thread();
      if (is_done()) return outcome();
      return given_up(is_late ? End::timed_out : End::mismatched);
    }
  }
  return false;
}

Status Communicator::wait(Operation& operation) {
  const Status status = await(operation);
  operation.is_active = false;
  TUTTI_TRY(status);
  return std::exchange(operation.outcome, Status());
}

template <typename Enough>
Status Communicator::await_until(Operation& watched, const Enough& is_enough) {
  const Caretaker::Relief relief = relieve();
  const Watched watching(*this, watched);
  while (!is_enough()) {
    const std::uint64_t before = progress();
    const shm::WaitEnd end = waiter_->until(
        [&] {
          go_on_with_thread();
          return progress() != before || is_enough() || is_over();
        },
        place_.is_alone() ? shm::kLongestSleep : kSharedSleep);
    if (is_enough()) break;
    if (is_over()) return give_up(End::broken);
    if (end != shm::WaitEnd::ready) return give_up(executor_->end_of(end));
  }
  rest();
  return {};
}

Status Communicator::await(Operation& operation) {
  return await_until(operation, [&] { return operation.is_done(); });
}

Status Communicator::wait_for_any(Operation& watched, const std::function<bool()>& is_enough) {
  return await_until(watched, is_enough);
}

Status Communicator::transfer(const Transfer& asked) {
  const Result<Operation*> operation = prepare(asked, false);
  if (!operation.ok()) return operation.status();
  if (asked.peer == rank_ && !pairs_->has_counterpart(asked)) {
    operations_.release(**operation);
    return {Code::invalid_usage,
            "a rank that sends to itself, or receives from itself, begins both before it waits: "
            "in a group, or with requests"};
  }
  if (traces_) [[unlikely]]
    trace_operation(**operation, "blocking");
  return finish(**operation);
}

Status Communicator::exchange(const Transfer& sent, const Transfer& received) {
  const Result<Operation*> send = prepare(sent, false);
  if (!send.ok()) return send.status();
  const Result<Operation*> receive = prepare(received, false);
  Status status = receive.status();
  if (status.ok()) {
    status = start(**send);
    if (status.ok()) status = start(**receive);
    if (status.ok()) status = wait(**send);
    if (status.ok()) status = wait(**receive);
    operations_.release(**receive);
  }
  operations_.release(**send);
  return status;
}

Status Communicator::finish(Operation& operation) {
  Status status = is_over() ? failure() : check_not_finalized();
  if (status.ok()) status = begin(operation);
  if (status.ok()) status = wait(operation);
  operations_.release(operation);
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
    Status ended = wait(*each);
    if (status.ok()) status = std::move(ended);
    operations_.release(*each);
  }
  grouped_.clear();
  return status;
}

std::vector<Statistic> Communicator::statistics() const {
  std::vector<Statistic> all = counts_.statistics(executor_->operations());
  pairs_->append_statistics(all);
  return all;
}

Status Communicator::finalize() {
  Status status = settle();
  is_finalized_ = true;
  // So that no call takes a fast path past its refusal.
  small_end_ = settled_small_end_ = 0;
  for (BoundCall& each : bound_) each.is_quick = false;
  return status;
}

Status Communicator::check_not_finalized() const {
  if (!is_finalized_ || is_over()) return {};
  return {Code::invalid_usage, "the communicator was finalized (tuttiCommFinalize): no call can begin"};
}

// Of those that have ended nobody may have heard: what it returns does not depend on which these are.
Status Communicator::settle() {
  if (is_copy_) return {};
  while (Operation* const operation = operations_.find([](const Operation& each) { return !each.is_done(); }))
    TUTTI_TRY(await(*operation));
  const Operation* const wrong = operations_.first_wrong();
  return wrong == nullptr ? Status() : wrong->outcome;  // who waits for it is told too
}

}  // namespace tutti
