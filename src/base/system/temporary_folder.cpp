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
  std::string path = (parent / fmt::format("tutti-{}-XXXXXX", purpose)).string();
  if (::mkdtemp(path.data()) == nullptr)
    return Status::from_errno(fmt::format("cannot make the folder {}", in_quotes(path)), errno);
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace tutti
