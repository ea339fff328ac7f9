#include "no_memory.hpp"

#include <cstdlib>
#include <new>

namespace {

thread_local bool has_no_memory = false;

}  // namespace

void* operator new(std::size_t bytes) {
  if (!has_no_memory)
    if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
// The sanitizer has one of its own, whose memory is not for free().
void* operator new(std::size_t bytes, const std::nothrow_t& /*unused*/) noexcept {
  return has_no_memory ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t& /*unused*/) noexcept { std::free(memory); }

namespace tutti::test {

NoMemory::NoMemory() { has_no_memory = true; }
NoMemory::~NoMemory() { has_no_memory = false; }

}  // namespace tutti::test
