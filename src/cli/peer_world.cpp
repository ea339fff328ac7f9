#include "cli/peer_world.hpp"

#include <fmt/format.h>

#include "bench/environment_axis.hpp"
#include "peers/collectives.hpp"
#include "peers/probe.hpp"
#include "peers/registry.hpp"

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

std::vector<harness::ForcedAlgorithm> algorithms_of(std::string_view peer, std::string_view bench) {
  const Result<const peers::PeerRow*> row = peers::find_peer(peer);
  const std::optional<peers::Collective> collective = peers::collective_from_name(bench);
  if (!row.ok() || !collective) return {};
  return peers::algorithms_of(**row, *collective);
}

}  // namespace

BenchWorld peer_world(const Environment& environment) {
  BenchWorld world;
  world.benches = peers::collective_benches(nullptr);
  for (const peers::PeerRow& row : peers::all_peers())
    world.peers.push_back({.name = std::string(row.name), .package = std::string(row.package)});
  world.default_peers = "tutti";
  const Result<std::string> folder = peers::worker_folder();
  world.look_for = [folder, &environment](const std::string& name) { return look_for(name, folder, environment); };
  world.algorithms_of = algorithms_of;
  world.program_of = [folder](std::string_view name) {
    const Result<const peers::PeerRow*> row = peers::find_peer(name);
    harness::PeerProgram program{.name = std::string(name), .program = {}, .launcher = harness::Launcher::local};
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
