// SPDX-License-Identifier: Apache-2.0
// What `tutti simulate` predicts of machines that others have measured.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../base/temporary_folder.hpp"
#include "base/text.hpp"
#include "calling.hpp"
#include "cli/commands.hpp"

namespace tutti::cli {
namespace {

Outcome simulate_there(const std::vector<std::string>& arguments) { return call(simulate_command(), arguments); }

using Json = nlohmann::json;

// The first row of what is asked for.
Json row_of(std::vector<std::string> words) {
  words.emplace_back("--json");
  const Outcome said = simulate_there(words);
  EXPECT_EQ(said.exit, Exit::done) << said.error;
  return Json::parse(said.out).at(0);
}

// A node of GPUs has costs for kernels that load and store, and for both protocols of NCCL.
TEST(Predictions, CostsAreThoseOfTheSchedulesChannel) {
  const auto of = [](const char* fabric, const char* algorithm, const char* bytes) {
    return row_of({"--fabric", fabric, "--collective", "all_reduce", "--algorithm", algorithm, "--bytes", bytes});
  };
  EXPECT_EQ(of("h100_node:4", "ring", "64K")["costs"], "ll");
  EXPECT_EQ(of("h100_node:4", "ring", "64M")["costs"], "simple");
  EXPECT_TRUE(of("h100_node:4", "one_shot", "64K")["costs"].is_null());
  EXPECT_EQ(of("h100_node:4,costs=ll", "one_shot", "64K")["costs"], "gpu");
  EXPECT_TRUE(of("h100_node:4,costs=ll", "ring", "64M")["costs"].is_null());
  // Messages of so many bytes have never been seen to take less than 10 us there.
  EXPECT_GT(of("h100_node:4", "bucket_2d", "512K")["time_us"], 10);
  EXPECT_GT(of("h100_node:4", "ring_bidirectional", "512K")["time_us"], 10);
}

// PyTorch's two-shot is not compiled for 6 GPUs, and a kernel's loads from one are far slower than a B200's link.
TEST(Predictions, ATwoShotOfSixGpusIsSlowerThanOneOfEight) {
  const auto of = [](const char* fabric) {
    return row_of({"--fabric", fabric, "--collective", "all_reduce", "--algorithm", "two_shot", "--bytes",
                   "64M"})["time_us"]
        .get<double>();
  };
  EXPECT_GT(of("b200_node:6"), 1.5 * of("b200_node:8"));
}

TEST(Predictions, AnImplementationTakesTheFastestOfItsWays) {
  const auto rows_of = [](std::vector<std::string> more) {
    std::vector<std::string> words = {"--fabric", "h100_node:8", "--collective", "all_reduce",
                                      "--type",   "bf16",        "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome said = simulate_there(words);
    EXPECT_EQ(said.exit, Exit::done) << said.error;
    return Json::parse(said.out);
  };
  const Json nccl = rows_of({"--implementation", "NCCL", "--bytes", "4K,1G"});
  ASSERT_EQ(nccl.size(), 2U);
  EXPECT_EQ(nccl[0]["algorithm"], "nccl");
  EXPECT_EQ(nccl[0]["costs"], "ll");
  EXPECT_EQ(nccl[1]["way"], "multicast_two_shot");
  EXPECT_EQ(nccl[1]["costs"], "nvls");
  const Json of_switch = row_of({"--fabric", "h100_node:8,costs=nvls", "--collective", "all_reduce", "--type", "bf16",
                                 "--algorithm", "multicast_two_shot", "--bytes", "1G"});
  EXPECT_EQ(nccl[1]["time_us"], of_switch["time_us"]);
  EXPECT_TRUE(nccl[1]["low_us"].is_null());  // of NVLS nothing is published among vLLM's times
  const Json ring = rows_of({"--implementation", "nccl_ring", "--bytes", "1G,1025M"});
  EXPECT_EQ(ring[0]["way"], "ring");
  EXPECT_EQ(ring[1]["way"], "ring in 8 parts");
  // Published of 6 GPUs, with copies before and after.
  const Json six = row_of({"--fabric", "h100_node:6", "--collective", "all_reduce", "--type", "bf16", "--bytes", "64M",
                           "--implementation", "pytorch_multimem"});
  EXPECT_NEAR(six["time_us"].get<double>(), 366, 2);
  // Times of kernels that are compiled for their GPUs say nothing of one that is not.
  const auto two_shot_of = [](const char* fabric) {
    return row_of({"--fabric", fabric, "--collective", "all_reduce", "--type", "bf16", "--bytes", "64M",
                   "--implementation", "pytorch_two_shot"});
  };
  EXPECT_TRUE(two_shot_of("b200_node:6")["low_us"].is_null());
  EXPECT_FALSE(two_shot_of("b200_node:4")["low_us"].is_null());
  EXPECT_EQ(rows_of({"--implementation", "all", "--bytes", "4K"}).size(), 6U);
  const Json both = rows_of({"--implementation", "nccl", "--algorithm", "one_shot", "--bytes", "4K"});
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0]["algorithm"], "one_shot");
  EXPECT_EQ(both[1]["algorithm"], "nccl");
}

TEST(Predictions, WrongImplementationsAreToldFromWhatThereIs) {
  const auto said = [](std::vector<std::string> more) {
    std::vector<std::string> words = {"--bytes", "4K"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = simulate_there(words);
    EXPECT_EQ(outcome.exit, Exit::misused);
    return outcome.error;
  };
  EXPECT_TRUE(contains(said({"--fabric", "h100_node:8", "--implementation", "mpi"}),
                       "h100_node:8 has no 'mpi'; it has nccl, nccl_ring, vllm_one_shot"));
  EXPECT_TRUE(
      contains(said({"--fabric", "switch:8", "--implementation", "nccl"}), "switch:8 names no implementations"));
  EXPECT_TRUE(contains(said({"--fabric", "h100_node:8", "--collective", "all_gather", "--implementation", "nccl"}),
                       "'nccl' does all_reduce, not all_gather"));
  EXPECT_TRUE(contains(said({"--fabric", "h100_node:8", "--collective", "all_gather", "--implementation", "all"}),
                       "h100_node:8 has none for all_gather; it has nccl"));
  EXPECT_TRUE(contains(said({"--fabric", "h100_node:8", "--implementation", "nccl", "--parts", "8"}),
                       "--implementation: the fabric's file says how it is done; leave out --file, --parts"));
  EXPECT_TRUE(contains(said({"--against", "data/references/vllm_all_reduce.toml", "--implementation", "nccl"}),
                       "--against: the file says what is simulated"));
  EXPECT_TRUE(contains(said({"--fabric", "h100_node:8", "--implementation", "nccl", "--root", "1"}),
                       "--root: all_reduce has none"));
  const test::TemporaryFolder folder;
  const auto of_file = [&](const std::string& way) {
    const std::string path =
        folder.write("mine.toml",
                     "generator = \"switch:4\"\n[[costs]]\nname = \"usual\"\n[[costs]]\nname = \"kernels\"\nchannels = "
                     "\"direct\"\n[[implementations]]\nname = \"a\"\nways = [{ " +
                         way + " }]\n");
    return said({"--fabric", path, "--implementation", "a"});
  };
  EXPECT_TRUE(contains(of_file("algorithm = \"rong\""), "implementation a"));
  EXPECT_TRUE(contains(of_file("algorithm = \"one_shot\", parts = 2"), "one_shot sends no messages; leave out parts"));
  EXPECT_TRUE(contains(of_file("algorithm = \"ring\", by_name = true"), "ring is not right by name"));
  EXPECT_TRUE(
      contains(of_file("algorithm = \"ring\", costs = \"kernels\""), "the costs kernels are not those of ring"));
  EXPECT_TRUE(contains(of_file("algorithm = \"ring\", above = \"64M\""), "a has no way for 4K with 4 ranks"));
  EXPECT_TRUE(
      contains(of_file("algorithm = \"ring\", from_ranks = 5"), "ring is for 5 ranks or more, and there are 4"));
}

// What a way lacks for a size or a number of ranks is told, and the others are done.
TEST(Predictions, WaysThatDoNotSuitLeaveTheOthers) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("mine.toml", R"(
generator = "switch:3"
[[costs]]
name = "usual"
[[costs]]
name = "dear"
launch = "50us"
[[implementations]]
name = "a"
ways = [{ algorithm = "swing" }, { algorithm = "ring" }]
[[implementations]]
name = "b"
ways = [{ algorithm = "ring", above = "4K" }]
[[implementations]]
name = "c"
ways = [{ algorithm = "ring", costs = "dear" }]
)");
  const Outcome said = simulate_there({"--fabric", path, "--implementation", "all", "--bytes", "4K,8K", "--json"});
  EXPECT_EQ(said.exit, Exit::done) << said.error;
  EXPECT_TRUE(contains(said.error, "b has no way for 4K with 3 ranks")) << said.error;
  const Json rows = Json::parse(said.out);
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[0]["way"], "ring");
  // Costs that a way names count.
  EXPECT_NEAR(rows[3]["time_us"].get<double>(), rows[0]["time_us"].get<double>() + 50, 1e-6);
  EXPECT_EQ(rows[3]["costs"], "dear");
}

