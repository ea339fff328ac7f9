// SPDX-License-Identifier: Apache-2.0
// A request as a call of NCCL's, on device memory that mirrors the request's. One thread.
#pragma once

#include <optional>

#include "peers/nccl/library.hpp"
#include "peers/on_device/queue.hpp"
#include "peers/peer.hpp"

namespace tutti::peers::nccl {

// A rank that has met the others. Borrows the library and the device.
struct Rank {
  const Library& library;
  on_device::Queue queue;
  Comm* comm = nullptr;
  int rank = 0;
  int num_ranks = 1;
  bool is_forced = false;  // the algorithm or the protocol, by a variable
};

// Code::unsupported says what NCCL has not got. `rank` must live as long as the operation.
[[nodiscard]] Result<Operation> to_nccl(const Request& request, const Rank& rank);

// ncclDataType_t and ncclRedOp_t; nothing where there is none.
[[nodiscard]] std::optional<int> native_type(Type type, int version);
[[nodiscard]] std::optional<int> native_op(Op op);

}  // namespace tutti::peers::nccl
