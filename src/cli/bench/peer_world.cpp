// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/peer_world.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "bench/axes/environment_axis.hpp"
#include "cli/bench/hosts_world.hpp"
#include "cli/machine/fabric_tables.hpp"
#include "peers/collectives.hpp"
#include "peers/layer.hpp"
#include "peers/probe.hpp"
#include "peers/registry.hpp"
#include "peers/simulated/simulated_peer.hpp"

namespace tutti::cli {

namespace {

Result<std::string> look_for(const std::string& name, const Result<std::string>& folder,
                             const Environment& environment) {
  const Result<const peers::PeerRow*> row = peers::find_peer(name);
  if (!row.ok()) return row.status();
  if (!folder.ok()) return folder.status();
  const Result<std::string> worker = peers::worker_of(**row, *folder);
  if (!worker.ok()) return worker.status();
  TUTTI_TRY(harness::find_launcher((*row)->launcher));
  if (!(*row)->is_probed) return fmt::format("started by {}", name_of((*row)->launcher));
  // What another launch has told this process is not the probe's.
  Result<std::string> found = peers::probe(*worker, harness::environment_block(environment.block(), {}, 0));
  if (found.ok()) return found;
  return Status(Code::unsupported, fmt::format("peer {} cannot run here: {}", name, found.status().message()));
}

// What stands behind the colon of "simulate:FABRIC"; of the bare name nothing does. Null for other peers.
std::optional<std::string_view> fabric_in(std::string_view peer) {
  const std::size_t colon = std::min(peer.find(':'), peer.size());
  if (peer.substr(0, colon) != simulated::kSimulatedPeer) return std::nullopt;
  return peer.substr(std::min(colon + 1, peer.size()));
}

// Those that were looked at, since a file may change before it is used.
using Fabrics = std::map<std::string, std::shared_ptr<const harness::Reckoner>, std::less<>>;

Result<std::string> look_for_fabric(std::string_view fabric, const Environment& environment, Fabrics& seen) {
  if (fabric.empty()) return std::string("virtual time on a fabric ('tutti list fabrics'): simulate:torus_2d:2x3");
  if (seen.find(fabric) == seen.end()) {
    const auto peer = simulated::simulated_peer(fabric, environment);
    if (!peer.ok()) return peer.status();
    seen.emplace(fabric, *peer);
  }
  return std::string("virtual time");
}

std::vector<harness::ForcedAlgorithm> algorithms_of(std::string_view peer, std::string_view bench) {
  if (fabric_in(peer)) return simulated::simulated_algorithms(bench);
  const Result<const peers::PeerRow*> row = peers::find_peer(peer);
  const std::optional<Collective> collective = find_collective(bench);
  if (!row.ok() || !collective) return {};
  return peers::algorithms_of(**row, *collective);
}

}  // namespace

BenchWorld peer_world(const Environment& environment) {
  BenchWorld world;
  world.benches = peers::collective_benches(nullptr);
  world.benches.push_back(peers::layer_bench(nullptr));
  for (const peers::PeerRow& row : peers::all_peers())
    world.peers.push_back({.name = std::string(row.name), .package = std::string(row.package)});
  world.peers.push_back({.name = std::string(simulated::kSimulatedPeer), .package = "", .wants = "FABRIC"});
  world.default_peers = "tutti";
  world.fabrics = fabrics_table;
  const Result<std::string> folder = peers::worker_folder();
  const auto fabrics = std::make_shared<Fabrics>();
  world.look_for = [folder, fabrics, &environment](const std::string& name) {
    const std::optional<std::string_view> fabric = fabric_in(name);
    return fabric ? look_for_fabric(*fabric, environment, *fabrics) : look_for(name, folder, environment);
  };
  world.algorithms_of = algorithms_of;
  world.place_on_hosts = [&environment](const HostWords& words, const std::vector<int>& num_ranks) {
    return place_on_hosts(words, num_ranks, environment);
  };
  world.program_of = [folder, fabrics](std::string_view name) {
    harness::PeerProgram program{.name = std::string(name), .program = {}, .launcher = harness::Launcher::local};
    if (const std::optional<std::string_view> fabric = fabric_in(name)) {
      if (const auto seen = fabrics->find(*fabric); seen != fabrics->end()) program.reckoner = seen->second;
      return program;
    }
    const Result<const peers::PeerRow*> row = peers::find_peer(name);
    if (!row.ok() || !folder.ok()) return program;
    const Result<std::string> worker = peers::worker_of(**row, *folder);
    if (worker.ok()) program.program = {*worker};
    program.launcher = (*row)->launcher;
    program.is_bound = (*row)->is_bound;
    return program;
  };
  return world;
}

}  // namespace tutti::cli
