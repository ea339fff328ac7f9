// How the processes of a group are started and ended: by the runner itself, or by an MPI's mpirun or Slurm's srun.
//
// Whatever starts them, they and all that they start carry the group's id in their environment, so none of them is left
// when the group is ended, however it came to be. One thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/status.hpp"
#include "base/unique_fd.hpp"

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
  std::string id;                        // what tells its processes from all others: the value of kWorkerVariable
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
  // The last lines of what they have written to standard output and error, safe to show.
  [[nodiscard]] std::string last_words() const;

  // Ends all of them within a second: kills the ranks, so that an mpirun notices and clears up, asks it to end where it
  // does not, and kills what is left. Shared memory and temporary folders of theirs are gone afterwards.
  void end();

 private:
  struct Child {
    pid_t pid = 0;
    std::string name;
    std::optional<int> status;  // from waitpid
  };
  void reap();

  std::string id_;
  std::vector<Child> children_;
  UniqueFd output_;
};

}  // namespace tutti::harness
