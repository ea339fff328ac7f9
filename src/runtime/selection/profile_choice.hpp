// SPDX-License-Identifier: Apache-2.0
// Which machine profile a communicator uses: the one that TUTTI_PROFILE names, else the one that is for this processor,
// else `generic`, whose sizes follow from the caches. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "runtime/selection/machine_profile.hpp"

namespace tutti {

inline constexpr std::string_view kAutomaticProfile = "auto";

struct ProfileChoice {
  std::shared_ptr<const MachineProfile> profile;  // shared by the settings that are copied from each other
  std::string why;                                // "its processor is GenuineIntel"
  Status unread = {};                             // why it is not the one that was wanted

  // What the ranks compare: its name and a digest of its text.
  [[nodiscard]] std::string agreement() const;
};

// What TUTTI_PROFILE says: auto, the name of a profile that ships, or a file (a text with a slash in it, or one that
// ends in .toml). One that cannot be had is `unread`, and the automatic one takes its place meanwhile.
[[nodiscard]] ProfileChoice choose_profile(std::string_view wanted);

}  // namespace tutti
