// SPDX-License-Identifier: Apache-2.0
// `tutti probe --hosts --calibrate` without a network: this machine plays two hosts, told apart by TUTTI_HOST_ID.
#include <filesystem>
#include <string>

#include <sys/stat.h>

#include "../in_folder.hpp"
#include "base/system/loopback.hpp"

namespace tutti::test {
namespace {

class ProbeHosts : public InFolder {
 protected:
  void SetUp() override {
    if (!is_loopback_up()) GTEST_SKIP() << "the loopback interface is down";
    const std::string agent = folder_.write("agent", "#!/bin/sh\nexport TUTTI_HOST_ID=$1; shift; exec \"$@\"\n");
    ::chmod(agent.c_str(), 0700);
  }
  Ended probe(const std::string& options) {
    return tutti("probe --calibrate --agent ./agent --address 127.0.0.1 " + options);
  }
};

TEST_F(ProbeHosts, WriteAFabricThatCanBeSimulated) {
  const Ended ended = probe("--hosts a:2,b:1 -o network.toml");
  ASSERT_EQ(ended.exit, 0) << ended.error;
  for (const char* column : {"half_round_trip_us", "both_ways_mbs", "near_us"})
    EXPECT_NE(ended.out.find(column), std::string::npos) << column << "\n" << ended.out;
  const Ended simulated = tutti("simulate --fabric ./network.toml --collective all_reduce --bytes 8,64K --format csv");
  EXPECT_EQ(simulated.exit, 0) << simulated.error;
  EXPECT_NE(simulated.out.find("ring"), std::string::npos) << simulated.out;
}

TEST_F(ProbeHosts, NeedTwo) {
  const Ended ended = probe("--hosts a:2 -o network.toml");
  EXPECT_NE(ended.exit, 0);
  EXPECT_NE(ended.error.find("--hosts names 1 host; a network needs two at least"), std::string::npos) << ended.error;
}

TEST_F(ProbeHosts, NameTheHostWhoseRankDies) {
  folder_.write("agent", "#!/bin/sh\n[ $1 = a ] || exit 7\nexport TUTTI_HOST_ID=$1; shift; exec \"$@\"\n");
  const Ended ended = probe("--hosts a:1,b:1 -o network.toml");
  EXPECT_NE(ended.exit, 0);
  EXPECT_NE(ended.error.find("host b"), std::string::npos) << ended.error;
  EXPECT_FALSE(std::filesystem::exists(folder_.file("network.toml")));
}

}  // namespace
}  // namespace tutti::test
