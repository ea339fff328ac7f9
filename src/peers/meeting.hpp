// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a peer that has no launcher of its own leave words for each other: rank 0 keeps them, the others
// ask for them. Nothing of it is in any file system, so nothing is left behind however a process dies.
//
// All calls but those of rank 0's own thread come from one thread. On one host the ranks share a user; from others they
// show a secret.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "base/units.hpp"
#include "base/variables/environment.hpp"
#include "bench/process/worker.hpp"

namespace tutti::peers {

class Meeting {
 public:
  // Of the group that the environment's worker variable names. Waits for rank 0 where this is another.
  [[nodiscard]] static Result<std::unique_ptr<Meeting>> join(const Environment& environment, int rank,
                                                             Nanos timeout = kTimeout);
  // On several hosts; all ranks call it alike.
  [[nodiscard]] static Result<std::unique_ptr<Meeting>> join(const harness::AcrossHosts& hosts, int rank,
                                                             Nanos timeout = kTimeout);
  virtual ~Meeting() = default;

  // A key is put once; key and value together stay below kMostBytes.
  [[nodiscard]] virtual Status put(const std::string& key, std::string_view value) = 0;
  // Waits until it has been put.
  [[nodiscard]] virtual Result<std::string> get(const std::string& key) = 0;

  static constexpr Nanos kTimeout{30'000'000'000};
  static constexpr std::size_t kMostBytes = 60'000;
};

}  // namespace tutti::peers
