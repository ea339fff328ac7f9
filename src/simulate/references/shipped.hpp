// SPDX-License-Identifier: Apache-2.0
// The references of times that are part of the program: data/references. Constants.
#pragma once

#include <span>
#include <string_view>

namespace tutti::simulate {

struct ShippedReferences {
  std::string_view name;
  std::string_view text;
};

[[nodiscard]] std::span<const ShippedReferences> shipped_references();

}  // namespace tutti::simulate
