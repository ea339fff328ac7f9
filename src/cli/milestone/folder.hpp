// SPDX-License-Identifier: Apache-2.0
// The folder that a milestone writes. One process at a time has it. Main thread only.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"
#include "base/system/unique_fd.hpp"

namespace tutti::cli {

class MilestoneFolder {
 public:
  // Makes it where `makes` and it is not there. An error where another process writes in it, or where its index.json is
  // of something else.
  [[nodiscard]] static Result<MilestoneFolder> open(const std::string& path, std::string_view milestone, bool makes);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string file(std::string_view name) const;
  // The whole text, or with an error the file as it was.
  [[nodiscard]] Status write(std::string_view name, std::string_view text) const;
  // A file of an earlier run that is made no more; none of another folder.
  void remove(const std::string& name) const;

 private:
  MilestoneFolder(std::string path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  UniqueFd lock_;  // the folder itself, locked
};

}  // namespace tutti::cli
