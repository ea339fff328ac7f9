// SPDX-License-Identifier: Apache-2.0
// Dispatch rules of other libraries that come with Tutti: data/rules, in the form of decision tables. Constants.
#pragma once

#include <span>
#include <string_view>

namespace tutti::cli {

struct ShippedRule {
  std::string_view file;  // without .toml
  std::string_view text;
};

[[nodiscard]] std::span<const ShippedRule> shipped_rules();

}  // namespace tutti::cli
