// SPDX-License-Identifier: Apache-2.0
// index.json of a milestone's folder: what was made, from which rows, by which command, and whether all results are
// right. docs/formats/milestone.md specifies it. Pure, except that it reads files.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "cli/milestone/milestone.hpp"
#include "cli/milestone/part_rows.hpp"

namespace tutti::cli {

inline constexpr std::string_view kIndexFile = "index.json";
inline constexpr std::string_view kReportFile = "report.html";

struct MadeFile {
  std::string name;
  std::string kind;  // rows, table, figure, data, page, index
};

// A part that is in the folder.
struct DrawnPart {
  const Part* part = nullptr;
  PartRows rows;
  PartShown shown;
  std::vector<MadeFile> files;

  [[nodiscard]] bool is_right() const { return shown.is_right && rows.num_errors() == 0; }
};

// A part whose rows are in the folder and cannot be drawn. What an earlier run drew of them stays.
struct UndrawnPart {
  std::string name;
  Status reason;
  std::vector<MadeFile> files;
};

struct Drawn {
  std::vector<DrawnPart> parts;
  std::vector<UndrawnPart> undrawn = {};
  std::vector<std::string> missing;     // parts of the milestone without rows
  std::vector<MadeFile> whole = {};     // files of no part
  std::vector<std::string> notes = {};  // what could not be made, and why

  [[nodiscard]] bool is_complete() const;
  [[nodiscard]] bool is_right() const;
};

[[nodiscard]] std::string index_of(const Milestone& milestone, const Drawn& drawn);

// An error if the file exists and is not the index of that milestone.
[[nodiscard]] Status check_index(const std::string& path, std::string_view milestone);
// Whether an index says that these rows were drawn, or why they cannot be. Else drawing was ended, or had no room.
[[nodiscard]] bool are_drawn(const std::string& path, std::string_view part, const PartRows& rows);
// The files that an index names; none if there is no index.
[[nodiscard]] std::vector<std::string> files_in_index(const std::string& path);
// The same, of one part.
[[nodiscard]] std::vector<MadeFile> files_of_part(const std::string& path, std::string_view part);

}  // namespace tutti::cli
