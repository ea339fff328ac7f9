// SPDX-License-Identifier: Apache-2.0
// Folders with reports and figures for `tutti web`: the files that are in them now. Only a file that a search of the
// folder finds can be read. So no name leads out of it: "..", symbolic links and hidden files are not found. Values;
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/unique_id.hpp"

namespace tutti::cli {

struct ReportFile {
  std::string name;  // relative to the folder: figures/latency.svg
  std::uint64_t bytes = 0;
};

struct ReportFolder {
  std::string path;  // as it was given
  std::string name;  // its last part
  // Its files are behind a token of their own: a page knows its address, and could send its reader elsewhere with it.
  Token token{};
};

// At most so many files are listed, and larger ones than this are not read.
inline constexpr std::size_t kMostReportFiles = 2000;
inline constexpr std::uint64_t kMostReportFileBytes = 64U << 20U;

// An error if one is not a folder, or cannot be read.
[[nodiscard]] Result<std::vector<ReportFolder>> report_folders(const std::vector<std::string>& paths);

// Pages first, then by name. Subfolders that cannot be read are left out.
[[nodiscard]] std::vector<ReportFile> files_in(const ReportFolder& folder);
[[nodiscard]] Result<std::string> read_report_file(const ReportFolder& folder, std::string_view name);

// By the ending of a name: "text/html; charset=utf-8".
[[nodiscard]] std::string_view content_type_of(std::string_view name);

}  // namespace tutti::cli
