// SPDX-License-Identifier: Apache-2.0
// Memory of cudaMalloc that other ranks reach: by CUDA's interprocess handles from other processes, and by its address
// from the same one. Unlike memory of virtual memory management, it cannot be mapped where one likes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/status.hpp"

namespace tutti::device {

// What its rank tells the others.
struct Lending {
  std::uint64_t process = 0;  // this_process()
  std::uint64_t device = 0;   // as that process counts
  std::uint64_t base = 0;     // of the allocation, in that process
  std::uint64_t skipped = 0;  // from there to the buffer
  std::array<char, 64> handle = {};

  // Code::unsupported where CUDA lends no such memory.
  [[nodiscard]] static Result<Lending> of(const void* buffer, std::uint64_t bytes, int device);
};

// Another rank's buffer, as this one reaches it. The destructor ends that, once nothing on the device uses it. Movable.
class LentMemory {
 public:
  [[nodiscard]] static Result<LentMemory> open(const Lending& lending, int device);
  ~LentMemory();
  LentMemory(LentMemory&& other) noexcept
      : opened_(std::exchange(other.opened_, 0)), buffer_(std::exchange(other.buffer_, 0)) {}
  LentMemory& operator=(LentMemory&&) = delete;

  [[nodiscard]] std::uint64_t buffer() const { return buffer_; }

 private:
  LentMemory() = default;

  std::uint64_t opened_ = 0;  // 0 in the same process
  std::uint64_t buffer_ = 0;
};

}  // namespace tutti::device