TEST(Predictions, PublishedTimesCorrectWhatIsNearThemAndSayHowSureThatIs) {
  const auto of = [](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"--collective", "all_reduce", "--algorithm", "one_shot",
                                      "--by-name",    "--bytes",    "4M"};
    words.insert(words.end(), more.begin(), more.end());
    return row_of(words);
  };
  // 70 us were published for 6 GPUs.
  const Json six = of({"--fabric", "h100_node:6"});
  EXPECT_NEAR(six["time_us"].get<double>(), 70, 1);
  EXPECT_LT(six["low_us"].get<double>(), 70);
  EXPECT_GT(six["high_us"].get<double>(), 70);
  const Json eight = of({"--fabric", "h100_node:8"});
  const auto width = [](const Json& row) { return row["high_us"].get<double>() / row["low_us"].get<double>(); };
  EXPECT_GT(width(eight), width(six) * 1.1);
  const Json bare = of({"--fabric", "h100_node:8", "--no-correction"});
  EXPECT_EQ(bare["time_us"].get<double>(), eight["simulated_us"].get<double>());
  EXPECT_TRUE(bare["low_us"].is_null());
  EXPECT_EQ(of({"--fabric", "H100-Node:8"})["time_us"], eight["time_us"]);
  // Nothing is published of one shot of other types of copies; another machine is another machine.
  EXPECT_TRUE(of({"--fabric", "h100_node:8", "--copies", "1"})["low_us"].is_null());
  EXPECT_TRUE(of({"--fabric", "h100_node:8,bandwidth=1GB/s"})["low_us"].is_null());
  EXPECT_TRUE(of({"--fabric", "switch:8"})["low_us"].is_null());
}

