// SPDX-License-Identifier: Apache-2.0
// What a decision table says of another library, as every format of that library is made of it: for each collective and
// number of ranks, ranges of sizes with the variables that they were measured with. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "table/decision_table.hpp"

namespace tutti::tune {

using PeerVariables = std::vector<std::pair<std::string, std::string>>;

// What forces an algorithm, by the name that the peer has for it; an error where it has none of that name, or none that
// works with so many ranks.
using ForcedBy = std::function<Result<PeerVariables>(Collective, std::uint32_t ranks, std::string_view algorithm)>;

// Sizes up to and including most_bytes.
struct RuleRange {
  std::uint64_t most_bytes = kNoEnd;
  std::string algorithm;    // as the table calls it; empty: the table names none
  PeerVariables variables;  // all that force it; none: what the library does by itself
  std::uint32_t line = 0;

  [[nodiscard]] bool is_own_choice() const { return variables.empty(); }
};

struct RuleSection {
  Collective collective = Collective::all_reduce;
  std::uint32_t ranks = 2;
  std::uint32_t hosts = 1;        // that were measured
  std::vector<RuleRange> ranges;  // in the order of sizes; the last one has no end
  std::uint32_t line = 0;

  [[nodiscard]] const RuleRange& range_of(std::uint64_t bytes) const;
  // Whether all sizes are done alike.
  [[nodiscard]] bool is_uniform() const { return ranges.size() == 1; }
};

struct Rules {
  std::string title;                  // of the table, for messages
  std::vector<RuleSection> sections;  // by collective and ranks, each pair once
  std::vector<std::string> left_out;  // what of the table is not in them, and why: a line each

  // Null where the table does not say.
  [[nodiscard]] const RuleSection* find(Collective collective, std::uint32_t ranks) const;
};

// An error where the table is another peer's, or names an algorithm that the peer has not.
[[nodiscard]] Result<Rules> rules_of(const DecisionTable& table, std::string_view peer, const ForcedBy& forced_by);

// What a format says, and what it takes for the library to read it.
struct Exported {
  std::string text;
  PeerVariables variables;    // to be set by the user, besides the one below
  std::string file_variable;  // names the file; of a format that is no file, it holds the text
  bool is_file = true;
  Rules rules;  // what the text says: what a format cannot express is the library's own choice, and in left_out
};

// --- for the formats

// "my.toml:12: all_reduce on 4 ranks, up to 64K".
[[nodiscard]] std::string place_of(const Rules& rules, const RuleSection& section, const RuleRange& range);
[[nodiscard]] std::string place_of(const Rules& rules, const RuleSection& section);

// Makes the ranges of which `why` says something the library's own choice, and notes it.
void leave_out(Rules& rules, const std::function<std::string(const RuleSection&, const RuleRange&)>& why);
// The same of whole sections.
void leave_out_sections(Rules& rules, const std::function<std::string(const RuleSection&)>& why);

// Ranges that follow each other and are alike become one, and sections without any rule are dropped.
void simplify(Rules& rules);

// Where a way begins: the size after the range before it.
[[nodiscard]] std::uint64_t least_bytes_of(const RuleSection& section, std::size_t range);

}  // namespace tutti::tune
