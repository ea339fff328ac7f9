// SPDX-License-Identifier: Apache-2.0
#include "bench/process/process_search.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/system/unique_fd.hpp"
#include "base/text.hpp"
#include "bench/process/launcher_variables.hpp"

namespace tutti::harness {

namespace {

// Of Open MPI 4 and 5, MPICH, and PSM 2 and UCX below them: in /dev/shm, or where a variable of theirs says.
constexpr auto kSegments =
    std::to_array<std::string_view>({"vader_segment.", "sm_segment.", "mpich_shar_tmp", "psm2_shm.", "ucx_shm_posix_"});
// Where Open MPI 4 says a rank its launcher's folder, which is named ompi.HOST.USER/pid.LAUNCHER.
constexpr std::string_view kSessionVariable = "PMIX_SERVER_TMPDIR=";

// Where Open MPI 4 makes that folder, in the order in which it asks.
constexpr auto kSessionBases = std::to_array<std::string_view>(
    {"OMPI_MCA_orte_local_tmpdir_base=", "OMPI_MCA_orte_tmpdir_base=", "TMPDIR=", "TEMP=", "TMP="});

// Files under /proc do not know their length.
std::string text_of(const std::string& path) {
  std::string text;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 8192> bytes{};
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

// The value of the first of the variables that is there.
std::string_view first_of(const std::vector<std::string_view>& variables, std::span<const std::string_view> beginnings,
                          std::string_view otherwise) {
  for (const std::string_view beginning : beginnings)
    for (const std::string_view variable : variables)
      if (variable.starts_with(beginning)) return variable.substr(beginning.size());
  return otherwise;
}

// A folder and no link, of this user: names under /tmp can be foreseen.
bool is_own_folder(const std::filesystem::path& path) {
  struct stat found {};
  return ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == ::geteuid();
}

bool is_session(const std::filesystem::path& folder) {
  return folder.is_absolute() && folder.filename().string().starts_with("pid.") &&
         folder.parent_path().filename().string().starts_with("ompi.");
}

// A signal takes a moment, in which a file may be made and closed again. Who waits for a disk does not stop.
void await_stop(pid_t pid) {
  constexpr int kLooks = 50;
  for (int look = 0; look < kLooks; ++look) {
    const std::string state = text_of(fmt::format("/proc/{}/stat", pid));
    // Behind the name, which may have any character: T stopped, Z and X over.
    const std::size_t name_end = state.rfind(')');
    if (name_end == std::string::npos || name_end + 2 >= state.size()) return;
    if (std::string_view("TtZX").find(state[name_end + 2]) != std::string_view::npos) return;
    ::usleep(1000);
  }
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
    FoundProcess& process = found.emplace_back(FoundProcess{pid, number, has_rank(variables), {}});
    if (!process.is_rank) process.sessions = sessions_of_launcher(pid, variables);
    for (const std::string_view variable : variables)
      if (variable.starts_with(kSessionVariable))
        process.sessions.emplace_back(variable.substr(kSessionVariable.size()));
  }
  ::closedir(folder);
  return found;
}

std::vector<std::string> sessions_of_launcher(pid_t pid, const std::vector<std::string_view>& variables) {
  const std::string_view base = first_of(variables, kSessionBases, "/tmp");
  utsname system{};
  ::uname(&system);
  const std::string_view host(system.nodename);
  std::vector<std::string> sessions;
  // It leaves out the domain, unless it is told to keep it.
  for (const std::string_view name : {host.substr(0, host.find('.')), host})
    add_once(sessions, fmt::format("{}/ompi.{}.{}/pid.{}", base, name, ::geteuid(), pid));
  return sessions;
}

void Leftovers::note_sessions(const std::vector<std::string>& sessions) {
  for (const std::string& session : sessions)
    if (is_session(session)) add_once(folders_, session);
}

void Leftovers::kill(const FoundProcess& process) {
  ::kill(process.pid, SIGSTOP);
  await_stop(process.pid);
  note(process);
  ::kill(process.pid, SIGKILL);
}

void Leftovers::note(const FoundProcess& process) {
  note_sessions(process.sessions);
  const auto take = [&](std::string_view file) {
    if (file.ends_with(" (deleted)")) return;
    const std::string_view name = file.substr(file.rfind('/') + 1);
    if (file.starts_with('/') && std::any_of(kSegments.begin(), kSegments.end(),
                                             [&](std::string_view beginning) { return name.starts_with(beginning); }))
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
    const std::filesystem::path all_sessions = std::filesystem::path(folder).parent_path();
    if (!is_own_folder(all_sessions)) continue;
    std::error_code ignored;
    if (is_own_folder(folder)) std::filesystem::remove_all(folder, ignored);
    // Only where it is empty.
    ::rmdir(all_sessions.c_str());
  }
}

}  // namespace tutti::harness
