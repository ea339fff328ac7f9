// SPDX-License-Identifier: Apache-2.0
// The two makers of devices, whose libraries differ in names alone: NCCL over CUDA, and RCCL over HIP. Constants.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace tutti::peers::nccl {

enum class Maker : std::uint8_t { nvidia, amd };

struct Vendor {
  Maker maker{};
  std::string_view name;
  std::span<const std::string_view> library;  // by soname, the first that is there
  std::string_view library_advice;
  std::string_view platform;
  std::span<const std::string_view> device_library;
  std::string_view device_library_advice;
};

inline constexpr auto kNcclNames = std::to_array<std::string_view>({"libnccl.so.2"});
inline constexpr auto kCudaNames = std::to_array<std::string_view>({"libcuda.so.1"});
inline constexpr Vendor kNvidia{
    .maker = Maker::nvidia,
    .name = "NCCL",
    .library = kNcclNames,
    .library_advice = "install NVIDIA's libnccl2, or name the folder that has it in LD_LIBRARY_PATH",
    .platform = "CUDA",
    // The driver's own: it is wherever a device works, which the toolkit's is not.
    .device_library = kCudaNames,
    .device_library_advice = "it comes with NVIDIA's driver",
};

inline constexpr auto kRcclNames = std::to_array<std::string_view>({"librccl.so.1"});
inline constexpr auto kHipNames =
    std::to_array<std::string_view>({"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"});
inline constexpr Vendor kAmd{
    .maker = Maker::amd,
    .name = "RCCL",
    .library = kRcclNames,
    .library_advice = "install AMD's rccl, or name the folder that has it in LD_LIBRARY_PATH",
    .platform = "HIP",
    .device_library = kHipNames,
    .device_library_advice = "install AMD's HIP runtime, or name the folder that has it in LD_LIBRARY_PATH",
};

}  // namespace tutti::peers::nccl
