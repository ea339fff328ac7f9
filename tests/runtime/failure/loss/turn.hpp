// SPDX-License-Identifier: Apache-2.0
// One call of a collective on numbers whose result every rank knows. All ranks draw the same calls from one seed.
// Values; only the C API is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include <tutti/tutti.h>

namespace tutti::test {

enum class Called : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  all_to_all,
  gather,
  scatter,
  scan,
  exclusive_scan,
  barrier
};
inline constexpr unsigned kNumCalled = 11;

struct Turn {
  Called called{};
  std::size_t count = 0;  // of a block
  int root = 0;
  bool symmetric = false;
  bool in_place = false;

  [[nodiscard]] bool can_be_in_place() const {
    return called == Called::all_reduce || called == Called::broadcast || called == Called::scan ||
           called == Called::reduce;
  }
};

// Who calls it: a rank of a communicator, at its turn of that number.
struct Caller {
  int num_ranks = 1;
  int rank = 0;
  int turn = 0;
};

// No buffer has more elements than `most`.
[[nodiscard]] Turn make_turn(std::minstd_rand& random, int num_ranks, std::size_t most);
// What the caller gives.
void fill(const Turn& turn, const Caller& caller, std::int32_t* in);
[[nodiscard]] tuttiResult_t call(const Turn& turn, const std::int32_t* in, std::int32_t* out, tuttiComm_t comm);
[[nodiscard]] bool is_right(const Turn& turn, const Caller& caller, const std::int32_t* out);

}  // namespace tutti::test
