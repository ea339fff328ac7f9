// SPDX-License-Identifier: Apache-2.0
// The machine profiles that come with Tutti: files of data/profiles, which are part of the library. Constants.
#pragma once

#include <span>
#include <string_view>

namespace tutti {

struct ShippedProfile {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] std::span<const ShippedProfile> shipped_profiles();

// The one that fits any machine.
inline constexpr std::string_view kGenericProfile = "generic";

}  // namespace tutti
