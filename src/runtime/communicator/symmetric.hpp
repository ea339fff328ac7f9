// SPDX-License-Identifier: Apache-2.0
// Symmetric memory: segments of which every rank has a part of equal size, mapped by all, so that peers load and store
// in each other's parts. They lie behind the lines and slots of the region and are gone with it.
//
// Allocating and freeing are collective: all ranks call in the same order with the same sizes, so the same arithmetic
// gives every rank the same places. The caller sees to it that all ranks have come (Communicator). One thread at a
// time; looking up too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "runtime/plan/call.hpp"
#include "transport/shm/region.hpp"

namespace tutti {

class SymmetricHeap {
 public:
  SymmetricHeap(const shm::Region& region, std::uint32_t rank);
  SymmetricHeap(const SymmetricHeap&) = delete;
  SymmetricHeap& operator=(const SymmetricHeap&) = delete;
  ~SymmetricHeap();

  // This rank's part, zeroed and with its memory set aside, in huge pages where the system gives them. What the machine
  // plainly has not got is refused; where others take memory at the same time, or a control group has less, the system
  // may still end a process. Other ranks' parts may be touched once they have allocated too.
  [[nodiscard]] Result<std::byte*> allocate(std::uint64_t bytes);

  // Gives this rank's part back. No rank may touch any part of the segment any more, and none may allocate before all
  // have given theirs back: what comes next may lie there, cut in another way.
  [[nodiscard]] Status free(const void* part);

  // Which segment's part begins there, as a number that is the same on all ranks; 0 where none does.
  [[nodiscard]] std::uint64_t segment_of(const void* part) const;

  // Whether both lie in the same part of this rank.
  [[nodiscard]] bool are_of_one_part(const void* one, const void* other) const {
    const std::byte* const segment = find(one, 1).segment;
    return segment != nullptr && find(other, 1).segment == segment;
  }

  [[nodiscard]] bool is_used() const { return !segments_.empty(); }

  // Where the buffer is; its segment is null where it is not wholly in one part of this rank.
  [[nodiscard]] SymmetricBuffer find(const void* buffer, std::uint64_t bytes) const;

 private:
  struct Segment {
    std::byte* base;       // rank 0's part
    std::uint64_t offset;  // in the region's memory
    std::uint64_t stride;  // from part to part
    std::uint64_t bytes;   // of a part that may be used
    std::uint64_t number;  // of the allocation; it stays where others come and go
  };

  struct Pages {
    std::uint64_t begin = 0;  // in the region's memory
    std::uint64_t bytes = 0;
  };

  [[nodiscard]] Pages own_pages(std::uint64_t offset, std::uint64_t stride) const;
  [[nodiscard]] Status give_back(const Pages& pages) const;
  [[nodiscard]] std::uint64_t place_for(std::uint64_t bytes) const;
  void unmap(const Segment& segment) const;

  const shm::Region& region_;
  std::uint32_t rank_;
  std::vector<Segment> segments_;  // by offset
  std::uint64_t allocations_ = 0;
};

}  // namespace tutti
