// SPDX-License-Identifier: Apache-2.0
// Sweeps any program: each case is one run of it, from start to end, and what it prints becomes rows. Such a program
// knows nothing of the runner, so there is no protocol: it gets its arguments and its environment, and its output is
// read when it has ended. Whatever it does, the sweep goes on. Blocks; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "bench/axes/case.hpp"
#include "bench/outputs/readers.hpp"
#include "bench/process/launcher.hpp"
#include "bench/results/result.hpp"

namespace tutti::harness {

struct CommandSweep {
  std::vector<std::string> words;  // with places for axes (bench/command.hpp)
  ReadAs read;
  Launcher launcher = Launcher::local;
  Nanos limit{};            // of one run
  int launches = 1;         // how often each case is run
  std::string keep_folder;  // where whole outputs go; empty: nowhere
  std::uint64_t seed = 1;   // of the order in which compared groups take turns
  std::function<bool()> is_interrupted = [] { return false; };
};

class CommandRunner {
 public:
  CommandRunner(CommandSweep sweep, std::vector<std::string> inherited);

  // The rows of one run of the program: to be kept all or none, since a run that has a row is not done again.
  using OnRows = std::function<Status(std::span<const Row> rows)>;
  // Every case of every group, but those of which `done` has rows. Groups have no ranks (0) where nobody says how many
  // there are. An error is one of on_rows'.
  [[nodiscard]] Status run(const std::string& bench, const std::vector<Group>& groups, const std::vector<Row>& done,
                           const OnRows& on_rows);
  // The groups of each number of ranks side by side. In each launch and for each case they take turns in a new random
  // order, so a launch is a round, and its rows are pairs. All rows of a case and launch are handed over together; if
  // `done` lacks one group's, all are measured again.
  [[nodiscard]] Status compare(const std::string& bench, const std::vector<Group>& groups, const std::vector<Row>& done,
                               const OnRows& on_rows);

 private:
  struct Ended;
  [[nodiscard]] Ended run_once(const Group& group, const std::vector<std::string>& words);
  [[nodiscard]] std::vector<Row> run_case(Row frame, const Group& group, std::size_t number);
  // One case of a group in one launch, skipped or run.
  struct Turn {
    const Group* group = nullptr;
    const Case* each = nullptr;
    std::size_t number = 0;  // among all of the sweep, from 1
  };
  [[nodiscard]] std::vector<Row> take(const std::string& bench, const Turn& turn, int launch);
  [[nodiscard]] Status compare_turns(const std::string& bench, std::vector<Turn> turns, int launch,
                                     const std::vector<Row>& done, const OnRows& on_rows);
  Status keep(const std::string& name, const Ended& ended) const;

  CommandSweep sweep_;
  std::vector<std::string> inherited_;
  std::size_t block_size_ = 0;  // of the environment, in all runs
  std::mt19937_64 random_;
};

// Whether the row came from this case of this group, in this launch.
[[nodiscard]] bool is_of(const Row& row, const Group& group, const Point& point, int launch);

}  // namespace tutti::harness
