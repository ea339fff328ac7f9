// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.hpp"

namespace tutti::cli {

namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): signal handlers reach nothing else
volatile std::sig_atomic_t interrupted = 0;  // the signal

extern "C" void note_interrupt(int signal) {
  if (interrupted != 0) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  interrupted = signal;
}

extern "C" void ignore(int) {}

}  // namespace

Interrupt::Interrupt() {
  interrupted = 0;
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &before_int_);
  sigaction(SIGTERM, &action, &before_term_);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &before_int_, nullptr);
  sigaction(SIGTERM, &before_term_, nullptr);
}

bool Interrupt::has_come() { return interrupted != 0; }

Exit Interrupt::exit() {
  constexpr int kSignalBase = 128;
  return static_cast<Exit>(kSignalBase + interrupted);
}

// A handler, since an ignored signal stays ignored in started programs.
void let_too_large_files_fail() { std::signal(SIGXFSZ, ignore); }

}  // namespace tutti::cli
