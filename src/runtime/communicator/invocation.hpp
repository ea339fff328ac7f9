// SPDX-License-Identifier: Apache-2.0
// What one call asks of a communicator, and what follows from it for this rank's buffers. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.hpp"
#include "data/type.hpp"
#include "schedule/collective.hpp"

namespace tutti {

// Elements of a block: what a call's description has room for.
inline constexpr std::uint64_t kMaxCount = (std::uint64_t{1} << 34) - 1;

// Names an operator: a built-in one, or one that a communicator has been given.
struct OperatorHandle {
  std::uint32_t value = 0;
  static constexpr std::uint32_t kFirstCustom = 64;
  static constexpr std::uint32_t kMost = INT32_MAX;
};

// The sizes of a buffer's blocks, and where they begin in it, in elements. Without displacements they stand one behind
// the other.
struct BlockRuns {
  const std::size_t* counts = nullptr;
  const std::size_t* displacements = nullptr;
};

// Of collectives whose blocks vary. What a rank does not have is not looked at; nor are a reduce_scatter_v's output
// counts, which its input counts tell.
struct VaryingBlocks {
  BlockRuns input = {};
  BlockRuns output = {};
};

struct Invocation {
  Collective collective = Collective::all_reduce;
  const void* input = nullptr;  // not looked at where the rank has none
  void* output = nullptr;
  std::uint64_t count = 0;  // elements of a block (schedule/collective.hpp)
  Type type = Type::f32;
  OperatorHandle op = {};  // of those that fold
  std::uint32_t root = 0;  // of those that have one
  // Of collectives whose blocks vary, instead of count; borrowed. Without, all blocks are of count elements.
  const VaryingBlocks* varying = nullptr;
};

// Of one rank. What it does not have has no bytes.
struct Buffers {
  std::uint64_t input_bytes = 0;
  std::uint64_t output_bytes = 0;
  bool in_place = false;
  // In place, these bytes of the two are the same.
  std::uint64_t input_twin = 0;
  std::uint64_t output_twin = 0;
  // Of all blocks of the collective, as nccl-tests counts: what sizes in tables mean.
  std::uint64_t message_bytes = 0;
};

// An error where a buffer is missing or the two overlap in another way than the collective's own in-place form.
[[nodiscard]] Result<Buffers> find_buffers(const Invocation& asked, std::uint32_t rank, std::uint32_t num_ranks);

}  // namespace tutti
