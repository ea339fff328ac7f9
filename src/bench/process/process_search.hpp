// SPDX-License-Identifier: Apache-2.0
// Processes that are found by what their environment holds, however they came to be, and what those of an MPI would
// leave behind. Linux' /proc; one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace tutti::harness {

struct FoundProcess {
  pid_t pid = 0;
  std::size_t entry = 0;              // which of those that were looked for it has
  bool is_rank = false;               // as against a launcher
  std::vector<std::string> sessions;  // folders of the launcher's: that the rank was told of, or that a launcher makes
};

// Those of this user, but for the calling one, whose environment has one of the entries NAME=VALUE.
[[nodiscard]] std::vector<FoundProcess> processes_with(const std::vector<std::string>& entries);

// Where the process of this number has its folder if it is an mpirun of Open MPI with these variables, whether it is
// there or not: one that is ended while it begins leaves it, and has told no rank of it.
[[nodiscard]] std::vector<std::string> sessions_of_launcher(pid_t pid, const std::vector<std::string_view>& variables);

// Shared memory and temporary folders of an MPI whose processes are killed: its launcher clears them up where it is
// left the time, and that is not certain.
class Leftovers {
 public:
  // What the process has now, and nothing but its own. To be called while it cannot make more, or again and again.
  void note(const FoundProcess& process);
  void note_sessions(const std::vector<std::string>& sessions);
  // Stops the process, notes what it has, and kills it.
  void kill(const FoundProcess& process);
  // Takes away what is still there, once the processes have gone.
  void remove() const;

 private:
  std::vector<std::string> files_;
  std::vector<std::string> folders_;
};

}  // namespace tutti::harness
