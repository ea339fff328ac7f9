// SPDX-License-Identifier: Apache-2.0
// A rank's device memory that other ranks reach: flags, slots, scratch, then the symmetric heap. Processes name a place
// in a heap by its offset. Memory is shared by descriptor (CUDA's virtual memory management), so the system frees it
// however a process ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/status.hpp"
#include "device/walk/shape.hpp"
#include "device/walk/words.hpp"

namespace tutti::device {

// Where everything lies in a region.
struct RegionLayout {
  std::uint64_t slots = 0;
  std::uint64_t scratch = 0;
  std::uint64_t heap = 0;
  std::uint64_t bytes = 0;

  [[nodiscard]] Peer peer(std::byte* base) const {
    return {reinterpret_cast<Entry*>(base), base + slots, base + scratch,
            reinterpret_cast<std::uintptr_t>(base + heap)};
  }
};
[[nodiscard]] RegionLayout region_layout(std::uint32_t num_ranks, const Limits& limits, std::uint64_t heap_bytes);

class Region {
 public:
  // Memory of `device`, all zeros.
  [[nodiscard]] static Result<Region> make(int device, std::uint64_t bytes);
  // That of another process, as `device` reaches it. The descriptor stays the caller's.
  [[nodiscard]] static Result<Region> open(int device, int descriptor, std::uint64_t bytes);
  Region();  // none
  ~Region();
  Region(Region&& other) noexcept;
  Region& operator=(Region&& other) noexcept;

  [[nodiscard]] std::byte* base() const;
  // A new descriptor, for another process; the caller closes it.
  [[nodiscard]] Result<int> descriptor() const;

 private:
  struct Mapping;
  explicit Region(std::unique_ptr<Mapping> mapping);

  std::unique_ptr<Mapping> mapping_;
};

}  // namespace tutti::device
