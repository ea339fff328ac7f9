// SPDX-License-Identifier: Apache-2.0
#include "base/system/take_fd.hpp"

#include <cerrno>

#include <fcntl.h>

namespace tutti {

UniqueFd take_fd(int fd) {
  if (fd < 0 || fd > STDERR_FILENO) return UniqueFd(fd);
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  static_cast<void>(::close(fd));
  errno = error;
  return UniqueFd(moved);
}

}  // namespace tutti
