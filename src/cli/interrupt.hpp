// While it lives, SIGINT and SIGTERM are noted instead of ending the process; a second one ends it. One at a time; main
// thread only, since signals are the process's.
#pragma once

#include <csignal>

namespace tutti::cli {

class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  [[nodiscard]] static bool has_come();

 private:
  struct sigaction before_int_ {};
  struct sigaction before_term_ {};
};

}  // namespace tutti::cli
