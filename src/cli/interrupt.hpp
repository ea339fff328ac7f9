// SPDX-License-Identifier: Apache-2.0
// While it lives, SIGINT and SIGTERM are noted instead of ending the process; a second one ends it. One at a time; main
// thread only, since signals are the process's.
#pragma once

#include <csignal>

#include "cli/command.hpp"

namespace tutti::cli {

class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  [[nodiscard]] static bool has_come();
  // The exit status after the signal that came: 130 for SIGINT, 143 for SIGTERM, as in shells.
  [[nodiscard]] static Exit exit();

 private:
  struct sigaction before_int_ {};
  struct sigaction before_term_ {};
};

// From now on a write beyond the limit of file sizes (ulimit -f) fails, and SIGXFSZ does not end the process. Started
// programs have the default again. For main.
void let_too_large_files_fail();

}  // namespace tutti::cli
