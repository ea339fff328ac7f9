// SPDX-License-Identifier: Apache-2.0
// With whom this process was started, whoever started it: `tutti launch`, torchrun, an mpirun, srun. Each way is a file
// of this folder; way.hpp lists them. A way tells rank and number of ranks, and gives all ranks the id that rank 0
// makes.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/unique_id.hpp"
#include "base/units.hpp"
#include "base/variables/environment.hpp"
#include "base/variables/variables.hpp"
#include "runtime/bootstrap/rendezvous.hpp"
#include "runtime/bootstrap/start/kept.hpp"

namespace tutti {

struct Started {
  int rank = 0;
  int num_ranks = 1;
  UniqueId id;
  std::string_view by;             // for people: "torchrun"
  bool has_told_warnings = false;  // about the settings, before it started the ranks
};

// As JoinOptions has them, for the time until rank 0's id is known.
struct StartOptions {
  Nanos late_warning{30'000'000'000};
  Nanos timeout{};
  std::function<void(std::string_view)> warn{};
  std::function<bool()> meanwhile{};
  Nanos answer{10'000'000'000};  // for rank 0, once it can be heard, to answer; it does so at once if it is rank 0
};

// One for the process, which it should outlive: its end tells those launchers that want to hear of it that the process
// ends in order. All members are thread-safe.
class Start {
 public:
  Start() = default;
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;

  // Waits for rank 0. What is found once stays: a launcher lets its processes meet once, and every communicator after
  // the first is another generation of the same id. If no way applies, this process is one rank alone; if one is
  // incomplete, Code::invalid_usage.
  [[nodiscard]] Result<Started> find(const Environment& environment, const Variables& variables,
                                     const StartOptions& options);

 private:
  std::mutex mutex_;
  std::optional<Started> found_;
  std::unique_ptr<RendezvousServer> server_;  // of rank 0, but for `tutti launch`, which has its own
  std::vector<std::unique_ptr<Kept>> kept_;
};

}  // namespace tutti
