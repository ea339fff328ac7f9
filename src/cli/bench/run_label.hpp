// SPDX-License-Identifier: Apache-2.0
// How a run is called, and what is said of it, as the commands that keep one are told. Values; main thread only.
#pragma once

#include <string>

#include "bench/store/store.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace tutti::cli {

struct RunLabel {
  std::string name;  // empty: it has none
  std::string note;
};

// --run-name and --note, which exclude --no-store where the command has it. The label must live as long as the
// application.
void add_label_options(CLI::App& app, RunLabel& label);

inline void set_label(const RunLabel& label, harness::StoredRun& run) {
  run.name = label.name;
  run.note = label.note;
}

}  // namespace tutti::cli
