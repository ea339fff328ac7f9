// SPDX-License-Identifier: Apache-2.0
// An allocator for arrays that may grow large and are accessed at random. From 4 MiB on it asks the system for huge
// pages. Smaller arrays use std::allocator.
#pragma once

#include <cstddef>
#include <cstdint>
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
    // A page more, of which both ends go back, so that the rest begins at a page.
    const std::size_t bytes = bytes_of(count);
    void* const mapped = mmap(nullptr, bytes + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    auto* const first = static_cast<std::byte*>(mapped);
    const std::size_t before = kPage - reinterpret_cast<std::uintptr_t>(first) % kPage;
    std::byte* const memory = first + before;
    munmap(first, before);
    if (before < kPage) munmap(memory + bytes, kPage - before);
    madvise(memory, bytes, MADV_HUGEPAGE);  // where the system has none to give, it says so, and that is all
    return reinterpret_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (!is_large(count)) return std::allocator<T>().deallocate(memory, count);
    munmap(memory, bytes_of(count));
  }

  friend bool operator==(const HugePages&, const HugePages&) { return true; }

 private:
  static constexpr std::size_t kPage = std::size_t{1} << 21U;

  // Rounding up wastes less than a page. Sizes that overflow go to std::allocator, which throws.
  static bool is_large(std::size_t count) {
    return count >= 2 * kPage / sizeof(T) && count <= std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T);
  }
  static std::size_t bytes_of(std::size_t count) { return (count * sizeof(T) + kPage - 1) / kPage * kPage; }
};

template <typename T>
using HugeVector = std::vector<T, HugePages<T>>;

}  // namespace tutti::simulate
