// SPDX-License-Identifier: Apache-2.0
// What tells machines apart.
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "table/machine_identity.hpp"

namespace tutti {
namespace {

class MachineOfFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fmt::format("{}/tutti-identity-{}", ::testing::TempDir(), ::getpid());
    put("/proc/cpuinfo", "processor : 0\nmodel name\t: Some Processor 9000\n");
    put("/sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n");
    put("/sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
    put("/sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list", "0,4\n");
    put("/sys/devices/system/cpu/cpu0/cache/index1/size", "32K\n");
    put("/sys/devices/system/cpu/cpu0/cache/index1/type", "Instruction\n");
    put("/sys/devices/system/cpu/cpu0/cache/index2/size", "16M\n");
    put("/sys/devices/system/cpu/cpu0/cache/index2/shared_cpu_list", "0-3,8-11\n");
    put("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,4\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  std::string root_;
};

TEST_F(MachineOfFiles, IsNamedWithItsCachesAndWhoSharesThem) {
  const MachineIdentity identity = identity_of_machine(root_);
  EXPECT_EQ(identity.processor, "Some Processor 9000");
  EXPECT_EQ(identity.caches, "32K of 2, 16M of 8");
  EXPECT_EQ(identity.threads, "2");
  EXPECT_EQ(fingerprint_of(identity).size(), 16U);
  EXPECT_EQ(fingerprint_of(identity), fingerprint_of(identity_of_machine(root_)));
}

TEST_F(MachineOfFiles, ADifferenceInAnyPartIsAnotherMachine) {
  const std::string before = fingerprint_of(identity_of_machine(root_));
  put("/sys/devices/system/cpu/cpu0/cache/index2/shared_cpu_list", "0-3\n");
  EXPECT_NE(fingerprint_of(identity_of_machine(root_)), before);
  put("/sys/devices/system/cpu/cpu0/cache/index2/shared_cpu_list", "0-3,8-11\n");
  EXPECT_EQ(fingerprint_of(identity_of_machine(root_)), before);
  put("/proc/cpuinfo", "model name\t: Some Processor 9001\n");
  EXPECT_NE(fingerprint_of(identity_of_machine(root_)), before);
}

TEST_F(MachineOfFiles, NothingToReadIsAMachineToo) {
  const MachineIdentity identity = identity_of_machine(root_ + "/empty");
  EXPECT_FALSE(identity.processor.empty());
  EXPECT_EQ(identity.threads, "1");
  EXPECT_EQ(identity.caches, "");
}

}  // namespace
}  // namespace tutti
