// SPDX-License-Identifier: Apache-2.0
// Ranks as threads of one process over one shared region: what tests of the runtime use where processes are not the
// point, so that sanitizers and debuggers see all of it.
#pragma once

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

#include "base/log.hpp"
#include "base/variables/environment.hpp"
#include "base/variables/variables.hpp"
#include "runtime/communicator/communicator.hpp"

namespace tutti::test {

constexpr OperatorHandle handle(Op op) { return {static_cast<std::uint32_t>(op)}; }

class ThreadRanks {
 public:
  // `of_log` says what is logged, and where.
  explicit ThreadRanks(std::uint32_t num_ranks, Settings settings = Settings::from(Variables()),
                       const Variables& of_log = Variables())
      : settings_(std::move(settings)), log_(std::move(Log::create(of_log, LogWriter::of_this_process()).value())) {
    region_ = std::move(shm::Region::create(settings_.region_for(num_ranks)).value());
  }

  // Runs `body(communicator)` on each rank, each in its own thread, and returns when all have.
  template <typename Body>
  void run(const Body& body) {
    run(body, [](std::uint32_t, Settings&) {});
  }
  // Each with settings that `change(rank, settings)` has made other.
  template <typename Body, typename Change>
  void run(const Body& body, const Change& change) {
    std::vector<std::jthread> threads;
    for (std::uint32_t rank = 0; rank < region_->shape().num_ranks; ++rank)
      threads.emplace_back([this, rank, &body, &change] {
        Settings settings = settings_;
        change(rank, settings);
        const std::unique_ptr<Communicator> communicator =
            Communicator::over(region_, static_cast<int>(rank), settings, *log_);
        body(*communicator);
      });
  }

  // For the latter: ranks that take turns to store through their caches and past them.
  static void store_differently(std::uint32_t rank, Settings& settings) {
    settings.stores = rank % 2 == 0 ? StoresChoice::past : StoresChoice::cached;
  }

  // For the latter as well: ranks in turn on the first two cores that they may run on.
  static void share_two_cores(std::uint32_t rank) { run_on(rank % 2); }
  // This thread on the core of that number among those that it may run on, or on the last of them.
  static void run_on(std::uint32_t number) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    cpu_set_t own;
    CPU_ZERO(&own);
    std::uint32_t found = 0;
    for (int core = 0; core < CPU_SETSIZE && found <= number; ++core)
      if (CPU_ISSET(core, &allowed)) {
        CPU_ZERO(&own);
        CPU_SET(core, &own);
        ++found;
      }
    ASSERT_EQ(sched_setaffinity(0, sizeof own, &own), 0);
  }

  [[nodiscard]] const shm::Region& region() const { return *region_; }

 private:
  Settings settings_;
  std::unique_ptr<Log> log_;
  std::shared_ptr<const shm::Region> region_;
};

}  // namespace tutti::test
