// SPDX-License-Identifier: Apache-2.0
// `tutti simulate` as a user calls it.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../base/temporary_folder.hpp"
#include "../report/svg_check.hpp"
#include "bench/views/text_grid.hpp"
#include "calling.hpp"
#include "cli/commands.hpp"
#include "cli/program.hpp"

namespace tutti::cli {
namespace {

Outcome simulate(std::vector<std::string> arguments) { return call(simulate_command(), std::move(arguments)); }

// 2 · 3 steps of 1 us + 256 B / 25 GB/s each.
TEST(Simulate, ARowSaysHowLongItTakesAndWhereTheTimeGoes) {
  const std::vector<std::string> ring = {"--fabric",     "ring_1d:4,latency=1us,bandwidth=25GB/s",
                                         "--collective", "all_reduce",
                                         "--algorithm",  "ring",
                                         "--bytes",      "1K",
                                         "--format"};
  const auto in = [&](const char* format) {
    std::vector<std::string> words = ring;
    words.emplace_back(format);
    const Outcome outcome = simulate(words);
    EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
    return outcome.out;
  };
  const std::string csv = in("csv");
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "fabric,collective,algorithm,ranks,bytes,way,costs,time_us,low_us,high_us,simulated_us,algbw_gbs,busbw_gbs,"
            "rounds,"
            "messages,checked,launch_percent,overhead_percent,latency_percent,bytes_percent,link_wait_percent,core_"
            "wait_percent,peer_wait_percent,copying_percent,reducing_percent");
  const std::string line =
      "| ring_1d:4,latency=1us,bandwidth=25GB/s | all_reduce | ring | 4 | 1024 | - | - | 6.06144 | - | - | 6.06144 | "
      "0.168937 | 0.253405 | 1 | 24 | yes | 0 | 0 | 99 | 1.01 | 0 | 0 | 0 | 0 | 0 |\n";
  EXPECT_TRUE(contains(in("md"), line)) << in("md");
  const nlohmann::json row = nlohmann::json::parse(in("json"))[0];
  EXPECT_NEAR(row["algbw_gbs"].get<double>(), 1024 / 6061.44, 1e-12) << "machines get every digit";
}

TEST(Simulate, EveryAlgorithmOfACollectiveHasARowButThoseThatTheFabricCannotDo) {
  const Outcome outcome =
      simulate({"--fabric", "torus_2d:2x3", "--collective", "all_reduce", "--bytes", "8", "--json"});
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  const nlohmann::json rows = nlohmann::json::parse(outcome.out);
  EXPECT_GE(rows.size(), 12U);
  for (const auto& row : rows) EXPECT_FALSE(contains(row["algorithm"].get<std::string>(), "multicast"));
  const Outcome none = simulate({"--fabric", "torus_2d:2x3", "--algorithm", "multicast_one_shot", "--bytes", "8"});
  EXPECT_EQ(none.exit, Exit::misused);
  EXPECT_TRUE(contains(none.error, "needs a switch that multicasts")) << none.error;
}

TEST(Simulate, AGridIsAskedForElseTheFabricsElseASquare) {
  const auto name = [](std::vector<std::string> words) {
    words.insert(words.end(), {"--collective", "all_reduce", "--bytes", "1K", "--json"});
    const Outcome outcome = simulate(words);
    EXPECT_EQ(outcome.error, "");
    const nlohmann::json rows = nlohmann::json::parse(outcome.out);
    return rows.size() == 1 ? rows[0]["algorithm"].get<std::string>() : "several";
  };
  const std::vector<std::string> bucket = {"--algorithm", "bucket_2d", "--fabric"};
  const auto of_bucket = [&](std::vector<std::string> words) {
    words.insert(words.begin(), bucket.begin(), bucket.end());
    return name(words);
  };
  EXPECT_EQ(of_bucket({"torus_2d:8x2"}), "bucket_2d(8x2)");
  EXPECT_EQ(of_bucket({"torus_2d:8x2", "--grid", "2x8"}), "bucket_2d(2x8)");
  EXPECT_EQ(of_bucket({"torus_2d:8x2", "--num-ranks", "4"}), "bucket_2d(2x2)") << "some of its ranks";
  EXPECT_EQ(of_bucket({"switch:16"}), "bucket_2d(4x4)");
  EXPECT_EQ(of_bucket({"torus_3d:4x2x2"}), "bucket_2d(4x4)") << "two dimensions";
  EXPECT_EQ(name({"--algorithm", "centre", "--fabric", "switch:2,inner=packages:3x2x1"}), "centre(3x2)");
}

TEST(Simulate, ASixIsNeverTwoByThreeUnasked) {
  const Outcome named = simulate({"--fabric", "switch:6", "--collective", "all_reduce", "--algorithm", "bucket_2d"});
  EXPECT_EQ(named.exit, Exit::misused);
  EXPECT_EQ(named.error,
            "tutti simulate: no grid is given, and 6 ranks are no square; say --grid WxH\n"
            "'tutti simulate --help' tells more\n");
  const Outcome some = simulate(
      {"--fabric", "torus_2d:4x2", "--num-ranks", "6", "--collective", "all_reduce", "--algorithm", "bucket_2d"});
  EXPECT_EQ(some.error, named.error);
  const Outcome all = simulate({"--fabric", "switch:6", "--fabric", "switch:6,latency=1us", "--collective",
                                "all_reduce", "--bytes", "64,1K", "--format", "csv"});
  EXPECT_EQ(all.exit, Exit::done);
  EXPECT_EQ(all.error,
            "tutti simulate: skipped bucket_2d, bucket_mesh, centre: no grid is given, and 6 ranks are no square; say "
            "--grid WxH\n"
            "tutti simulate: skipped bucket_3d: no grid is given, and 6 ranks are no cube; say --grid WxHxD\n");
  EXPECT_FALSE(contains(all.out, "bucket_2d")) << all.out;
  EXPECT_TRUE(contains(all.out, ",ring,")) << all.out;
}

// A grid of 4x8 on a torus of 8x4 crosses its rows several times.
TEST(Simulate, TheGridOfTheFabricIsFasterThanAnother) {
  const auto time = [](std::vector<std::string> words) {
    words.insert(words.end(), {"--fabric", "torus_2d:8x4", "--collective", "all_reduce", "--algorithm", "bucket_2d",
                               "--bytes", "64M", "--json"});
    const Outcome outcome = simulate(words);
    EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
    return nlohmann::json::parse(outcome.out)[0]["time_us"].get<double>();
  };
  EXPECT_DOUBLE_EQ(time({}), time({"--grid", "8x4"}));
  EXPECT_LT(time({}), time({"--grid", "4x8"}));
}

TEST(Simulate, BucketsOfThreeDimensionsAreTheFastestOnTheirTorus) {
  const auto time = [](std::vector<std::string> words) {
    words.insert(words.end(), {"--fabric", "torus_3d:4x4x4", "--collective", "all_reduce", "--bytes", "64M", "--json"});
    const Outcome outcome = simulate(words);
    EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
    return nlohmann::json::parse(outcome.out)[0]["time_us"].get<double>();
  };
  const double three = time({"--algorithm", "bucket_3d"});
  EXPECT_DOUBLE_EQ(three, time({"--algorithm", "bucket_3d", "--grid", "4x4x4"}));
  EXPECT_LT(three, time({"--algorithm", "bucket_2d"}));
  EXPECT_LT(three, time({"--algorithm", "ring"}) / 2);
  EXPECT_LT(three, time({"--algorithm", "bucket_2d", "--grid", "4x16"}));
  const Outcome wrong = simulate({"--fabric", "torus_3d:4x2x2", "--algorithm", "bucket_2d", "--grid", "4x2x2"});
  EXPECT_TRUE(contains(wrong.error, "a grid of 4x2x2 has three dimensions, and bucket_2d is for two")) << wrong.error;
  for (const char* grid : {"4", "4x2x2x2", "4x0", "4x", "axb"})
    EXPECT_TRUE(contains(simulate({"--fabric", "switch:4", "--grid", grid}).error, "is not a grid, like 4x2 or 4x2x2"));
}

TEST(Simulate, SaysWhyTheFastestIsFaster) {
  const Outcome outcome = simulate(
      {"--fabric", "ring_1d:16,latency=1us,bandwidth=25GB/s", "--collective", "all_gather", "--bytes", "16M", "--why"});
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "all_gather, 16M: ring_bidirectional takes")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "of waiting for links")) << outcome.out;
}

