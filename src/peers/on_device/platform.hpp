// SPDX-License-Identifier: Apache-2.0
// Two platforms of devices, whose libraries differ in names alone: CUDA and HIP. Constants.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace tutti::peers::on_device {

enum class Maker : std::uint8_t { nvidia, amd };

struct Platform {
  Maker maker{};
  std::string_view name;
  std::span<const std::string_view> library;  // by soname, the first that is there
  std::string_view advice;
};

inline constexpr auto kCudaNames = std::to_array<std::string_view>({"libcuda.so.1"});
inline constexpr Platform kCuda{
    .maker = Maker::nvidia,
    .name = "CUDA",
    // The driver's own: it is wherever a device works, which the toolkit's is not.
    .library = kCudaNames,
    .advice = "it comes with NVIDIA's driver",
};

inline constexpr auto kHipNames =
    std::to_array<std::string_view>({"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"});
inline constexpr Platform kHip{
    .maker = Maker::amd,
    .name = "HIP",
    .library = kHipNames,
    .advice = "install AMD's HIP runtime, or name the folder that has it in LD_LIBRARY_PATH",
};

}  // namespace tutti::peers::on_device
