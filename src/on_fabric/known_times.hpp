// SPDX-License-Identifier: Apache-2.0
// How long the calls of a communicator in virtual time take, simulated once for all of its ranks in this process.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "base/unique_id.hpp"
#include "on_fabric/call.hpp"

namespace tutti::on_fabric {

// How long a call takes.
struct Timed {
  Status status = {};
  double time = 0;                      // until the last rank is done
  std::vector<double> rank_times = {};  // of each
  std::string log_line = {};            // for rank 0
  std::string warning = {};             // for rank 0
};

// The times of a communicator's calls. Its ranks in one process share it, so each call is simulated once for all of
// them. Thread-safe.
class KnownTimes {
 public:
  // `id` is that of the communicator for clocks.
  [[nodiscard]] static std::shared_ptr<KnownTimes> of(const UniqueId& id);
  // If two ranks ask for the same call at the same time, one simulates and the other waits for the result.
  [[nodiscard]] std::shared_ptr<const Timed> find_or_make(const Call& call, const std::function<Timed()>& simulate);

 private:
  struct Entry {
    std::mutex mutex;
    std::shared_ptr<const Timed> timed;
  };
  std::mutex mutex_;
  std::map<Call, std::shared_ptr<Entry>> entries_;
};

}  // namespace tutti::on_fabric
