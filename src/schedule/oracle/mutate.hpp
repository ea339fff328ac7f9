// SPDX-License-Identifier: Apache-2.0
// Mutation testing of prove: schedules are changed a little, prove judges them, and the oracle runs what prove has
// accepted. A mutant that is accepted and then fails in a run is a hole in prove; one that is refused and never fails
// may be a refusal without need, is counted by the reason that prove gave, and can be written out.
//
// Deterministic by seed, whatever the number of threads. Starts threads of its own, and joins them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "schedule/oracle/mutation.hpp"
#include "schedule/oracle/oracle.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

// What mutants are made of. Subjects of one collective and algorithm stand together and are counted together; the
// algorithms get equal shares of the mutants, and of an algorithm the numbers of ranks.
struct Subject {
  std::string collective;
  std::string algorithm;
  std::uint32_t num_ranks = 0;
  std::function<Schedule(std::uint64_t seed)> make;
};

struct Verdict {
  bool accepted = false;
  std::string reason;  // why not, in a word
  oracle::Claims claims;
  std::string story = {};  // why not, at length, beginning with the word
};
using Judge = std::function<Verdict(const Schedule&)>;

// prove's; what is marked wrongly is refused as well.
[[nodiscard]] Verdict judged_by_proof(const Schedule& schedule);

struct MutateOptions {
  std::uint64_t count = 0;
  std::uint64_t seed = 0;
  unsigned threads = 1;
  std::uint32_t interleavings = 100;        // of a mutant that is accepted
  std::uint32_t interleavings_refused = 8;  // of one that is not
  std::uint32_t most_states = 0;            // of one way to run a mutant with few ranks, in search of all interleavings
  std::size_t most_harms = 5;               // written out
  std::size_t most_strict = 0;              // likewise, of each reason
  std::atomic<std::uint64_t>* num_judged = nullptr;  // where somebody wants to know how far it is
};

struct Tally {
  std::uint64_t mutants = 0;
  std::uint64_t rejected = 0;
  std::uint64_t harmless = 0;                        // accepted, and nothing failed
  std::uint64_t harmful = 0;                         // accepted, and failed
  std::map<std::string, std::uint64_t> strict = {};  // rejected, and nothing failed: by reason

  Tally& operator+=(const Tally& other);
};

// One that is written out.
struct NotedMutant {
  std::uint64_t mutant = 0;
  std::string text;  // what was changed, why it was refused or what went wrong, and the whole schedule
};

struct MutateReport {
  // By collective and algorithm, by mutation.
  std::map<std::pair<std::string, std::string>, std::map<Mutation, Tally>> tallies;
  std::vector<NotedMutant> harms;  // accepted, and failed: the first ones
  std::map<std::string, std::vector<NotedMutant>>
      strict;              // rejected, and nothing failed: the first ones of each reason
  std::uint64_t runs = 0;  // of accepted mutants, and of how many ways to run them
  std::uint64_t ways = 0;  // all interleavings have been seen
  std::uint64_t ways_explored = 0;

  [[nodiscard]] Tally total() const;
};

[[nodiscard]] MutateReport mutate_all(std::span<const Subject> subjects, const Judge& judge,
                                      const MutateOptions& options);

}  // namespace tutti
