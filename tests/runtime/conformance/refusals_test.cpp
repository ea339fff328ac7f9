// SPDX-License-Identifier: Apache-2.0
// What the runtime refuses to do by an algorithm that is forced is what is known to be refused (case.cpp); then another
// does it, the result is right all the same, and a warning says so.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "algorithms/registry.hpp"
#include "conformance/run.hpp"
#include "ranks_of_threads.hpp"
#include "runtime/communicator/settings.hpp"

namespace tutti::test {
namespace {

bool is_refused(const Algorithm& algorithm, const Request& request, const CallFacts& call) {
  const Refusals known = refusals_of(algorithm);
  // What writes to others with a root has nobody to write to, alone.
  const bool writes = request.num_ranks > 1 || !known.unattached;
  return known.everything || (known.ordinary_memory && !call.symmetric) ||
         (known.unattached && writes && !call.can_store_attached) ||
         (known.premultiplied_sums && writes && call.op == Op::premultiplied_sum) ||
         (!call.commutative && algorithm.make(request).order > OrderClass::rank_order);
}

// Every call as far as portfolios care.
std::vector<CallFacts> all_facts(const Request& request) {
  // What is only moved is a sum of one contribution.
  std::vector<Op> ops = {Op::sum};
  if (facts_of(request.collective).folds) ops.insert(ops.end(), {Op::premultiplied_sum, Op::user});
  std::vector<CallFacts> all;
  for (const bool symmetric : {false, true})
    for (const bool can_store : {false, true})
      for (const bool in_place : {false, true})
        for (const Op op : ops)
          all.push_back({.symmetric = symmetric,
                         .can_store_attached = can_store,
                         .in_place = in_place,
                         .op = op,
                         .commutative = op != Op::user,
                         .root = request.root});
  return all;
}

void expect_known_refusals(Portfolio& portfolio, const Algorithm& algorithm, Request request) {
  const Result<Way*> way = portfolio.find(algorithm.collective, full_name(algorithm, request));
  ASSERT_TRUE(way.ok()) << way.status().to_string();
  const std::uint32_t roots = facts_of(algorithm.collective).has_root ? request.num_ranks : 1;
  for (request.root = 0; request.root < roots; ++request.root)
    for (const CallFacts& call : all_facts(request)) {
      const std::string_view objection = objection_to(**way, call);
      EXPECT_EQ(!objection.empty(), is_refused(algorithm, request, call))
          << (call.symmetric ? "symmetric, " : "") << (call.can_store_attached ? "attached, " : "")
          << (call.in_place ? "in place, " : "") << name_of(call.op) << ", root " << call.root << ": '" << objection
          << "'";
    }
}

TEST(Refusals, AreKnownForEveryAlgorithmAndAllItsParameters) {
  std::size_t place = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    for (std::uint32_t ranks = 1; ranks <= kMostRanks; ++ranks) {
      if (!is_run(place++)) continue;
      const shm::RegionShape shape = Settings::from(Variables()).region_for(ranks);
      std::unique_ptr<Portfolio> portfolio;
      std::size_t number = 0;
      for (const Request& request : requests_of(*algorithm, ranks)) {
        // One keeps a few dozen ways of doing a collective.
        if (number++ % 32 == 0) portfolio = std::make_unique<Portfolio>(ranks - 1, shape);
        SCOPED_TRACE(testing::Message() << name_of(algorithm->collective) << " by " << full_name(*algorithm, request)
                                        << ", " << ranks << " ranks");
        expect_known_refusals(*portfolio, *algorithm, request);
        if (HasFailure()) return;
      }
    }
  }
}

struct Refused {
  std::string_view algorithm;
  Op op;
  bool symmetric;
  Collective collective = Collective::all_reduce;
  std::uint32_t root = 0;
  WalkerChoice walker = WalkerChoice::automatic;
};

TEST(Refusals, AreToldAndAnotherAlgorithmIsRight) {
  constexpr Refused kRefused[] = {
      {"multicast_one_shot", Op::sum, false},
      {"multicast_two_shot", Op::sum, true},
      {"two_shot", Op::sum, false},
      {"two_shot", Op::premultiplied_sum, true},
      {"ring", Op::user, false},
      {"ring", Op::user, false, Collective::reduce_scatter},
      {"chain", Op::user, false, Collective::reduce, 1},
      {"knomial", Op::user, false, Collective::reduce, 2},
      {"push_pull", Op::sum, false, Collective::broadcast, 1, WalkerChoice::generic},
      {"push_pull", Op::sum, true, Collective::broadcast, 2, WalkerChoice::generic},
      {"push_pull", Op::sum, false, Collective::reduce, 1, WalkerChoice::generic},
      {"push_pull", Op::premultiplied_sum, false, Collective::reduce, 2},
  };
  for (const Refused& refused : kRefused)
    for (const std::uint64_t count : {1U, 5000U}) {
      const Case asked = {.algorithm = find_algorithm(refused.collective, refused.algorithm),
                          .way = std::string(refused.algorithm),
                          .num_ranks = 3,
                          .root = refused.root,
                          .type = Type::u64,
                          .op = refused.op,
                          .count = count,
                          .symmetric = refused.symmetric,
                          .walker = refused.walker,
                          .seed = count};
      ASSERT_NE(asked.algorithm, nullptr) << refused.algorithm;
      const std::string warnings = run_cases({&asked, 1});
      EXPECT_NE(warnings.find(std::string(refused.algorithm) + " cannot be followed"), std::string::npos)
          << asked.to_string() << ": '" << warnings << "'";
      if (HasFailure()) return;
    }
}

TEST(Refusals, ThereIsNoAverageOfAScan) {
  ThreadRanks(2).run([&](Communicator& communicator) {
    float value = 1;
    for (const Collective scan : {Collective::scan, Collective::exclusive_scan}) {
      const Status status = communicator.run({.collective = scan,
                                              .input = &value,
                                              .output = &value,
                                              .count = 1,
                                              .op = {static_cast<std::uint32_t>(Op::average)}});
      EXPECT_EQ(status.code(), Code::invalid_argument);
      EXPECT_EQ(status.to_string(), fmt::format("there is no average of a {}", name_of(scan)));
    }
    // And nothing is broken by it.
    EXPECT_TRUE(communicator.run({.collective = Collective::scan, .input = &value, .output = &value, .count = 1}).ok());
    EXPECT_EQ(value, static_cast<float>(communicator.rank() + 1));
  });
}

}  // namespace
}  // namespace tutti::test
