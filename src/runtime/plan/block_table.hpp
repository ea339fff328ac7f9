// SPDX-License-Identifier: Apache-2.0
// Where each block of one rank's input and output lies in a call whose blocks differ in size: what takes the place of
// the one layout that all blocks of other calls share. Made anew for each call, in memory that is used again. One
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "runtime/communicator/invocation.hpp"
#include "schedule/layout.hpp"
#include "schedule/schedule.hpp"

namespace tutti {

struct PlacedBlock {
  std::uint64_t offset = 0;  // elements from the buffer's beginning
  std::uint64_t count = 0;   // elements
  PieceLayout layout = {0, 1, 1};
};

class BlockTable {
 public:
  // Of a call of `header`'s collective, ranks and root. An error where counts are missing, or sizes too large.
  [[nodiscard]] Status place(const Schedule& header, std::uint32_t rank, const Invocation& asked);

  // An error where a buffer is missing, or blocks overlap in another way than the collective's own in-place form.
  [[nodiscard]] Status find_buffers(const Schedule& header, std::uint32_t rank, const Invocation& asked);

  // Cuts the blocks into pieces for rounds of such a window.
  void cut(const Spaces& spaces, std::uint64_t window);

  // Input and output alone: where blocks vary there is no scratch.
  [[nodiscard]] const PlacedBlock& at(Space space, std::uint32_t block) const { return blocks(space)[block]; }
  [[nodiscard]] const Buffers& buffers() const { return buffers_; }
  [[nodiscard]] std::uint64_t largest() const { return largest_; }

 private:
  // A block's bytes, by address.
  struct Extent {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    bool is_output = false;
    std::uint32_t block = 0;
  };

  [[nodiscard]] Status place_space(const Schedule& header, std::uint32_t rank, const Invocation& asked, Space space);
  [[nodiscard]] bool is_in_place(const Schedule& header, std::uint32_t rank, const Invocation& asked) const;
  [[nodiscard]] bool stands_in_order(Space space) const;
  [[nodiscard]] Extent extent_of(const Invocation& asked, Space space, std::uint32_t block) const;
  [[nodiscard]] bool buffers_are_apart(const Invocation& asked) const;
  [[nodiscard]] Status find_overlap(const Invocation& asked);

  [[nodiscard]] std::vector<PlacedBlock>& blocks(Space space) { return blocks_[static_cast<std::size_t>(space)]; }
  [[nodiscard]] const std::vector<PlacedBlock>& blocks(Space space) const {
    return blocks_[static_cast<std::size_t>(space)];
  }

  std::array<std::vector<PlacedBlock>, 2> blocks_;  // by Space
  std::vector<Extent> extents_;
  Buffers buffers_;
  std::uint64_t element_ = 1;  // bytes
  std::uint64_t largest_ = 0;
};

}  // namespace tutti
