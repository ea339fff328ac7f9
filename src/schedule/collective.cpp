// SPDX-License-Identifier: Apache-2.0
#include "schedule/collective.hpp"

namespace tutti {

std::string_view name_of(OrderClass order) {
  switch (order) {
    case OrderClass::ordered: return "ordered";
    case OrderClass::rank_order: return "rank_order";
    case OrderClass::uniform: return "uniform";
    case OrderClass::free: return "free";
  }
  return "unknown";
}

Spaces spaces_of(Collective collective, std::uint32_t num_ranks, std::uint32_t pieces, std::uint32_t scratch) {
  const CollectiveFacts& facts = facts_of(collective);
  // A barrier has one empty block to send, and nothing to give back.
  const std::uint32_t outputs = collective == Collective::barrier ? 0 : facts.many_outputs ? num_ranks : 1;
  return {{{facts.many_inputs ? num_ranks : 1, pieces}, {outputs, pieces}, {scratch, pieces}}};
}

}  // namespace tutti
