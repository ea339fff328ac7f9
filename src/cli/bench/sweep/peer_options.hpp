// SPDX-License-Identifier: Apache-2.0
// `--peer NAMES`, what of a sweep is said of one of them, and what follows for those whose times are reckoned instead
// of measured: they have no processes that variables could be set in, and as many ranks as they have. Main thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "cli/bench/bench_world.hpp"
#include "cli/bench/sweep/sweep_options.hpp"

namespace tutti::cli {

// Of peers without processes.
inline constexpr std::int64_t kMostReckonedRanks = std::int64_t{1} << 20;

// "tutti,simulate:switch:8,multicast,openmpi": names with commas between. Behind a peer that wants something, a comma
// goes on with that, unless a peer's name or all follows.
[[nodiscard]] Result<std::vector<std::string>> find_peers(const std::string& asked, const BenchWorld& world);

// The peer that "PEER:REST" begins with, and the rest; without one, no peer and all of it.
[[nodiscard]] std::pair<std::string, std::string> peer_in_front(std::string_view text,
                                                                const std::vector<std::string>& peers);

[[nodiscard]] bool are_all_reckoned(const std::vector<harness::PeerProgram>& programs);

// Where nobody has said how many ranks there are, as many as the peers have whose times are reckoned; else an error
// where none of the numbers is one that they have.
[[nodiscard]] Status give_ranks(const std::vector<harness::PeerProgram>& programs, bool is_said, harness::Sweep& sweep);

// An error where a variable is swept for a peer to which it means nothing.
[[nodiscard]] Status check_reckoned(const std::vector<harness::PeerProgram>& programs, const harness::Sweep& sweep);

// What was said and means nothing, since nothing is measured. Empty where that is nothing.
[[nodiscard]] std::string unheeded_words(const SweepOptions& options,
                                         const std::vector<harness::PeerProgram>& programs);

}  // namespace tutti::cli
