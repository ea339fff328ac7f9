// SPDX-License-Identifier: Apache-2.0
// All-reduce algorithms against the closed forms of the literature: messages, bytes, and how long the longest chain is.
#include <algorithm>
#include <bit>
#include <functional>

#include <gtest/gtest.h>

#include "algorithms/patterns/fold_in.hpp"
#include "algorithms/registry.hpp"
#include "schedule/cost.hpp"

namespace tutti {
namespace {

constexpr std::uint32_t kMostRanks = 34;

// What the literature says of N ranks.
struct Form {
  std::uint64_t messages = 0;  // of all ranks
  std::uint64_t pieces = 0;    // sent by all ranks
  std::uint32_t num_pieces = 1;
  std::uint32_t path = 0;
};

struct Row {
  std::string_view name;
  std::uint32_t radix = 2;
  std::function<bool(std::uint32_t)> is_for;  // the numbers of ranks that the form is for
  std::function<Form(std::uint64_t)> form;
};

bool any(std::uint32_t) { return true; }
bool power_of_two(std::uint32_t ranks) { return std::has_single_bit(ranks); }
bool no_power_of_two(std::uint32_t ranks) { return !std::has_single_bit(ranks); }
bool even(std::uint32_t ranks) { return ranks % 2 == 0; }

std::uint32_t log2(std::uint64_t number) { return static_cast<std::uint32_t>(std::bit_width(number)) - 1; }
std::uint32_t ceil_log2(std::uint64_t number) { return static_cast<std::uint32_t>(std::bit_width(number - 1)); }
std::uint32_t narrow(std::uint64_t number) { return static_cast<std::uint32_t>(number); }

// The height of the k-nomial tree: the most digits that are not 0 in a number below N.
std::uint32_t knomial_height(std::uint64_t ranks, std::uint64_t radix) {
  std::uint32_t height = 0;
  for (std::uint64_t number = 0; number < ranks; ++number) {
    std::uint32_t digits = 0;
    for (std::uint64_t rest = number; rest > 0; rest /= radix) digits += rest % radix != 0 ? 1 : 0;
    height = std::max(height, digits);
  }
  return height;
}

// All halve down to a piece each and double it back: Rabenseifner's places, and swing's.
Form halving_and_doubling(std::uint64_t n) { return {n * 2 * log2(n), 2 * n * (n - 1), narrow(n), 2 * log2(n)}; }

Form reduce_broadcast(std::uint64_t n, std::uint64_t radix) {
  return {2 * (n - 1), 2 * (n - 1), 1, 2 * knomial_height(n, radix)};
}

// Everyone beyond a power of two P sends to his neighbour before and gets the result behind. A chain that has both, and
// a message in every round between, ends at the place whose number is the complement of that where it begins: only if
// more than half of the places are pairs there is one.
Form doubling_with_pairs(std::uint64_t n) {
  const std::uint64_t places = std::bit_floor(n);
  const std::uint64_t pairs = n - places;
  const std::uint64_t messages = places * log2(places) + 2 * pairs;
  return {messages, messages, 1, log2(places) + (2 * pairs > places ? 2 : 1)};
}

// The traffic of P places, and what pairs hand to each other: a half each, a half back, everything in the end.
Form rabenseifner_with_pairs(std::uint64_t n) {
  const std::uint64_t places = std::bit_floor(n);
  const std::uint64_t pairs = n - places;
  const std::uint32_t steps = log2(places);
  return {places * 2 * steps + pairs * 4, places * 2 * (places - 1) + pairs * 5 * places / 2, narrow(places),
          2 * steps + 3};
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"ring", 2, any,
       [](std::uint64_t n) {
         return Form{2 * n * (n - 1), 2 * n * (n - 1), narrow(n), narrow(2 * (n - 1))};
       }},
      {"ring_bidirectional", 2, [](std::uint32_t n) { return n > 2; },
       [](std::uint64_t n) {
         return Form{4 * n * (n - 1), 4 * n * (n - 1), narrow(2 * n), narrow(2 * (n - 1))};
       }},
      {"ring_bidirectional", 2, [](std::uint32_t n) { return n == 2; },
       [](std::uint64_t) {
         return Form{4, 8, 4, 2};
       }},
      // n-1 rounds, then ceil((n-1)/2) instead of n-1 more.
      {"ring_bidir_ag", 2, any,
       [](std::uint64_t n) {
         return Form{2 * n * (n - 1), 2 * n * (n - 1), narrow(n), narrow(n - 1 + n / 2)};
       }},
      {"recursive_doubling", 2, power_of_two,
       [](std::uint64_t n) {
         return Form{n * log2(n), n * log2(n), 1, log2(n)};
       }},
      {"recursive_doubling", 2, no_power_of_two, doubling_with_pairs},
      {"recursive_multiplying", 3, [](std::uint32_t n) { return n == 9 || n == 27; },
       [](std::uint64_t n) {
         const std::uint32_t rounds = n == 9 ? 2 : 3;
         return Form{n * rounds * 2, n * rounds * 2, 1, rounds};
       }},
      {"recursive_multiplying", 8, [](std::uint32_t n) { return n > 1 && n <= 8; },
       [](std::uint64_t n) {
         return Form{n * (n - 1), n * (n - 1), 1, 1};
       }},
      {"recursive_multiplying", 4, [](std::uint32_t n) { return n == 12; },
       [](std::uint64_t n) {
         return Form{n * (3 + 2), n * (3 + 2), 1, 2};
       }},
      // Four places of one or two ranks.
      {"recursive_multiplying", 4, [](std::uint32_t n) { return n == 7; },
       [](std::uint64_t n) {
         const std::uint64_t places = 4;
         const std::uint64_t messages = places * 3 + 2 * (n - places);
         return Form{messages, messages, 1, 3};
       }},
      {"rabenseifner", 2, power_of_two, halving_and_doubling},
      {"rabenseifner", 2, no_power_of_two, rabenseifner_with_pairs},
      {"reduce_broadcast", 2, any, [](std::uint64_t n) { return reduce_broadcast(n, 2); }},
      {"reduce_broadcast", 5, any, [](std::uint64_t n) { return reduce_broadcast(n, 5); }},
      {"reduce_broadcast", 8, any, [](std::uint64_t n) { return reduce_broadcast(n, 8); }},
      {"double_binary_tree", 2, any,
       [](std::uint64_t n) {
         return Form{4 * (n - 1), 4 * (n - 1), 2, 2 * log2(n)};
       }},
      {"swing", 2, [](std::uint32_t n) { return even(n) && power_of_two(n); }, halving_and_doubling},
  };
  return all;
}

