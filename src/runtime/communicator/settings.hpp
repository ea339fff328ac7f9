// SPDX-License-Identifier: Apache-2.0
// What the variables mean for a communicator: read once, when it is made. Values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/variables/variables.hpp"
#include "runtime/execution/executor.hpp"
#include "runtime/selection/algorithm_file.hpp"
#include "runtime/selection/profile_choice.hpp"
#include "runtime/selection/table_choice.hpp"
#include "schedule/collective.hpp"
#include "transport/shm/region.hpp"
#include "transport/shm/waiter.hpp"

namespace tutti {

// What every call of a collective is to run: an algorithm's full name, or a file; nothing: by size.
struct ForcedAlgorithm {
  std::string name;
  std::optional<AlgorithmFile> file;  // that `name` names, where it names one
};

// The variable that forces it, for messages: TUTTI_ALLREDUCE_ALGORITHM. Empty where none does.
[[nodiscard]] std::string_view forcing_variable(Collective collective);

inline constexpr std::string_view kVersionLine = "Tutti's version";

// Generic: the general walker does everything, for tests and to compare.
enum class WalkerChoice : std::uint8_t { automatic, generic };

// What carries messages between hosts.
struct TransportChoice {
  bool is_ofi = false;
  std::string provider{};         // libfabric's; empty: the first that is there
  std::uint32_t connections = 1;  // of TCP, to each rank of another host
  std::string congestion{};       // congestion control of these; empty: the system's
};

struct Settings {
  shm::RegionShape region;  // see region_for()
  WalkerChoice walker = WalkerChoice::automatic;
  StoresChoice stores = StoresChoice::automatic;
  std::array<ForcedAlgorithm, kNumCollectives> forced;
  std::optional<std::uint64_t> staging_slot;            // bytes; nothing: by how crowded it is
  std::optional<std::uint64_t> staging_spread;          // bytes; nothing: by the processor's caches
  std::optional<std::uint64_t> stream_min;              // bytes; nothing: by the size of the cache
  std::optional<std::uint64_t> attach_min;              // bytes; nothing: by the collective
  std::optional<std::uint64_t> ring_bidir_ag_max_size;  // bytes; nothing: by table and profile
  bool messages_lie_near_sender = false;                // else near their receiver
  std::optional<std::chrono::nanoseconds> spin;
  std::optional<std::chrono::nanoseconds> yield;
  bool leave_busy_cores = true;
  std::chrono::nanoseconds timeout{0};
  std::chrono::nanoseconds late_warning{30'000'000'000};
  ProfileChoice profile = choose_profile(kAutomaticProfile);
  TableChoice table;
  CacheSizes caches;
  TransportChoice transport;

  [[nodiscard]] static Settings from(const Variables& variables);

  // With the shape of the region that follows from it, and from the slots that are asked for.
  void use_profile(ProfileChoice choice);
  // With room for the rounds that it asks for. After the profile; `is_named`: TUTTI_PROFILE names that.
  void use_table(TableChoice choice, bool profile_is_named);

  // The shape of the region for that many ranks, of which so many are on its host; 0: all.
  [[nodiscard]] shm::RegionShape region_for(std::uint32_t num_ranks, std::uint32_t num_here = 0) const;
  [[nodiscard]] ForcedAlgorithm& forced_of(Collective collective) {
    return forced[static_cast<std::size_t>(collective)];
  }
  [[nodiscard]] const ForcedAlgorithm& forced_of(Collective collective) const {
    return forced[static_cast<std::size_t>(collective)];
  }

  // NAME=VALUE lines of what must be the same on all ranks, this library's version among them; the variables are those
  // that these settings are from.
  [[nodiscard]] std::string agreement(const Variables& variables) const;
};

}  // namespace tutti
