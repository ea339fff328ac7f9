// SPDX-License-Identifier: Apache-2.0
// How a plan maps pieces to bytes, and rounds to runs of those bytes. Pure arithmetic on values; thread-safe.
//
// A block of `elements` is cut into pieces of ⌈elements / pieces⌉, the last ones short or empty (5 in 4: 2, 2, 1, 0).
// A round carries at most `window` elements of each piece, so a slice of several pieces is one run of memory only when
// every piece fits the window; otherwise it is one run a piece, at the same place of each.
#pragma once

#include <cstdint>

#include "schedule/step.hpp"

namespace tutti {

// Elements, not bytes: nothing ever splits one.
struct Run {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

class PieceLayout {
 public:
  PieceLayout(std::uint64_t elements, std::uint32_t pieces, std::uint64_t window) noexcept
      : elements_(elements), piece_(pieces == 0 ? 0 : (elements + pieces - 1) / pieces), window_(window) {}

  // The elements of `piece` that `round` carries, counted from the block's beginning.
  [[nodiscard]] Run run(std::uint32_t piece, std::uint64_t round) const noexcept {
    const std::uint64_t begin = piece * piece_;
    if (begin >= elements_) return {elements_, 0};
    const std::uint64_t whole = elements_ - begin < piece_ ? elements_ - begin : piece_;
    const std::uint64_t skipped = round * window_;
    if (skipped >= whole) return {begin + whole, 0};
    return {begin + skipped, whole - skipped < window_ ? whole - skipped : window_};
  }

  // The elements of `count` neighbouring pieces from `first` where one round carries them whole.
  [[nodiscard]] Run whole(std::uint32_t first, std::uint32_t count) const noexcept {
    const std::uint64_t begin = first * piece_ < elements_ ? first * piece_ : elements_;
    const std::uint64_t end = (first + count) * piece_ < elements_ ? (first + count) * piece_ : elements_;
    return {begin, end - begin};
  }

  [[nodiscard]] std::uint64_t elements() const noexcept { return elements_; }

  // How many rounds carry everything: at least one, so that posts and waits happen for empty buffers too.
  [[nodiscard]] std::uint64_t num_rounds() const noexcept { return piece_ == 0 ? 1 : 1 + (piece_ - 1) / window_; }

 private:
  std::uint64_t elements_;
  std::uint64_t piece_;
  std::uint64_t window_;
};

}  // namespace tutti