// Of the custom two-shot, which copies its own part, times are published; of one that does not there are none.
TEST(Predictions, CopiesOfAPartTellWaysApart) {
  const auto of = [](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"--collective", "all_reduce", "--algorithm", "two_shot_pull", "--by-name",
                                      "--bytes",      "64M",        "--fabric",    "h100_node:2"};
    words.insert(words.end(), more.begin(), more.end());
    return row_of(words);
  };
  const Json with = of({"--part-copies", "1"});
  const Json without = of({});
  EXPECT_FALSE(with["low_us"].is_null());
  EXPECT_TRUE(without["low_us"].is_null());
  EXPECT_GT(with["simulated_us"].get<double>(), without["time_us"].get<double>() + 10);
}

// One published number of GPUs says nothing of one beyond it: there the interval is around the bare model. Between two
// numbers the time is corrected.
TEST(Predictions, BeyondThePublishedNumbersOfGpusTheModelIsNotCorrected) {
  const auto of = [](const char* fabric) {
    return row_of(
        {"--fabric", fabric, "--collective", "all_reduce", "--algorithm", "one_shot", "--by-name", "--bytes", "512K"});
  };
  const Json beyond = of("h100_node:8");
  EXPECT_EQ(beyond["time_us"], beyond["simulated_us"]);
  EXPECT_LT(beyond["low_us"].get<double>(), beyond["time_us"].get<double>() * 0.9);
  const Json between = of("h100_node:4");
  EXPECT_NE(between["time_us"], between["simulated_us"]);
  EXPECT_LT(between["high_us"].get<double>() / between["low_us"].get<double>(),
            beyond["high_us"].get<double>() / beyond["low_us"].get<double>());
}