// Four pairs whose difference has another cause each.
TEST(Simulate, ReasonsTellCausesApart) {
  const auto first_part = [](std::vector<std::string> words, const std::string& slower) {
    words.insert(words.begin(), {"--collective", "all_reduce"});
    words.emplace_back("--why");
    const Outcome outcome = simulate(words);
    EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
    const std::size_t line = outcome.out.find(" us, " + slower);
    const std::size_t saves = outcome.out.find("it saves ", line);
    const std::size_t of = outcome.out.find(" us of ", saves) + 7;
    return outcome.out.substr(of, outcome.out.find_first_of(",\n", of) - of);
  };
  EXPECT_EQ(first_part({"--fabric", "switch:8,latency=5us", "--bytes", "64"}, "ring"), "latencies of links");
  EXPECT_EQ(first_part({"--fabric", "torus_2d:4x4", "--bytes", "64M"}, "centre"), "bytes crossing links");
  EXPECT_TRUE(
      first_part({"--fabric", "ring_1d:16", "--bytes", "64M"}, "recursive_doubling").starts_with("waiting for links"));
  EXPECT_TRUE(first_part({"--fabric", "virtual_server:2x2", "--bytes", "1M"}, "two_shot_pull").starts_with("copying"));
}

// Where one algorithm cannot be done, the others have their rows all the same.
TEST(Simulate, WhatCannotBeDoneIsSaidBesideWhatCan) {
  const Outcome outcome = simulate(
      {"--fabric", "ring_1d:4,queue_slots=1", "--collective", "all_reduce", "--bytes", "4K", "--format", "csv"});
  EXPECT_EQ(outcome.exit, Exit::done);
  EXPECT_TRUE(contains(outcome.error, "with queues of 1 slots the schedule gets stuck")) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "recursive_doubling")) << outcome.out;
  const Outcome ring = simulate({"--fabric", "switch:4,queue_slots=1,queue_slot_bytes=4", "--collective", "all_reduce",
                                 "--algorithm", "ring", "--bytes", "1K"});
  EXPECT_EQ(ring.exit, Exit::misused) << "nothing at all could be done";
  EXPECT_TRUE(contains(ring.error, "gets stuck")) << ring.error;
  const Outcome rail =
      simulate({"--fabric", "rail:2x4,multicast", "--algorithm", "multicast_two_shot", "--bytes", "64K"});
  EXPECT_EQ(rail.exit, Exit::misused);
  EXPECT_TRUE(contains(rail.error, "needs one switch that does so between all ranks")) << rail.error;
}

