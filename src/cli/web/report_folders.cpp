// SPDX-License-Identifier: Apache-2.0
#include "cli/web/report_folders.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/system/file.hpp"
#include "base/text.hpp"

namespace tutti::cli {

namespace {

namespace fs = std::filesystem;

constexpr int kMostDepth = 8;

constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kTypes = {{
    {".html", "text/html; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".csv", "text/csv; charset=utf-8"},
    {".json", "application/json"},
    {".md", "text/plain; charset=utf-8"},
    {".txt", "text/plain; charset=utf-8"},
    {".log", "text/plain; charset=utf-8"},
    {".toml", "text/plain; charset=utf-8"},
    {".xml", "text/plain; charset=utf-8"},
}};

// Where the names in it end.
std::string last_part(const std::string& path) {
  const fs::path whole = fs::path(path).lexically_normal();
  const fs::path name = whole.has_filename() ? whole.filename() : whole.parent_path().filename();
  std::error_code error;
  return name.empty() || name == "." || name == ".." ? fs::absolute(path, error).lexically_normal().string()
                                                     : name.string();
}

}  // namespace

Result<std::vector<ReportFolder>> report_folders(const std::vector<std::string>& paths) {
  std::vector<ReportFolder> folders;
  for (const std::string& path : paths) {
    std::error_code error;
    const bool is_folder = fs::is_directory(path, error);
    if (error) return Status(Code::system, fmt::format("cannot look at {}: {}", in_quotes(path), error.message()));
    if (!is_folder)
      return wrong_argument(fmt::format(
          "{} is not a folder; reports of kept runs need no folder, since the store has them", in_quotes(path)));
    static_cast<void>(fs::directory_iterator(path, error));
    if (error) return Status(Code::system, fmt::format("cannot look into {}: {}", in_quotes(path), error.message()));
    TUTTI_TRY_ASSIGN(const Token token, make_token());
    folders.push_back({.path = path, .name = last_part(path), .token = token});
  }
  return folders;
}

std::vector<ReportFile> files_in(const ReportFolder& folder) {
  std::vector<ReportFile> files;
  std::error_code error;
  fs::recursive_directory_iterator at(folder.path, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator() && files.size() < kMostReportFiles; at.increment(error)) {
    std::error_code of_this;
    const bool is_hidden = at->path().filename().string().starts_with('.');
    const fs::file_status status = at->symlink_status(of_this);
    if (fs::is_directory(status) && (is_hidden || at.depth() >= kMostDepth)) at.disable_recursion_pending();
    if (is_hidden || !fs::is_regular_file(status)) continue;
    const std::uintmax_t bytes = at->file_size(of_this);
    if (!of_this) files.push_back({at->path().lexically_relative(folder.path).string(), bytes});
  }
  std::sort(files.begin(), files.end(), [](const ReportFile& a, const ReportFile& b) {
    const auto order = [](const ReportFile& file) { return std::tuple(!file.name.ends_with(".html"), file.name); };
    return order(a) < order(b);
  });
  return files;
}

Result<std::string> read_report_file(const ReportFolder& folder, std::string_view name) {
  const std::vector<ReportFile> files = files_in(folder);
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const ReportFile& file) { return file.name == name; });
  if (found == files.end())
    return wrong_argument(fmt::format("there is no file {} in the folder {}", in_quotes(name), in_quotes(folder.name)));
  return read_file((fs::path(folder.path) / found->name).string(), kMostReportFileBytes);
}

std::string_view content_type_of(std::string_view name) {
  for (const auto& [ending, type] : kTypes)
    if (name.ends_with(ending)) return type;
  return "application/octet-stream";
}

}  // namespace tutti::cli
