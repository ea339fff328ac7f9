// SPDX-License-Identifier: Apache-2.0
// What the calling thread has asked for and is not done: every wait of the thread goes on with all of it, on whichever
// communicators, so that no order of waiting on different ranks can hold them up for ever.
//
// A communicator has a place in the list of the thread that called it last. Another thread that calls it takes it over,
// and may also destroy it, while the first is in a call of some other communicator: each list has a lock, which is held
// while what is in it goes on. A list lives as long as its thread, or a place that has been in it.
//
// A forked child has copies of all lists and of none of the threads: it leaves them as they are. The forking thread
// gets a new list there; who owns a place forsakes it (fork_notice.hpp).
#pragma once

#include <cstdint>
#include <memory>

namespace tutti {

class ThreadList;

struct ThreadWork {
  std::uint32_t open_groups = 0;  // calls are only begun, and waited for at the end of the outermost
  // The thread's list while something may be in it: what was may have gone over to another thread.
  ThreadList* pending = nullptr;
  ThreadList* own = nullptr;  // the thread's list, once it has had one

  [[nodiscard]] bool is_none() const { return open_groups == 0 && pending == nullptr; }
};

// Asked in front of every call, so it lies where one instruction finds it, also in a shared library.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
extern constinit thread_local ThreadWork thread_work [[gnu::tls_model("initial-exec")]];

// What has something pending, now and then.
class Work {
 public:
  enum class Went : std::uint8_t { nowhere, on, to_its_end };

  virtual ~Work() = default;

  // As far as nothing has to be waited for. One thread at a time calls it, which may be any.
  virtual Went go_on() = 0;

 protected:
  Work() = default;
  Work(const Work&) = default;
  Work& operator=(const Work&) = default;
};

// Where a piece of work stands. Its functions are called by whoever may call the work's owner: one thread at a time.
class ThreadPlace {
 public:
  // Borrows the work, which outlives it.
  explicit ThreadPlace(Work& work) : work_(work) {}
  ThreadPlace(const ThreadPlace&) = delete;
  ThreadPlace& operator=(const ThreadPlace&) = delete;
  ~ThreadPlace() { leave(); }

  // All of enter() that can fail: for want of memory, with std::bad_alloc, the first time in a thread.
  void prepare();
  // Into the calling thread's list, and on from there.
  void enter();
  // From another thread's list into the calling thread's; where it is in none, it stays out. Behind this no other
  // thread goes on with the work.
  void come();
  // Out of the list that it is in, if any.
  void leave();
  // The same in a forked child, where another thread may have held that list's lock, or been about to change it.
  void forsake() noexcept;
  // Whether nothing else is in the calling thread's list.
  [[nodiscard]] bool is_alone() const;

 private:
  friend class ThreadList;

  Work& work_;
  std::shared_ptr<ThreadList> list_;  // that it is in, or has been
  // Guarded by that list.
  bool is_in_ = false;
  ThreadPlace* next_ = nullptr;
};

// Goes on with everything of the calling thread; whether any of it went on.
bool go_on_with_thread();

// The same as long as anything goes on; whether something is still pending. For who waits for something else.
bool exhaust_thread();

}  // namespace tutti