TEST(Simulate, ABarrierHasOneRow) {
  const Outcome outcome = simulate({"--fabric", "switch:4", "--collective", "barrier", "--algorithm", "dissemination",
                                    "--bytes", "8:64M:x4", "--json"});
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_EQ(nlohmann::json::parse(outcome.out).size(), 1U);
}

TEST(Simulate, TheBusiestLinksAreNamed) {
  const Outcome outcome = simulate({"--fabric", "switch:4", "--collective", "scatter", "--algorithm", "linear",
                                    "--bytes", "4K", "--links", "2", "--json"});
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  const nlohmann::json rows = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["carried_bytes"], 3072);
}

TEST(Simulate, ATimelineIsWhatChromeReads) {
  const std::string path = ::testing::TempDir() + "timeline.json";
  const Outcome outcome = simulate({"--fabric", "switch:4", "--collective", "all_reduce", "--algorithm", "ring",
                                    "--bytes", "4K", "--timeline", path});
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  std::ifstream file(path);
  const nlohmann::json timeline = nlohmann::json::parse(file);
  std::size_t messages = 0;
  for (const auto& event : timeline["traceEvents"]) {
    if (event["ph"] != "X") continue;
    EXPECT_GE(event["dur"], 0);
    if (event["args"].contains("bytes")) ++messages;
  }
  EXPECT_EQ(messages, 24U);
  std::remove(path.c_str());
}

