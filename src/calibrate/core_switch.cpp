// SPDX-License-Identifier: Apache-2.0
// Two processes on one core that hand a number back and forth, each giving the core away until it is its turn.
#include <atomic>
#include <chrono>
#include <csignal>
#include <new>

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calibrate/measure.hpp"

namespace tutti::calibrate {

namespace {

using Turn = std::atomic<std::uint64_t>;
constexpr std::uint64_t kOver = ~std::uint64_t{0};

// The child's turns are the odd ones.
[[noreturn]] void take_turns(Turn& turn, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  for (std::uint64_t mine = 1;; mine += 2) {
    while (turn.load(std::memory_order_acquire) < mine) sched_yield();
    if (turn.load(std::memory_order_relaxed) == kOver) _exit(0);
    turn.store(mine + 1, std::memory_order_release);
  }
}

}  // namespace

double measure_core_switch(int core, const Thoroughness& thoroughness) {
  void* page = mmap(nullptr, sizeof(Turn), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return 0;
  Turn& turn = *new (page) Turn(0);
  const std::vector<int> before = usable_cores();
  pin_to(core);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) take_turns(turn, parent);
  std::vector<double> switches;
  if (child > 0) {
    constexpr std::uint64_t kTurns = 200;
    const std::uint64_t blocks = 2 + thoroughness.block_ns * thoroughness.passes / (kTurns * 1000);
    std::uint64_t now = 0;
    for (std::uint64_t block = 0; block < blocks; ++block) {
      const auto begin = std::chrono::steady_clock::now();
      for (std::uint64_t i = 0; i < kTurns; ++i) {
        turn.store(++now, std::memory_order_release);
        ++now;
        while (turn.load(std::memory_order_acquire) < now) sched_yield();
      }
      const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
      switches.push_back(taken.count() / (2 * kTurns));
    }
    turn.store(kOver, std::memory_order_release);
    waitpid(child, nullptr, 0);
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int each : before) CPU_SET(each, &set);
  sched_setaffinity(0, sizeof set, &set);
  munmap(page, sizeof(Turn));
  // Others that want the core take their turns in between.
  return quantile_of(std::move(switches), 0.1);
}

}  // namespace tutti::calibrate
