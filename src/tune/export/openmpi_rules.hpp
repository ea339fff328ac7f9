// SPDX-License-Identifier: Apache-2.0
// The rules of Open MPI's coll/tuned: which algorithm a collective has, by the size of the communicator and of the
// message. Two forms of file: the classic one of releases 4 and 5, and JSON from release 6 on. docs/formats/exports.md.
// Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "tune/export/rules.hpp"

namespace tutti::tune {

// How many collectives Open MPI numbers.
inline constexpr std::uint32_t kNumOpenMpiCollectives = 22;

struct OpenMpiChoice {
  std::uint32_t algorithm = 0;  // 0: Open MPI's own choice, unless there is a name
  std::string name = {};        // of the JSON form, in place of the number
  std::uint32_t fan_out = 0;
  std::uint32_t segment_bytes = 0;
  std::optional<std::uint32_t> most_requests = {};

  [[nodiscard]] bool is_own() const { return algorithm == 0 && name.empty(); }
  friend bool operator==(const OpenMpiChoice&, const OpenMpiChoice&) = default;
};

struct OpenMpiMessageRule {
  std::uint64_t least_bytes = 0;
  std::uint64_t most_bytes = kNoEnd;
  OpenMpiChoice choice;
};

struct OpenMpiCommunicatorRule {
  std::uint64_t least_ranks = 0;
  std::uint64_t most_ranks = kNoEnd;
  std::vector<OpenMpiMessageRule> messages;
};

struct OpenMpiCollectiveRules {
  std::uint32_t number = 0;  // in Open MPI's enumeration
  std::vector<OpenMpiCommunicatorRule> communicators;
};

struct OpenMpiRules {
  // Of the classic form a rule counts from its size on, up to the next one; the first also counts below. Of JSON the
  // first whose bounds hold counts.
  bool has_bounds = false;
  std::vector<OpenMpiCollectiveRules> collectives;

  // For a size as nccl-tests means it; what is not in the rules is Open MPI's own choice.
  [[nodiscard]] OpenMpiChoice find(Collective collective, std::uint32_t ranks, std::uint64_t bytes) const;
};

// What Open MPI takes. Of the classic form it skips what is no number, and comments: # to the end of the line.
[[nodiscard]] Result<OpenMpiRules> read_openmpi_classic(std::string_view text, std::string_view place);
[[nodiscard]] Result<OpenMpiRules> read_openmpi_json(std::string_view text, std::string_view place);

// What the readers read back to the same rules.
[[nodiscard]] std::string write_openmpi_classic(const OpenMpiRules& rules, std::string_view about);
[[nodiscard]] std::string write_openmpi_json(const OpenMpiRules& rules);

// For a release from 4 to 6.
[[nodiscard]] Exported export_to_openmpi(Rules rules, int release);

// --- for both forms

// "allreduce"; empty where coll/tuned has no such collective.
[[nodiscard]] std::string_view openmpi_word_of(std::uint32_t number);
[[nodiscard]] std::optional<std::uint32_t> openmpi_number_of(std::string_view word);

}  // namespace tutti::tune
