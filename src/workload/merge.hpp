// SPDX-License-Identifier: Apache-2.0
// A workload of what ranks have recorded (part.hpp). Counts are those of rank 0, and of the communicators that are
// split from that one; times are means over all ranks that have the same call. Pure.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "workload/part.hpp"
#include "workload/workload.hpp"

namespace tutti {

struct Merged {
  Workload workload;               // its entries in the order of rank 0's first calls
  std::string api;                 // whose calls they are
  std::vector<std::string> notes;  // what is left out, lacking or in disagreement: a sentence each
};

// What stands for a site in the workload.
using SiteName = std::function<std::string(const CallSite&)>;
// "train(float*)+0x1f", or "program+0x1234" where no symbol is known.
[[nodiscard]] std::string name_of_site(const CallSite& site);

// An error where nobody has called a collective that moves something.
[[nodiscard]] Result<Merged> merge(std::span<const Part> parts, const SiteName& name = name_of_site);

}  // namespace tutti
