// SPDX-License-Identifier: Apache-2.0
#include "base/system/spawn.hpp"

#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/unique_fd.hpp"

namespace tutti {

namespace {

constexpr int kMostCores = 16384;

// Pointers to the words, with the null at the end that the system asks for. They live as long as the words.
std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

struct CpuSet {
  CpuSet() : set(CPU_ALLOC(kMostCores)), bytes(CPU_ALLOC_SIZE(kMostCores)) { CPU_ZERO_S(bytes, set); }
  CpuSet(const CpuSet&) = delete;
  CpuSet& operator=(const CpuSet&) = delete;
  ~CpuSet() { CPU_FREE(set); }
  cpu_set_t* set;
  std::size_t bytes;
};

// Between fork and exec other threads may have held locks, so nothing here allocates.
struct Child {
  const SpawnRequest& request;
  char* const* arguments;
  char* const* environment;
  const CpuSet& cores;
  pid_t parent;

  // Returns errno of what went wrong.
  [[nodiscard]] int become() const {
    const pid_t self = getpid();
    if (request.announced_to >= 0) static_cast<void>(!write(request.announced_to, &self, sizeof self));
    setpgid(0, 0);
    if (prctl(PR_SET_PDEATHSIG, request.death_signal) != 0) return errno;
    if (getppid() != parent) _exit(1);  // it died before the kernel knew that it matters
    if (request.core && sched_setaffinity(0, cores.bytes, cores.set) != 0) return errno;
    if (!redirect()) return errno;
    sigprocmask(SIG_SETMASK, &request.signal_mask, nullptr);
    execvpe(arguments[0], arguments, environment);
    return errno;
  }
  // The three may be any descriptors, also each other's places: copies out of the way first.
  [[nodiscard]] bool redirect() const {
    std::array<int, 3> streams = {request.input, request.output, request.error};
    for (int& stream : streams) {
      stream = fcntl(stream, F_DUPFD_CLOEXEC, 3);
      if (stream < 0) return false;
    }
    for (int i = 0; i < 3; ++i) {
      if (dup2(streams[static_cast<std::size_t>(i)], i) < 0) return false;
    }
    return true;
  }
};

// What the child could not do; 0 once the program runs, which closes the pipe.
int read_refusal(int pipe) {
  int refused = 0;
  ssize_t got = 0;
  do {
    got = read(pipe, &refused, sizeof refused);
  } while (got < 0 && errno == EINTR);
  return got == sizeof refused ? refused : 0;
}

}  // namespace

Result<Spawned> spawn(const SpawnRequest& request) {
  const std::vector<char*> arguments = pointers_to(request.command);
  const std::vector<char*> environment = pointers_to(request.environment);
  const CpuSet cores;
  if (request.core) CPU_SET_S(static_cast<std::size_t>(*request.core), cores.bytes, cores.set);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return Status::from_errno("cannot make a pipe", errno);
  const UniqueFd from_child(ends[0]);
  UniqueFd to_parent(ends[1]);
  const Child child{request, arguments.data(), environment.data(), cores, getpid()};
  const pid_t pid = fork();
  if (pid < 0) return Status::from_errno("cannot start a process", errno);
  if (pid == 0) {
    const int refused = child.become();
    static_cast<void>(!write(to_parent.get(), &refused, sizeof refused));
    _exit(127);
  }
  // Both do it, so that the group exists whoever comes first; after exec it fails, and is done.
  setpgid(pid, pid);
  to_parent.reset();
  const int refused = read_refusal(from_child.get());
  if (refused == 0) return Spawned{pid, 0};
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
  return Spawned{0, refused};
}

std::vector<int> allowed_cores() {
  const CpuSet allowed;
  std::vector<int> cores;
  if (sched_getaffinity(0, allowed.bytes, allowed.set) != 0) return cores;
  for (int core = 0; core < kMostCores; ++core) {
    if (CPU_ISSET_S(static_cast<std::size_t>(core), allowed.bytes, allowed.set)) cores.push_back(core);
  }
  return cores;
}

}  // namespace tutti
