// Memory of other processes on this host that is not shared: the system copies it (cross-memory attach,
// process_vm_readv). One copy instead of two, for the price of a system call. Not everybody may: it takes the same
// user, processes that know each other's numbers, and a kernel that is not told to refuse (Yama). Thread-safe.
#pragma once

#include <cstdint>

#include <sys/types.h>

namespace tutti::shm {

// 0, or errno: ESRCH where the process is gone, EPERM where it forbids it, EFAULT where it has no such memory.
[[nodiscard]] int read_from(pid_t process, std::uint64_t address, void* to, std::uint64_t bytes);

}  // namespace tutti::shm
