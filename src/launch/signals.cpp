// SPDX-License-Identifier: Apache-2.0
#include "launch/signals.hpp"

#include <ctime>

#include <sys/signalfd.h>
#include <unistd.h>

namespace tutti::launch {

Signals::Signals() {
  sigset_t taken;
  sigemptyset(&taken);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&taken, signal);
  // Reading a terminal in the background, and writing to a rank that is gone, are errors then and no more.
  sigset_t blocked = taken;
  for (const int signal : {SIGTTIN, SIGPIPE}) sigaddset(&blocked, signal);
  pthread_sigmask(SIG_BLOCK, &blocked, &before_);
  fd_ = UniqueFd(signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
}

Signals::~Signals() {
  // What came for the group is dealt with, and must not reach the program afterwards.
  while (take() != 0) continue;
  sigset_t side_effects;
  sigemptyset(&side_effects);
  for (const int signal : {SIGTTIN, SIGPIPE}) sigaddset(&side_effects, signal);
  const timespec at_once{};
  while (sigtimedwait(&side_effects, nullptr, &at_once) > 0) continue;
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool Signals::has_broken_pipe() {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

int Signals::take() const {
  signalfd_siginfo info{};
  return read(fd_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

}  // namespace tutti::launch
