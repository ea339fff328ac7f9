// SPDX-License-Identifier: Apache-2.0
// Numbers of elements in words. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "data/type.hpp"

namespace tutti {

// "1 f32 element", "4 f32 elements".
[[nodiscard]] inline std::string elements_in_words(std::uint64_t count, Type type) {
  return counted(count, fmt::format("{} element", name_of(type)));
}

}  // namespace tutti
