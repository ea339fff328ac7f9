// SPDX-License-Identifier: Apache-2.0
// The two libraries of one interface: NCCL over CUDA, and RCCL over HIP. Constants.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "peers/on_device/platform.hpp"

namespace tutti::peers::nccl {

struct Vendor {
  std::string_view name;
  std::span<const std::string_view> library;  // by soname, the first that is there
  std::string_view library_advice;
  const on_device::Platform& platform;
};

inline constexpr auto kNcclNames = std::to_array<std::string_view>({"libnccl.so.2"});
inline constexpr Vendor kNvidia{
    .name = "NCCL",
    .library = kNcclNames,
    .library_advice = "install NVIDIA's libnccl2, or name the folder that has it in LD_LIBRARY_PATH",
    .platform = on_device::kCuda,
};

inline constexpr auto kRcclNames = std::to_array<std::string_view>({"librccl.so.1"});
inline constexpr Vendor kAmd{
    .name = "RCCL",
    .library = kRcclNames,
    .library_advice = "install AMD's rccl, or name the folder that has it in LD_LIBRARY_PATH",
    .platform = on_device::kHip,
};

}  // namespace tutti::peers::nccl
