// SPDX-License-Identifier: Apache-2.0
// Which parts of a span are taken. take() gives the lowest free place that is large enough. Equal calls give equal
// places, so ranks agree on them without messages. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace tutti::device {

class Places {
 public:
  explicit Places(std::uint64_t span) {
    if (span > 0) free_[0] = span;
  }

  // Nothing where no room of that size, at least 1, is left.
  [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t bytes);
  // What was taken so.
  void give_back(std::uint64_t place, std::uint64_t bytes);

 private:
  std::map<std::uint64_t, std::uint64_t> free_;  // sizes by place; no two touch
};

}  // namespace tutti::device
