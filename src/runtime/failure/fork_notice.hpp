// SPDX-License-Identifier: Apache-2.0
// Tells what belongs to one process that the process has forked: in the child, of which it then is a copy. Before the
// fork, it can also wait until other threads have stopped working on it.
//
// What is to happen in the child runs in the forking thread, the only one that the child has, before fork() returns, so
// it does no more than change memory. It does not run where a child is made without fork()'s handlers (vfork, clone).
// Made and destroyed from any thread, but not within the handler; it stays where it was made.
#pragma once

#include <functional>

namespace tutti {

class ForkNotice {
 public:
  struct Halt {
    std::function<void()> before;     // the fork: waits until nobody else is in the middle of anything
    std::function<void()> in_parent;  // behind it
  };
  explicit ForkNotice(std::function<void()> in_child, Halt halt = {});
  ForkNotice(const ForkNotice&) = delete;
  ForkNotice& operator=(const ForkNotice&) = delete;
  ~ForkNotice();

 private:
  friend class ForkNotices;
  std::function<void()> in_child_;
  Halt halt_;
  ForkNotice* next_ = nullptr;
  ForkNotice* previous_ = nullptr;
};

}  // namespace tutti
