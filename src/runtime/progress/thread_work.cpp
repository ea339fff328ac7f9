// SPDX-License-Identifier: Apache-2.0
#include "runtime/progress/thread_work.hpp"

#include <memory>
#include <mutex>
#include <utility>

#include "base/relax.hpp"
#include "runtime/failure/fork_notice.hpp"

namespace tutti {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see the header
constinit thread_local ThreadWork thread_work;

class ThreadList {
 public:
  // The calling thread's.
  static const std::shared_ptr<ThreadList>& own();
  [[nodiscard]] bool is_own() const { return thread_work.own == this; }
  // Its thread ends.
  static void end_own() {
    thread_work.pending = nullptr;
    if (ThreadList* const own = std::exchange(thread_work.own, nullptr)) std::exchange(own->self_, nullptr).reset();
  }
  static void forsake_own() {
    thread_work.pending = nullptr;
    if (ThreadList* const own = std::exchange(thread_work.own, nullptr)) own->forsake();
  }
  // Kept for ever, where it can be found.
  void forsake() {
    if (is_forsaken_) return;
    is_forsaken_ = true;
    next_forsaken_ = std::exchange(forsaken_, this);
  }

  void put_in(ThreadPlace& place) {
    const std::scoped_lock lock(mutex_);
    add(place);
  }

  bool take_out(ThreadPlace& place) {
    const std::scoped_lock lock(mutex_);
    if (!place.is_in_) return false;
    remove(place);
    return true;
  }

  void put_in_and_go_on(ThreadPlace& place) {
    const std::scoped_lock lock(mutex_);
    if (!place.is_in_) add(place);
    if (place.work_.go_on() == Work::Went::to_its_end) remove(place);
  }

  bool go_on() {
    const std::scoped_lock lock(mutex_);
    bool any = false;
    for (ThreadPlace* each = first_; each != nullptr;) {
      ThreadPlace* const next = each->next_;
      const Work::Went went = each->work_.go_on();
      if (went == Work::Went::to_its_end) remove(*each);
      any = any || went != Work::Went::nowhere;
      each = next;
    }
    // Others may have taken the last.
    if (first_ == nullptr) thread_work.pending = nullptr;
    return any;
  }

  [[nodiscard]] bool has_only(const ThreadPlace& place) {
    const std::scoped_lock lock(mutex_);
    return first_ == nullptr || (first_ == &place && place.next_ == nullptr);
  }

 private:
  void add(ThreadPlace& place) {
    place.is_in_ = true;
    place.next_ = first_;
    first_ = &place;
    thread_work.pending = this;
  }

  void remove(ThreadPlace& place) {
    ThreadPlace** link = &first_;
    while (*link != &place) link = &(*link)->next_;
    *link = place.next_;
    place.is_in_ = false;
    if (first_ == nullptr && is_own()) thread_work.pending = nullptr;
  }

  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): of a forked child, and for nobody to read
  static constinit inline ThreadList* forsaken_ = nullptr;

  std::mutex mutex_;
  ThreadPlace* first_ = nullptr;
  std::shared_ptr<ThreadList> self_;  // as long as its thread lives
  bool is_forsaken_ = false;
  ThreadList* next_forsaken_ = nullptr;
};

namespace {

// Ends with the thread. What is called later in its end has a list that nobody frees.
struct EndOfThread {
  EndOfThread() = default;
  EndOfThread(const EndOfThread&) = delete;
  EndOfThread& operator=(const EndOfThread&) = delete;
  ~EndOfThread() { ThreadList::end_own(); }
};

}  // namespace

const std::shared_ptr<ThreadList>& ThreadList::own() {
  if (thread_work.own == nullptr) {
    // First: where there is no memory for it, nothing else is begun.
    auto list = std::make_shared<ThreadList>();
    // Never destroyed: a process may fork while it ends.
    static const auto* const notice = new ForkNotice(forsake_own);
    static_cast<void>(notice);
    thread_local const EndOfThread end;
    static_cast<void>(&end);
    thread_work.own = list.get();
    thread_work.own->self_ = std::move(list);
  }
  return thread_work.own->self_;
}

void ThreadPlace::prepare() {
  come();
  if (list_ == nullptr) list_ = ThreadList::own();
}

void ThreadPlace::enter() {
  prepare();
  list_->put_in_and_go_on(*this);
}

void ThreadPlace::come() {
  if (list_ == nullptr || list_->is_own()) return;
  const std::shared_ptr<ThreadList>& own = ThreadList::own();
  const bool was_in = list_->take_out(*this);
  list_ = own;
  if (was_in) list_->put_in(*this);
}

void ThreadPlace::leave() {
  if (list_ != nullptr) list_->take_out(*this);
}

void ThreadPlace::forsake() noexcept {
  if (list_ != nullptr) list_->forsake();
  // Its count may be half changed.
  std::construct_at(&list_);
  is_in_ = false;
}

bool ThreadPlace::is_alone() const { return list_ == nullptr || list_->has_only(*this); }

bool go_on_with_thread() { return thread_work.pending != nullptr && thread_work.pending->go_on(); }

bool exhaust_thread() {
  // Who is waited for answers within so many, if it is at it.
  constexpr int kLooks = 400;
  for (int look = 0; thread_work.pending != nullptr && look < kLooks; ++look) {
    if (go_on_with_thread()) look = 0;
    relax();
  }
  return thread_work.pending != nullptr;
}

}  // namespace tutti
