// SPDX-License-Identifier: Apache-2.0
// An allocator for arrays that may grow large and are used all over: they lie in huge pages where the system has some
// to give. Of few bytes it is the usual one.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include <sys/mman.h>

namespace tutti::simulate {

template <typename T>
struct HugePages {
  using value_type = T;

  HugePages() = default;
  template <typename Other>
  explicit HugePages(const HugePages<Other>&) {}

  [[nodiscard]] T* allocate(std::size_t count) {
    if (!is_large(count)) return std::allocator<T>().allocate(count);
    const std::size_t bytes = (count * sizeof(T) + kPage - 1) / kPage * kPage;
    void* const memory = ::operator new(bytes, std::align_val_t(kPage));
    madvise(memory, bytes, MADV_HUGEPAGE);  // where the system has none to give, it says so, and that is all
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (!is_large(count)) return std::allocator<T>().deallocate(memory, count);
    ::operator delete(memory, std::align_val_t(kPage));
  }

  friend bool operator==(const HugePages&, const HugePages&) { return true; }

 private:
  static constexpr std::size_t kPage = std::size_t{1} << 21U;

  // The room at the end is little beside the array. What no memory can hold is left to the usual allocator's error.
  static bool is_large(std::size_t count) {
    return count >= 2 * kPage / sizeof(T) && count <= std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T);
  }
};

template <typename T>
using HugeVector = std::vector<T, HugePages<T>>;

}  // namespace tutti::simulate
