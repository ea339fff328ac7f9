// SPDX-License-Identifier: Apache-2.0
// What a rank keeps of its calls in which some ranks hear nothing from others: a root hears from nobody in a broadcast,
// nor does anyone but the root in a reduce, and messages of nothing are not sent. In such a call ranks may differ and
// nobody sees it. So the word that travels beside every flag is the call's description changed by a digest of these
// calls before it: whose differed has other words from then on, whatever is called next.
//
// One belongs to an executor.
#pragma once

#include <cstdint>
#include <optional>

#include "transport/shm/region.hpp"

namespace tutti {

class History {
 public:
  explicit History(shm::HistoryLines& own) : own_(&own) {}

  // Between a call's description and its word, in both directions, for the call that is begun next; and for the one
  // that was noted last.
  [[nodiscard]] std::uint64_t changed(std::uint64_t description) const { return description ^ digest_; }
  [[nodiscard]] std::uint64_t changed_when_noted(std::uint64_t description) const { return description ^ before_; }

  [[nodiscard]] std::uint64_t noted_operation() const { return noted_; }
  void note(std::uint64_t operation, std::uint64_t description) {
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
    noted_ = operation;
    before_ = digest_;
    digest_ = (digest_ ^ description ^ operation << 48) * kGolden;
    digest_ ^= digest_ >> 32;
    shm::HistoryLines::Entry& entry = own_->entries[count_ % shm::kKeptCalls];
    entry.operation.store(operation, std::memory_order_relaxed);
    entry.description.store(description, std::memory_order_relaxed);
    // Release: partner of find_difference().
    own_->count.store(++count_, std::memory_order_release);
  }

 private:
  shm::HistoryLines* own_;
  std::uint64_t count_ = 0;
  std::uint64_t digest_ = 0;
  std::uint64_t before_ = 0;
  std::uint64_t noted_ = 0;
};

// The first operation that only one of two ranks has noted, or each as another call, as far as they keep them.
struct HistoryDifference {
  std::uint64_t operation = 0;
  std::optional<std::uint64_t> ours = {};  // CallDescription, where noted
  std::optional<std::uint64_t> theirs = {};
};
[[nodiscard]] std::optional<HistoryDifference> find_difference(const shm::HistoryLines& ours,
                                                               const shm::HistoryLines& theirs);

}  // namespace tutti
