// SPDX-License-Identifier: Apache-2.0
#include "cli/launch/foreground.hpp"

#include <cerrno>
#include <csignal>

#include <spawn.h>
#include <sys/wait.h>

namespace tutti::cli {

namespace {

constexpr int kProgramNotFound = 127;
constexpr int kProgramNotRunnable = 126;
constexpr int kKilledBase = 128;

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

// Blocked while the program runs, and taken one after the other.
class TakenSignals {
 public:
  TakenSignals() {
    sigemptyset(&taken_);
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&taken_, signal);
    pthread_sigmask(SIG_BLOCK, &taken_, &before_);
    // Where whoever started this one ignores it, no program's end would be told.
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &usual, &of_children_);
  }
  TakenSignals(const TakenSignals&) = delete;
  TakenSignals& operator=(const TakenSignals&) = delete;
  ~TakenSignals() {
    // What came for the program must not end this one, which has work left.
    const timespec at_once{};
    while (sigtimedwait(&taken_, nullptr, &at_once) > 0) continue;
    sigaction(SIGCHLD, &of_children_, nullptr);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  [[nodiscard]] const sigset_t& before() const { return before_; }
  [[nodiscard]] siginfo_t take() const {
    siginfo_t info{};
    while (sigwaitinfo(&taken_, &info) < 0) continue;
    return info;
  }

 private:
  sigset_t taken_{};
  sigset_t before_{};
  struct sigaction of_children_ {};
};

int start_program(const std::vector<std::string>& command, const Environment& environment, const sigset_t& mask,
                  pid_t& child) {
  std::vector<std::string> arguments = command;
  std::vector<std::string> block = environment.block();
  posix_spawnattr_t attributes;
  if (const int error = posix_spawnattr_init(&attributes); error != 0) return error;
  posix_spawnattr_setsigmask(&attributes, &mask);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int refused = posix_spawnp(&child, arguments.front().c_str(), nullptr, &attributes,
                                   pointers_to(arguments).data(), pointers_to(block).data());
  posix_spawnattr_destroy(&attributes);
  return refused;
}

}  // namespace

Result<ForegroundEnd> run_in_foreground(const std::vector<std::string>& command, const Environment& environment) {
  const TakenSignals signals;
  pid_t child = 0;
  if (const int refused = start_program(command, environment, signals.before(), child); refused != 0)
    return ForegroundEnd{.status = refused == ENOENT ? kProgramNotFound : kProgramNotRunnable, .refused = refused};
  while (true) {
    const siginfo_t info = signals.take();
    if (info.si_signo != SIGCHLD) {
      const bool is_of_terminal = info.si_code == SI_KERNEL;
      if (!is_of_terminal) kill(child, info.si_signo);
      continue;
    }
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended < 0 && errno != EINTR) return Status::from_errno("cannot wait for the program", errno);
    if (ended != child) continue;
    return ForegroundEnd{.status = WIFSIGNALED(status) ? kKilledBase + WTERMSIG(status) : WEXITSTATUS(status)};
  }
}

}  // namespace tutti::cli
