#include "bench/guard.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/socket.hpp"
#include "base/unique_fd.hpp"
#include "bench/process_search.hpp"

namespace tutti::harness {

namespace {

using std::chrono::milliseconds;

// As long as a runner leaves them (launcher.cpp); what cannot be killed is not waited for.
constexpr milliseconds kUntilKilled{750};
constexpr milliseconds kUntilGivenUp{10'000};
constexpr milliseconds kLook{5};
// The environment of a process that is about to become another program cannot be seen for a moment.
constexpr int kLooksInVain = 3;

void end_orphans(const std::string& entry, bool has_launcher) {
  Leftovers leftovers;
  const auto begin = Clock::now();
  bool is_patient = has_launcher;
  int in_vain = 0;
  while (in_vain < kLooksInVain && Clock::now() - begin < kUntilGivenUp) {
    const std::vector<FoundProcess> found = processes_with({entry});
    in_vain = found.empty() ? in_vain + 1 : 0;
    is_patient |= std::any_of(found.begin(), found.end(), [](const FoundProcess& process) { return process.is_rank; });
    const bool is_late = !is_patient || Clock::now() - begin > kUntilKilled;
    for (const FoundProcess& process : found) {
      if (process.is_rank) leftovers.note(process);
      if (process.is_rank || is_late) ::kill(process.pid, SIGKILL);
    }
    std::this_thread::sleep_for(kLook);
  }
  leftovers.remove();
}

// Nothing of the runner's is kept open, and no terminal's signal or name of the runner's reaches it.
void stand_apart(const UniqueFd& runner) {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::setsid();
  ::prctl(PR_SET_NAME, "bench-guard");
  const auto kept = static_cast<unsigned>(runner.get());
  if (kept > 0) ::close_range(0, kept - 1, 0);
  ::close_range(kept + 1, ~0U, 0);
}

}  // namespace

void Guard::start(const std::string& entry, bool has_launcher) {
  end();
  const UniqueFd runner = open_pidfd(::getpid());
  if (!runner.valid()) return;
  const pid_t pid = ::fork();
  if (pid > 0) pid_ = pid;
  if (pid != 0) return;
  stand_apart(runner);
  pollfd waiting{runner.get(), POLLIN, 0};
  if (::poll(&waiting, 1, -1) == 1) end_orphans(entry, has_launcher);
  ::_exit(0);
}

void Guard::end() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  pid_ = 0;
}

}  // namespace tutti::harness
