// SPDX-License-Identifier: Apache-2.0
// Milestones as shells call them: a calibration that is gone on with, machines without fonts, and full disks.
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
  // As a kill before the last case leaves it.
  void drop_last_case() const {
    std::string rows = folder_.read("made/comparison.jsonl");
    rows.erase(rows.rfind('\n', rows.size() - 2) + 1);
    folder_.write("made/comparison.jsonl", rows);
  }
};

TEST_F(MilestoneProcess, GoesOnWithTheCalibrationOfItsRows) {
  const std::string command = "run milestone-ccl --part comparison -o made";
  const test::Ended whole = tutti(command);
  ASSERT_EQ(whole.exit, 0) << whole.error;
  if (!exists("made/machine.toml")) GTEST_SKIP() << "nothing can be calibrated here";
  const std::string fabric = folder_.read("made/machine.toml");
  drop_last_case();
  const test::Ended resumed = tutti(command);
  EXPECT_EQ(resumed.exit, 0) << resumed.error;
  EXPECT_TRUE(contains(resumed.error, "8 are done already")) << resumed.error;
  EXPECT_FALSE(contains(resumed.error, "calibrated again")) << resumed.error;
  EXPECT_EQ(folder_.read("made/machine.toml"), fabric);

  // On another fabric the rows would not belong together.
  std::string other = fabric;
  const std::size_t latency = other.find("latency = \"") + 11;
  other.replace(latency, other.find('"', latency) - latency, "7us");
  folder_.write("made/machine.toml", other);
  drop_last_case();
  const test::Ended again = tutti(command);
  EXPECT_EQ(again.exit, 0) << again.error;
  EXPECT_TRUE(contains(again.error,
                       "this machine is calibrated again: machine.toml is not the one on which 2 ranks on "
                       "one host, 64K was simulated"))
      << again.error;
  EXPECT_NE(folder_.read("made/machine.toml"), other);
  std::filesystem::remove(folder_.file("made/machine.toml"));
  drop_last_case();
  EXPECT_TRUE(contains(tutti(command).error, "calibrated again: there is no machine.toml"));
  EXPECT_TRUE(exists("made/machine.toml"));
}

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
