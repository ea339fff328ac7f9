// SPDX-License-Identifier: Apache-2.0
// Facts about a communicator, and the id at which its ranks meet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tutti/cpp/error.hpp>
#include <tutti/tutti.h>

namespace tutti {
inline namespace v0_1 {

using UniqueId = tuttiUniqueId;

// An id for one communicator, for all its ranks. This process serves the rendezvous until all have joined.
[[nodiscard]] inline UniqueId make_unique_id() {
  UniqueId id;
  detail::check(tuttiGetUniqueId(&id), "make_unique_id");
  return id;
}

// The algorithm of a call, and the reason. Both live as long as the communicator.
struct Algorithm {
  const char* name;
  const char* why;
};

// A row of statistics (tuttiStatistic_t).
struct Statistic {
  std::string operation;
  std::string algorithm;
  std::string reach;
  std::uint64_t calls = 0;
  std::optional<std::uint64_t> bytes;  // nothing if they are not counted
};

}  // namespace v0_1
}  // namespace tutti