TEST(Predictions, PicturesHaveTheIntervals) {
  const test::TemporaryFolder folder;
  const auto picture_of = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "--fabric",  "h100_node:6", "--collective", "all_reduce", "--algorithm",           "one_shot",
        "--by-name", "--bytes",     "4M,64M",       "--figure",   folder.file("times.svg")};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome said = simulate_there(words);
    EXPECT_EQ(said.exit, Exit::done) << said.error;
    return folder.read("times.svg");
  };
  const std::string with = picture_of({});
  EXPECT_TRUE(contains(with, "<title>one_shot, 4M: 70.01, 6")) << with;
  EXPECT_TRUE(contains(with, " to 7")) << with;
  EXPECT_TRUE(contains(with, "whiskers: intervals of 90 %"));
  const std::string bare = picture_of({"--no-correction"});
  EXPECT_TRUE(contains(bare, "<title>one_shot, 4M: ")) << bare;
  EXPECT_FALSE(contains(bare, "whiskers"));
  EXPECT_FALSE(contains(bare, " to 7"));
}

// NCCL's tree passes on chunks. Each part side by side goes on while the next one comes.
TEST(Predictions, TreesInPartsPassOnChunks) {
  const auto in_parts = [](const char* parts) {
    return row_of({"--fabric", "h100_node:8,costs=simple", "--collective", "all_reduce", "--algorithm",
                   "double_binary_tree", "--bytes", "64M", "--parts", parts})["time_us"]
        .get<double>();
  };
  EXPECT_LT(in_parts("16"), 0.6 * in_parts("1"));
  // Each GPU sends all data twice.
  EXPECT_GT(in_parts("16"), 2 * 67108864 / 325e3);
}

TEST(Predictions, WhatIsLeftOutMustBeOfFigures) {
  const auto says = [](const std::vector<std::string>& words, const char* what) {
    const Outcome said = simulate_there(words);
    EXPECT_EQ(said.exit, Exit::misused);
    EXPECT_TRUE(contains(said.error, what)) << said.error;
  };
  const std::string file = TUTTI_SOURCE_DIR "/data/references/bidirectional_all_gather.toml";
  says({"--fabric", "switch:4", "--leave-out", "ranks"}, "--leave-out is of the figures of --against");
  says({"--against", file, "--leave-out", "colours"}, "'colours' is not ranks or sizes");
  says({"--against", file, "--leave-out", "ranks"}, "has nothing to leave out");
  says({"--against", file, "--leave-out", "ranks", "--figure", "x.svg"}, "draws no figure");
}

TEST(SimulateFile, AScheduleTakesThePlaceOfAnAlgorithm) {
  const std::string file = TUTTI_SOURCE_DIR "/examples/my_all_reduce.sched";
  const Json row = row_of({"--fabric", "torus_2d:2x2", "--file", file, "--bytes", "1M"});
  EXPECT_EQ(row["ranks"], 4);
  EXPECT_EQ(row["collective"], "all_reduce");
  EXPECT_EQ(row["checked"], "yes");
  EXPECT_GT(row["time_us"].get<double>(), 20);
  // More ranks than it is for stay idle; fewer are too few.
  EXPECT_EQ(row_of({"--fabric", "switch:9", "--file", file, "--bytes", "1M"})["ranks"], 4);
  const auto error = [](const std::vector<std::string>& words) { return simulate_there(words).error; };
  EXPECT_TRUE(contains(error({"--fabric", "switch:2", "--file", file}), "is for 4 ranks, and switch:2 has 2"));
  EXPECT_TRUE(
      contains(error({"--fabric", "switch:4", "--file", file, "--algorithm", "ring"}), "leave out --algorithm"));
  EXPECT_TRUE(contains(error({"--fabric", "switch:4", "--file", file, "-n", "4"}), "leave out --num-ranks"));
  EXPECT_TRUE(contains(error({"--fabric", "switch:4", "--file", "/nowhere"}), "/nowhere"));
  EXPECT_TRUE(contains(error({"--fabric", "switch:4", "--file", file, "--grid", "2x2"}), "leave out parameters"));
  EXPECT_TRUE(contains(error({"--fabric", "switch:4", "--file", file, "--by-name"}), "--by-name"));
  EXPECT_TRUE(contains(error({"--fabric", "switch:4", "--file", file, "--weights", "1,0"}), "do not differ in size"));
}

