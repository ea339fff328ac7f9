// SPDX-License-Identifier: Apache-2.0
// Memory of other processes on this host that is not shared: the system copies it (cross-memory attach,
// process_vm_readv, process_vm_writev). One copy instead of two, for the price of a system call. Not everybody may: it
// takes the same user, processes that know each other's numbers, and a kernel that is not told to refuse (Yama).
// Thread-safe.
#pragma once

#include <cstdint>

#include <sys/types.h>

#include "transport/shm/region.hpp"

namespace tutti::shm {

enum class Access : std::uint8_t { read, write };

enum class AttachEnd : std::uint8_t {
  done,
  gone,           // there is no such process
  theirs_closed,  // it has no such memory, or lets nobody have it
  own_closed,     // this process has not, at its end of the copy
};
[[nodiscard]] AttachEnd read_from(pid_t process, std::uint64_t address, void* to, std::uint64_t bytes);
[[nodiscard]] AttachEnd write_to(pid_t process, std::uint64_t address, const void* from, std::uint64_t bytes);

// What such an end, other than done, means to all where `rank` was to reach what is another's.
[[nodiscard]] Breakage breakage_of(AttachEnd end, Access access, std::uint32_t rank, std::uint32_t other);

}  // namespace tutti::shm
