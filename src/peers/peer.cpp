// SPDX-License-Identifier: Apache-2.0
#include "peers/peer.hpp"

#include "peers/collectives.hpp"

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
  return harness::run_worker(collective_benches(&peer), peer, environment);
}

}  // namespace tutti::peers
