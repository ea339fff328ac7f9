#include "conformance/case.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"

namespace tutti::test {

namespace {

struct RefusalsRow {
  Collective collective;
  std::string_view algorithm;
  Refusals refusals;
};
constexpr RefusalsRow kRefusals[] = {
    // Shared memory has no switch that copies and reduces.
    {Collective::all_reduce, "multicast_one_shot", {.everything = true}},
    {Collective::all_reduce, "multicast_two_shot", {.everything = true}},
    // It reads and writes the other ranks' own buffers, where nobody has scaled inputs.
    {Collective::all_reduce, "two_shot", {.ordinary_memory = true, .premultiplied_sums = true}},
};

}  // namespace

std::string Case::to_string() const {
  const CollectiveFacts& facts = facts_of(algorithm->collective);
  std::string text = fmt::format("{} by {}, {} ranks, {} of {}", facts.name, way, num_ranks, count, name_of(type));
  if (facts.folds) text += fmt::format(", {}", name_of(op));
  if (facts.has_root) text += fmt::format(", root {}", root);
  if (in_place) text += ", in place";
  if (symmetric) text += ", symmetric memory";
  if (odd_addresses) text += ", odd addresses";
  if (attached) text += ", attached";
  if (walker == WalkerChoice::generic) text += ", generic walker";
  return text + fmt::format(", slots of {}, seed {}", slot, seed);
}

Schedule header_of(const Case& each) {
  Schedule header;
  header.collective = each.algorithm->collective;
  header.num_ranks = each.num_ranks;
  header.root = each.root;
  header.spaces = spaces_of(header.collective, header.num_ranks);
  return header;
}

Refusals refusals_of(const Algorithm& algorithm) {
  for (const RefusalsRow& row : kRefusals)
    if (row.collective == algorithm.collective && row.algorithm == algorithm.name) return row.refusals;
  return {};
}

std::vector<const Algorithm*> conforming_algorithms() {
  std::vector<const Algorithm*> algorithms;
  for (const Algorithm* each : all_algorithms())
    if (!facts_of(each->collective).varies && !refusals_of(*each).everything) algorithms.push_back(each);
  return algorithms;
}

std::vector<Request> requests_of(const Algorithm& algorithm, std::uint32_t num_ranks) {
  CaseFilter filter;
  if (facts_of(algorithm.collective).has_root) filter.root = 0;
  return cases_of(algorithm, num_ranks, filter);
}

}  // namespace tutti::test
