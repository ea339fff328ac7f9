// SPDX-License-Identifier: Apache-2.0
// Runs the oracle's code: in interleavings drawn from a seed, or in all of them where they are few.
//
// Rows of which nothing is shared commute with everything, so a place to change lanes is only in front of an operation
// that is shared; drawn interleavings change lanes elsewhere as well now and then, so as not to rely on that. Pure;
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schedule/oracle/oracle_code.hpp"

namespace tutti::oracle {

// What is wrong, and the last steps that led there.
struct Trouble {
  std::string what;
  std::vector<std::string> story;
};

struct RunOptions {
  std::uint32_t depth = 1;  // messages in flight; 0 is rendezvous
  OrderClass order = OrderClass::free;
  std::uint64_t seed = 0;
  bool tells = true;  // the story as well
};

// One interleaving. Every kind of them draws differently: by chance at each step, by priorities that change seldom, or
// with one lane held back in front of something shared for as long as the others can go on.
[[nodiscard]] std::optional<Trouble> run_once(const Code& code, const RunOptions& options);

struct Exploration {
  std::optional<Trouble> trouble;
  bool is_complete = false;  // every interleaving has been seen
  std::uint32_t states = 0;  // those told apart
};

// All interleavings, but for those that only change the order of operations that are not shared; states met before are
// not left twice. Gives up after `most_states` states.
[[nodiscard]] Exploration run_all(const Code& code, const RunOptions& options, std::uint32_t most_states);

}  // namespace tutti::oracle
