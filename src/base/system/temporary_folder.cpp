// SPDX-License-Identifier: Apache-2.0
#include "base/system/temporary_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti {

Result<TemporaryFolder> TemporaryFolder::make(std::string_view purpose) {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) return Status::from_errno("there is no folder for temporary files", error.value());
  return make_from((parent / fmt::format("tutti-{}-XXXXXX", purpose)).string());
}

Result<TemporaryFolder> TemporaryFolder::make(std::string_view purpose, const std::string& parent) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::canonical(parent, error);
  if (error) return Status::from_errno(fmt::format("there is no folder {}", in_quotes(parent)), error.value());
  return make_from((whole / fmt::format(".tutti-{}-XXXXXX", purpose)).string());
}

Result<TemporaryFolder> TemporaryFolder::make_from(std::string path) {
  if (::mkdtemp(path.data()) == nullptr)
    return Status::from_errno(fmt::format("cannot make the folder {}", in_quotes(path)), errno);
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace tutti
