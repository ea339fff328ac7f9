// SPDX-License-Identifier: Apache-2.0
// A call with all that follows from what is asked, but for its buffers: so that asking the same again, with whatever
// buffers, finds the plan, the rounds and the list of steps made. A communicator keeps some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/communicator/invocation.hpp"
#include "runtime/communicator/statistics.hpp"
#include "runtime/plan/call.hpp"
#include "runtime/plan/lowered.hpp"

namespace tutti {

struct BoundCall {
  std::uint64_t asked = 0;  // key_of() of what it is for; 0: nothing
  std::uint64_t count = 0;
  Buffers buffers;
  bool symmetric = false;
  Call call;
  bool is_lowered = false;
  bool is_quick = false;  // done by the list alone: no scratch, no buffers but the caller's
  Lowered lowered;
  CallCount* counted = nullptr;  // the communicator's, which outlives it
  bool is_inner = false;         // the communicator's own, or a further step of a call
  std::string_view why = {};     // its algorithm was chosen, for the log

  [[nodiscard]] static std::uint64_t key_of(const Invocation& asked) {
    return 1 | std::uint64_t{asked.op.value} << 1 | std::uint64_t{asked.root} << 32 |
           std::uint64_t{static_cast<std::uint8_t>(asked.collective)} << 48 |
           std::uint64_t{static_cast<std::uint8_t>(asked.type)} << 56;
  }
  [[nodiscard]] static std::size_t place_of(std::uint64_t key, std::uint64_t count) {
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
    return static_cast<std::size_t>(((key ^ count * kGolden) * kGolden) >> (64 - kPlaceBits));
  }
  static constexpr int kPlaceBits = 6;

  // Whether such a call with these buffers is right, and is done in the same way.
  [[nodiscard]] bool suits(const Invocation& invocation, std::uint64_t key) const {
    if (asked != key || count != invocation.count) return false;
    const auto* input = static_cast<const std::byte*>(invocation.input);
    const auto* output = static_cast<const std::byte*>(invocation.output);
    if ((input == nullptr && buffers.input_bytes > 0) || (output == nullptr && buffers.output_bytes > 0)) return false;
    if (buffers.input_bytes == 0 || buffers.output_bytes == 0) return true;
    if (buffers.in_place) return input + buffers.input_twin == output + buffers.output_twin;
    return input + buffers.input_bytes <= output || output + buffers.output_bytes <= input;
  }
};

}  // namespace tutti
