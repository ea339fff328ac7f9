// SPDX-License-Identifier: Apache-2.0
// What each collective of the C API asks for, whether it is then done, begun or prepared.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/communicator/invocation.hpp"
#include <tutti/tutti.h>

namespace tutti::api::asked {

// A negative root becomes one that no communicator has.
inline std::uint32_t root_of(int root) { return static_cast<std::uint32_t>(root); }
inline OperatorHandle operator_of(tuttiRedOp_t op) { return {static_cast<std::uint32_t>(op)}; }

// Those that move.
inline Invocation move(Collective collective, const void* input, void* output, std::size_t count, int root = 0) {
  return {.collective = collective, .input = input, .output = output, .count = count, .root = root_of(root)};
}
// Those that fold.
inline Invocation fold(Collective collective, const void* input, void* output, std::size_t count, tuttiRedOp_t op,
                       int root = 0) {
  return {.collective = collective,
          .input = input,
          .output = output,
          .count = count,
          .op = operator_of(op),
          .root = root_of(root)};
}

}  // namespace tutti::api::asked
