// Which algorithm runs a call. Stands in, with sizes measured on one machine, until there are decision tables. Equal
// arguments give equal answers on every rank. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/type.hpp"

namespace tutti {

// Below this one_shot is the answer to everything, so the small path need not ask.
inline constexpr std::uint64_t kAlwaysOneShot = 32 << 10;

// What a call must be to run a schedule of the user's own (runtime/algorithm_file.hpp).
struct OwnFacts {
  bool needs_symmetric = false;
  bool keeps_rank_order = false;
  bool allows_in_place = true;
  bool allows_out_of_place = true;
};

// `symmetric` is as this rank's buffers are: ranks that differ in it choose differently, and find that out as they find
// out any difference of calls.
struct Situation {
  std::uint32_t num_ranks = 1;
  std::uint64_t bytes = 0;
  bool symmetric = false;  // both buffers are in symmetric memory
  bool in_place = false;
  Op op = Op::sum;
  bool commutative = true;
  std::string_view forced = {};   // an algorithm's name, or empty
  const OwnFacts* own = nullptr;  // of the schedule that `forced` stands for, where it is one of the user's own
};

struct Choice {
  std::string_view algorithm;
  std::string_view why;      // for the log
  bool is_fallback = false;  // the forced algorithm cannot do this call
};

[[nodiscard]] Choice choose_all_reduce(const Situation& situation);

}  // namespace tutti
