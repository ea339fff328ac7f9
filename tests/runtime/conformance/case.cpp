// SPDX-License-Identifier: Apache-2.0
#include "conformance/case.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "schedule/prove/definition.hpp"

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
    // It writes them with a root, when not all ranks know where in symmetric memory they are.
    {Collective::broadcast, "push_pull", {.unattached = true}},
    {Collective::reduce, "push_pull", {.unattached = true, .premultiplied_sums = true}},
};

// Of a block of that size class (schedule/definition.hpp).
std::uint64_t size_of_class(const Case& each, std::uint32_t size_class) {
  const std::uint64_t drawn = (size_class + each.seed + 1) * 0x9e3779b97f4a7c15U >> 40;
  switch (each.sizes) {
    case Sizes::alike: return each.count;
    case Sizes::uneven: return drawn % (each.count + 1);
    case Sizes::some_empty: return drawn % 2 == 0 ? 0 : each.count;
    case Sizes::one_large:
      return size_class == each.num_ranks / 2 ? each.count : std::min<std::uint64_t>(each.count, 1);
  }
  return each.count;
}

constexpr std::string_view kSizesInWords[] = {"", ", of uneven blocks", ", some blocks empty", ", one block large"};
constexpr std::string_view kForms[] = {"", ", begun", ", prepared"};
constexpr std::string_view kSpreads[] = {"", ", displaced", ", with gaps", ", backwards"};

}  // namespace

std::string Case::to_string() const {
  const CollectiveFacts& facts = facts_of(algorithm->collective);
  std::string text = fmt::format("{} by {}, {} ranks, {} of {}", facts.name, way, num_ranks, count, name_of(type));
  if (facts.folds) text += fmt::format(", {}", name_of(op));
  if (facts.has_root) text += fmt::format(", root {}", root);
  text += kSizesInWords[static_cast<std::size_t>(sizes)];
  text += kSpreads[static_cast<std::size_t>(spread)];
  text += kForms[static_cast<std::size_t>(form)];
  if (in_place) text += ", in place";
  if (symmetric) text += ", symmetric memory";
  if (odd_addresses) text += ", odd addresses";
  if (attached) text += ", attached";
  if (walker == WalkerChoice::generic) text += ", generic walker";
  return text + fmt::format(", slots of {}, seed {}", slot, seed);
}

bool is_run(std::size_t number) { return !TUTTI_BRIEF_TESTS || std::popcount(number) % 2 == 0; }

std::vector<Case> thinned(std::vector<Case> cases) {
  std::size_t number = 0;
  std::erase_if(cases, [&number](const Case&) { return !is_run(number++); });
  return cases;
}

Schedule header_of(const Case& each) {
  Schedule header;
  header.collective = each.algorithm->collective;
  header.num_ranks = each.num_ranks;
  header.root = each.root;
  header.spaces = spaces_of(header.collective, header.num_ranks);
  return header;
}

PlacedBlocks placed_blocks(const Case& each, std::uint32_t rank, Space space) {
  const Schedule header = header_of(each);
  PlacedBlocks placed;
  if (!has_block(header, rank, space, 0)) return placed;
  const std::uint32_t blocks = header.division(space).blocks;
  placed.offsets.resize(blocks);
  for (std::uint32_t block = 0; block < blocks; ++block) {
    std::uint32_t number = size_class(header, rank, space, block);
    // In place each pair of an all-to-all sends as much as it receives.
    const std::uint32_t twin = number % each.num_ranks * each.num_ranks + number / each.num_ranks;
    if (each.in_place && header.collective == Collective::all_to_all_v) number = std::min(number, twin);
    placed.counts.push_back(size_of_class(each, number));
  }
  const bool has_gaps = each.spread >= Spread::with_gaps && blocks > 1;
  for (std::uint32_t turn = 0; turn < blocks; ++turn) {
    const std::uint32_t block = each.spread == Spread::backwards_with_gaps ? blocks - 1 - turn : turn;
    placed.offsets[block] = placed.end + (has_gaps ? 1 + turn % 3 : 0);
    placed.end = placed.offsets[block] + placed.counts[block];
  }
  return placed;
}

Refusals refusals_of(const Algorithm& algorithm) {
  for (const RefusalsRow& row : kRefusals)
    if (row.collective == algorithm.collective && row.algorithm == algorithm.name) return row.refusals;
  return {};
}

std::vector<const Algorithm*> conforming_algorithms() {
  std::vector<const Algorithm*> algorithms;
  for (const Algorithm* each : all_algorithms())
    if (!refusals_of(*each).everything) algorithms.push_back(each);
  return algorithms;
}

std::vector<Request> requests_of(const Algorithm& algorithm, std::uint32_t num_ranks) {
  CaseFilter filter;
  if (facts_of(algorithm.collective).has_root) filter.root = 0;
  return cases_of(algorithm, num_ranks, filter);
}

}  // namespace tutti::test
