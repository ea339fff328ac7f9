// SPDX-License-Identifier: Apache-2.0
#include "cli/launch/own_library.hpp"

#include <filesystem>
#include <system_error>

namespace tutti::cli {

std::string find_own_library(const std::string& name) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const std::filesystem::path& place : {folder / name, folder / TUTTI_LIBRARIES / name})
    if (std::filesystem::exists(place, error)) return place.lexically_normal().string();
  return {};
}

}  // namespace tutti::cli
