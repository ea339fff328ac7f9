// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "base/toml/quoted.hpp"
#include "workload/workload.hpp"

namespace tutti {

std::string to_text(const Workload& workload) {
  using document::quoted;
  std::string text = fmt::format("version = {}\n", kWorkloadVersion);
  if (!workload.about.empty()) text += fmt::format("about = {}\n", quoted(workload.about));
  text += fmt::format("ranks = {}\n", workload.ranks);
  for (const WorkloadEntry& entry : workload.entries) {
    text += fmt::format("\n[[entries]]\ncollective = \"{}\"\n", name_of(entry.collective));
    if (entry.ranks != workload.ranks) text += fmt::format("ranks = {}\n", entry.ranks);
    if (entry.collective != Collective::barrier)
      text += fmt::format("bytes = {}\ntype = \"{}\"\n", entry.bytes, name_of(entry.type));
    if (facts_of(entry.collective).has_root) text += fmt::format("root = {}\n", entry.root);
    text += fmt::format("calls = {}\n", entry.calls);
    if (entry.compute_us > 0) text += fmt::format("compute_us = {}\n", entry.compute_us);
    if (entry.measured_us > 0) text += fmt::format("measured_us = {}\n", entry.measured_us);
    if (!entry.site.empty()) text += fmt::format("site = {}\n", quoted(entry.site));
    if (!entry.algorithm.empty()) text += fmt::format("algorithm = {}\n", quoted(entry.algorithm));
  }
  return text;
}

}  // namespace tutti
