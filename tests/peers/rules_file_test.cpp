// SPDX-License-Identifier: Apache-2.0
#include "peers/mpi/rules_file.hpp"

#include <string>

#include <gtest/gtest.h>

namespace tutti::peers {
namespace {

TEST(RulesFile, TakesWhatOpenMpiTakes) {
  EXPECT_TRUE(check_rules("1 # one collective\n2 # all-reduce\n1\n64 # ranks\n2\n0 3 0 0\n8192 4 0 0\n").ok());
  EXPECT_TRUE(check_rules("1\n2\n0\n").ok()) << "a collective without rules";
  EXPECT_TRUE(check_rules("collectives: 1, number 2, sizes 0").ok()) << "Open MPI skips what is no number";
}

TEST(RulesFile, RefusesWhatOpenMpiLeavesAside) {
  EXPECT_FALSE(check_rules("").ok());
  EXPECT_FALSE(check_rules("# 1 2 0\n").ok()) << "nothing but a comment";
  EXPECT_FALSE(check_rules("0\n").ok());
  EXPECT_FALSE(check_rules("99\n2\n0\n").ok()) << "more collectives than there are";
  EXPECT_FALSE(check_rules("1\n2\n1\n64\n2\n0 3 0 0\n8192 4 0\n").ok()) << "a number is missing at the end";
  EXPECT_FALSE(check_rules("1\n2\n1\n64\n1\n8 3 0 0\n").ok()) << "the first message size is not 0";
}

TEST(RulesFile, NamesTheLine) {
  const std::string text = check_rules("1\n2\n1\n64\n1\n0 -3 0 0\n").to_string();
  EXPECT_NE(text.find("line 6"), std::string::npos) << text;
  EXPECT_NE(text.find("-3"), std::string::npos) << text;
}

TEST(RulesFile, AFileThatIsNotThereIsNamed) {
  const std::string text = check_rules_file("/nowhere/rules").to_string();
  EXPECT_NE(text.find("/nowhere/rules"), std::string::npos) << text;
}

}  // namespace
}  // namespace tutti::peers
