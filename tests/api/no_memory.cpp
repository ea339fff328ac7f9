// SPDX-License-Identifier: Apache-2.0
#include "no_memory.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

thread_local bool has_no_memory = false;

// Of the whole process, in whatever thread.
std::atomic<std::uint64_t> allocations = 0;
std::atomic<std::uint64_t> first_failing = 0;  // 0: none
std::atomic<std::uint64_t> last_failing = 0;

bool fails() {
  const std::uint64_t number = allocations.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::uint64_t first = first_failing.load(std::memory_order_relaxed);
  return has_no_memory || (first != 0 && number >= first && number <= last_failing.load(std::memory_order_relaxed));
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (!fails())
    if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
// The sanitizer has one of its own, whose memory is not for free().
void* operator new(std::size_t bytes, const std::nothrow_t& /*unused*/) noexcept {
  return fails() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  if (!fails())
    if (void* memory = std::aligned_alloc(step, (bytes + step - 1) / step * step)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t& /*unused*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*unused*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t /*unused*/) noexcept { std::free(memory); }

namespace tutti::test {

NoMemory::NoMemory() { has_no_memory = true; }
NoMemory::~NoMemory() { has_no_memory = false; }

void fail_allocations(std::uint64_t first, std::uint64_t last) {
  last_failing.store(last);
  first_failing.store(first);
  allocations.store(0);
}

std::uint64_t num_allocations() { return allocations.load(); }

}  // namespace tutti::test
