// SPDX-License-Identifier: Apache-2.0
// Groups of neighbouring ranks, of any sizes: the first ranks are group 0, the next group 1, and so on. Immutable;
// thread-safe.
#pragma once

#include <cstdint>
#include <vector>

namespace tutti::patterns {

class Groups {
 public:
  // At least one group, none of them empty.
  explicit Groups(const std::vector<std::uint32_t>& sizes);

  [[nodiscard]] std::uint32_t num_groups() const { return static_cast<std::uint32_t>(firsts_.size() - 1); }
  [[nodiscard]] std::uint32_t first(std::uint32_t group) const { return firsts_[group]; }
  [[nodiscard]] std::uint32_t size(std::uint32_t group) const { return firsts_[group + 1] - firsts_[group]; }
  // Of the smallest group: as many members has each.
  [[nodiscard]] std::uint32_t least_size() const { return least_size_; }
  [[nodiscard]] std::uint32_t group_of(std::uint32_t rank) const;

 private:
  std::vector<std::uint32_t> firsts_;  // by group, and one past the last rank
  std::uint32_t least_size_;
};

}  // namespace tutti::patterns
