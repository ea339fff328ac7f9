// SPDX-License-Identifier: Apache-2.0
// A file descriptor with one owner: closed when the owner goes. Movable, not copyable; as thread-safe as an int.
#pragma once

#include <utility>

#include <unistd.h>

namespace tutti {

class UniqueFd {
 public:
  static constexpr int kNone = -1;

  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ != kNone; }
  // Gives the descriptor away; the caller closes it.
  [[nodiscard]] int release() { return std::exchange(fd_, kNone); }
  // close() is not tried again after EINTR: on Linux the descriptor is gone by then and may be another thread's.
  void reset(int fd = kNone) {
    if (fd_ != kNone) static_cast<void>(::close(fd_));
    fd_ = fd;
  }

 private:
  int fd_ = kNone;
};

}  // namespace tutti
