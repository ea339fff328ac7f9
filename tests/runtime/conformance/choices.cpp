// SPDX-License-Identifier: Apache-2.0
#include "conformance/choices.hpp"

#include <algorithm>
#include <iterator>

#include "algorithms/full_name.hpp"
#include "schedule/prove/definition.hpp"

namespace tutti::test {

namespace {

constexpr std::uint64_t kSlots[] = {128 << 10, 4 << 10};
constexpr std::size_t kNumCounts = 8;

std::uint64_t count_of(std::size_t level, std::uint32_t ranks) {
  const std::uint64_t counts[kNumCounts] = {0, 1, ranks - 1, ranks, ranks + 1, 1000, 65536 + 3, TUTTI_LARGE_COUNT};
  return counts[level];
}

std::uint32_t root_of(std::size_t level, std::uint32_t ranks) {
  const std::uint32_t roots[] = {0, ranks - 1, ranks / 2};
  return roots[level];
}

constexpr std::uint32_t ranks_of(std::size_t level) { return static_cast<std::uint32_t>(level + 1); }

constexpr Op op_of(std::size_t folding) { return static_cast<Op>(folding / kNumWalks); }

// Of nothing, and among nobody else, hardly anything can go wrong.
bool is_idle(Choice choice) { return choice.level == 0 && (choice.factor == kCount || choice.factor == kRanks); }

}  // namespace

Choices::Choices() : algorithms_(conforming_algorithms()) {
  levels_ = {algorithms_.size(), 2, kMostRanks, 3, kNumTypes, kNumCounts, 2, 2, 2, kNumOps * kNumWalks,
             std::size(kSlots),  4, 4,          3};
  for (const Algorithm* algorithm : algorithms_)
    for (std::uint32_t ranks = 1; ranks <= kMostRanks; ++ranks) requests_.push_back(requests_of(*algorithm, ranks));
}

bool Choices::suits(const Algorithm& algorithm, Choice choice) const {
  const CollectiveFacts& facts = facts_of(algorithm.collective);
  const Refusals refusals = refusals_of(algorithm);
  const bool moves_nothing = algorithm.collective == Collective::barrier;
  const bool takes_parameters = algorithm.takes.radix || algorithm.takes.grid || algorithm.takes.groups;
  const Op op = op_of(choice.level);
  // The others say nothing of an algorithm that has no use for them.
  if (choice.level != 0 && moves_nothing && choice.factor >= kType && choice.factor <= kAddresses) return false;
  switch (choice.factor) {
    case kParameters: return choice.level == 0 || takes_parameters;
    case kRoot: return choice.level == 0 || facts.has_root;
    case kSizes:
    case kSpread: return choice.level == 0 || facts.varies;
    case kMemory: return choice.level == 1 || !refusals.ordinary_memory;
    case kFolding:
      // The generic walker reaches no memory but what is mapped.
      if (refusals.unattached && choice.level % kNumWalks == kGenericWalk) return false;
      if (!facts.folds) return op == Op::sum;
      if (op == Op::user) return algorithm.order <= OrderClass::rank_order;
      if (op == Op::premultiplied_sum) return !refusals.premultiplied_sums;
      // Nobody has all there is, so nobody may divide.
      return op != Op::average ||
             (algorithm.collective != Collective::scan && algorithm.collective != Collective::exclusive_scan);
    default: return true;
  }
}

bool Choices::in_conflict(Choice a, Choice b) const {
  if (a.factor > b.factor) std::swap(a, b);
  if (a.factor == kAlgorithm && b.factor == kRanks) return requests_[a.level * kMostRanks + b.level].empty();
  if (a.factor == kAlgorithm) return !suits(*algorithms_[a.level], b);
  if (a.factor != kType || b.factor != kFolding) return false;
  const auto type = static_cast<Type>(a.level);
  const Op op = op_of(b.level);
  return op == Op::user ? type != Type::u64 : !is_defined(op, type);
}

Case Choices::case_of(const CoveringRow& row, std::uint64_t seed) const {
  Case made;
  made.algorithm = algorithms_[row[kAlgorithm]];
  made.num_ranks = ranks_of(row[kRanks]);
  made.root = root_of(row[kRoot], made.num_ranks);
  const std::vector<Request>& requests = requests_[row[kAlgorithm] * kMostRanks + row[kRanks]];
  // Of the others a different one from seed to seed.
  const bool usual = row[kParameters] == 0 || requests.size() == 1;
  made.way = usual ? made.algorithm->name : full_name(*made.algorithm, requests[1 + seed % (requests.size() - 1)]);
  made.type = static_cast<Type>(row[kType]);
  made.op = op_of(row[kFolding]);
  made.count = count_of(row[kCount], made.num_ranks);
  made.in_place = row[kPlacement] == 1;
  made.symmetric = row[kMemory] == 1;
  made.odd_addresses = row[kAddresses] == 1;
  const std::size_t walk = row[kFolding] % kNumWalks;
  made.attached = walk == 1;
  made.walker = walk == kGenericWalk ? WalkerChoice::generic : WalkerChoice::automatic;
  made.slot = kSlots[row[kSlot]];
  made.seed = seed;
  made.sizes = static_cast<Sizes>(row[kSizes]);
  made.spread = static_cast<Spread>(row[kSpread]);
  made.form = static_cast<Form>(row[kForm]);
  return made;
}

double Choices::cost(const CoveringRow& row) const {
  constexpr double kBytesOfMillisecond = 1 << 20;
  const Case made = case_of(row, 0);
  const double moving = static_cast<double>(bytes_of(made)) / kBytesOfMillisecond;
  return 1 + 0.2 * made.num_ranks + moving * (made.slot == kSlots[0] ? 1 : 2);
}

std::vector<Case> Choices::covering_cases(std::uint64_t seed) const {
  const CoveringArray array = covering_array({.levels = levels_,
                                              .in_conflict = [this](Choice a, Choice b) { return in_conflict(a, b); },
                                              .cost = [this](const CoveringRow& row) { return cost(row); },
                                              .seed = seed,
                                              .is_idle = is_idle});
  std::vector<Case> cases;
  for (const CoveringRow& row : array.rows) cases.push_back(case_of(row, seed + cases.size()));
  return cases;
}

std::uint64_t bytes_of(const Case& each) {
  const Schedule header = header_of(each);
  std::uint64_t blocks = 0;
  for (std::uint32_t rank = 0; rank < each.num_ranks; ++rank)
    for (const Space space : {Space::input, Space::output})
      if (header.division(space).blocks > 0 && has_block(header, rank, space, 0))
        blocks += header.division(space).blocks;
  return blocks * each.count * size_of(each.type);
}

}  // namespace tutti::test
