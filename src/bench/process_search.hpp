// Processes that are found by what their environment holds, however they came to be, and what those of an MPI would
// leave behind. Linux' /proc; one thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <sys/types.h>

namespace tutti::harness {

struct FoundProcess {
  pid_t pid = 0;
  std::size_t entry = 0;  // which of those that were looked for it has
  bool is_rank = false;   // as against a launcher
  std::string session;    // a folder of the launcher's that the rank was told of; empty where there is none
};

// Those of this user, but for the calling one, whose environment has one of the entries NAME=VALUE.
[[nodiscard]] std::vector<FoundProcess> processes_with(const std::vector<std::string>& entries);

// Shared memory and temporary folders of an MPI whose processes are killed: its launcher clears them up where it is
// left the time, and that is not certain.
class Leftovers {
 public:
  // What the process has now. To be called before it is killed, so that nothing but its own is ever taken away.
  void note(const FoundProcess& process);
  // Takes away what is still there, once the processes have gone.
  void remove() const;

 private:
  std::vector<std::string> files_;
  std::vector<std::string> folders_;
};

}  // namespace tutti::harness
