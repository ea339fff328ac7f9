#include "bench/process_search.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/text.hpp"
#include "base/unique_fd.hpp"
#include "bench/launcher_variables.hpp"

namespace tutti::harness {

namespace {

// Of Open MPI 4 and 5, MPICH, and PSM 2 and UCX below them.
constexpr auto kSegments =
    std::to_array<std::string_view>({"/dev/shm/vader_segment.", "/dev/shm/sm_segment.", "/dev/shm/mpich_shar_tmp",
                                     "/dev/shm/psm2_shm.", "/dev/shm/ucx_shm_posix_"});
// Where Open MPI 4 says a rank its launcher's folder, which is named ompi.HOST.USER/pid.LAUNCHER.
constexpr std::string_view kSessionVariable = "PMIX_SERVER_TMPDIR=";

// Files under /proc do not know their length.
std::string text_of(const std::string& path) {
  std::string text;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 8192> bytes;
  for (ssize_t got = 0; file.valid() && (got = ::read(file.get(), bytes.data(), bytes.size())) > 0;)
    text.append(bytes.data(), static_cast<std::size_t>(got));
  return text;
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool is_session(const std::filesystem::path& folder) {
  return folder.is_absolute() && folder.filename().string().starts_with("pid.") &&
         folder.parent_path().filename().string().starts_with("ompi.");
}

void add_once(std::vector<std::string>& all, std::string_view each) {
  if (std::find(all.begin(), all.end(), each) == all.end()) all.emplace_back(each);
}

}  // namespace

std::vector<FoundProcess> processes_with(const std::vector<std::string>& entries) {
  std::vector<FoundProcess> found;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return found;
  while (const dirent* each = ::readdir(folder)) {
    pid_t pid = 0;
    const std::string_view name(each->d_name);
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size() || pid == ::getpid()) continue;
    const std::string block = text_of(fmt::format("/proc/{}/environ", pid));
    const std::vector<std::string_view> variables = parts_of(block, '\0');
    const auto entry = std::find_first_of(entries.begin(), entries.end(), variables.begin(), variables.end());
    if (entry == entries.end()) continue;
    const auto number = static_cast<std::size_t>(entry - entries.begin());
    FoundProcess& process = found.emplace_back(FoundProcess{pid, number, has_rank(variables), ""});
    for (const std::string_view variable : variables)
      if (variable.starts_with(kSessionVariable)) process.session = variable.substr(kSessionVariable.size());
  }
  ::closedir(folder);
  return found;
}

void Leftovers::note(const FoundProcess& process) {
  if (is_session(process.session)) add_once(folders_, process.session);
  const auto take = [&](std::string_view file) {
    if (file.ends_with(" (deleted)")) return;
    if (std::any_of(kSegments.begin(), kSegments.end(),
                    [&](std::string_view beginning) { return file.starts_with(beginning); }))
      add_once(files_, file);
  };
  const std::string maps = text_of(fmt::format("/proc/{}/maps", process.pid));
  for (const std::string_view line : parts_of(maps, '\n'))
    if (const std::size_t path = line.find('/'); path != std::string_view::npos) take(line.substr(path));
  // Made, and not mapped yet.
  std::error_code gone;
  for (std::filesystem::directory_iterator each(fmt::format("/proc/{}/fd", process.pid), gone), end;
       !gone && each != end; each.increment(gone)) {
    std::error_code closed;
    take(std::filesystem::read_symlink(each->path(), closed).string());
  }
}

void Leftovers::remove() const {
  for (const std::string& file : files_) ::unlink(file.c_str());
  for (const std::string& folder : folders_) {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    // The folder of all sessions: only where it is empty.
    ::rmdir(std::filesystem::path(folder).parent_path().c_str());
  }
}

}  // namespace tutti::harness
