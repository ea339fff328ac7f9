// SPDX-License-Identifier: Apache-2.0
// Files that users name, read and written whole. Pure but for the file system; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace tutti {

// The text of the file; an error where it cannot be read, is not a file, or is larger than `most_bytes`.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::uint64_t most_bytes);

// The same, but nothing where there is no such file.
[[nodiscard]] Result<std::optional<std::string>> read_file_if_there(const std::string& path, std::uint64_t most_bytes);

// The whole text in the place of what the file had, or, with an error, the file as it was.
[[nodiscard]] Status replace_file(const std::string& path, std::string_view text);

}  // namespace tutti
