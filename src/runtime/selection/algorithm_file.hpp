// SPDX-License-Identifier: Apache-2.0
// The algorithm that a user brings as a file: TUTTI_ALLREDUCE_ALGORITHM=file:PATH and its like. It is read when a
// communicator is made, compared between ranks by its text, proven, and only then run. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "runtime/plan/plan.hpp"
#include "runtime/selection/portfolio.hpp"
#include "schedule/prove/prove.hpp"
#include "transport/shm/region.hpp"

namespace tutti {

struct AlgorithmFile {
  std::string variable;
  std::string path;
  std::string text;
  Status unread = {};  // why there is no text

  // The file that the variable's value names; nothing where the value is the name of an algorithm.
  [[nodiscard]] static std::optional<AlgorithmFile> of(std::string_view variable, std::string_view value);

  // What the ranks compare: the value, and a digest of the text.
  [[nodiscard]] std::string agreement() const;
};

// A schedule that has been shown to be right for a communicator, and what a call must be to run it.
struct OwnAlgorithm {
  Schedule schedule;
  Demands demands;
};

// The file's algorithm of that collective for a region of that shape and its ranks. An error, with the story where it
// is not proven, for anything that could go wrong in a call for another reason than the call's own.
[[nodiscard]] Result<OwnAlgorithm> own_algorithm(const AlgorithmFile& file, Collective collective,
                                                 const shm::RegionShape& shape);

}  // namespace tutti
