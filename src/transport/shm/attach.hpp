// Memory of other processes on this host that is not shared: the system copies it (cross-memory attach,
// process_vm_readv). One copy instead of two, for the price of a system call. Not everybody may: it takes the same
// user, processes that know each other's numbers, and a kernel that is not told to refuse (Yama). Thread-safe.
#pragma once

#include <cstdint>

#include <sys/types.h>

#include "transport/shm/region.hpp"

namespace tutti::shm {

enum class ReadEnd : std::uint8_t {
  done,
  gone,        // there is no such process
  unreadable,  // it has no such memory, or lets nobody read it
  unwritable,  // this process cannot write where the copy was to go
};
[[nodiscard]] ReadEnd read_from(pid_t process, std::uint64_t address, void* to, std::uint64_t bytes);

// What such an end, other than done, means to all where `rank` was to read what is another's.
[[nodiscard]] Breakage breakage_of(ReadEnd end, std::uint32_t rank, std::uint32_t other);

}  // namespace tutti::shm
