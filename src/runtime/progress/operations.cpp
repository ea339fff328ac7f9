// SPDX-License-Identifier: Apache-2.0
#include "runtime/progress/operations.hpp"

namespace tutti {

Operation& Operations::take(Communicator& owner, Operation::Kind kind, bool is_persistent) {
  if (free_.empty()) {
    all_.emplace_back().owner = &owner;
    // So that putting one back needs no memory.
    free_.reserve(all_.size());
    free_.push_back(&all_.back());
  }
  Operation& operation = *free_.back();
  free_.pop_back();
  operation.kind = kind;
  operation.is_taken = true;
  operation.is_persistent = is_persistent;
  operation.is_active = false;
  operation.recorded = nullptr;
  operation.timed = nullptr;
  operation.is_clocked = false;
  // It may have been released before it had ended, if the communicator was broken.
  operation.is_pending = false;
  operation.is_varying = false;
  operation.outcome = Status();
  operation.transfer.is_done = true;
  return operation;
}

void Operations::release(Operation& operation) {
  operation.is_taken = false;
  ++operation.uses;
  free_.push_back(&operation);
}

void Operations::append(Operation& operation) {
  operation.is_pending = true;
  operation.is_begun = false;
  operation.outcome = Status();
  operation.place_in_order = ++started_;
  operation.next = nullptr;
  (last_ == nullptr ? first_ : last_->next) = &operation;
  last_ = &operation;
}

void Operations::finish_first() {
  first_->is_pending = false;
  first_ = first_->next;
  if (first_ == nullptr) last_ = nullptr;
}

const Operation* Operations::first_wrong() const {
  const Operation* first = nullptr;
  for (const Operation& each : all_)
    if (each.is_taken && !each.outcome.ok() && (first == nullptr || each.place_in_order < first->place_in_order))
      first = &each;
  return first;
}

}  // namespace tutti
