// What the variables mean for a communicator: read once, when it is made. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/variables.hpp"
#include "runtime/algorithm_file.hpp"
#include "runtime/executor.hpp"
#include "transport/shm/region.hpp"
#include "transport/shm/waiter.hpp"

namespace tutti {

struct Settings {
  shm::RegionShape region;  // num_ranks filled in by whoever knows it
  WalkerChoice walker = WalkerChoice::automatic;
  std::string algorithm;                    // forced for all-reduce; empty: by size
  std::optional<AlgorithmFile> file;        // that `algorithm` names, where it names one
  std::optional<std::uint64_t> stream_min;  // bytes; nothing: by the size of the cache
  std::optional<std::chrono::nanoseconds> spin;
  std::chrono::nanoseconds yield{1'000'000};
  std::chrono::nanoseconds timeout{0};
  std::chrono::nanoseconds late_warning{30'000'000'000};
  // Bytes; what one core has to itself, and what all share.
  std::uint64_t core_cache = 512 << 10;
  std::uint64_t last_level_cache = 32 << 20;

  [[nodiscard]] static Settings from(const Variables& variables);

  // NAME=VALUE lines of what must be the same on all ranks; the variables are those that these settings are from.
  [[nodiscard]] std::string agreement(const Variables& variables) const;
};

}  // namespace tutti
