// SPDX-License-Identifier: Apache-2.0
// The signals that a launcher handles: blocked while this object lives, and read from a descriptor. Main thread only.
#pragma once

#include <csignal>

#include "base/system/unique_fd.hpp"

namespace tutti::launch {

class Signals {
 public:
  Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  // SIGINT, SIGTERM, SIGHUP and SIGCHLD can be read from it.
  [[nodiscard]] int fd() const { return fd_.get(); }
  // What was blocked before: what a program that is started has blocked.
  [[nodiscard]] const sigset_t& before() const { return before_; }
  // Whether a write of this process has found nobody to read it.
  [[nodiscard]] static bool has_broken_pipe();
  // The next signal that came, or 0.
  [[nodiscard]] int take() const;

 private:
  sigset_t before_{};
  UniqueFd fd_;
};

}  // namespace tutti::launch
