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

// Tells the others which transfer this rank waits for, in a long wait; null where it waits for something else.
void tell_awaited_transfer(const shm::Region& region, std::uint32_t rank, const Transfer* transfer);

// "receive of 3 i32 elements from rank 0"
[[nodiscard]] std::string describe(const Transfer& transfer);

[[nodiscard]] bool has_left(const shm::Region& region, std::uint32_t rank);

// One whose process has ended, and that has not left in order.
[[nodiscard]] std::optional<int> find_lost(const shm::Region& region, std::uint32_t self);

}  // namespace tutti
