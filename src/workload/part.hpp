// SPDX-License-Identifier: Apache-2.0
// What one rank has called on one communicator: the file that the library writes while a program is recorded
// (docs/formats/workload.md). merge.hpp makes a workload of them. Values; reading is pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "data/collective.hpp"
#include "data/type.hpp"

namespace tutti {

inline constexpr std::uint32_t kPartVersion = 1;
inline constexpr std::uint64_t kMostPartBytes = std::uint64_t{16} << 20U;
inline constexpr std::string_view kPartSuffix = ".part.toml";

// Where a program calls from: the address behind the call.
struct CallSite {
  std::string module = {};      // the file of the program or library; empty: nobody knows
  std::uint64_t offset = 0;     // from where it was loaded
  std::string symbol = {};      // as it is linked; empty: none that can be seen from outside
  std::uint64_t in_symbol = 0;  // the address, from the symbol's
};

// Calls of one site that are alike.
struct PartCall {
  Collective collective = Collective::all_reduce;
  std::uint64_t count = 0;  // elements of a block; where blocks differ in size, of all of them together
  Type type = Type::f32;
  std::uint32_t root = 0;
  std::uint64_t calls = 0;
  double time_us = 0;     // that a call took
  double compute_us = 0;  // from the end of the call before to its begin
  CallSite site;
};

struct Part {
  std::string api = "tutti";
  std::string program = {};
  std::string host = {};
  std::uint32_t process = 0;
  std::uint32_t ranks = 1;           // of the communicator
  std::uint32_t rank = 0;            // in it
  std::uint32_t line = 0;            // the rank in the communicator that this one was split from, over all splits
  bool is_whole = false;             // the communicator was destroyed, or the process has ended in order
  std::uint64_t transfers = 0;       // sends and receives, of which no more is known
  std::uint64_t left_out = 0;        // calls that there was no room for
  std::vector<PartCall> calls = {};  // in the order of their first
};

[[nodiscard]] std::string to_text(const Part& part);

// An error names file, line and key; `file` stands in messages only.
[[nodiscard]] Result<Part> read_part(std::string_view text, std::string_view file);

}  // namespace tutti
