// SPDX-License-Identifier: Apache-2.0
// `tutti tune --env … -- PROGRAM`, and shells that read what it writes.
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "../in_folder.hpp"

namespace tutti {
namespace {

using test::Ended;

class TuneProgram : public test::InFolder {
 protected:
  // As OSU's all-reduce, for which FAST halves large sizes and doubles small ones.
  void SetUp() override {
    const std::string path = folder_.write("osu",
                                           "#!/bin/sh\n"
                                           "echo '# OSU MPI Allreduce Latency Test v7.0'\n"
                                           "echo '# Size       Avg Latency(us)'\n"
                                           "case $MODE in\n"
                                           "fast) echo '8 2.00'; echo '65536 50.0';;\n"
                                           "bad) exit 3;;\n"
                                           "*) echo '8 1.00'; echo '65536 100.0';;\n"
                                           "esac\n");
    ::chmod(path.c_str(), 0700);
  }
};

TEST_F(TuneProgram, WritesTheBestEnvironmentForShells) {
  const Ended tuned = tutti("tune --env MODE=unset,fast,bad -- ./osu");
  EXPECT_EQ(tuned.exit, 0) << tuned.error;
  EXPECT_NE(tuned.error.find("out: MODE=bad: osu ended with status 3"), std::string::npos) << tuned.error;
  EXPECT_NE(tuned.error.find("evidence: run 1 in "), std::string::npos) << tuned.error;
  for (const char* const shell_name : {"sh", "bash"}) {
    const auto mode = [&](const std::string& front) {
      return shell(fmt::format("{} -c '{}. ./osu.env.sh; echo \"<${{MODE-unset}}>\"'", shell_name, front)).out;
    };
    EXPECT_EQ(mode(""), "<unset>\n") << "over both sizes it is as fast";
    EXPECT_EQ(mode("MODE=mine; BYTES=100000; "), "<fast>\n");
    EXPECT_EQ(mode("MODE=mine; BYTES=8; "), "<mine>\n") << "as it is";
  }
  // The rows are those of an ordinary run.
  EXPECT_NE(tutti("show 1").out.find("65536"), std::string::npos);
}

TEST_F(TuneProgram, ComparesWithTheEnvironmentAsItIs) {
  const Ended tuned = tutti("tune --env MODE=unset --launches 6 -o best.sh --no-store -- ./osu", "MODE=fast");
  EXPECT_EQ(tuned.exit, 0) << tuned.error;
  EXPECT_EQ(shell("MODE=fast; BYTES=8; . ./best.sh; echo \"<${MODE-unset}>\"").out, "<unset>\n");
  EXPECT_EQ(shell("MODE=fast; BYTES=65536; . ./best.sh; echo \"<${MODE-unset}>\"").out, "<fast>\n");
}

TEST_F(TuneProgram, MistakesAreSaid) {
  EXPECT_NE(tutti("tune -- ./osu").error.find("--env VARIABLE=VALUES names values"), std::string::npos);
  EXPECT_NE(tutti("tune --env MODE=1").error.find("it comes behind --"), std::string::npos);
  EXPECT_NE(tutti("tune --env MODE=1 --bytes 8 -- ./osu").error.find("--bytes is for collectives"), std::string::npos);
  EXPECT_NE(tutti("tune --env MODE=1 --launches 0 -- ./osu").error.find("--launches is '0'"), std::string::npos);
  EXPECT_NE(tutti("tune --env MODE=1 -- ./nowhere").error.find("cannot run './nowhere'"), std::string::npos);
  const Ended failing = tutti("tune --env MODE=1 -- false");
  EXPECT_EQ(failing.exit, 1);
  EXPECT_NE(failing.error.find("gave no time in its environment as it is"), std::string::npos) << failing.error;
  EXPECT_EQ(tutti("tune --env MODE=fast --launches 6 -o /proc/no/such.sh -- ./osu").exit, 1);
}

}  // namespace
}  // namespace tutti
