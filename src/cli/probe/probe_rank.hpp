// SPDX-License-Identifier: Apache-2.0
// What processes of `tutti probe --hosts` do on the hosts: the hidden `tutti probe --of-network TASK`. What they have
// found goes to standard output, in lines that the launcher reads. Main thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "cli/command.hpp"

namespace tutti::cli {

struct RankTask {
  enum class Kind : std::uint8_t {
    name_interfaces,  // each says which interfaces it takes in turn; they do not meet
    measure,          // every pair of hosts, then all at once; rank 0 says what was measured
    together,         // ranks of a host send at several interfaces at once
  };
  Kind kind = Kind::measure;
  std::vector<std::size_t> interfaces = {};  // only these of those named, by place; empty: all
};
// "interfaces", "pairs", "pairs:1", "together:0,2".
[[nodiscard]] std::string to_text(const RankTask& task);
[[nodiscard]] Result<RankTask> parse_rank_task(std::string_view text);

[[nodiscard]] Exit probe_as_rank(const RankTask& task, const Context& context);

// What ranks have said of their interfaces, by rank.
[[nodiscard]] std::vector<std::vector<std::string>> interfaces_in(std::string_view said, std::size_t num_ranks);

// What ranks have said of a pair that did not reach each other, by the names of hosts; empty where they have not.
[[nodiscard]] std::string broken_pair_in(std::string_view said, const std::vector<std::string>& host_of_rank);

}  // namespace tutti::cli
