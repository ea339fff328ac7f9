// SPDX-License-Identifier: Apache-2.0
#include "bench/outputs/evidence.hpp"

#include <fmt/format.h>

#include "bench/outputs/nccl_log.hpp"

namespace tutti::harness {

std::map<std::string, Evidence> evidence_in(std::string_view text, const std::vector<Setting>& settings) {
  std::map<std::string, Evidence> all;
  for (const Setting& setting : settings) {
    const NcclWord word = nccl_word_on(setting, text);
    all[setting.name] =
        word.is_told ? word.evidence : Evidence{State::Obeyed::unverifiable, "it does not say what it does with it"};
  }
  return all;
}

void fail_if_ignored(Row& row) {
  for (const auto& [name, evidence] : row.evidence) {
    if (evidence.obeyed != State::Obeyed::ignored || row.outcome != Outcome::ok) continue;
    row.outcome = Outcome::error;
    row.note = fmt::format("{} was ignored: {}", name, evidence.how);
  }
}

}  // namespace tutti::harness
