// SPDX-License-Identifier: Apache-2.0
// How the processes of a group are started and ended: by the runner itself, or by an MPI's mpirun or Slurm's srun.
//
// Whatever starts them, they and all that they start carry the group's id in their environment, so none of them is left
// when the group is ended, however it came to be. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/status.hpp"
#include "base/system/unique_fd.hpp"
#include "bench/hosts/ranks_on_hosts.hpp"
#include "bench/process/guard.hpp"

namespace tutti::harness {

enum class Launcher : std::uint8_t { local, openmpi, mpich, srun };
[[nodiscard]] std::string_view name_of(Launcher launcher);
// "local", "mpirun.openmpi", "mpirun.mpich", "srun".
[[nodiscard]] std::optional<Launcher> launcher_from_name(std::string_view name);
// Whether its program is there; an error (Code::unsupported) names the package that has it.
[[nodiscard]] Status find_launcher(Launcher launcher);

struct LaunchRequest {
  Launcher launcher = Launcher::local;
  int num_ranks = 1;
  std::vector<std::string> program;      // and its arguments
  std::vector<std::string> environment;  // NAME=VALUE, of all ranks
  std::string id;                        // what tells its processes from all others: kWorkerVariable, kProgramVariable
  // Some program instead of a worker: locally it is started once and as it is, and without a rank; an mpirun binds it
  // as it likes. Its standard output is kept apart from its errors.
  bool is_program = false;
  // Over these hosts; what is started locally then comes through `tutti launch`.
  std::optional<OverHosts> hosts = std::nullopt;
  std::vector<std::string> handed_on = {};  // names of variables that must be the same on other hosts
};

class Processes {
 public:
  Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  ~Processes() { end(); }

  Status start(const LaunchRequest& request);

  // The words for a process that has ended in another way than by exiting with 0: "rank 1 was killed by signal 9",
  // "mpirun ended with status 1". Null while none has.
  [[nodiscard]] std::optional<std::string> failure();
  // Whether all that was started directly has ended.
  [[nodiscard]] bool have_ended();
  // Comes back when one of them has ended, or after the time.
  void wait_for_end(std::chrono::milliseconds most);
  // The last lines of what they have written to standard output and error, safe to show.
  [[nodiscard]] std::string last_words() const;
  // All that a program has written so far.
  [[nodiscard]] std::string output() const;
  [[nodiscard]] std::string errors() const;
  [[nodiscard]] std::uint64_t num_written() const;

  // Ends all of them within a second: kills the ranks, so that an mpirun notices and clears up, asks it to end where it
  // does not, and kills what is left. Shared memory and temporary folders of theirs are gone afterwards.
  void end() { end_all({this}); }
  // Several at once within the same second: the ranks of all are killed before any is waited for.
  static void end_all(std::vector<Processes*> groups);

 private:
  struct Child {
    pid_t pid = 0;
    std::string name;
    std::optional<int> status = std::nullopt;  // from waitpid
  };
  void start_guard(const LaunchRequest& request);
  void reap();
  void signal_children(int signal, bool whole_groups) const;
  void wait_for_children();

  std::string entry_;               // of their environment, by which they are found
  bool may_have_sessions_ = false;  // folders of an mpirun that is theirs
  bool is_over_hosts_ = false;
  std::vector<std::string> sessions_;  // where that would have them
  Guard guard_;                        // of a program, and of an mpirun
  std::vector<Child> children_;
  UniqueFd output_;
  UniqueFd errors_;  // of a program; workers write both to one place
};

}  // namespace tutti::harness
