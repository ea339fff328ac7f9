// SPDX-License-Identifier: Apache-2.0
#include "bench/process/guard.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/socket.hpp"
#include "bench/process/process_search.hpp"

namespace tutti::harness {

namespace {

using std::chrono::milliseconds;

// As long as a runner leaves a launcher (launcher.cpp); what cannot be killed is not waited for.
constexpr milliseconds kForLauncher{750};
constexpr milliseconds kUntilGivenUp{10'000};
constexpr milliseconds kGuardLook{5};
// The environment of a process that is about to become another program cannot be seen for a moment.
constexpr int kLooksInVain = 3;

void end_orphans(const Guarded& guarded, Leftovers& leftovers) {
  const auto begin = Clock::now();
  milliseconds others_are_left = guarded.others_are_left;
  int in_vain = 0;
  while (in_vain < kLooksInVain && Clock::now() - begin < kUntilGivenUp) {
    const std::vector<FoundProcess> found = processes_with({guarded.entry});
    in_vain = found.empty() ? in_vain + 1 : 0;
    // Some of what a program has started is a launcher.
    if (std::any_of(found.begin(), found.end(), [](const FoundProcess& process) { return process.is_rank; }))
      others_are_left = std::max(others_are_left, kForLauncher);
    for (const FoundProcess& process : found) {
      if (Clock::now() - begin >= (process.is_rank ? guarded.ranks_are_left : others_are_left)) {
        leftovers.kill(process);
      } else {
        leftovers.note(process);  // it may end by itself, and leave its files
      }
    }
    std::this_thread::sleep_for(kGuardLook);
  }
}

// Of those that were started directly, also where they ended before they could be found.
void note_announced(int announced, const Guarded& guarded, Leftovers& leftovers) {
  const std::vector<std::string_view> variables(guarded.environment.begin(), guarded.environment.end());
  for (pid_t pid = 0; ::read(announced, &pid, sizeof pid) == sizeof pid;)
    leftovers.note_sessions(sessions_of_launcher(pid, variables));
}

// Nothing of the runner's is kept open but these two, and no terminal's signal or name of the runner's reaches it.
void stand_apart(int one, int other) {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::setsid();
  ::prctl(PR_SET_NAME, "bench-guard");
  unsigned next = 0;
  for (const int kept : {std::min(one, other), std::max(one, other)}) {
    const auto number = static_cast<unsigned>(kept);
    if (number > next) ::close_range(next, number - 1, 0);
    next = number + 1;
  }
  ::close_range(next, ~0U, 0);
}

}  // namespace

void Guard::start(const Guarded& guarded) {
  end();
  const UniqueFd runner = open_pidfd(::getpid());
  std::array<int, 2> ends{};
  if (!runner.valid() || ::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  told_ = UniqueFd(ends[0]);
  announced_ = UniqueFd(ends[1]);
  const pid_t pid = ::fork();
  if (pid > 0) pid_ = pid;
  if (pid != 0) return;
  stand_apart(runner.get(), told_.get());
  pollfd waiting{runner.get(), POLLIN, 0};
  if (::poll(&waiting, 1, -1) == 1) {
    Leftovers leftovers;
    end_orphans(guarded, leftovers);
    note_announced(told_.get(), guarded, leftovers);
    leftovers.remove();
  }
  ::_exit(0);
}

void Guard::end() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  pid_ = 0;
}

}  // namespace tutti::harness
