// SPDX-License-Identifier: Apache-2.0
// How a communicator's ranks fall into groups, each of which meets in a communicator of its own. Collective.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.hpp"
#include "base/unique_id.hpp"
#include "runtime/bootstrap/rendezvous.hpp"
#include "runtime/communicator/communicator.hpp"

namespace tutti {

inline constexpr int kSplitNone = -1;     // as a color: in no group
inline constexpr int kSplitRefused = -2;  // this rank cannot go on, and nobody can

struct SplitGroup {
  UniqueId id;
  int num_ranks = 0;  // 0: in none
  int rank = 0;       // by key, and where that is equal, as before
  // Of the group's first rank; to be kept until all have met.
  std::unique_ptr<RendezvousServer> server;
  std::uint64_t number = 0;              // of the split, on its communicator
  std::vector<std::uint32_t> members{};  // of the group, by their ranks before, in no order
};

[[nodiscard]] Result<SplitGroup> split(Communicator& communicator, int color, int key);

// While the group meets: what keeps one of its members from coming. What breaks the communicator ends its splits.
[[nodiscard]] Status why_in_vain(const Communicator& communicator, const SplitGroup& group);

}  // namespace tutti
