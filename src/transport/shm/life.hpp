// SPDX-License-Identifier: Apache-2.0
// How ranks see each other's end without anyone who tells them. A thread of each rank holds a robust mutex in the
// rank's line; where its process ends, however it ends, the system marks the mutex. That needs no number of a process,
// so it holds across pid namespaces and for ranks that are threads of one process, and children that a rank has forked
// do not keep it alive.
//
// hold() and let_go() belong to one thread; is_lost() may be called by any.
#pragma once

#include <atomic>
#include <cstdint>

#include <pthread.h>

#include "transport/shm/line.hpp"

namespace tutti::shm {

class alignas(kLine) LifeLine {
 public:
  // Where the system cannot do that, the rank is never seen to be lost here.
  void hold();
  void let_go();
  // Whether whoever held it is gone without having let go.
  [[nodiscard]] bool is_lost();

 private:
  static constexpr std::uint32_t kNotHeld = 0;
  static constexpr std::uint32_t kHeld = 1;
  static constexpr std::uint32_t kLost = 2;  // somebody has seen it, and it stays so

  std::atomic<std::uint32_t> state_;
  pthread_mutex_t mutex_;
};
static_assert(sizeof(LifeLine) == kLine);

}  // namespace tutti::shm
