// SPDX-License-Identifier: Apache-2.0
#include "runtime/selection/profile_choice.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/system/file.hpp"
#include "base/system/processor.hpp"
#include "base/text.hpp"
#include "runtime/selection/profile_file.hpp"
#include "runtime/selection/shipped_profiles.hpp"

namespace tutti {

namespace {

constexpr std::uint64_t kMostFile = 1 << 20;

bool is_file(std::string_view wanted) {
  return wanted.find('/') != std::string_view::npos || wanted.ends_with(".toml");
}

std::shared_ptr<const MachineProfile> shared(MachineProfile profile) {
  return std::make_shared<const MachineProfile>(std::move(profile));
}

ProfileChoice automatic() {
  const std::string vendor = processor_vendor();
  for (const ShippedProfile& shipped : shipped_profiles()) {
    const MachineProfile& profile = shipped_profile(shipped);
    if (!vendor.empty() && profile.processor == vendor)
      return {.profile = shared(profile), .why = fmt::format("the processor is {}", vendor)};
  }
  for (const ShippedProfile& shipped : shipped_profiles())
    if (shipped.name == kGenericProfile)
      return {.profile = shared(shipped_profile(shipped)),
              .why = vendor.empty() ? "the processor is unknown" : fmt::format("no profile is for {}", vendor)};
  TUTTI_ASSERT(false, "the generic profile ships");
  return {};
}

Result<MachineProfile> read_wanted(std::string_view wanted) {
  if (is_file(wanted)) {
    const std::string path(wanted);
    const Result<std::string> text = read_file(path, kMostFile);
    if (!text.ok()) return text.status();
    return read_profile(*text, path);
  }
  return find_shipped_profile(wanted);
}

}  // namespace

std::string ProfileChoice::agreement() const {
  if (!unread.ok()) return "(unreadable)";
  return printable(fmt::format("{} (digest {:016x})", profile->name, profile->digest));
}

ProfileChoice choose_profile(std::string_view wanted) {
  if (wanted.empty() || same_name(wanted, kAutomaticProfile)) return automatic();
  Result<MachineProfile> profile = read_wanted(wanted);
  if (profile.ok()) return {.profile = shared(std::move(*profile)), .why = "TUTTI_PROFILE names it"};
  ProfileChoice choice = automatic();
  choice.unread = profile.status().with_context("TUTTI_PROFILE");
  return choice;
}

}  // namespace tutti
