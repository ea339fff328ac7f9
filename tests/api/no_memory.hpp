// SPDX-License-Identifier: Apache-2.0
// Lack of memory, in this program and in the libraries that it uses: operator new throws.
#pragma once

#include <cstdint>

namespace tutti::test {

// For a thread, as long as the object lives.
class NoMemory {
 public:
  NoMemory();
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
  ~NoMemory();
};

// From here on, in all threads: allocations are counted from 1, and those from `first` to `last` fail.
void fail_allocations(std::uint64_t first, std::uint64_t last);
[[nodiscard]] std::uint64_t num_allocations();

}  // namespace tutti::test
