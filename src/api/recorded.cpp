// SPDX-License-Identifier: Apache-2.0
#include "api/recorded.hpp"

#include <algorithm>

namespace tutti::api {

std::uint64_t recorded_count(const Invocation& asked, const Communicator& communicator) {
  const std::uint64_t num_ranks = communicator.num_ranks();
  const std::size_t* const inputs = asked.varying->input.counts;
  const std::size_t* const outputs = asked.varying->output.counts;
  // What is wrong with them the runtime says.
  const auto sum = [&](const std::size_t* counts, std::uint64_t blocks) {
    std::uint64_t all = 0;
    for (std::uint64_t block = 0; counts != nullptr && block < blocks; ++block) all += counts[block];
    return std::min(all, Recorder::kMostCount);
  };
  const auto times_own = [&](const std::size_t* own) {
    return own == nullptr ? 0 : std::min<std::uint64_t>(*own, Recorder::kMostCount / num_ranks) * num_ranks;
  };
  const bool is_root = asked.root == communicator.rank();
  switch (asked.collective) {
    case Collective::all_gather_v: return sum(outputs, num_ranks);
    case Collective::gather_v: return is_root ? sum(outputs, num_ranks) : times_own(inputs);
    case Collective::scatter_v: return is_root ? sum(inputs, num_ranks) : times_own(outputs);
    default: return sum(inputs, num_ranks);
  }
}

}  // namespace tutti::api
