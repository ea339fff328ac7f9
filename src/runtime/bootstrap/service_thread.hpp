// SPDX-License-Identifier: Apache-2.0
// A thread that serves the process in the background: named, with all signals blocked so that the program's handlers
// never run on it, and ended by an eventfd that its poll loop watches.
//
// One owner; finish() and the destructor belong to it. wake() may be called from any thread. In a child that was forked
// while the thread ran there is no such thread: is_here() is false there, and neither wake() nor finish() does
// anything. What the thread works on may be half changed there: its owner gives it to abandon() and leaves it alone.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <pthread.h>
#include <sys/types.h>

#include "base/status.hpp"
#include "base/system/unique_fd.hpp"

namespace tutti {

class ServiceThread {
 public:
  // `name` has at most 15 characters, as the system demands. `body` is given the descriptor that becomes readable when
  // someone calls wake(). An exception from it ends the process, so it handles a lack of memory itself. Nothing is
  // thrown here once the thread runs.
  [[nodiscard]] static Result<std::unique_ptr<ServiceThread>> start(const std::string& name,
                                                                    std::function<void(int wake_fd)> body);
  ServiceThread(const ServiceThread&) = delete;
  ServiceThread& operator=(const ServiceThread&) = delete;
  ~ServiceThread() { finish(); }

  void wake() const;
  // Waits for the thread to end, which wake() and a flag of its owner's bring about.
  void finish();
  [[nodiscard]] bool is_here() const;

 private:
  ServiceThread(UniqueFd wake_fd, std::function<void(int wake_fd)> body);

  UniqueFd wake_fd_;
  pid_t owner_;
  std::function<void(int wake_fd)> body_;
  // Not std::thread, which has to be joined or detached even in a child where there is no thread to do that to.
  std::optional<pthread_t> thread_;
};

// Keeps what a thread of the parent's works on, untouched, for the rest of this forked child.
void abandon(std::shared_ptr<void> work);

// Runs it on another thread that takes no signals, and waits. Does nothing without a thread or memory.
void run_apart(std::function<void()> work);

// Takes the pending wake-ups off the descriptor.
void clear_wake(int wake_fd);

}  // namespace tutti
