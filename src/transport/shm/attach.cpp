#include "transport/shm/attach.hpp"

#include <cerrno>
#include <cstddef>

#include <sys/uio.h>

namespace tutti::shm {

int read_from(pid_t process, std::uint64_t address, void* to, std::uint64_t bytes) {
  auto* into = static_cast<std::byte*>(to);
  while (bytes > 0) {
    iovec local{into, bytes};
    iovec remote{reinterpret_cast<void*>(address), bytes};  // of another process
    const ssize_t count = ::process_vm_readv(process, &local, 1, &remote, 1, 0);
    if (count < 0) return errno;
    if (count == 0) return EFAULT;
    into += count;
    address += static_cast<std::uint64_t>(count);
    bytes -= static_cast<std::uint64_t>(count);
  }
  return 0;
}

}  // namespace tutti::shm
