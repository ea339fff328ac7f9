// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/life.hpp"

#include <cerrno>

namespace tutti::shm {

void LifeLine::hold() {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  const bool is_made = pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED) == 0 &&
                       pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST) == 0 &&
                       pthread_mutex_init(&mutex_, &kind) == 0;
  pthread_mutexattr_destroy(&kind);
  if (is_made && pthread_mutex_lock(&mutex_) == 0) state_.store(kHeld, std::memory_order_release);
}

void LifeLine::let_go() {
  if (state_.exchange(kNotHeld, std::memory_order_relaxed) == kHeld) pthread_mutex_unlock(&mutex_);
}

bool LifeLine::is_lost() {
  const std::uint32_t state = state_.load(std::memory_order_acquire);
  if (state != kHeld) return state == kLost;
  const int result = pthread_mutex_trylock(&mutex_);
  const bool is_lost = result == EOWNERDEAD || result == ENOTRECOVERABLE;
  // Noted before anything else: glibc's trylock keeps a mutex that is not recoverable, and all others find it busy
  // then.
  if (is_lost) state_.store(kLost, std::memory_order_relaxed);
  if (result == 0 || result == EOWNERDEAD) pthread_mutex_unlock(&mutex_);
  return is_lost;
}

}  // namespace tutti::shm
