// SPDX-License-Identifier: Apache-2.0
// What MPICH calls collectives and algorithms in its selection files, and what each algorithm can do. Pure;
// thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "data/collective.hpp"

namespace tutti::tune {

// "allreduce"; empty where MPICH has no such collective of ours.
[[nodiscard]] std::string_view mpich_word_of(Collective collective);
// Of all that a tree may have, also those that are none of ours: "ibcast", "neighbor_alltoallw".
[[nodiscard]] bool is_mpich_collective(std::string_view word);

// The function of an algorithm, by the value of MPICH's variable: "recursive_doubling" of all_reduce is
// "MPIR_Allreduce_intra_recursive_doubling".
[[nodiscard]] std::string mpich_function_of(Collective collective, std::string_view algorithm);

// What an algorithm wants of a call, beyond the number of ranks; a forced one gives way to the default without a word
// where it lacks that.
struct MpichNeeds {
  bool parent = false;
  bool commutative = false;
  bool consecutive = false;
  bool built_in_operator = false;
  bool many_elements = false;  // as many as the greatest power of two among the ranks
  bool in_place = false;
  bool out_of_place = false;
};
[[nodiscard]] MpichNeeds mpich_needs_of(Collective collective, std::string_view algorithm);

// Which size a tree can ask of a collective's calls.
enum class MpichSize : std::uint8_t { none, average, total };
[[nodiscard]] MpichSize mpich_size_of(Collective collective);

}  // namespace tutti::tune
