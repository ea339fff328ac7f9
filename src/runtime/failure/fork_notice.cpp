// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure/fork_notice.hpp"

#include <mutex>
#include <utility>

#include <pthread.h>

namespace tutti {

// All of a process: fork() asks for handlers that know of everything, once and for ever.
class ForkNotices {
 public:
  static ForkNotices& of_this_process() {
    // Never destroyed: a process may fork while it ends.
    static auto* const notices = new ForkNotices();
    return *notices;
  }

  void add(ForkNotice& notice) {
    const std::scoped_lock lock(mutex_);
    notice.next_ = first_;
    if (first_ != nullptr) first_->previous_ = &notice;
    first_ = &notice;
  }
  void remove(const ForkNotice& notice) {
    const std::scoped_lock lock(mutex_);
    if (notice.next_ != nullptr) notice.next_->previous_ = notice.previous_;
    (notice.previous_ != nullptr ? notice.previous_->next_ : first_) = notice.next_;
  }

 private:
  ForkNotices() {
    pthread_atfork([] { of_this_process().prepare(); }, [] { of_this_process().go_on(); },
                   [] { of_this_process().tell(); });
  }
  // Held across the fork, so that the child's list is whole and its mutex its own.
  void prepare() {
    mutex_.lock();
    for (const ForkNotice* each = first_; each != nullptr; each = each->next_)
      if (each->halt_.before) each->halt_.before();
  }
  void go_on() {
    for (const ForkNotice* each = first_; each != nullptr; each = each->next_)
      if (each->halt_.in_parent) each->halt_.in_parent();
    mutex_.unlock();
  }
  void tell() {
    for (const ForkNotice* each = first_; each != nullptr; each = each->next_)
      if (each->in_child_) each->in_child_();
    mutex_.unlock();
  }

  std::mutex mutex_;
  ForkNotice* first_ = nullptr;
};

ForkNotice::ForkNotice(std::function<void()> in_child, Halt halt)
    : in_child_(std::move(in_child)), halt_(std::move(halt)) {
  ForkNotices::of_this_process().add(*this);
}

ForkNotice::~ForkNotice() { ForkNotices::of_this_process().remove(*this); }

}  // namespace tutti
