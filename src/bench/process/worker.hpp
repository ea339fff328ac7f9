// SPDX-License-Identifier: Apache-2.0
// A worker: one rank of a group of processes that the runner has started. It connects back with the token it was given,
// shows that its environment is as ordered before anything of a backend begins, and then does as it is told.
//
// The runner says {"order": ...}, the worker answers each order with one message:
//   gather    which ranks are on which host, if on several → gathered
//   begin     settings of the environment, where the ranks meet → began (or failed)
//   prepare   bench and point → prepared, skipped or failed
//   run       how many iterations, how they begin → samples
//   check     → checked
//   end       of the case → ended, with what the body has said of it
//   leave     → the process ends
// docs/formats/worker.md has the fields.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/unique_id.hpp"
#include "base/variables/environment.hpp"
#include "bench/axes/environment_axis.hpp"
#include "bench/process/launcher_variables.hpp"
#include <tutti/bench.hpp>

namespace tutti::harness {

// Of a group whose ranks are on several hosts.
struct AcrossHosts {
  // What `root` says, on all ranks. All of them call it, with the same root.
  std::function<Result<std::string>(std::string_view bytes, int root)> broadcast;
  Address own;       // the address from which this rank's host reaches the runner; its port means nothing
  int place = 0;     // of this rank among those on its host
  int num_here = 1;  // ranks on its host
};

// What a worker's processes talk through, besides the harness. begin() comes after the environment has been verified;
// from then on it says who it is, and that is held against what was ordered.
class Backend {
 public:
  virtual ~Backend() = default;
  // Before begin(): the variables that the runner sweeps, as they now are in the environment.
  virtual void take_settings(const std::vector<Setting>& settings) { static_cast<void>(settings); }
  virtual void take_hosts(AcrossHosts hosts) { static_cast<void>(hosts); }
  virtual Status begin(int rank, int num_ranks) = 0;
  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int num_ranks() const = 0;
  // "Open MPI 4.1.4"; empty where there is nothing to say.
  [[nodiscard]] virtual std::string version() const { return ""; }
  // Where it has none, ranks meet in the harness's own memory.
  [[nodiscard]] virtual bool has_barrier() const { return false; }
  virtual void barrier() {}
  // Before the process ends in good order.
  virtual void end() {}
};

// None at all: ranks are as launched.
[[nodiscard]] std::unique_ptr<Backend> no_backend();

[[nodiscard]] bool is_worker(const Environment& environment);

// Obeys the runner until it says leave; the exit status of the process. Errors that the runner cannot be told go to
// standard error.
[[nodiscard]] int run_worker(const std::vector<Bench>& benches, Backend& backend, const Environment& environment);

}  // namespace tutti::harness
