// Which algorithm runs a call. Stands in, with sizes measured on one machine, until there are decision tables; the
// arguments are the same on every rank, and so is the answer. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/type.hpp"

namespace tutti {

struct Situation {
  std::uint32_t num_ranks = 1;
  std::uint64_t bytes = 0;
  bool symmetric = false;  // both buffers are in symmetric memory
  Op op = Op::sum;
  bool commutative = true;
  std::string_view forced;  // an algorithm's name, or empty
};

struct Choice {
  std::string_view algorithm;
  std::string_view why;      // for the log
  bool is_fallback = false;  // the forced algorithm cannot do this call
};

[[nodiscard]] Choice choose_all_reduce(const Situation& situation);

}  // namespace tutti
