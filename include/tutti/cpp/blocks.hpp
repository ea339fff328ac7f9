// SPDX-License-Identifier: Apache-2.0
// Blocks of different sizes, one for each rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>

#include <tutti/cpp/elements.hpp>
#include <tutti/cpp/error.hpp>

namespace tutti {
inline namespace v0_1 {

// The number of elements of each rank's block, and optionally the place in the buffer where each block begins. Without
// places, blocks follow each other. Borrows its ranges of std::size_t.
class Blocks {
 public:
  template <typename Counts>
  Blocks(const Counts& counts)  // NOLINT(google-explicit-constructor): counts alone are what is usual
      : counts_(std::data(counts)), size_(std::size(counts)) {}
  template <typename Counts, typename Displacements>
  Blocks(const Counts& counts, const Displacements& displacements)
      : counts_(std::data(counts)), displacements_(std::data(displacements)), size_(std::size(counts)) {
    if (std::size(displacements) != size_)
      detail::refuse("blocks", "there are " + std::to_string(size_) + " counts and " +
                                   std::to_string(std::size(displacements)) + " displacements");
  }

  [[nodiscard]] const std::size_t* counts() const { return counts_; }
  [[nodiscard]] const std::size_t* displacements() const { return displacements_; }

  // Checks that each rank has a block, and that the blocks lie within a buffer of so many elements. Blocks that follow
  // each other must fill it.
  void check(const char* what, const char* which, std::size_t elements, int num_ranks) const {
    if (size_ != static_cast<std::size_t>(num_ranks))
      detail::refuse(what,
                     "there are " + std::to_string(size_) + " counts for " + std::to_string(num_ranks) + " ranks");
    std::size_t end = 0;
    for (std::size_t rank = 0; rank < size_; ++rank)
      end = std::max(end, (displacements_ == nullptr ? end : displacements_[rank]) + counts_[rank]);
    if (displacements_ == nullptr ? end != elements : end > elements)
      detail::refuse(what, std::string("the ") + which + " has " + std::to_string(elements) +
                               " elements, and its blocks end at " + std::to_string(end));
  }

 private:
  const std::size_t* counts_;
  const std::size_t* displacements_ = nullptr;
  std::size_t size_;
};

}  // namespace v0_1
}  // namespace tutti
