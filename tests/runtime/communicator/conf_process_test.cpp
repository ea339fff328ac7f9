// SPDX-License-Identifier: Apache-2.0
// What processes that `tutti launch` starts say of Tutti's file of settings.
#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "../../base/temporary_folder.hpp"

namespace tutti {
namespace {

// A folder in its place, because root may read every file.
TEST(ConfProcesses, AFileThatCannotBeReadIsToldOnceOfAllRanks) {
  const test::TemporaryFolder folder;
  folder.write("tutti/tutti.conf/inside", "");
  const std::string command =
      fmt::format("env -u TUTTI_CONF_FILE XDG_CONFIG_HOME='{}' '{}' launch -n 3 --timeout 60s -- '{}' 2>&1",
                  folder.path(), TUTTI_PROGRAM, TUTTI_EXAMPLE);
  std::FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string said;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) said += static_cast<char>(c);
  const int status = ::pclose(pipe);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0) << said;
  const std::string words = "the file is ignored";
  const std::size_t first = said.find(words);
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find(words, first + 1), std::string::npos) << said;
}

}  // namespace
}  // namespace tutti
