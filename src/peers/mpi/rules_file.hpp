// SPDX-License-Identifier: Apache-2.0
// The rules files of Open MPI's coll/tuned, which it leaves aside without a word where they are malformed. Pure but for
// reading the file; thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"

namespace tutti::peers {

// Whether Open MPI 4 takes the file. It reads numbers and skips what is none, and comments (# to the end of the line):
// how many collectives; for each its number and how many communicator sizes; for each that size and how many message
// sizes; for each that size (the first is 0), the algorithm, the fan-out and the segment size. An error names the line.
[[nodiscard]] Status check_rules(std::string_view text);
[[nodiscard]] Status check_rules_file(const std::string& path);

}  // namespace tutti::peers
