// SPDX-License-Identifier: Apache-2.0
#include "base/system/memory_limits.hpp"

#include <string>

#include <gtest/gtest.h>

#include "temporary_folder.hpp"

namespace tutti {
namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};

class MemoryLimitsTest : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const { root_.write(name, text); }
  void expect(std::uint64_t all, std::uint64_t available, bool by_control_group) const {
    const MemoryLimits limits = MemoryLimits::of_this_process(root_.path());
    EXPECT_EQ(limits.all, all);
    EXPECT_EQ(limits.available, available);
    EXPECT_EQ(limits.by_control_group, by_control_group);
  }
  // Of 1000 KiB and 100 KiB of swap.
  void write_machine() const {
    write("proc/meminfo",
          "MemTotal:        1000 kB\nMemFree:          10 kB\nMemAvailable:    600 kB\nHugePages_Total:     0\n"
          "SwapTotal:       200 kB\nSwapFree:        100 kB\n");
  }

 private:
  test::TemporaryFolder root_;
};

TEST_F(MemoryLimitsTest, AreNoneWhereTheSystemSaysNothing) { expect(kNone, kNone, false); }

TEST_F(MemoryLimitsTest, AreTheMachinesWithItsSwap) {
  write_machine();
  expect(1100 << 10, 700 << 10, false);
  write("proc/self/cgroup", "nonsense\n0::/\n4:cpu,memory:/\n");
  expect(1100 << 10, 700 << 10, false);
}

TEST_F(MemoryLimitsTest, OfVersionTwoAreTheLeastOfAllGroupsOnTheWay) {
  write_machine();
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  write("sys/fs/cgroup/outer/inner/memory.current", "1024\n");
  expect(1100 << 10, 700 << 10, false);
  write("sys/fs/cgroup/outer/memory.max", "409600\n");
  write("sys/fs/cgroup/outer/memory.current", "204800\n");
  expect(500 << 10, 300 << 10, true);
  // Files that are only kept in memory for the next who reads them can go.
  write("sys/fs/cgroup/outer/memory.stat", "anon 102400\nfile 102400\ninactive_file 40960\nactive_file 10240\n");
  expect(500 << 10, 350 << 10, true);
  write("sys/fs/cgroup/outer/memory.swap.max", "20480\n");
  write("sys/fs/cgroup/outer/memory.swap.current", "10240\n");
  expect(410 << 10, 260 << 10, true);
  write("sys/fs/cgroup/outer/inner/memory.max", "1024\n");
  write("sys/fs/cgroup/outer/inner/memory.swap.max", "0\n");
  expect(1024, 0, true);
}

TEST_F(MemoryLimitsTest, OfVersionOneAreThoseOfTheMemoryController) {
  write_machine();
  write("proc/self/cgroup", "9:name=systemd:/x\n4:cpu,memory:/a:b\n0::/\n");
  // How "none" is written there.
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  expect(1100 << 10, 700 << 10, false);
  write("sys/fs/cgroup/memory/a:b/memory.limit_in_bytes", "409600\n");
  write("sys/fs/cgroup/memory/a:b/memory.usage_in_bytes", "307200\n");
  write("sys/fs/cgroup/memory/a:b/memory.stat",
        "inactive_file 1\ntotal_inactive_file 81920\ntotal_active_file 20480\n");
  expect(500 << 10, 300 << 10, true);
  // With swap together.
  write("sys/fs/cgroup/memory/a:b/memory.memsw.limit_in_bytes", "409600\n");
  write("sys/fs/cgroup/memory/a:b/memory.memsw.usage_in_bytes", "358400\n");
  expect(400 << 10, 150 << 10, true);
}

// A container may see its group as the root and be told where that lies on the host.
TEST_F(MemoryLimitsTest, AreThoseOfTheRootWhereTheGroupIsNotThere) {
  write_machine();
  write("sys/fs/cgroup/memory.max", "409600\n");
  for (const char* line : {"0::/docker/0123\n", "0::/\n", "0::/../x\n"}) {
    write("proc/self/cgroup", line);
    expect(500 << 10, 500 << 10, true);
  }
}

TEST_F(MemoryLimitsTest, SayWhose) {
  EXPECT_EQ((MemoryLimits{.all = 3, .available = 2}).to_string(), "the machine has 3 bytes, of which 2 can be had");
  EXPECT_EQ((MemoryLimits{.all = 3, .available = 2, .by_control_group = true}).to_string(),
            "the control group of this process may have 3 bytes, of which 2 can be had");
}

}  // namespace
}  // namespace tutti
