// SPDX-License-Identifier: Apache-2.0
// The operations of a communicator: those that somebody has a handle on, those that wait to be taken again, and the
// order in which the started collectives are done. Transfers that have been started are Pairs'. One thread at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "runtime/progress/operation.hpp"

namespace tutti {

class Operations {
 public:
  // Stays where it is until it is released.
  [[nodiscard]] Operation& take(Communicator& owner, Operation::Kind kind, bool is_persistent);
  void release(Operation& operation);

  // A collective behind those that have been started.
  void append(Operation& operation);
  // The one that is being done, or null.
  [[nodiscard]] Operation* first() const { return first_; }
  void finish_first();
  // None that has been started will ever be done, and none is gone on with.
  void abandon() { first_ = last_ = nullptr; }

  // Of the taken ones whose outcome is an error that nobody has heard of, the one that was started first, or null.
  [[nodiscard]] const Operation* first_wrong() const;

  // The first taken one of which that holds, or null.
  template <typename Condition>
  [[nodiscard]] Operation* find(const Condition& condition) {
    const auto found =
        std::find_if(all_.begin(), all_.end(), [&](Operation& each) { return each.is_taken && condition(each); });
    return found == all_.end() ? nullptr : &*found;
  }

 private:
  std::deque<Operation> all_;
  std::vector<Operation*> free_;
  Operation* first_ = nullptr;
  Operation* last_ = nullptr;
  std::uint64_t started_ = 0;
};

// One that is being made ready: released, however that ends, unless it is kept.
class Taken {
 public:
  Taken(Operations& operations, Operation& operation) : operations_(operations), operation_(&operation) {}
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  ~Taken() {
    if (operation_ != nullptr) operations_.release(*operation_);
  }

  [[nodiscard]] Operation& operator*() const { return *operation_; }
  [[nodiscard]] Operation* operator->() const { return operation_; }
  [[nodiscard]] Operation* keep() { return std::exchange(operation_, nullptr); }

 private:
  Operations& operations_;
  Operation* operation_;
};

}  // namespace tutti
