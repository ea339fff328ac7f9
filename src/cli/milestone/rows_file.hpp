// SPDX-License-Identifier: Apache-2.0
// The file in which a part keeps its rows while it makes them: JSON, a line for its origin and then one for each case,
// added as it finishes. The same rows are added to a CSV file beside it. An interrupt at any moment loses only the
// unfinished case: a line without a newline does not count.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/system/unique_fd.hpp"
#include "cli/milestone/part_rows.hpp"

namespace tutti::cli {

// Whose rows these are.
struct RowsOwner {
  std::string milestone;
  std::string part;
};

// Beside the folder's other files.
[[nodiscard]] std::string rows_path(const std::string& folder, std::string_view part);
[[nodiscard]] std::string csv_path(const std::string& folder, std::string_view part);

// Nothing if there is no file. An error if the file is of another milestone, part or version, has other columns, or has
// a row without a number in one of `numbers`.
[[nodiscard]] Result<std::optional<PartRows>> read_rows(const std::string& folder, const RowsOwner& owner,
                                                        const std::vector<Column>& columns,
                                                        const std::vector<std::string_view>& numbers = {});

// Adds cases, from any thread.
class RowsWriter {
 public:
  // Both files then hold what `kept` has, and no more.
  [[nodiscard]] static Result<RowsWriter> begin(const std::string& folder, RowsOwner owner, PartRows kept);
  RowsWriter(RowsWriter&& other) noexcept;

  [[nodiscard]] Status add(const CaseRows& rows);
  // Writes both files anew, in the order of the plan.
  [[nodiscard]] Status finish();

 private:
  RowsWriter(std::string folder, RowsOwner owner, PartRows kept);

  [[nodiscard]] Status write_both() const;

  std::string folder_;
  RowsOwner owner_;
  PartOrigin origin_;
  std::vector<Column> columns_;
  std::mutex mutex_;
  std::vector<CaseRows> cases_;  // under the mutex, as are the files
  UniqueFd rows_;
  UniqueFd csv_;
};

}  // namespace tutti::cli
