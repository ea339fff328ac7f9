// SPDX-License-Identifier: Apache-2.0
// The peers there are, as data: how each is started, where it comes from, and what forces each of its algorithms. Pure
// but for looking for programs; thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/axes/algorithm_axis.hpp"
#include "bench/process/launcher.hpp"
#include "peers/peer.hpp"

namespace tutti::peers {

// A variable that must be so for an algorithm to be forced.
struct Condition {
  std::string_view name;
  std::string_view value;
};

struct Variable {
  Collective collective{};
  std::string_view name;
};

struct Algorithm {
  Collective collective{};
  std::string_view name;                                     // for people; the peer's own word
  std::string_view value;                                    // of the variable for the collective
  harness::RanksAllowed ranks = harness::RanksAllowed::any;  // with others the peer ends, or does another in silence
  std::span<const Condition> also = {};                      // what it takes besides that variable
};

struct PeerRow {
  std::string_view name;
  std::string_view program;  // of the worker, without its folder
  harness::Launcher launcher{};
  // Debian's package that the worker is built with; empty where nothing is needed.
  std::string_view package;
  std::span<const Condition> conditions;  // for all of its algorithms
  std::span<const Variable> variables;
  std::span<const Algorithm> algorithms;
  bool is_bound = true;    // a core for each rank
  bool is_probed = false;  // its worker is built everywhere, and asks what is here when it is started with --probe
};

[[nodiscard]] std::span<const PeerRow> all_peers();
// Hyphen and underscore and either case alike; an error names the nearest.
[[nodiscard]] Result<const PeerRow*> find_peer(std::string_view name);

// The collectives that a variable is for, of whichever peer; also one that goes on behind the name of another
// (..._algorithm_segmentsize). None where it is for all of them, or unknown.
[[nodiscard]] std::vector<Collective> collectives_of(std::string_view variable);

// What a peer can be forced to for a collective: by the peer's conditions, the variable, and what it takes besides.
[[nodiscard]] std::vector<harness::ForcedAlgorithm> algorithms_of(const PeerRow& peer, Collective collective);

// Where the workers lie: beside the program, or where it is installed. An error where neither folder is there.
[[nodiscard]] Result<std::string> worker_folder();
// The worker's path; where it is not there, an error (Code::unsupported) with the package that it comes with.
[[nodiscard]] Result<std::string> worker_of(const PeerRow& peer, const std::string& folder);

}  // namespace tutti::peers