TEST(Simulate, EachMistakeHasItsMessage) {
  const auto refused = [](std::vector<std::string> arguments, const std::string& message) {
    arguments.insert(arguments.end(), {"--collective", "all_reduce"});
    const Outcome outcome = simulate(arguments);
    EXPECT_EQ(outcome.exit, Exit::misused);
    EXPECT_TRUE(contains(outcome.error, message)) << outcome.error;
  };
  refused({"--fabric", "torus_2d:6"}, "--fabric");
  refused({"--fabric", "switch:4", "--type", "f31"}, "'f31' is not a type");
  refused({"--fabric", "switch:4", "--num-ranks", "9"}, "--num-ranks: switch:4 has 4");
  refused({"--fabric", "switch:4", "--num-ranks", "0"}, "1 to");
  refused({"--fabric", "switch:4", "--bytes", "abc"}, "--bytes");
  refused({"--fabric", "switch:4", "--why", "--links", "3"}, "ask for one");
  refused({"--fabric", "switch:4", "--why", "--json"}, "it is told in words");
  refused({"--fabric", "switch:4", "--timeline", "/tmp/x.json", "--bytes", "8,16"}, "--timeline: it is of one");
  refused({}, "--fabric");
}

TEST(Simulate, ATranscriptIsOfOneCellAndAnAnswerByItself) {
  const std::vector<std::string> cell = {"--fabric",    "ring_1d:3", "--collective", "all_reduce",
                                         "--algorithm", "ring",      "--transcript"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), cell.begin(), cell.end());
    return simulate(more);
  };
  const Outcome outcome = with({"--bytes", "12"});
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "begins recv_reduce_send") || contains(outcome.out, "does recv_reduce_send"));
  EXPECT_TRUE(contains(with({}).error, "it is of one algorithm with one size, and this is 13 cells"));
  for (const std::vector<std::string>& other :
       std::vector<std::vector<std::string>>{{"--json"}, {"--why"}, {"--links", "3"}, {"--timeline", "/dev/null"}}) {
    const Outcome wrong = with(other);
    EXPECT_EQ(wrong.exit, Exit::misused) << other[0];
    EXPECT_TRUE(contains(wrong.error, "--transcript")) << wrong.error;
  }
}

// Of 5000 B blocks of 1000, 0, 3000 and 1000: the longest goes around, three times 1 us + 3000 B / 1 GB/s.
TEST(Simulate, BlocksMayDifferInSize) {
  const std::vector<std::string> ring = {
      "--fabric", "ring_1d:4,latency=1us,bandwidth=1GB/s", "--algorithm", "ring", "--bytes", "5000", "--format", "csv"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), ring.begin(), ring.end());
    return simulate(more);
  };
  const Outcome outcome = with({"--collective", "all_gather_v", "--weights", "1,0,3"});
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "all_gather_v,ring,4,5000,,,12,")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, ",9,yes,")) << "a block of nothing is not sent";
  for (const char* collective : {"all_gather_v", "all_gather"}) {
    const Outcome alike = simulate({"--fabric", "ring_1d:4,latency=1us,bandwidth=1GB/s", "--algorithm", "ring",
                                    "--bytes", "5000", "--json", "--collective", collective});
    const nlohmann::json row = nlohmann::json::parse(alike.out)[0];
    EXPECT_NEAR(row["time_us"].get<double>(), 6.744, 1e-9) << "3 us and 3 * 1248 B";
  }
  const Outcome plain = with({"--collective", "all_gather", "--weights", "1,2"});
  EXPECT_EQ(plain.exit, Exit::misused);
  EXPECT_TRUE(contains(plain.error, "--weights: the blocks of all_gather do not differ in size")) << plain.error;
  EXPECT_TRUE(contains(with({"--collective", "all_gather_v", "--weights", "1,"}).error, "'1,' is not a list"));
}

// Of 1000 bytes 992 are whole elements for each of four ranks.
TEST(Simulate, RatesAreOfTheBytesThatMove) {
  const Outcome outcome = simulate({"--fabric", "ring_1d:4,latency=1us,bandwidth=1GB/s", "--collective", "all_gather",
                                    "--algorithm", "ring", "--bytes", "1000", "--json"});
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_NEAR(nlohmann::json::parse(outcome.out)[0]["algbw_gbs"].get<double>(), 992 / (3 * (1000.0 + 248)), 1e-6);
}

