// SPDX-License-Identifier: Apache-2.0
// A store with two runs of exactly known times, for the tests of `tutti web`.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "../report/made_up_runs.hpp"
#include "bench/store/store.hpp"

namespace tutti::cli::test {

// first is complete; second, as long as nobody ends it, is not. The second takes as long at all sizes.
inline void make_store(const std::string& path) {
  Result<harness::Store> store = harness::Store::open(path);
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  for (const char* name : {"first", "second"}) {
    harness::StoredRun run = report_run({}).run;
    run.name = name;
    const Result<std::int64_t> id = store->begin(run);
    ASSERT_TRUE(id.ok());
    ASSERT_TRUE(store->add(*id, crossing_rows()).ok());
    if (name == std::string("first")) {
      ASSERT_TRUE(store->complete(*id).ok());
    }
  }
}

// One more row of the second run.
inline void add_a_row(const std::string& path, std::int64_t bytes) {
  Result<harness::Store> store = harness::Store::open(path);
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  ASSERT_TRUE(store->add(2, report_row("a", 2, bytes, 9000)).ok());
}

}  // namespace tutti::cli::test
