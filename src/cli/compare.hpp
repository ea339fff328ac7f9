// Comparing live: what `tutti compare` does, and the bench `communicators` in its own way. Main thread only.
#pragma once

#include <string>

#include "cli/bench_world.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/sweep_options.hpp"

namespace tutti::cli {

struct CompareOptions {
  SweepOptions sweep;
  OutputOptions output;
  std::string store;
  std::string fail_on;
  std::string view = "pairs";
  std::string baseline;         // of --view best; empty: the first
  std::string by = {};          // pairs in short, for each value of this column
  bool prefers_others = false;  // the first that is not Tutti instead, where there is one
  bool no_store = false;
};

[[nodiscard]] Exit compare_live(const CompareOptions& options, const BenchWorld& world, const Context& context);

}  // namespace tutti::cli
