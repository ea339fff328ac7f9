// SPDX-License-Identifier: Apache-2.0
// MPICH's process management interface, version 1: lines of words NAME=VALUE on a descriptor that the launcher has left
// open, a question and an answer each. MPICH's hydra speaks it, and srun with --mpi=pmi2: a process that begins with
// version 1 need not speak version 2 there.
//
// A program that uses MPICH has the same descriptor in use. Nothing is read beyond an answer. Hydra lets both say
// `init`, but not while another thread is inside MPI; Slurm lets only one of them, and never answers the other.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"
#include "runtime/bootstrap/start/patience.hpp"

namespace tutti::start {

class PmiWire {
 public:
  // The descriptor is the process's and stays open.
  PmiWire(int fd, Patience& patience) : fd_(fd), patience_(patience) {}

  [[nodiscard]] Status init();
  // Keys are found under a name of the job's own.
  [[nodiscard]] Result<std::string> job_name();
  [[nodiscard]] Status put(std::string_view job, std::string_view key, std::string_view value);
  [[nodiscard]] Result<std::string> get(std::string_view job, std::string_view key);
  // The same; empty where nobody has put it.
  [[nodiscard]] Result<std::string> find(std::string_view job, std::string_view key);
  // Until all ranks are in it, which is when each can get what another has put.
  [[nodiscard]] Status barrier(std::string_view what);
  [[nodiscard]] Status finalize();

 private:
  // The line that begins with cmd=`answer`; an error where it says that the question failed, if that is none.
  [[nodiscard]] Result<std::string> ask(const std::string& question, std::string_view answer, std::string_view what,
                                        bool may_fail = false);
  [[nodiscard]] Status write_line(const std::string& line) const;
  [[nodiscard]] Result<std::string> read_line(std::string_view what);

  const int fd_;
  Patience& patience_;
};

// The value of a word NAME=VALUE in a line; empty where there is none.
[[nodiscard]] std::string_view word_of(std::string_view line, std::string_view name);

// Whether PMI_process_mapping, "(vector,(0,2,4),…)" of (first node, number of nodes, ranks on each), has several nodes.
[[nodiscard]] bool names_several_nodes(std::string_view mapping);

}  // namespace tutti::start
