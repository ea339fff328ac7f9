// SPDX-License-Identifier: Apache-2.0
// Files of fabrics and the words of generators: any text is read or refused, in words; all ranks of what is read reach
// each other, and it is read back from what is written of it.
#include <cmath>

#include "fabric/files/fabric_file.hpp"
#include "fabric/generators/generate.hpp"
#include "fabric/routes.hpp"
#include "fuzz.hpp"

namespace tutti::fabric {
namespace {

using fuzz::require;

void check_routes(const Fabric& fabric) {
  require(!find_apart(fabric).has_value(), "all ranks reach each other");
  Routes routes(fabric);
  const auto last = static_cast<std::uint32_t>(fabric.ranks.size() - 1);
  for (const auto& [from, to] : {std::pair(0U, last), std::pair(last, 0U), std::pair(last / 2, last)}) {
    std::uint32_t at = fabric.ranks[from].node;
    for (const std::uint32_t link : routes.between(at, fabric.ranks[to].node)) {
      require(fabric.links[link].from == at, "a route is made of links that follow each other");
      at = fabric.links[link].to;
    }
    require(at == fabric.ranks[to].node, "a route leads there");
  }
}

void check_fabric(const Result<Fabric>& fabric) {
  if (!fabric.ok()) {
    require(!fabric.status().message().empty(), "what is refused is refused in words");
    return;
  }
  require(!fabric->ranks.empty(), "there is a rank");
  for (const Link& link : fabric->links) {
    require(std::isfinite(link.bandwidth) && link.bandwidth >= 0, "a rate is one");
    require(std::isfinite(link.latency) && link.latency >= 0, "a time is one");
  }
  for (const Place& place : fabric->ranks) {
    require(place.node < fabric->nodes.size() && !fabric->nodes[place.node].is_switch, "a rank is on a node");
    require(place.core < fabric->cores.size(), "a rank has a core");
    require(place.costs < fabric->costs.size() && place.memory < fabric->memories.size(), "a rank has costs");
  }
  check_routes(*fabric);
  const std::string written = write_fabric(*fabric);
  const Result<Fabric> again = read_fabric(written, "", {});
  require(again.ok() && write_fabric(*again) == written, "a fabric is read back");
}

}  // namespace
}  // namespace tutti::fabric

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = tutti::fuzz::as_text(data, size);
  tutti::fabric::check_fabric(tutti::fabric::generate(text));
  tutti::fabric::check_fabric(tutti::fabric::read_fabric(text, "", {}));
  return 0;
}
