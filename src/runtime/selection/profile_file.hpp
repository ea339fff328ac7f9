// SPDX-License-Identifier: Apache-2.0
// Machine profiles as files: docs/formats/profile.md. Reading is pure; writing gives what reads back to the same
// profile.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"
#include "base/toml/document.hpp"
#include "runtime/selection/machine_profile.hpp"
#include "runtime/selection/shipped_profiles.hpp"

namespace tutti {

inline constexpr std::uint32_t kProfileVersion = 1;

// The profile that the text describes; what it leaves out is as in the profile that it is `based_on`. `place` is the
// file in messages, and what the profile says of its place. An error names file, line, key and what would be right.
[[nodiscard]] Result<MachineProfile> read_profile(std::string_view text, std::string_view place);

// One of shipped_profiles(), and the one of that name. A process reads each once, since every communicator asks.
[[nodiscard]] const MachineProfile& shipped_profile(const ShippedProfile& shipped);
[[nodiscard]] Result<MachineProfile> find_shipped_profile(std::string_view name);

// Takes numbers over it, as a decision table has them: sections with some of their keys. `place` is the table in
// messages.
[[nodiscard]] Status overrule(const document::TomlTable& numbers, std::string_view place, MachineProfile& profile);

// With the meaning of each number beside it.
[[nodiscard]] std::string write_profile(const MachineProfile& profile);

// "64K", "1/6 first_cache", "2 core_cache", "unlimited".
[[nodiscard]] Result<Size> parse_profile_size(std::string_view text);
[[nodiscard]] std::string to_text(const Size& size);

}  // namespace tutti
