// SPDX-License-Identifier: Apache-2.0
// A lane: the coroutine in which an algorithm writes down the steps of one rank, one `co_yield` a step.
//
// The coroutine's frame is all the state there is, so a lane of a loop over log N partners costs a few hundred bytes
// however long it is, and a simulator can keep tens of thousands of them alive. A lane owns its frame; move-only; one
// thread at a time. Steps handed out are borrowed until the next call.
#pragma once

#include <coroutine>
#include <utility>

#include "schedule/step.hpp"

namespace tutti {

class Lane {
 public:
  struct promise_type {
    const Step* current = nullptr;

    Lane get_return_object() { return Lane(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(const Step& step) noexcept {
      current = &step;
      return {};
    }
    void return_void() noexcept {}
    // Too little memory is the one exception of an algorithm that is no bug; who walks the lane sees it from next(),
    // and the lane is over.
    [[noreturn]] void unhandled_exception() { throw; }
  };

  Lane(Lane&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Lane& operator=(Lane&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() {
    if (handle_) handle_.destroy();
  }

  // The next step, or null after the last.
  [[nodiscard]] const Step* next() {
    if (handle_.done()) return nullptr;
    handle_.resume();
    return handle_.done() ? nullptr : handle_.promise().current;
  }

 private:
  explicit Lane(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace tutti
