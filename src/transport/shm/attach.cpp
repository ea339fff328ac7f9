#include "transport/shm/attach.hpp"

#include <cerrno>
#include <cstddef>

#include <fmt/format.h>
#include <sys/uio.h>

namespace tutti::shm {

namespace {

// The system says EFAULT of either side; what can be read by itself is not to blame.
ReadEnd end_of(int error, pid_t process, void* remote) {
  if (error == ESRCH) return ReadEnd::gone;
  std::byte one{};
  const iovec there{remote, 1};
  const iovec here{&one, 1};
  return error == EFAULT && ::process_vm_readv(process, &here, 1, &there, 1, 0) == 1 ? ReadEnd::unwritable
                                                                                     : ReadEnd::unreadable;
}

}  // namespace

ReadEnd read_from(pid_t process, std::uint64_t address, void* to, std::uint64_t bytes) {
  auto* into = static_cast<std::byte*>(to);
  while (bytes > 0) {
    iovec local{into, bytes};
    iovec remote{reinterpret_cast<void*>(address), bytes};  // of another process
    const ssize_t count = ::process_vm_readv(process, &local, 1, &remote, 1, 0);
    if (count <= 0) return end_of(count < 0 ? errno : EFAULT, process, remote.iov_base);
    into += count;
    address += static_cast<std::uint64_t>(count);
    bytes -= static_cast<std::uint64_t>(count);
  }
  return ReadEnd::done;
}

Breakage breakage_of(ReadEnd end, std::uint32_t rank, std::uint32_t other) {
  // That it is gone the watch over it would tell a little later.
  if (end == ReadEnd::gone) return {Code::rank_lost, other};
  if (end == ReadEnd::unwritable)
    return {Code::system, rank, fmt::format("rank {} cannot write to its own buffer", rank)};
  return {Code::system, other,
          fmt::format("the buffer of rank {} cannot be read by rank {} (a high TUTTI_ATTACH_MIN keeps ranks from it)",
                      other, rank)};
}

}  // namespace tutti::shm
