// SPDX-License-Identifier: Apache-2.0
#include "loss/traces.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace tutti::test {

namespace {

std::set<std::string> open_files(const std::string& process) {
  std::set<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + process + "/fd", error)) {
    const std::string target = std::filesystem::read_symlink(entry.path(), error);
    if (std::filesystem::is_regular_file(target, error)) found.insert(target);
  }
  return found;
}

}  // namespace

std::set<std::string> traces() {
  std::set<std::string> found;
  const auto add = [&found](const std::string& text) {
    if (text.find("tutti") != std::string::npos) found.insert(text);
  };
  for (const char* folder : {"/dev/shm", "/tmp"}) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) add(entry.path());
  }
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const std::size_t name = line.rfind(' ');
    if (name != std::string::npos) add(line.substr(name + 1));
  }
  return found;
}

std::vector<std::string> lasting(pid_t process) {
  std::vector<std::string> found;
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  for (std::string line; std::getline(maps, line);) {
    const bool shared = line.find("s ") == line.find(' ') + 4;
    if (shared && !line.ends_with(" (deleted)")) found.push_back(line);
  }
  const std::set<std::string> own = open_files("self");
  const std::set<std::string> its = open_files(fmt::format("{}", process));
  std::set_difference(its.begin(), its.end(), own.begin(), own.end(), std::back_inserter(found));
  return found;
}

}  // namespace tutti::test
