// SPDX-License-Identifier: Apache-2.0
#include "runtime/selection/machine_profile.hpp"

#include <algorithm>
#include <optional>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/system/caches.hpp"
#include "runtime/selection/profile_fields.hpp"

namespace tutti {

namespace {

constexpr double kGreatestSize = 1ULL << 62;

std::uint64_t share(std::uint64_t bytes, double times) {
  return static_cast<std::uint64_t>(static_cast<double>(bytes) * times);
}

}  // namespace

CacheSizes CacheSizes::of_this_machine() {
  CacheSizes sizes;
  if (const auto first = size_of_cache(kFirstCache)) sizes.first = *first;
  const std::optional<std::uint64_t> second = size_of_cache(kSecondCache);
  const std::optional<std::uint64_t> third = size_of_cache(kThirdCache);
  if (second) sizes.core = *second;
  if (second || third) sizes.last = third.value_or(second.value_or(0));
  return sizes;
}

Size Size::for_caches(const CacheSizes& caches) const {
  switch (of_) {
    case Of::bytes: return *this;
    case Of::first_cache: return share(caches.first, times_);
    case Of::core_cache: return share(caches.core, times_);
    case Of::last_level_cache: return share(caches.last, times_);
  }
  return *this;
}

std::string Rule::algorithm_for(std::uint32_t num_cores) const {
  if (!algorithm.ends_with(kCoresParameter)) return algorithm;
  const std::string name = algorithm.substr(0, algorithm.size() - kCoresParameter.size());
  return num_cores > 2 ? fmt::format("{}({})", name, num_cores) : name;
}

std::string Rule::algorithm_between(const std::vector<std::uint32_t>& ranks_of_hosts) const {
  const std::size_t at = algorithm.find(kHostsParameter);
  if (at == std::string::npos) return algorithm;
  const bool are_alone =
      std::all_of(ranks_of_hosts.begin(), ranks_of_hosts.end(), [](std::uint32_t ranks) { return ranks == 1; });
  if (are_alone) return "";
  return fmt::format("{}({},{}", algorithm.substr(0, at), fmt::join(ranks_of_hosts, "+"),
                     algorithm.substr(at + kHostsParameter.size()));
}

MachineProfile MachineProfile::for_caches(const CacheSizes& caches) const {
  MachineProfile made = *this;
  for (Rule& rule : made.rules) rule.most_bytes = rule.most_bytes.for_caches(caches);
  for (AttachRange& range : made.attach) {
    range.least_bytes = range.least_bytes.for_caches(caches);
    range.most_bytes = range.most_bytes.for_caches(caches);
  }
  for (const ProfileField& field : kProfileFields)
    if (const auto* const member = std::get_if<Size MachineProfile::*>(&field.member); member != nullptr) {
      Size& size = made.*(*member);
      if (!size.is_relative()) continue;
      const double bytes = static_cast<double>(std::uint64_t{size.for_caches(caches)});
      size = static_cast<std::uint64_t>(std::clamp(bytes, field.least, std::min(field.most, kGreatestSize)));
    }
  return made;
}

bool MachineProfile::pays_to_attach(Collective collective, std::uint64_t bytes, std::uint32_t num_ranks, bool crowded,
                                    bool is_storing) const {
  return std::any_of(attach.begin(), attach.end(), [&](const AttachRange& range) {
    return range.collective == collective && range.crowded == crowded && (is_storing || !range.stores) &&
           bytes >= range.least_bytes && bytes <= range.most_bytes && num_ranks >= range.least_ranks &&
           num_ranks <= range.most_ranks;
  });
}

// A place is written again late enough if neither core has it in its own caches by then, and soon enough if the shared
// cache still has it.
std::uint64_t spread_of(const MachineProfile& profile, const CacheSizes& caches, const RanksOnCores& ranks,
                        std::uint32_t num_groups) {
  if (num_groups == 0) return 0;
  if (ranks.crowded && ranks.num_ranks > std::uint64_t{profile.spread_most_ranks_a_core} * ranks.num_cores) return 0;
  const std::uint64_t shared = share(caches.last, profile.spread_of_last_level_cache) / num_groups;
  std::uint64_t spread = shared;
  if (profile.spread_of_core_cache > 0)
    spread = std::min(spread, share(caches.core, profile.spread_of_core_cache) *
                                  std::min(ranks.num_cores, ranks.num_ranks) / ranks.num_ranks);
  if (profile.spread_of_core_cache_shared > 0)
    spread = std::min(spread, share(caches.core, profile.spread_of_core_cache_shared) / ranks.num_ranks);
  const std::uint64_t least = ranks.crowded ? profile.spread_least_crowded : profile.spread_least;
  const std::uint64_t most = ranks.crowded ? profile.spread_most_crowded : profile.spread_most;
  return spread < least ? 0 : std::min(spread, most);
}

// Lines past a cache's share would be evicted before anyone reads them, and an ordinary store reads every line that it
// overwrites.
std::uint64_t stream_min_of(const MachineProfile& profile, const CacheSizes& caches, const RanksOnCores& ranks,
                            OutputUse use) {
  const std::uint64_t shared = share(caches.last, profile.stream_of_last_level_cache);
  const double of_core = use == OutputUse::pushed      ? profile.stream_of_core_cache_pushed
                         : use == OutputUse::passed_on ? profile.stream_of_core_cache_passed_on
                                                       : profile.stream_of_core_cache;
  const std::uint64_t least = std::min<std::uint64_t>(shared, profile.stream_most);
  if (of_core == 0) return least;
  const std::uint64_t core = std::max<std::uint64_t>(caches.core, profile.stream_core_cache_least);
  const std::uint64_t cores = std::max<std::uint64_t>(2, std::min(ranks.num_cores, ranks.num_ranks));
  return std::min(least, share(core, of_core) * cores);
}

}  // namespace tutti
