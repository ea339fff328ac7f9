// SPDX-License-Identifier: Apache-2.0
// What is said of bytes that are too few: "4 bytes hold no f32 for each of 4 ranks". Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "data/type.hpp"

namespace tutti {

[[nodiscard]] std::string holds_no_element(std::uint64_t bytes, Type type, std::uint64_t num_blocks);

}  // namespace tutti
