// SPDX-License-Identifier: Apache-2.0
// A folder of its own for files of this process, removed with everything in it. Owned by one thread at a time.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/status.hpp"

namespace tutti {

class TemporaryFolder {
 public:
  // Where the system has its temporary files; called "tutti-PURPOSE-" and something that nobody else has.
  [[nodiscard]] static Result<TemporaryFolder> make(std::string_view purpose);
  // In this folder instead, hidden; its path is absolute.
  [[nodiscard]] static Result<TemporaryFolder> make(std::string_view purpose, const std::string& parent);
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] static Result<TemporaryFolder> make_from(std::string pattern);
  std::string path_;
};

}  // namespace tutti
