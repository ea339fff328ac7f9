#include "runtime/selection/selector.hpp"

#include <fmt/format.h>

#include "algorithms/registry.hpp"

namespace tutti {

namespace {

bool is_ring(const Way& way) { return way.collective == Collective::all_reduce && way.name == "ring"; }

}  // namespace

void Selector::make_rows(Collective collective) {
  Choices& choices = of(collective);
  choices.is_made = true;
  choices.rows.clear();
  for (const Decision& decision : decisions()) {
    if (decision.collective != collective || num_ranks_ > decision.most_ranks) continue;
    if (decision.processor.value_or(processor_) != processor_) continue;
    if (decision.crowded && num_folding_ == 0) continue;
    std::string name(decision.way);
    if (decision.crowded && num_folding_ > 2) name += fmt::format("({})", num_folding_);
    const Result<Way*> way = portfolio_.find(collective, name);
    // Not for this number of ranks: another row is.
    if (way.ok())
      choices.rows.push_back({decision.most_bytes, decision.symmetric, decision.attached, is_ring(**way), *way});
  }
}

Result<Choice> Selector::by_table(Collective collective, std::uint64_t bytes, const CallFacts& call) {
  if (!of(collective).is_made) make_rows(collective);
  for (const Row& row : of(collective).rows)
    if (bytes <= row.most_bytes && (!row.symmetric || call.symmetric) &&
        (!row.attached || (call.pays_to_store_attached && !call.crowded)) && objection_to(*row.way, call).empty()) {
      const Choice choice{.way = row.way, .why = row.symmetric ? "by size, in symmetric memory" : "by size"};
      return row.is_ring && bytes <= bidirectional_most_ ? or_ring_bidir_ag(choice, call) : choice;
    }
  // What nothing in the table is for: the first of the catalogue that can.
  std::string_view against = "there is no algorithm for it";
  for (const Algorithm* each : algorithms_of(collective)) {
    const Result<Way*> way = portfolio_.find(collective, each->name);
    if (!way.ok()) continue;
    against = objection_to(**way, call);
    if (against.empty()) return Choice{.way = *way, .why = "the first that can"};
  }
  return Status(Code::unsupported, fmt::format("nothing here can do this {}: {}", name_of(collective), against));
}

Result<Choice> Selector::by_size(Collective collective, std::uint64_t bytes, const CallFacts& call) {
  Result<Choice> choice = by_table(collective, bytes, call);
  if (!choice.ok() || collective != Collective::all_reduce || !always_gathers_both_ways()) return choice;
  return or_ring_bidir_ag(*choice, call);
}

Choice Selector::or_ring_bidir_ag(const Choice& choice, const CallFacts& call) {
  const Result<Way*> way = portfolio_.find(Collective::all_reduce, "ring_bidir_ag");
  if (!way.ok()) return choice;
  const std::string_view against = objection_to(**way, call);
  if (!against.empty()) return {.way = choice.way, .why = against, .unfollowed = *way};
  return {.way = *way, .why = "by TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE"};
}

Result<Choice> Selector::choose(Collective collective, std::uint64_t bytes, const CallFacts& call) {
  Way* const forced = of(collective).forced;
  if (forced == nullptr) return by_size(collective, bytes, call);
  const std::string_view against = objection_to(*forced, call);
  if (against.empty()) return Choice{.way = forced, .why = "forced", .is_forced = true};
  Result<Choice> choice = by_size(collective, bytes, call);
  if (choice.ok()) {
    choice->why = against;
    choice->unfollowed = forced;
  }
  return choice;
}

}  // namespace tutti
