// SPDX-License-Identifier: Apache-2.0
#include "cli/milestone/folder.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/system/file.hpp"
#include "base/system/take_fd.hpp"
#include "base/text.hpp"
#include "cli/milestone/index.hpp"

namespace tutti::cli {

namespace {

// Of the files that milestones write.
constexpr std::array<std::string_view, 7> kEndings = {".csv", ".html", ".json", ".jsonl", ".md", ".svg", ".toml"};

Status make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return {Code::system, fmt::format("-o: cannot make the folder {}: {}", in_quotes(path), error.message())};
  return {};
}

// What a killed process left of replace_file(): "latency.csv.half-a1B2c3".
void remove_halves(const std::string& path) {
  constexpr std::string_view kHalf = ".half-";
  constexpr std::size_t kLetters = 6;
  std::error_code error;
  std::vector<std::filesystem::path> halves;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    const std::filesystem::path whole = entry.path().stem();
    const std::string end = entry.path().extension().string();
    const bool is_ours = std::find(kEndings.begin(), kEndings.end(), whole.extension().string()) != kEndings.end();
    const bool is_random =
        end.size() == kHalf.size() + kLetters && end.starts_with(kHalf) && entry.is_regular_file(error) &&
        std::all_of(end.begin() + kHalf.size(), end.end(), [](unsigned char each) { return std::isalnum(each) != 0; });
    if (is_ours && is_random) halves.push_back(entry.path());
  }
  for (const std::filesystem::path& each : halves) std::filesystem::remove(each, error);
}

}  // namespace

Result<MilestoneFolder> MilestoneFolder::open(const std::string& path, std::string_view milestone, bool makes) {
  std::error_code error;
  const bool is_there = std::filesystem::exists(path, error);
  if (is_there && !std::filesystem::is_directory(path, error))
    return wrong_argument(fmt::format("-o: {} is not a folder", in_quotes(path)));
  if (!is_there && makes) TUTTI_TRY(make_folder(path));
  UniqueFd lock = take_fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.valid()) return Status::from_errno(fmt::format("-o: cannot open the folder {}", in_quotes(path)), errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return Status(Code::invalid_usage, fmt::format("another process is using the folder {}", in_quotes(path)));
    return Status::from_errno(fmt::format("-o: cannot lock the folder {}", in_quotes(path)), errno);
  }
  if (makes && ::access(path.c_str(), W_OK | X_OK) != 0)
    return Status::from_errno(fmt::format("-o: cannot write in the folder {}", in_quotes(path)), errno);
  MilestoneFolder folder(path, std::move(lock));
  TUTTI_TRY(check_index(folder.file(kIndexFile), milestone));
  if (makes) remove_halves(path);
  return folder;
}

std::string MilestoneFolder::file(std::string_view name) const { return fmt::format("{}/{}", path_, name); }

Status MilestoneFolder::write(std::string_view name, std::string_view text) const {
  return replace_file(file(name), text);
}

void MilestoneFolder::remove(const std::string& name) const {
  if (name.empty() || name.find('/') != name.npos || name.starts_with('.')) return;
  static_cast<void>(::unlink(file(name).c_str()));
}

}  // namespace tutti::cli
