// SPDX-License-Identifier: Apache-2.0
// The command lines of agents.
#include "launch/agent.hpp"

#include <gtest/gtest.h>

namespace tutti::launch {
namespace {

using Words = std::vector<std::string>;

Words command(std::string_view agent, const Words& words = {"/opt/tutti", "launch", "--remote"}) {
  const Result<Words> result = agent_command(agent, "b", words);
  return result.ok() ? *result : Words{result.status().to_string()};
}

// ssh joins its words by spaces, and the shell there reads them.
TEST(Agent, SshGetsOneWordForTheShell) {
  EXPECT_EQ(command(kDefaultAgent), (Words{"ssh", "-o", "BatchMode=yes", "b", "/opt/tutti launch --remote"}));
  EXPECT_EQ(command("/usr/bin/ssh -p 22", {"/my tutti/it's", "launch"}),
            (Words{"/usr/bin/ssh", "-p", "22", "b", "'/my tutti/it'\\''s' launch"}));
}

TEST(Agent, AnyOtherGetsTheCommandWordByWord) {
  EXPECT_EQ(command("cluster exec name"), (Words{"cluster", "exec", "name", "b", "/opt/tutti", "launch", "--remote"}));
  EXPECT_EQ(command("ip netns exec {host}"), (Words{"ip", "netns", "exec", "b", "/opt/tutti", "launch", "--remote"}));
  EXPECT_EQ(command("enter --on={host}-{host} --"),
            (Words{"enter", "--on=b-b", "--", "/opt/tutti", "launch", "--remote"}));
}

TEST(Agent, QuotesAndBackslashesKeepWordsTogether) {
  EXPECT_EQ(command("'/my agent' \"a \\\" b\" c\\ d ''", {"x"}), (Words{"/my agent", "a \" b", "c d", "", "b", "x"}));
}

TEST(Agent, WhatIsNoCommandIsRefused) {
  EXPECT_EQ(command(" "), (Words{"--agent is ' '; it takes a command such as 'ssh -o BatchMode=yes'"}));
  EXPECT_EQ(command("a 'b"), (Words{"--agent is 'a 'b'; a quote is not closed"}));
}

}  // namespace
}  // namespace tutti::launch
