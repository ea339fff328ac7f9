// SPDX-License-Identifier: Apache-2.0
// Runs a sweep: starts its groups one after another, or those that are compared side by side, and hands over each row
// as it is finished. Whatever a group does, the sweep goes on. Blocks; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "bench/axes/case.hpp"
#include "bench/measure/measure.hpp"
#include "bench/measure/reckoner.hpp"
#include "bench/process/live_group.hpp"
#include "bench/results/result.hpp"

namespace tutti::harness {

// How a peer's workers are started.
struct PeerProgram {
  std::string name;
  std::vector<std::string> program;
  Launcher launcher = Launcher::local;
  bool is_bound = true;  // a core for each rank; else any, for peers with threads of their own
  std::shared_ptr<const Reckoner> reckoner = nullptr;  // instead of all that
};
// Of the group's peer; null where its times are measured.
[[nodiscard]] const Reckoner* reckoner_of(const Group& group, const std::vector<PeerProgram>& peers);
// How often a group is done of `launches`: what is reckoned, once.
[[nodiscard]] int launches_of(const Group& group, const std::vector<PeerProgram>& peers, int launches);

// Of groups with so many ranks; nothing: all are on this host.
[[nodiscard]] std::optional<OverHosts> hosts_of(const std::map<int, OverHosts>& hosts, int num_ranks);

struct RunnerOptions {
  MeasureOptions measure;  // its is_interrupted is looked at everywhere
  Limits limits;
  std::optional<Launcher> launcher;  // instead of the peers' own
  std::map<int, OverHosts> hosts;    // by number of ranks, if ranks are on several hosts
  Bind bind = Bind::core;
  int launches = 1;        // how often each group is started anew
  std::uint64_t seed = 1;  // of the order of rounds
};

class Runner {
 public:
  Runner(RunnerOptions options, std::vector<PeerProgram> peers, std::vector<std::string> inherited);

  using OnRow = std::function<Status(const Row& row)>;
  // Every case of every group whose row's key is not in `done`. An error is one of on_row's; what goes wrong in groups
  // is in their rows.
  [[nodiscard]] Status run(const std::string& bench, const std::vector<Group>& groups,
                           const std::set<std::string>& done, const OnRow& on_row);

  // The rows of one case and launch, of all groups that have it.
  using OnRows = std::function<Status(std::span<const Row> rows)>;
  // The groups of each number of ranks side by side: rows of one case and launch are paired, round by round, for as
  // many launches as the options say. A case that some group does not have is measured in the others. What has all its
  // rows' keys in `done` is left out; where one of them is missing, all are measured anew, since pairs are of one time.
  [[nodiscard]] Status compare(const std::string& bench, const std::vector<Group>& groups,
                               const std::set<std::string>& done, const OnRows& on_rows);

 private:
  // In the place of one that has ended. None where it cannot be started; one that is to be ended after an interrupt.
  [[nodiscard]] Status start(const Group& group, std::unique_ptr<LiveGroup>& live);
  // Of groups that are measured together. Started where they are not alive; why not, where they cannot be.
  struct Competitor {
    const Group* group = nullptr;
    std::unique_ptr<LiveGroup> live;
    Status refused;
  };
  Status compare_case(const std::string& bench, std::vector<Competitor>& competitors, const Point& point, int launch,
                      const std::set<std::string>& done, const OnRows& on_rows);
  // Of a case in a launch: the groups that have it, each with the row that it begins with.
  struct Part {
    Competitor* competitor = nullptr;
    const Case* mine = nullptr;
    Row row;
  };
  [[nodiscard]] std::vector<Part> parts_of(const std::string& bench, std::vector<Competitor>& competitors,
                                           const Point& point, int launch) const;
  void make_ready(Competitor& competitor);
  // All that can be measured, each launch beginning with the next: who starts later is placed elsewhere in memory,
  // which alone made 8 % of difference.
  void make_ready_in_turn(const std::vector<Part>& parts, int launch);
  // For as long as an answer may take.
  void reckon(const Reckoner& reckoner, const Group& group, Row& row) const;
  static void end_all(const std::vector<Competitor>& competitors);
  Status run_group(const std::string& bench, const Group& group, int launch, const std::set<std::string>& done,
                   const OnRow& on_row);
  // Whether the group has any more to give in this launch.
  [[nodiscard]] bool takes_part(const Group& group, int launch) const {
    return launch < launches_of(group, peers_, options_.launches);
  }
  [[nodiscard]] bool is_interrupted() const { return options_.measure.is_interrupted(); }

  RunnerOptions options_;
  std::vector<PeerProgram> peers_;
  std::vector<std::string> inherited_;
  std::size_t block_size_ = 0;  // of the environment, in all groups
  std::mt19937_64 random_;
};

}  // namespace tutti::harness