TEST(Simulate, BytesThatHoldNoElementAreSkipped) {
  const auto with = [](const char* collective, const char* bytes) {
    return simulate({"--fabric", "switch:4", "--collective", collective, "--algorithm", "ring", "--bytes", bytes,
                     "--format", "csv"});
  };
  const Outcome some = with("all_gather", "8,1K");
  EXPECT_EQ(some.exit, Exit::done);
  EXPECT_EQ(some.error, "tutti simulate: skipped all_gather: 8 bytes hold no f32 for each of 4 ranks\n");
  EXPECT_FALSE(contains(some.out, ",8,")) << some.out;
  const Outcome none = with("all_reduce", "1");
  EXPECT_EQ(none.exit, Exit::misused);
  EXPECT_TRUE(contains(none.error, "1 byte holds no f32")) << none.error;
  const auto weighted = [](const char* weights) {
    return simulate({"--fabric", "switch:4", "--collective", "all_gather_v", "--bytes", "1K", "--weights", weights});
  };
  EXPECT_EQ(weighted("0,0").exit, Exit::misused);
  EXPECT_TRUE(contains(weighted("0,0").error, "--weights: all are 0")) << weighted("0,0").error;
  EXPECT_TRUE(contains(weighted("0,0,0,0,1").error, "the first 4 are 0")) << weighted("0,0,0,0,1").error;
}

TEST(Simulate, CarriedBytesAreWholeNumbers) {
  const Outcome outcome = simulate({"--fabric", "switch:2", "--collective", "broadcast", "--algorithm", "direct",
                                    "--bytes", "1234568", "--links", "1", "--json"});
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)[0]["carried_bytes"], 1234568);
}

// Two parts of 512 B each at 1 B/ns go one after another over the wire; the second hides behind the first.
TEST(Simulate, PartsGoSideBySide) {
  const auto time_in = [](const char* parts) {
    const Outcome outcome = simulate({"--fabric", "ring_1d:2,latency=100ns,bandwidth=1GB/s", "--algorithm", "ring",
                                      "--collective", "all_reduce", "--bytes", "2K", "--parts", parts, "--json"});
    EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
    return nlohmann::json::parse(outcome.out)[0]["time_us"].get<double>();
  };
  EXPECT_DOUBLE_EQ(time_in("1"), 2 * (1.024 + 0.1));
  EXPECT_DOUBLE_EQ(time_in("2"), 2 * 1.024 + 0.1);
  const Outcome direct = simulate({"--fabric", "switch:2", "--algorithm", "one_shot", "--bytes", "8", "--parts", "2"});
  EXPECT_EQ(direct.exit, Exit::misused);
  EXPECT_TRUE(contains(direct.error, "--parts: one_shot is not by messages")) << direct.error;
  EXPECT_TRUE(contains(simulate({"--fabric", "switch:2", "--parts", "0"}).error, "1 to 64"));
}

TEST(Simulate, FilesAreNamedByTheirOptionsAndAreTwo) {
  const auto with = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"--fabric", "switch:2", "--collective", "all_reduce", "--algorithm", "ring", "--bytes",
                               "1K", "--type", "F32"});
    return simulate(more);
  };
  EXPECT_EQ(with({}).exit, Exit::done) << with({}).error;
  EXPECT_TRUE(contains(with({"--timeline", "/proc/none/x"}).error, "--timeline: cannot write '/proc/none/x'"));
  const std::string path = ::testing::TempDir() + "one_file.json";
  const Outcome one = with({"--timeline", path, "-o", ::testing::TempDir() + "./one_file.json"});
  EXPECT_EQ(one.exit, Exit::misused);
  EXPECT_TRUE(contains(one.error, "--timeline and -o are both")) << one.error;
  std::remove(path.c_str());
}

