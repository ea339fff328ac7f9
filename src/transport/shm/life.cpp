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
  if (is_made && pthread_mutex_lock(&mutex_) == 0) is_held_.store(1, std::memory_order_release);
}

void LifeLine::let_go() {
  if (is_held_.exchange(0, std::memory_order_relaxed) != 0) pthread_mutex_unlock(&mutex_);
}

bool LifeLine::is_lost() {
  if (is_held_.load(std::memory_order_acquire) == 0) return false;
  const int result = pthread_mutex_trylock(&mutex_);
  // Unlocked without being made consistent it stays marked, so that all others see it too.
  if (result == 0 || result == EOWNERDEAD) pthread_mutex_unlock(&mutex_);
  return result == EOWNERDEAD || result == ENOTRECOVERABLE;
}

}  // namespace tutti::shm
