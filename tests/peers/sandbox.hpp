// SPDX-License-Identifier: Apache-2.0
// Runs of the built program whose processes and files can be told from everybody else's: a variable marks the
// processes, and Open MPI's files are made in a folder of the test's own. MPICH's places are fixed, so what was there
// before is left out.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/temporary_folder.hpp"

namespace tutti::peers {

using Json = nlohmann::json;

class Sandbox {
 public:
  struct Outcome {
    int exit = -1;
    Json rows;
    std::string error;
    std::string out;
  };

  explicit Sandbox(std::string program)
      : program_(std::move(program)), mark_("PEERS_SANDBOX=" + folder_.path()), before_(segments()) {
    std::filesystem::create_directory(files());
  }

  // Begins the program with these words of a shell; what it writes goes to files.
  [[nodiscard]] pid_t begin(const std::string& arguments, const std::string& files_end = "") const {
    const std::string command =
        fmt::format("exec '{0}' {1} >'{2}{4}' 2>'{3}{4}' </dev/null", program_, arguments, out(), error(), files_end);
    const pid_t pid = ::fork();
    if (pid != 0) return pid;
    ::setenv("PEERS_SANDBOX", folder_.path().c_str(), 1);
    ::setenv("TMPDIR", files().c_str(), 1);
    ::setenv("OMPI_MCA_btl_vader_backing_directory", files().c_str(), 1);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  [[nodiscard]] Outcome end(pid_t pid) const {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, Json::parse(text_of(out()), nullptr, false), text_of(error()),
            text_of(out())};
  }
  [[nodiscard]] Outcome run(const std::string& arguments) const { return end(begin(arguments)); }

  // What the program shows while another one of the sandbox runs; null where it shows nothing.
  [[nodiscard]] Json look(const std::string& arguments) const {
    const pid_t pid = begin(arguments, "_of_look");
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
    Json shown = Json::parse(text_of(out() + "_of_look"), nullptr, false);
    return shown.is_array() ? shown : Json();
  }

  [[nodiscard]] std::string store() const { return folder_.file("results.db"); }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  std::string write(const std::string& name, std::string_view text) const { return folder_.write(name, text); }

  // What is left of all runs, in words; empty where nothing is.
  [[nodiscard]] std::string left() const {
    std::string text;
    for (const auto& entry : std::filesystem::directory_iterator(files())) text += entry.path().string() + " ";
    for (const std::string& each : segments())
      if (!before_.contains(each)) text += each + " ";
    for (const pid_t pid : processes()) text += fmt::format("process {} ", pid);
    return text;
  }
  // The same, when there has been time for what ends by itself.
  [[nodiscard]] std::string left_in_the_end() const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(4);
    while (!left().empty() && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return left();
  }

  // The processes of the runs.
  [[nodiscard]] std::vector<pid_t> processes() const {
    std::vector<pid_t> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      if (text_of(entry.path().string() + "/environ").find(mark_) != std::string::npos)
        found.push_back(std::stoi(name));
    }
    return found;
  }

  // Those whose program's name begins so, without their own children, which have the name until they are something
  // else.
  [[nodiscard]] std::vector<pid_t> processes_called(std::string_view beginning) const {
    std::vector<pid_t> called;
    for (const pid_t pid : processes())
      if (text_of(fmt::format("/proc/{}/comm", pid)).starts_with(beginning)) called.push_back(pid);
    std::vector<pid_t> found;
    for (const pid_t pid : called)
      if (std::find(called.begin(), called.end(), parent_of(pid)) == called.end()) found.push_back(pid);
    return found;
  }

 private:
  [[nodiscard]] std::string out() const { return folder_.file("out"); }
  [[nodiscard]] std::string error() const { return folder_.file("error"); }
  [[nodiscard]] std::string files() const { return folder_.file("files"); }

  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static pid_t parent_of(pid_t pid) {
    constexpr std::string_view kLine = "\nPPid:";
    const std::string status = text_of(fmt::format("/proc/{}/status", pid));
    const std::size_t at = status.find(kLine);
    return at == std::string::npos ? 0
                                   : static_cast<pid_t>(std::strtol(status.c_str() + at + kLine.size(), nullptr, 10));
  }

  static std::set<std::string> segments() {
    std::set<std::string> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", error)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("mpich_shar_tmp") || name.starts_with("ucx_shm_posix_")) found.insert(entry.path().string());
    }
    return found;
  }

  test::TemporaryFolder folder_;
  std::string program_;
  std::string mark_;
  std::set<std::string> before_;
};

// Those of the peers that were built here, but for the null peer.
inline std::vector<std::string> peers_here(const std::string& program) {
  std::vector<std::string> names;
  const Sandbox sandbox(program);
  for (const Json& row : sandbox.run("list peers --json").rows)
    if (row["here"] == true && row["peer"] != "null") names.push_back(row["peer"]);
  return names;
}

}  // namespace tutti::peers
