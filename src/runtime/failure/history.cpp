// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure/history.hpp"

#include <algorithm>

namespace tutti {

std::optional<HistoryDifference> find_difference(const shm::HistoryLines& ours, const shm::HistoryLines& theirs) {
  struct Noted {
    std::uint64_t operation = ~std::uint64_t{0};  // beyond all others where there is none
    std::optional<std::uint64_t> description;
  };
  // Acquire: partner of History::note().
  const std::uint64_t our_count = ours.count.load(std::memory_order_acquire);
  const std::uint64_t their_count = theirs.count.load(std::memory_order_acquire);
  const auto at = [](const shm::HistoryLines& lines, std::uint64_t index, std::uint64_t count) {
    const shm::HistoryLines::Entry& entry = lines.entries[index % shm::kKeptCalls];
    return index < count ? Noted{entry.operation.load(std::memory_order_relaxed),
                                 entry.description.load(std::memory_order_relaxed)}
                         : Noted{};
  };
  const std::uint64_t most = std::max(our_count, their_count);
  for (std::uint64_t index = most - std::min(most, shm::kKeptCalls); index < most; ++index) {
    const Noted our = at(ours, index, our_count);
    const Noted their = at(theirs, index, their_count);
    if (our.operation == their.operation && our.description == their.description) continue;
    HistoryDifference difference{.operation = std::min(our.operation, their.operation)};
    if (our.operation == difference.operation) difference.ours = our.description;
    if (their.operation == difference.operation) difference.theirs = their.description;
    return difference;
  }
  return std::nullopt;
}

}  // namespace tutti
