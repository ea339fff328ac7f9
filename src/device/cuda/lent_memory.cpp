// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/lent_memory.hpp"

#include <cstring>

#include <cuda.h>
#include <fmt/format.h>

#include "device/cuda/driver.hpp"
#include "device/cuda/rendezvous.hpp"
#include "device/cuda/shared_memory.hpp"

namespace tutti::device {

Result<Lending> Lending::of(const void* buffer, std::uint64_t bytes, int device) {
  TUTTI_TRY_ASSIGN(const Allocation allocation, allocation_around(buffer, bytes));
  CUipcMemHandle handle = {};
  const CUresult result = driver().lend(&handle, allocation.base);
  if (result != CUDA_SUCCESS)
    return Status(Code::unsupported,
                  fmt::format("{}; only memory of cudaMalloc, cuMemCreate or ncclMemAlloc can be registered",
                              driver_status(result, fmt::format("share the buffer at {}", buffer)).message()));
  Lending lending = {.process = this_process(),
                     .device = static_cast<std::uint64_t>(device),
                     .base = allocation.base,
                     .skipped = allocation.skipped};
  static_assert(sizeof handle.reserved == sizeof lending.handle);
  std::memcpy(lending.handle.data(), handle.reserved, lending.handle.size());
  return lending;
}

Result<LentMemory> LentMemory::open(const Lending& lending, int device) {
  LentMemory memory;
  if (lending.process == this_process()) {
    // Its address is good there, and a handle is not. Between devices it would take more, which nobody has tried.
    if (lending.device != static_cast<std::uint64_t>(device))
      return Status(Code::unsupported,
                    "ranks of one process on different devices cannot register memory of cudaMalloc; use "
                    "tuttiDeviceMemAlloc or cuMemCreate");
    memory.buffer_ = lending.base + lending.skipped;
    return memory;
  }
  CUipcMemHandle handle = {};
  std::memcpy(handle.reserved, lending.handle.data(), lending.handle.size());
  CUdeviceptr opened = 0;
  TUTTI_TRY(driver_status(driver().open_lent(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
                          "open the cudaMalloc memory of another rank"));
  memory.opened_ = opened;
  memory.buffer_ = opened + lending.skipped;
  return memory;
}

LentMemory::~LentMemory() {
  if (opened_ != 0) static_cast<void>(driver().close_lent(opened_));
}

}  // namespace tutti::device
