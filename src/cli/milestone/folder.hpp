// SPDX-License-Identifier: Apache-2.0
// The folder that a milestone writes. It is locked: one process at a time uses it. Main thread only.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"
#include "base/system/unique_fd.hpp"

namespace tutti::cli {

class MilestoneFolder {
 public:
  // Makes a missing folder if `makes`. An error if another process uses it, or if its index.json is not of this
  // milestone.
  [[nodiscard]] static Result<MilestoneFolder> open(const std::string& path, std::string_view milestone, bool makes);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(std::string_view name) const;
  // Writes the whole text, or returns an error and leaves the file as it was.
  [[nodiscard]] Status write(std::string_view name, std::string_view text) const;
  // Removes a file of an earlier run. Names that lead out of the folder are ignored.
  void remove(const std::string& name) const;

 private:
  MilestoneFolder(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  UniqueFd lock_;  // the folder itself, locked
};

}  // namespace tutti::cli
