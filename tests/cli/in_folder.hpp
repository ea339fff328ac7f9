// SPDX-License-Identifier: Apache-2.0
// Tests that call the built program as shells do, in a folder of their own with its data and settings.
#pragma once

#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "../base/temporary_folder.hpp"

namespace tutti::test {

extern const char* const kTuttiProgram;  // its path, which one source of each test defines

struct Ended {
  int exit = -1;
  std::string out;
  std::string error;
};

class InFolder : public ::testing::Test {
 protected:
  Ended shell(const std::string& line) {
    const std::string whole = fmt::format(
        "cd '{}' && export XDG_DATA_HOME=\"$PWD\" XDG_CONFIG_HOME=\"$PWD\" TUTTI_CONF_FILE= && "
        "{{ {} ; }} >out 2>error </dev/null",
        folder_.path(), line);
    const int status = std::system(whole.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, folder_.read("out"), folder_.read("error")};
  }
  // `variables` stand in front of the program.
  Ended tutti(const std::string& arguments, const std::string& variables = "") {
    return shell(fmt::format("{} '{}' {}", variables, kTuttiProgram, arguments));
  }

  TemporaryFolder folder_;
};

}  // namespace tutti::test
