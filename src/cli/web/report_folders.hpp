// SPDX-License-Identifier: Apache-2.0
// Folders with reports and their figures, as `tutti web` shows them: the files that are in them now. Only a file that
// is found by looking through the folder can be read, so no name leads out of it: neither "..", nor a link, nor what a
// hidden name hides. Values; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace tutti::cli {

struct ReportFile {
  std::string name;  // from the folder on: figures/latency.svg
  std::uint64_t bytes = 0;
};

struct ReportFolder {
  std::string path;  // as it was given
  std::string name;  // its last part
};

// More files than this are not listed, and none of them is larger than the next.
inline constexpr std::size_t kMostReportFiles = 2000;
inline constexpr std::uint64_t kMostReportFileBytes = 64U << 20U;

// An error if one is not a folder, or cannot be looked into.
[[nodiscard]] Result<std::vector<ReportFolder>> report_folders(const std::vector<std::string>& paths);

// Pages first, then by name. What cannot be looked into is left out.
[[nodiscard]] std::vector<ReportFile> files_in(const ReportFolder& folder);
[[nodiscard]] Result<std::string> read_report_file(const ReportFolder& folder, std::string_view name);

// By the ending of a name: "text/html; charset=utf-8".
[[nodiscard]] std::string_view content_type_of(std::string_view name);

}  // namespace tutti::cli
