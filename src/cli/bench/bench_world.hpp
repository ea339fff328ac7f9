// SPDX-License-Identifier: Apache-2.0
// What the commands about benchmarks act upon: the benchmarks that there are, and the peers that can run them. The
// program `tutti` has the collectives and every peer that was built; a user's program has its own benchmarks, and
// itself as their only peer. Values; main thread only.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "bench/measure/runner.hpp"
#include "bench/views/table.hpp"
#include "cli/command.hpp"
#include "cli/host_words.hpp"
#include <tutti/bench.hpp>

namespace tutti::cli {

struct PeerSummary {
  std::string name;
  std::string package;  // what has to be installed for it to be built; empty where nothing has
  // What stands behind its name and a colon, "FABRIC", which makes it the peer that it is; empty where nothing does.
  // All functions of the world are given the whole, "simulate:torus_2d:2x3", and look_for the bare name as well.
  std::string wants = {};
};

struct BenchWorld;

// A bench that drives configurations of its own and writes a folder of files.
struct MilestoneRequest {
  std::string folder;  // empty: the bench's name
  bool is_full = false;
  std::vector<std::string> parts = {};  // empty: all
};
struct MilestoneBench {
  std::string name;
  std::string about;  // one line
  std::vector<std::string> parts;
  std::function<Exit(const MilestoneRequest& request, const BenchWorld& world, const Context& context)> run;
};

struct BenchWorld {
  std::vector<Bench> benches;
  std::vector<MilestoneBench> milestones = {};
  std::vector<PeerSummary> peers;
  std::string default_peers;  // what --peer is where it is not given
  // Whether a peer is here: what there is of it, for the list, or else an error that says what is missing. May start a
  // process, so only peers that are meant are looked for.
  std::function<Result<std::string>(const std::string& name)> look_for;
  // What a peer can be forced to. Null where there is no such thing.
  std::function<std::vector<harness::ForcedAlgorithm>(std::string_view peer, std::string_view bench)> algorithms_of;
  // How a peer is started that was looked for and is here.
  std::function<harness::PeerProgram(std::string_view name)> program_of;
  // By number of ranks; of none, all that there is room for. Null where the program reaches no other hosts.
  std::function<Result<std::map<int, harness::OverHosts>>(const HostWords& words, const std::vector<int>& num_ranks)>
      place_on_hosts;
  // What `list fabrics` shows. Null where the program knows no fabrics.
  std::function<Table()> fabrics;
};

}  // namespace tutti::cli
