// SPDX-License-Identifier: Apache-2.0
#include "peers/peer.hpp"

#include "peers/collectives.hpp"
#include "peers/layer.hpp"

namespace tutti::peers {

BufferBytes bytes_of_buffers(const Request& request, int num_ranks) {
  if (request.collective == Collective::barrier) return {};
  const std::size_t block = request.count * size_of(request.type);
  const std::size_t all = block * static_cast<std::size_t>(num_ranks);
  const CollectiveFacts& facts = facts_of(request.collective);
  return {.input = facts.many_inputs ? all : block, .output = facts.many_outputs ? all : block};
}

Status unsupported(std::string reason) { return {Code::unsupported, std::move(reason)}; }

int run_worker(Peer& peer, const Environment& environment) {
  std::vector<Bench> benches = collective_benches(&peer);
  benches.push_back(layer_bench(&peer));
  return harness::run_worker(benches, peer, environment);
}

}  // namespace tutti::peers
