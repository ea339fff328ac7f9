// SPDX-License-Identifier: Apache-2.0
// `tutti launch`: it serves the rendezvous itself, and everything stands in its variables.
#include "base/variables/variables.hpp"
#include "runtime/bootstrap/start/numbers.hpp"
#include "runtime/bootstrap/start/way.hpp"

namespace tutti::start {

Found by_tutti_launch(Process& process) {
  const Variables& variables = process.variables;
  const std::string& text = variables.get<VariableId::unique_id>();
  if (!variables.get<VariableId::rank>() && !variables.get<VariableId::num_ranks>() && text.empty()) return nothing();
  TUTTI_TRY_ASSIGN(const Ranks ranks,
                   ranks_in(process.environment, {.rank = "TUTTI_RANK", .num_ranks = "TUTTI_NUM_RANKS"}));
  if (text.empty()) return Status(Code::invalid_usage, "TUTTI_UNIQUE_ID is not set; it goes with TUTTI_RANK");
  const Result<UniqueId> id = UniqueId::from_text(text);
  if (!id.ok()) return id.status().with_context("TUTTI_UNIQUE_ID");
  return std::optional(Started{ranks.rank, ranks.num_ranks, *id, "tutti launch", true});
}

}  // namespace tutti::start
