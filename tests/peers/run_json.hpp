// SPDX-License-Identifier: Apache-2.0
// A command of the shell that prints JSON, run to its end.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "../base/temporary_folder.hpp"

namespace tutti::peers {

using Json = nlohmann::json;

struct Outcome {
  int exit = -1;
  Json rows;  // discarded where it is no JSON
  std::string error;
};

inline std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline Outcome run_json(const std::string& command) {
  const test::TemporaryFolder folder;
  const int status =
      std::system(fmt::format("{} >'{}/out' 2>'{}/error' </dev/null", command, folder.path(), folder.path()).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, Json::parse(text_of(folder.path() + "/out"), nullptr, false),
          text_of(folder.path() + "/error")};
}

}  // namespace tutti::peers
