// SPDX-License-Identifier: Apache-2.0
// The ways in which processes are started together. Each looks for what its launcher leaves in the environment and
// answers with nothing where that is not there, with an error where it is there and wrong. In nested starts the
// innermost counts, and that is what the order of `kWays` (start.cpp) is for.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/bootstrap/start/start.hpp"

namespace tutti::start {

// What a way is given of the process.
struct Process {
  const Environment& environment;
  const Variables& variables;
  const StartOptions& options;
  // For rank 0: an id whose rendezvous this process serves, on this host or where other hosts reach it: at an address
  // of TUTTI_SOCKET_IFNAME, else at `address` if it is given.
  struct Reach {
    bool spans_hosts = false;
    std::optional<Address> address{};
  };
  std::function<Result<UniqueId>(const Reach&)> make_id;
  std::vector<std::unique_ptr<Kept>>& kept;
  std::vector<std::string> remarks{};  // why a way was not taken that is half there; for the error where none is
};

using Found = Result<std::optional<Started>>;
[[nodiscard]] inline Found nothing() { return std::optional<Started>(); }

[[nodiscard]] Found by_tutti_launch(Process& process);
[[nodiscard]] Found by_torchrun(Process& process);
[[nodiscard]] Found by_pmi(Process& process);   // MPICH's
[[nodiscard]] Found by_pmix(Process& process);  // Open MPI's, and Slurm's with --mpi=pmix
[[nodiscard]] Found by_open_mpi(Process& process);
[[nodiscard]] Found by_rank_variables(Process& process);  // torchrun's, set by anyone
[[nodiscard]] Found by_slurm(Process& process);

// The first name of Slurm's list of nodes: "red3" of "red[3-5,9],blue".
[[nodiscard]] std::string first_of_nodes(std::string_view list);

}  // namespace tutti::start
