// Runs a sweep: starts its groups one after another, or those that are compared side by side, and hands over each row
// as it is finished. Whatever a group does, the sweep goes on. Blocks; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "bench/case.hpp"
#include "bench/live_group.hpp"
#include "bench/measure.hpp"
#include "bench/result.hpp"

namespace tutti::harness {

// How a peer's workers are started.
struct PeerProgram {
  std::string name;
  std::vector<std::string> program;
  Launcher launcher = Launcher::local;
};

struct RunnerOptions {
  MeasureOptions measure;  // its is_interrupted is looked at everywhere
  Limits limits;
  std::optional<Launcher> launcher;  // instead of the peers' own
  Bind bind = Bind::core;
  int launches = 1;        // how often each group is started anew
  std::uint64_t seed = 1;  // of the order of rounds
};

// Side by side: the first group is what the others are compared with.
struct Compared {
  std::vector<Row> rows;                      // of each group
  std::vector<std::optional<Ratio>> against;  // how each but the first stands to the first; none for the first, and
                                              // where either has no times
};

class Runner {
 public:
  Runner(RunnerOptions options, std::vector<PeerProgram> peers, std::vector<std::string> inherited);

  using OnRow = std::function<Status(const Row& row)>;
  // Every case of every group whose row's key is not in `done`. An error is one of on_row's; what goes wrong in groups
  // is in their rows.
  [[nodiscard]] Status run(const std::string& bench, const std::vector<Group>& groups,
                           const std::set<std::string>& done, const OnRow& on_row);

  using OnCompared = std::function<Status(const Compared& compared)>;
  // The groups of each number of ranks, side by side. They must have equal points.
  [[nodiscard]] Status compare(const std::string& bench, const std::vector<Group>& groups, const OnCompared& on_case);

  // Starts of groups so far.
  [[nodiscard]] int num_starts() const { return num_starts_; }

 private:
  [[nodiscard]] Result<std::unique_ptr<LiveGroup>> start(const Group& group);
  Status run_group(const std::string& bench, const Group& group, int launch, const std::set<std::string>& done,
                   const OnRow& on_row);
  [[nodiscard]] bool is_interrupted() const { return options_.measure.is_interrupted(); }

  RunnerOptions options_;
  std::vector<PeerProgram> peers_;
  std::vector<std::string> inherited_;
  std::size_t block_size_ = 0;  // of the environment, in all groups
  std::mt19937_64 random_;
  int num_starts_ = 0;
};

}  // namespace tutti::harness
