// SPDX-License-Identifier: Apache-2.0
// Milestones as shells call them: the calibration that times are simulated on, machines without fonts, and full disks.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

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

// Also where it was killed between: no row is of another calibration than the one that lies beside it.
TEST_F(MilestoneProcess, SimulatesAllSizesOnTheCalibrationThatItKeeps) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "ping-pong needs two cores";
  const auto expect_as_simulated_on_the_file = [&] {
    std::size_t found = 0;
    std::istringstream lines(folder_.read("made/comparison.csv"));
    for (std::string line; std::getline(lines, line);)
      for (const std::string size : {"65536", "98304"}) {
        const std::string begin = ",simulated,";
        const std::size_t at = line.find(size + begin);
        if (!contains(line, "on one host") || at == std::string::npos) continue;
        const test::Ended said = tutti(
            "simulate --fabric ./made/machine.toml --collective all_reduce --algorithm ring "
            "--type f32 --format csv --bytes " +
            size);
        const std::string time = line.substr(at + size.size() + begin.size());
        EXPECT_TRUE(contains(said.out, "," + time.substr(0, time.find(',')) + ",")) << line << "\n" << said.out;
        ++found;
      }
    EXPECT_EQ(found, 2U) << folder_.read("made/comparison.csv");
  };
  const std::string command = "run milestone-ccl --part comparison -o made";
  const test::Ended whole = tutti(command);
  ASSERT_EQ(whole.exit, 0) << whole.error;
  expect_as_simulated_on_the_file();
  drop_last_case();
  std::filesystem::remove(folder_.file("made/machine.toml"));
  const test::Ended resumed = tutti(command);
  EXPECT_EQ(resumed.exit, 0) << resumed.error;
  EXPECT_TRUE(contains(resumed.error, "are done already")) << resumed.error;
  expect_as_simulated_on_the_file();
}

TEST_F(MilestoneProcess, WithoutFontsItDrawsNoBoxesForWords) {
  const std::string command = "run milestone-ccl --part topologies -o ";
  if (std::system("command -v rsvg-convert >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no rsvg-convert";
  if (std::system("fc-list 2>/dev/null | grep -q .") != 0) GTEST_SKIP() << "there are no fonts here";
  const test::Ended with = tutti(command + "with");
  ASSERT_EQ(with.exit, 0) << with.error;
  ASSERT_TRUE(exists("with/topology_ring_1d.png")) << with.error;
  folder_.write("none.conf", "<?xml version=\"1.0\"?><fontconfig></fontconfig>");
  const test::Ended without = tutti(command + "without", "FONTCONFIG_FILE=\"$PWD/none.conf\"");
  EXPECT_EQ(without.exit, 0) << without.error;
  EXPECT_TRUE(contains(without.error, "there are no PNG pictures beside the SVG ones: rsvg-convert finds no font"))
      << without.error;
  EXPECT_FALSE(exists("without/topology_ring_1d.png"));
  EXPECT_EQ(folder_.read("without/topology_ring_1d.svg"), folder_.read("with/topology_ring_1d.svg"));
  EXPECT_TRUE(contains(folder_.read("without/index.json"), "finds no font"));
}

// Nothing that draws pictures is started but rsvg-convert, and that only where it is on PATH.
TEST_F(MilestoneProcess, WithoutBrowserAndDisplayItDrawsTheSame) {
  const std::string command = "run milestone-ccl --part topologies,vllm -o ";
  ASSERT_EQ(tutti(command + "usual").exit, 0);
  std::filesystem::create_directory(folder_.file("empty"));
  const test::Ended bare = tutti(command + "bare",
                                 "env -u DISPLAY -u WAYLAND_DISPLAY -u XDG_RUNTIME_DIR -u BROWSER -u HOME "
                                 "PATH=\"$PWD/empty\"");
  EXPECT_EQ(bare.exit, 0) << bare.error;
  EXPECT_TRUE(contains(bare.error, "there are no PNG pictures beside the SVG ones: rsvg-convert is not on PATH"))
      << bare.error;
  for (const char* name : {"topology_ring_1d.svg", "topology_accelerator_torus.svg", "vllm.svg", "vllm.csv"})
    EXPECT_EQ(folder_.read(fmt::format("bare/{}", name)), folder_.read(fmt::format("usual/{}", name))) << name;
  EXPECT_TRUE(contains(folder_.read("bare/report.html"), "</html>"));
  const test::Ended odd = tutti(command + "odd", "DISPLAY=:4711 WAYLAND_DISPLAY=none BROWSER=/bin/false");
  EXPECT_EQ(odd.exit, 0) << odd.error;
  EXPECT_EQ(folder_.read("odd/vllm.svg"), folder_.read("usual/vllm.svg"));
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
