// SPDX-License-Identifier: Apache-2.0
// What is done with what ranks have recorded in a folder: the workload, and what people are told of it.
#pragma once

#include <string>

#include "base/status.hpp"
#include "cli/command.hpp"
#include "workload/merge.hpp"

namespace tutti::cli {

// Of all parts in the folder. Those that cannot be read are notes.
[[nodiscard]] Result<Merged> merge_folder(const std::string& folder);

// A table of what takes the most time, and what it is about.
void tell_workload(const Workload& workload, const Context& context);

}  // namespace tutti::cli
