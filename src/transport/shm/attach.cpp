// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/attach.hpp"

#include <cerrno>
#include <cstddef>

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

namespace tutti::shm {

namespace {

ssize_t access(Access access, pid_t process, const iovec& own, const iovec& theirs) {
  return access == Access::read ? ::process_vm_readv(process, &own, 1, &theirs, 1, 0)
                                : ::process_vm_writev(process, &own, 1, &theirs, 1, 0);
}

// The system says EFAULT of either side. What is only read can be tried by itself, and is not to blame where it can be
// had.
AttachEnd end_of(int error, Access how, pid_t process, std::byte* own, void* remote) {
  if (error == ESRCH) return AttachEnd::gone;
  if (error != EFAULT) return AttachEnd::theirs_closed;
  std::byte one{};
  if (how == Access::read)
    return access(Access::read, process, {&one, 1}, {remote, 1}) == 1 ? AttachEnd::own_closed
                                                                      : AttachEnd::theirs_closed;
  return access(Access::read, ::getpid(), {&one, 1}, {own, 1}) == 1 ? AttachEnd::theirs_closed : AttachEnd::own_closed;
}

AttachEnd copy(Access how, pid_t process, std::uint64_t address, std::byte* own, std::uint64_t bytes) {
  while (bytes > 0) {
    void* const remote = reinterpret_cast<void*>(address);  // of another process
    const ssize_t count = access(how, process, {own, bytes}, {remote, bytes});
    if (count <= 0) return end_of(count < 0 ? errno : EFAULT, how, process, own, remote);
    own += count;
    address += static_cast<std::uint64_t>(count);
    bytes -= static_cast<std::uint64_t>(count);
  }
  return AttachEnd::done;
}

}  // namespace

AttachEnd read_from(pid_t process, std::uint64_t address, void* to, std::uint64_t bytes) {
  return copy(Access::read, process, address, static_cast<std::byte*>(to), bytes);
}

AttachEnd write_to(pid_t process, std::uint64_t address, const void* from, std::uint64_t bytes) {
  return copy(Access::write, process, address, static_cast<std::byte*>(const_cast<void*>(from)), bytes);
}

Breakage breakage_of(AttachEnd end, Access access, std::uint32_t rank, std::uint32_t other) {
  // That it is gone the watch over it would tell a little later.
  if (end == AttachEnd::gone) return {Code::rank_lost, other};
  if (end == AttachEnd::own_closed)
    return {Code::system, rank,
            fmt::format("rank {} cannot {} its own buffer", rank, access == Access::read ? "write to" : "read")};
  return {Code::system, other,
          fmt::format("the buffer of rank {} cannot be {} by rank {} (a high TUTTI_ATTACH_MIN keeps ranks from that)",
                      other, access == Access::read ? "read" : "written", rank)};
}

}  // namespace tutti::shm
