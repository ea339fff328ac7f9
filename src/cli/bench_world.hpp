// What the commands about benchmarks act upon: the benchmarks that there are, and the peers that can run them. The
// program `tutti` has the collectives and every peer that was built; a user's program has its own benchmarks, and
// itself as their only peer. Values; main thread only.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "bench/runner.hpp"
#include <tutti/bench.hpp>

namespace tutti::cli {

struct PeerSummary {
  std::string name;
  bool is_here = false;
  std::string about;    // "Open MPI 4.1", for the list
  std::string package;  // what to install where it is not here
  std::string missing;  // the words for its worker not being here; empty where it is
};

struct BenchWorld {
  std::vector<Bench> benches;
  std::vector<PeerSummary> peers;
  std::string default_peers;  // what --peer is where it is not given
  // How a peer that is here is started.
  std::function<harness::PeerProgram(std::string_view name)> program_of;
};

}  // namespace tutti::cli
