// SPDX-License-Identifier: Apache-2.0
// NCCL's interface as RCCL has it too: of nccl.h, what the worker calls, declared from its documentation. One thread.
#pragma once

#include <cstddef>
#include <string>

#include "base/status.hpp"
#include "base/system/dynamic_library.hpp"
#include "peers/nccl/vendor.hpp"
#include "peers/on_device/device.hpp"

namespace tutti::peers::nccl {

struct Comm;
using on_device::Stream;
struct UniqueId {
  char internal[128];
};

// "2.21.5" of 22105; until 2.8 the numbers were 2804.
[[nodiscard]] std::string version_text(int version);
// Averages are of 2.10, and bfloat16; what is older is refused.
inline constexpr int kLeastVersion = 21000;
// From here on there are 8-bit floats, and a forced algorithm that cannot be had is an error.
inline constexpr int kStrictVersion = 22400;

// Types and operators are ncclDataType_t and ncclRedOp_t, results ncclResult_t, with 0 where all is well.
struct Library {
  // An error says what is missing, or too old.
  [[nodiscard]] static Result<Library> open(const Vendor& vendor);

  [[nodiscard]] Status status_of(int result, const char* call, Comm* comm) const;

  int version = 0;
  std::string name;  // "NCCL 2.21.5"

  int (*get_version)(int* version) = nullptr;
  int (*get_unique_id)(UniqueId* id) = nullptr;
  int (*comm_init_rank)(Comm** comm, int num_ranks, UniqueId id, int rank) = nullptr;
  int (*comm_destroy)(Comm* comm) = nullptr;
  int (*comm_count)(Comm* comm, int* count) = nullptr;
  int (*comm_user_rank)(Comm* comm, int* rank) = nullptr;
  const char* (*get_error_string)(int result) = nullptr;
  const char* (*get_last_error)(Comm* comm) = nullptr;  // null before 2.13
  int (*all_reduce)(const void* input, void* output, std::size_t count, int type, int op, Comm*, Stream*) = nullptr;
  int (*all_gather)(const void* input, void* output, std::size_t count, int type, Comm*, Stream*) = nullptr;
  int (*reduce_scatter)(const void* input, void* output, std::size_t count, int type, int op, Comm*, Stream*) = nullptr;
  int (*broadcast)(const void* input, void* output, std::size_t count, int type, int root, Comm*, Stream*) = nullptr;
  int (*reduce)(const void* input, void* output, std::size_t count, int type, int op, int root, Comm*,
                Stream*) = nullptr;
  int (*send)(const void* input, std::size_t count, int type, int to, Comm*, Stream*) = nullptr;
  int (*recv)(void* output, std::size_t count, int type, int from, Comm*, Stream*) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
};

}  // namespace tutti::peers::nccl