Cost cost(std::string_view name, std::uint32_t ranks, std::uint32_t radix = 2) {
  Request request{.num_ranks = ranks};
  request.parameters.radix = radix;
  return cost_of(find_algorithm(Collective::all_reduce, name)->make(request));
}

TEST(AllReduceCost, IsThatOfTheLiterature) {
  for (const Row& row : rows()) {
    for (std::uint32_t ranks = 2; ranks <= kMostRanks; ++ranks) {
      if (!row.is_for(ranks)) continue;
      SCOPED_TRACE(testing::Message() << row.name << " of radix " << row.radix << " for " << ranks << " ranks");
      const Cost found = cost(row.name, ranks, row.radix);
      const Form form = row.form(ranks);
      EXPECT_EQ(found.total.messages, form.messages);
      EXPECT_EQ(found.total.pieces_sent, form.pieces);
      EXPECT_EQ(found.num_pieces, form.num_pieces);
      EXPECT_EQ(found.longest_path, form.path);
    }
  }
}

TEST(AllReduceCost, OneRankSendsNothing) {
  for (const Algorithm* algorithm : algorithms_of(Collective::all_reduce)) {
    const Request alone{.num_ranks = 1};
    if (!objection_to(*algorithm, alone).empty()) continue;
    EXPECT_EQ(cost(algorithm->name, 1).total.messages, 0U) << algorithm->name;
  }
}

// Nobody has children in both trees, so nobody sends more than twice the buffer, and half of it goes up at the same
// time.
TEST(AllReduceCost, DoubleBinaryTreeBurdensAllAlike) {
  for (std::uint32_t ranks = 2; ranks <= kMostRanks; ++ranks) {
    const Cost tree = cost("double_binary_tree", ranks);
    EXPECT_LE(tree.most.pieces_out(), 2 * tree.num_pieces) << ranks << " ranks";
    EXPECT_LE(tree.most.pieces_in(), 2 * tree.num_pieces) << ranks << " ranks";
  }
}

// Everybody sends the least there can be, in 2·ceil(log2 N) steps, whatever even number it is.
TEST(AllReduceCost, SwingMovesTheLeastForAnyEvenNumber) {
  for (std::uint32_t ranks = 2; ranks <= kMostRanks; ranks += 2) {
    const Cost swing = cost("swing", ranks);
    for (const RankCost& rank : swing.ranks) {
      EXPECT_EQ(rank.pieces_out(), std::uint64_t{2} * (ranks - 1)) << ranks << " ranks";
      EXPECT_EQ(rank.pieces_in(), std::uint64_t{2} * (ranks - 1)) << ranks << " ranks";
      EXPECT_LE(rank.messages, std::uint64_t{2} * (ranks - 1)) << ranks << " ranks";
    }
    EXPECT_EQ(swing.longest_path, 2 * ceil_log2(ranks)) << ranks << " ranks";
  }
}

TEST(AllReduceCost, SwingIsForEvenNumbersOnly) {
  const Algorithm& swing = *find_algorithm(Collective::all_reduce, "swing");
  EXPECT_EQ(objection_to(swing, {.num_ranks = 6}), "");
  EXPECT_EQ(objection_to(swing, {.num_ranks = 7}), "swing needs an even number of ranks, and there are 7");
}

// What is folded k at a time is rounded once where radix 2 rounds log2 k times.
TEST(AllReduceCost, RoundingsAreFewerWithAGreatRadix) {
  EXPECT_EQ(cost("recursive_doubling", 16).roundings, 4U);
  EXPECT_EQ(cost("recursive_multiplying", 16, 4).roundings, 2U);
  EXPECT_EQ(cost("reduce_broadcast", 8, 8).roundings, 1U);
  EXPECT_EQ(cost("ring_bidir_ag", 16).roundings, 15U);
}

}  // namespace
}  // namespace tutti
