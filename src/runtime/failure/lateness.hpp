// SPDX-License-Identifier: Apache-2.0
// Who keeps the others waiting, as far as it shows in what the ranks share: who has not come to an operation, and who
// no longer looks for what it waits for. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/progress/pairs.hpp"
#include "transport/shm/region.hpp"

namespace tutti {

struct Lateness {
  std::vector<int> ranks;  // ascending; none where all are there and wait
  std::string words;       // "rank 3 is late: its process 4711 is stopped"
};

// To a rank that has waited that long. Processes are looked at only where their numbers are known to be theirs.
[[nodiscard]] Lateness find_late(const shm::Region& region, std::uint32_t self, std::chrono::nanoseconds waited,
                                 bool knows_processes);

// To one that waits for what another rank sends it or takes from it.
[[nodiscard]] Lateness find_late_partner(const shm::Region& region, std::uint32_t self, std::uint32_t partner,
                                         bool knows_processes);

// Tells the others which transfer this rank waits for, in a long wait for an operation; null where it waits for
// something else.
void tell_awaited_transfer(const shm::Region& region, std::uint32_t rank, const Transfer* transfer);

// The same of the rank on another host that its operation waits for; nothing where it waits for none.
void tell_awaited_elsewhere(const shm::Region& region, std::uint32_t rank, std::optional<std::uint32_t> awaited);

// A call that ranks meet in outside of the communicator's operations.
enum class OuterCall : std::uint8_t { shrink = 1, split = 2 };

// Tells the others that this rank waits in that call: once every 100 ms or more often, for as long as it does.
void tell_wait_in(const shm::Region& region, std::uint32_t rank, OuterCall call);
// That it does no longer. Not said by whose patience has ended: it counts as one that waits for a moment longer, for
// others whose patience ends at the same time.
void tell_no_wait(const shm::Region& region, std::uint32_t rank);

// "receive of 3 i32 elements from rank 0"
[[nodiscard]] std::string describe(const Transfer& transfer);

[[nodiscard]] bool has_left(const shm::Region& region, std::uint32_t rank);

// One whose process has ended, and that has not left in order.
[[nodiscard]] std::optional<int> find_lost(const shm::Region& region, std::uint32_t self);

}  // namespace tutti
