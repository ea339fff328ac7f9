// SPDX-License-Identifier: Apache-2.0
// The file of a tuner of NCCL, of Tutti's own (src/nccl_tuner) or of NCCL's example (ext-tuner/example): lines with
// commas between, of which the first that matches a call counts. docs/formats/exports.md. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "nccl_tuner/lines.hpp"
#include "tune/export/rules.hpp"

namespace tutti::tune {

struct NcclTuner {
  std::vector<nccl_tuner::Line> lines;

  // The first that matches on one node; null where none does, or NCCL asks no tuner about the collective.
  [[nodiscard]] const nccl_tuner::Line* find(Collective collective, std::uint32_t ranks, std::uint64_t bytes) const;
};

// As the plugin of Tutti reads it.
[[nodiscard]] Result<NcclTuner> read_nccl_tuner(std::string_view text, std::string_view place);
[[nodiscard]] std::string write_nccl_tuner(const NcclTuner& tuner, std::string_view about);

// What reads the file.
struct NcclPlugin {
  std::string library = "libnccl-tuner-tutti.so";
  // NCCL's example gives one channel to calls without a line, and cannot leave a choice to NCCL.
  bool has_catch_alls = false;
};

// A line for everything that the table does not say.
[[nodiscard]] inline bool is_catch_all(const nccl_tuner::Line& line) { return line.ranks == -1; }

[[nodiscard]] Exported export_to_nccl(Rules rules, const NcclPlugin& plugin);

}  // namespace tutti::tune
