#include "cli/peer_world.hpp"

#include <fmt/format.h>

#include "peers/collectives.hpp"
#include "peers/registry.hpp"

namespace tutti::cli {

BenchWorld peer_world() {
  BenchWorld world;
  world.benches = peers::collective_benches(nullptr);
  const Result<std::string> folder = peers::worker_folder();
  for (const peers::PeerRow& row : peers::all_peers()) {
    const Status worker = folder.ok() ? peers::worker_of(row, *folder).status() : folder.status();
    world.peers.push_back({.name = std::string(row.name),
                           .is_here = worker.ok() && harness::find_launcher(row.launcher).ok(),
                           .about = fmt::format("started by {}", name_of(row.launcher)),
                           .package = std::string(row.package),
                           .missing = std::string(worker.message())});
  }
  world.default_peers = "tutti";
  world.program_of = [folder](std::string_view name) {
    const Result<const peers::PeerRow*> row = peers::find_peer(name);
    harness::PeerProgram program{.name = std::string(name), .program = {}, .launcher = harness::Launcher::local};
    if (!row.ok() || !folder.ok()) return program;
    const Result<std::string> worker = peers::worker_of(**row, *folder);
    if (worker.ok()) program.program = {*worker};
    program.launcher = (*row)->launcher;
    return program;
  };
  return world;
}

}  // namespace tutti::cli