// It may be called as it likes: what is published of a ring is not said of it.
TEST(SimulateFile, ItsNameSaysNothing) {
  const test::TemporaryFolder folder;
  const Outcome text = call(schedule_command(), {"--algorithm", "ring", "--collective", "all_reduce", "-n", "4"});
  ASSERT_EQ(text.exit, Exit::done) << text.error;
  const std::string path = folder.write("ring.sched", text.out);
  EXPECT_TRUE(row_of({"--fabric", "h100_node:4", "--file", path, "--bytes", "1M"})["low_us"].is_null());
  EXPECT_EQ(row_of({"--fabric", "h100_node:4", "--file", path, "--bytes", "1M", "--parts", "2"})["checked"], "yes");
  const Outcome direct = call(schedule_command(), {"--algorithm", "one_shot", "--collective", "all_reduce", "-n", "4"});
  const std::string of_loads = folder.write("one_shot.sched", direct.out);
  const Outcome said = simulate_there({"--fabric", "h100_node:4", "--file", of_loads, "--bytes", "1M", "--parts", "2"});
  EXPECT_EQ(said.exit, Exit::misused);
  EXPECT_TRUE(contains(said.error, "is not by messages")) << said.error;
}

TEST(Predictions, WhatDoesNotStandBesideEachOtherIsRefused) {
  const std::string file = TUTTI_SOURCE_DIR "/data/references/accelerator.toml";
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--why"}, {"--copies", "2"}, {"--bytes", "8"}, {"--type", "f64"}}) {
    std::vector<std::string> words{"--against", file};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome said = simulate_there(words);
    EXPECT_EQ(said.exit, Exit::misused) << more.front();
    EXPECT_TRUE(contains(said.error, "only --leave-out, --uncertainty, --figure")) << said.error;
  }
  const Outcome said = simulate_there({"--fabric", "switch:2", "--algorithm", "ring", "--collective", "all_reduce",
                                       "--bytes", "8", "--copies", "1", "--transcript"});
  EXPECT_TRUE(contains(said.error, "--part-copies are not in --transcript")) << said.error;
}

// Two ranks of an MSCCL program that swap their halves.
TEST(SimulateFile, AnMscclProgramDoesSoToo) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write(
      "allgather.xml",
      "<algo name=\"swap\" nchunksperloop=\"2\" nchannels=\"1\" ngpus=\"2\" coll=\"allgather\" proto=\"Simple\" "
      "inplace=\"1\" outofplace=\"0\" minBytes=\"0\" maxBytes=\"0\">"
      "<gpu id=\"0\" i_chunks=\"0\" o_chunks=\"2\" s_chunks=\"0\"><tb id=\"0\" send=\"1\" recv=\"1\" chan=\"0\">"
      "<step s=\"0\" type=\"s\" srcbuf=\"o\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\" "
      "hasdep=\"0\"/>"
      "<step s=\"1\" type=\"r\" srcbuf=\"o\" srcoff=\"1\" dstbuf=\"o\" dstoff=\"1\" cnt=\"1\" depid=\"-1\" deps=\"-1\" "
      "hasdep=\"0\"/></tb></gpu>"
      "<gpu id=\"1\" i_chunks=\"0\" o_chunks=\"2\" s_chunks=\"0\"><tb id=\"0\" send=\"0\" recv=\"0\" chan=\"0\">"
      "<step s=\"0\" type=\"s\" srcbuf=\"o\" srcoff=\"1\" dstbuf=\"o\" dstoff=\"1\" cnt=\"1\" depid=\"-1\" deps=\"-1\" "
      "hasdep=\"0\"/>"
      "<step s=\"1\" type=\"r\" srcbuf=\"o\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\" "
      "hasdep=\"0\"/></tb></gpu></algo>");
  const Json row = row_of({"--fabric", "switch:2,latency=10ns,bandwidth=1GB/s", "--file", path, "--bytes", "2000"});
  EXPECT_EQ(row["collective"], "all_gather");
  EXPECT_DOUBLE_EQ(row["time_us"].get<double>(), 1.02);
}

}  // namespace
}  // namespace tutti::cli
