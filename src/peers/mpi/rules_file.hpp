// SPDX-License-Identifier: Apache-2.0
// The rules files of Open MPI's coll/tuned, which it leaves aside without a word where they are malformed. Pure but for
// reading the file; thread-safe.
#pragma once

#include <string>

#include "base/status.hpp"

namespace tutti::peers {

// Whether Open MPI 4 takes the file. An error names file and line.
[[nodiscard]] Status check_rules_file(const std::string& path);

}  // namespace tutti::peers