TEST(Simulate, FiguresStandBesideWhatIsSimulated) {
  const std::string path = ::testing::TempDir() + "figures.toml";
  // 2 us of latency, and 2 · 500 B at 1 GB/s.
  std::ofstream(path) << "version = 1\nid = \"x\"\nsource = \"y\"\ndate = \"2026-01\"\n[[series]]\nid = \"a\"\n"
                         "bytes = [1000]\nvalues = [2.7]\n"
                         "ways = [{ fabric = \"ring_1d:2,latency=1us,bandwidth=1GB/s\", algorithm = \"ring\" }]\n"
                         "[[series]]\nid = \"of another machine\"\nbytes = [1000]\nvalues = [366]\n";
  const Outcome table = simulate({"--against", path});
  EXPECT_EQ(table.exit, Exit::done) << table.error;
  EXPECT_TRUE(contains(table.out, "all: 1 time: median error 11.1 %, greatest 11.1 %\n")) << table.out;
  const Outcome rows = simulate({"--against", path, "--json"});
  const nlohmann::json all = nlohmann::json::parse(rows.out);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["simulated"], 3);
  EXPECT_DOUBLE_EQ(all[0]["error"].get<double>(), (3 / 2.7 - 1) * 100);
  EXPECT_EQ(all[0]["source"], "y");
  EXPECT_TRUE(all[1]["simulated"].is_null());

  EXPECT_TRUE(contains(simulate({"--against", path, "--fabric", "ring_1d:2"}).error, "leave out --fabric"));
  EXPECT_TRUE(contains(simulate({"--bytes", "8"}).error, "--fabric: say which machine, or --against which figures"));
  const Outcome absent = simulate({"--against", path + "x"});
  EXPECT_EQ(absent.exit, Exit::not_done);
  EXPECT_TRUE(contains(absent.error, "--against: ")) << absent.error;
  std::ofstream(path) << "version = 1\nid = \"x\"\nsource = \"y\"\ndate = \"z\"\n[[series]]\nid = \"a\"\nbytes = [8]\n"
                         "values = [2]\nways = [{ fabric = \"ring_1d:2\", algorithm = \"rung\" }]\n";
  EXPECT_TRUE(contains(simulate({"--against", path}).error, "a: there is no algorithm 'rung' for all_reduce"));
  std::remove(path.c_str());
}

TEST(Simulate, SeveralFabricsAreRowsAndLines) {
  const test::TemporaryFolder folder;
  const std::string picture = folder.file("times.svg");
  const std::vector<std::string> asked = {"--fabric",     "ring_1d:4",  "--fabric",    "switch:4",
                                          "--collective", "all_reduce", "--algorithm", "ring",
                                          "--bytes",      "64,4K",      "--figure",    picture};
  std::vector<std::string> arguments = asked;
  arguments.push_back("--json");
  const Outcome outcome = simulate(arguments);
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  const nlohmann::json rows = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0]["fabric"], "ring_1d:4");
  EXPECT_EQ(rows[3]["fabric"], "switch:4");
  const std::string narrow = simulate(asked).out;
  EXPECT_TRUE(narrow.starts_with("collective=all_reduce, algorithm=ring, ranks=4, checked=yes\n\nfabric ")) << narrow;
  EXPECT_LE(widest_line(narrow), 100U) << narrow;
  arguments.back() = "--wide";
  EXPECT_TRUE(simulate(arguments).out.starts_with("fabric "));
  const std::string svg = folder.read("times.svg");
  EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
  for (const char* words : {"<title>ring_1d:4, 64: ", "<title>switch:4, 4K: "})
    EXPECT_TRUE(contains(svg, words)) << svg;

  for (const std::string told : {"--why", "--transcript"}) {
    arguments = asked;
    arguments.push_back(told);
    EXPECT_TRUE(contains(simulate(arguments).error, told + " is of one fabric, and --fabric is there 2 times"));
  }
  EXPECT_TRUE(contains(simulate({"--fabric", "switch:2", "--fabric", "switch:0"}).error, "--fabric: "));
  EXPECT_TRUE(contains(simulate({"--fabric", "switch:2", "--bytes", "8", "--figure", picture, "-o", picture}).error,
                       "give two files"));
  // What is not made is not there, and a file of no name is none.
  const std::string fresh = folder.file("fresh.svg");
  EXPECT_TRUE(contains(
      simulate({"--fabric", "switch:2", "--bytes", "8", "--figure", fresh, "-o", folder.file("./fresh.svg")}).error,
      "give two files"));
  EXPECT_EQ(simulate({"--fabric", "switch:0", "--bytes", "8", "--figure", fresh}).exit, Exit::misused);
  EXPECT_FALSE(std::filesystem::exists(fresh));
  for (const char* option : {"--figure", "--timeline", "-o"})
    EXPECT_TRUE(contains(simulate({"--fabric", "switch:2", "--bytes", "8", option, ""}).error, "'' is not a file"));
}

