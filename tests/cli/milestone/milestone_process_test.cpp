// SPDX-License-Identifier: Apache-2.0
// Milestones as shells call them: machines without fonts, and full disks.
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "../in_folder.hpp"

namespace tutti {

const char* const test::kTuttiProgram = TUTTI_PROGRAM;

namespace {

class MilestoneProcess : public test::InFolder {
 protected:
  static bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }
  [[nodiscard]] bool exists(const std::string& name) const { return std::filesystem::exists(folder_.file(name)); }
};

TEST_F(MilestoneProcess, WithoutFontsItDrawsNoBoxesForWords) {
  const std::string command = "run milestone-ccl --part topologies -o ";
  if (std::system("command -v rsvg-convert >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no rsvg-convert";
  const test::Ended with = tutti(command + "with");
  ASSERT_EQ(with.exit, 0) << with.error;
  if (!exists("with/topology_ring_1d.png")) GTEST_SKIP() << "there are no fonts here";
  folder_.write("none.conf", "<?xml version=\"1.0\"?><fontconfig></fontconfig>");
  const test::Ended without = tutti(command + "without", "FONTCONFIG_FILE=\"$PWD/none.conf\"");
  EXPECT_EQ(without.exit, 0) << without.error;
  EXPECT_TRUE(contains(without.error, "there are no PNG pictures beside the SVG ones: rsvg-convert finds no font"))
      << without.error;
  EXPECT_FALSE(exists("without/topology_ring_1d.png"));
  EXPECT_EQ(folder_.read("without/topology_ring_1d.svg"), folder_.read("with/topology_ring_1d.svg"));
  EXPECT_TRUE(contains(folder_.read("without/index.json"), "finds no font"));
}

// On file systems of many sizes, so that each file is the one for which there is no room; with room it goes on.
TEST_F(MilestoneProcess, OnAFullDiskItSaysSoAndGoesOnLater) {
  const std::string spaces = ::geteuid() == 0 ? "unshare -m" : "unshare -rm";
  const std::string mounts = "mount --make-rprivate / && mount -t tmpfs -o size=4k small small";
  std::filesystem::create_directory(folder_.file("small"));
  if (shell(fmt::format("{} sh -c '{}'", spaces, mounts)).exit != 0)
    GTEST_SKIP() << "no small file system can be mounted here";
  const std::string run = fmt::format("\"{}\" run milestone-ccl --part latency -o ", TUTTI_PROGRAM);
  ASSERT_EQ(shell(run + "whole").exit, 0);
  folder_.write("fill.sh", mounts +
                               "\nfor size in 4k 16k 32k 48k 64k 96k 128k 160k 224k; do\n"
                               "  mount -o remount,size=$size small small\n"
                               "  " +
                               run +
                               "small/out >/dev/null 2>>said; echo $? >>exits\n"
                               "done\n"
                               "mount -o remount,size=64m small small\n" +
                               run + "small/out && cp small/out/* kept\n");
  std::filesystem::create_directory(folder_.file("kept"));
  const test::Ended later = shell(fmt::format("PATH=/usr/bin:/bin {} sh fill.sh", spaces));
  EXPECT_EQ(later.exit, 0) << later.error;
  EXPECT_TRUE(contains(later.error, "39 are done already")) << later.error << folder_.read("said");
  EXPECT_EQ(folder_.read("exits"), "1\n1\n1\n1\n1\n1\n1\n1\n1\n") << folder_.read("said");
  EXPECT_TRUE(contains(folder_.read("said"), "No space left on device"));
  for (const char* name : {"latency.csv", "summary.csv", "latency_ring_1d.svg"})
    EXPECT_EQ(folder_.read(fmt::format("kept/{}", name)), folder_.read(fmt::format("whole/{}", name))) << name;
}

}  // namespace
}  // namespace tutti
