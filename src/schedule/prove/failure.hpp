// SPDX-License-Identifier: Apache-2.0
// What a proof says when it fails: what is wrong, where, and the shortest story that leads there. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

enum class Fault : std::uint8_t {
  out_of_bounds,  // a block, piece, rank, lane, step or post that there is none of
  malformed,      // a step that means nothing: no sources, no destinations, slices that do not match
  not_exposed,    // a remote endpoint outside what its post permits
  shared_end,     // two lanes of a rank post, or use the same end of a connection: their order would be chance
  unmatched,      // one end of a connection sends what the other does not receive
  deadlock,       // some lanes wait for each other for ever
  no_value,       // reads what was never written, given up, or left over from another round
  missing,        // a result without a contribution that it must hold
  doubled,        // a contribution that is folded in twice
  mixed,          // parts of different results folded together, or a result in another's place
  race,           // two accesses that nothing orders
  touch,          // first or final touch not exactly once
  order,          // a promised order class that is not kept
  too_large,      // beyond what prove is made for
};

[[nodiscard]] std::string_view name_of(Fault fault);

struct Failure {
  Fault fault = Fault::malformed;
  std::uint32_t rank = 0;
  std::uint32_t lane = 0;
  std::uint32_t step = 0;          // the step's number in its lane
  std::string piece;               // what it is about: "output[0.3]"; empty where it is about no piece
  std::string what;                // a sentence
  std::vector<std::string> story;  // what led there, oldest first

  // All of it: the sentence on the first line, the story below it.
  [[nodiscard]] std::string to_string() const;
};

}  // namespace tutti