TEST(Simulate, FiguresAreDrawnBesideWhatIsSimulated) {
  const test::TemporaryFolder folder;
  const std::string references = std::string(TUTTI_SOURCE_DIR) + "/data/references/";
  const auto picture_of = [&](const std::string& name) {
    const Outcome outcome = simulate({"--against", references + name, "--figure", folder.file("all.svg")});
    EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
    return folder.read("all.svg");
  };
  const std::string accelerator = picture_of("accelerator.toml");
  for (const char* words : {"fsim-single-device, published: 366; one device", "the axis is broken here", ">theory<",
                            "of another configuration", "torus6-96KB-centre, simulated: 17."})
    EXPECT_TRUE(contains(accelerator, words)) << words;
  // None of these is measured, and what is not there is not in the legend.
  EXPECT_FALSE(contains(accelerator, ">measured<"));
  const std::string gains = picture_of("bidirectional_all_gather.toml");
  EXPECT_TRUE(contains(gains, "gain, percent"));
  // What is published as 10 to 28 % is drawn as that, and figures of all metrics are there.
  for (const char* words :
       {"<title>gain, 1M to 64M: 10 to 28</title>", "<title>marginal, 128M: -10 to 10</title>",
        "<title>H100, 64 nodes: 32M</title>", "h100-64-gain, 32M, published: 16.5", "range that is published"})
    EXPECT_TRUE(contains(gains, words)) << words;
  EXPECT_FALSE(contains(gains, ": 19<"));
  const std::string pairs = picture_of("vllm_all_reduce.toml");
  EXPECT_EQ(count_of(pairs, ">ca_1stage</text>"), 4U);  // once in each panel, for both of a pair
  for (const std::string& svg : {accelerator, gains, pairs}) {
    test::expect_readable(svg, 1600, 1600);
    test::expect_keys_occur(svg);
  }
}

// What docs/guide/simulating.md says of the two commands: the published crossover takes four parts of a share.
TEST(Simulate, TheBidirectionalRingHasACrossoverWithFourPartsOnly) {
  const auto times = [](const std::string& algorithm, const std::string& parts) {
    const Outcome outcome = simulate({"--fabric", "h100_cluster:8x1", "--collective", "all_reduce", "--algorithm",
                                      algorithm, "--parts", parts, "--bytes", "4M,8M,128M", "--json"});
    EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
    std::vector<double> all;
    for (const nlohmann::json& row : nlohmann::json::parse(outcome.out)) all.push_back(row["time_us"]);
    return all;
  };
  const std::vector<double> ring = times("ring", "4");
  const std::vector<double> bidirectional = times("ring_bidir_ag", "4");
  ASSERT_EQ(ring.size(), 3U);
  EXPECT_LT(bidirectional[0], 0.95 * ring[0]);
  for (const std::size_t later : {1U, 2U}) EXPECT_NEAR(bidirectional[later], ring[later], 0.01 * ring[later]);
  const std::vector<double> plain = times("ring", "1");
  for (std::size_t each = 0; each < plain.size(); ++each)
    EXPECT_LT(times("ring_bidir_ag", "1")[each], 0.85 * plain[each]);
}

TEST(Simulate, PicturesOfManyAlgorithmsAreReadable) {
  const test::TemporaryFolder folder;
  const Outcome outcome =
      simulate({"--fabric", "switch:8", "--bytes", "8:64M:x64", "--figure", folder.file("all.svg"), "--json"});
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  const std::string svg = folder.read("all.svg");
  test::expect_readable(svg, 2400, 2400);
  test::expect_keys_occur(svg);
  for (const char* words : {"<title>one_shot, ", ">all_to_all_v</text>", "<title>direct, time: "})
    EXPECT_TRUE(contains(svg, words)) << words;
  EXPECT_FALSE(contains(svg, "nothing to draw"));  // a barrier has no size: it is bars
}

}  // namespace
}  // namespace tutti::cli
