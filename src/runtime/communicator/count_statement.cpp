// SPDX-License-Identifier: Apache-2.0
#include "runtime/communicator/count_statement.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "schedule/prove/definition.hpp"

namespace tutti {

namespace {

// The finalizer of SplitMix64 (S. Vigna, public domain): sums of its values agree by chance once in 2^64.
std::uint64_t hash_of(std::uint64_t from, std::uint64_t to, std::uint64_t count) {
  std::uint64_t word = count + 0x9e3779b97f4a7c15U * (1 + (from << 32 | to));
  word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9U;
  word = (word ^ (word >> 27)) * 0x94d049bb133111ebU;
  return word ^ (word >> 31);
}

bool folds(const Schedule& header) { return facts_of(header.collective).folds; }

std::uint64_t given(const Schedule& header, std::uint32_t rank, std::uint32_t to, const BlockTable& table) {
  const CollectiveFacts& facts = facts_of(header.collective);
  if (facts.has_root && (facts.many_inputs ? rank : to) != header.root) return kNoCount;
  return table.at(Space::input, facts.many_inputs ? to : 0).count;
}

std::uint64_t expected(const Schedule& header, std::uint32_t rank, std::uint32_t from, const BlockTable& table) {
  const CollectiveFacts& facts = facts_of(header.collective);
  if (facts.has_root && (facts.many_outputs ? rank : from) != header.root) return kNoCount;
  return table.at(Space::output, facts.many_outputs ? from : 0).count;
}

}  // namespace

CountStatement statement_of(const Schedule& header, std::uint32_t rank, const BlockTable& table) {
  CountStatement statement;
  for (std::uint32_t peer = 0; peer < header.num_ranks; ++peer) {
    if (folds(header)) {
      statement.expected += hash_of(0, peer, table.at(Space::input, peer).count);
      continue;
    }
    if (const std::uint64_t count = given(header, rank, peer, table); count != kNoCount)
      statement.given += hash_of(rank, peer, count);
    if (const std::uint64_t count = expected(header, rank, peer, table); count != kNoCount)
      statement.expected += hash_of(peer, rank, count);
  }
  statement.largest = table.largest();
  // Every block of the message once, or of an all-to-all those of every rank.
  const bool by_outputs = !facts_of(header.collective).many_outputs;
  const Space space = by_outputs ? Space::output : Space::input;
  for (std::uint32_t block = 0; block < header.division(space).blocks; ++block)
    statement.elements += table.at(space, block).count;
  return statement;
}

Agreed agreed_by(const Schedule& header, std::span<const CountStatement> statements) {
  Agreed agreed;
  agreed.refused = header.num_ranks;
  std::uint64_t given = 0;
  std::uint64_t expected = 0;
  bool all_have_counts = true;
  for (std::uint32_t rank = 0; rank < statements.size(); ++rank) {
    const CountStatement& each = statements[rank];
    given += each.given;
    expected += each.expected;
    agreed.largest = std::max(agreed.largest, each.largest);
    agreed.elements += each.elements;
    agreed.in_place = agreed.in_place || (each.form & CountStatement::kInPlace) != 0;
    if ((each.form & CountStatement::kRefused) != 0) agreed.refused = std::min(agreed.refused, rank);
    all_have_counts = all_have_counts && (each.form & CountStatement::kNoCounts) == 0;
    if (folds(header)) agreed.differs = agreed.differs || each.expected != statements[0].expected;
  }
  if (!folds(header)) agreed.differs = given != expected;
  agreed.differs = agreed.differs && all_have_counts;
  if (header.collective == Collective::all_to_all_v) agreed.elements /= header.num_ranks;
  return agreed;
}

std::vector<std::uint64_t> all_counts_of(const Schedule& header, std::uint32_t rank, const BlockTable& table) {
  const std::uint32_t ranks = header.num_ranks;
  std::vector<std::uint64_t> counts(2 * std::size_t{ranks}, kNoCount);
  for (std::uint32_t peer = 0; peer < ranks; ++peer) {
    counts[peer] = folds(header) ? table.at(Space::input, peer).count : given(header, rank, peer, table);
    if (!folds(header)) counts[ranks + peer] = expected(header, rank, peer, table);
  }
  return counts;
}

std::string first_difference(const Schedule& header, std::span<const std::uint64_t> counts) {
  const std::size_t ranks = header.num_ranks;
  for (std::size_t from = 0; from < ranks; ++from)
    for (std::size_t to = 0; to < ranks; ++to) {
      if (folds(header)) {
        const std::uint64_t mine = counts[to];
        const std::uint64_t theirs = counts[from * 2 * ranks + to];
        if (mine != theirs)
          return fmt::format("block {} has {} on rank 0 and {} on rank {}", to, counted(mine, "element"), theirs, from);
        continue;
      }
      const std::uint64_t given = counts[from * 2 * ranks + to];
      const std::uint64_t expected = counts[to * 2 * ranks + ranks + from];
      if (given == expected) continue;
      return from == to
                 ? fmt::format("rank {} gives {} to itself, and expects {}", from, counted(given, "element"), expected)
                 : fmt::format("rank {} gives {} to rank {}, which expects {}", from, counted(given, "element"), to,
                               expected);
    }
  return "no difference";
}

}  // namespace tutti
