// The peers there are, as data: how each is started, where it comes from, and what forces each of its algorithms. Pure
// but for looking for programs; thread-safe.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/environment_axis.hpp"
#include "bench/launcher.hpp"
#include "peers/peer.hpp"

namespace tutti::peers {

struct Variable {
  Collective collective{};
  std::string_view name;
};

struct Algorithm {
  Collective collective{};
  std::string_view name;   // for people; the peer's own word
  std::string_view value;  // of the variable for the collective
  int only_ranks = 0;      // a group of another size ends with an error; 0: any
};

// A variable that must be so for any algorithm to be forced.
struct Condition {
  std::string_view name;
  std::string_view value;
};

struct PeerRow {
  std::string_view name;
  std::string_view program;  // of the worker, without its folder
  harness::Launcher launcher{};
  // Debian's package that the worker is built with; empty where nothing is needed.
  std::string_view package;
  std::span<const Condition> conditions;
  std::span<const Variable> variables;
  std::span<const Algorithm> algorithms;
};

[[nodiscard]] std::span<const PeerRow> all_peers();
// Hyphen and underscore and either case alike; an error names the nearest.
[[nodiscard]] Result<const PeerRow*> find_peer(std::string_view name);

// The collective that a variable is for, of whichever peer; also one that goes on behind the name of another
// (..._algorithm_segmentsize). None where it is for all of them, or unknown.
[[nodiscard]] std::optional<Collective> collective_of(std::string_view variable);

[[nodiscard]] std::vector<Algorithm> algorithms_of(const PeerRow& peer, Collective collective);
// What forces it: the conditions, then the variable.
[[nodiscard]] std::vector<harness::Setting> settings_that_force(const PeerRow& peer, const Algorithm& algorithm);

// Where the workers lie: beside the program, or where it is installed. An error where neither folder is there.
[[nodiscard]] Result<std::string> worker_folder();
// The worker's path; where it is not there, an error (Code::unsupported) with the package that it comes with.
[[nodiscard]] Result<std::string> worker_of(const PeerRow& peer, const std::string& folder);

}  // namespace tutti::peers
