// SPDX-License-Identifier: Apache-2.0
// A fabric as a peer: its rows say what simulating the schedule says.
#include "peers/simulated/simulated_peer.hpp"

#include <functional>
#include <new>
#include <set>

#include <gtest/gtest.h>

#include "../base/temporary_folder.hpp"
#include "algorithms/full_name.hpp"
#include "algorithms/registry.hpp"
#include "base/digest.hpp"
#include "base/system/file.hpp"
#include "data/message_size.hpp"
#include "fabric/files/load.hpp"
#include "simulate/simulate.hpp"

namespace tutti::simulated {
namespace {

using harness::Row;
using harness::Value;

struct Case {
  std::string bench = "all_reduce";
  int num_ranks = 6;
  std::vector<std::pair<std::string, Value>> values = {{"bytes", Value(std::int64_t{6000})}};
  std::vector<harness::Setting> settings = {};
};

Row reckoned_by(const harness::Reckoner& peer, const Case& asked, const harness::MeasureOptions& options) {
  harness::Group group;
  group.num_ranks = asked.num_ranks;
  group.settings = asked.settings;
  Row row;
  row.bench = asked.bench;
  row.num_ranks = asked.num_ranks;
  row.point.values = asked.values;
  peer.reckon(group, options, row);
  return row;
}

Row reckoned(std::string_view fabric, const Case& asked, bool check = true) {
  const Environment environment;
  const auto peer = simulated_peer(fabric, environment);
  EXPECT_TRUE(peer.ok()) << peer.status().to_string();
  harness::MeasureOptions options;
  options.check = check;
  return reckoned_by(**peer, asked, options);
}

std::vector<harness::Setting> forced(const std::string& algorithm) {
  return {{"TUTTI_ALLREDUCE_ALGORITHM", algorithm}};
}

// The same case without the peer: 6000 bytes of f32.
double simulated(std::string_view bench, std::string_view name, const fabric::Fabric& fabric) {
  const Collective collective = *find_collective(bench);
  const Result<NamedAlgorithm> named = find_by_full_name(collective, name, fabric.num_ranks(), fabric.grid);
  EXPECT_TRUE(named.ok()) << named.status().to_string();
  const bool is_barrier = collective == Collective::barrier;
  const Result<simulate::Answer> answer =
      simulate::simulate(named->algorithm->make(named->request), fabric,
                         {.count = is_barrier ? 0 : elements_of_block(collective, fabric.num_ranks(), 6000, 4),
                          .element_size = is_barrier ? std::size_t{1} : std::size_t{4},
                          .staged = named->algorithm->channel == Channel::staged});
  EXPECT_TRUE(answer.ok()) << answer.status().to_string();
  return answer.ok() ? answer->time : -1;
}

// 2 · 5 steps of 1 us + 1000 B / 25 GB/s each.
TEST(SimulatedPeer, ARowIsOneSampleOfTheSimulation) {
  const Row row = reckoned("ring_1d:6,latency=1us,bandwidth=25GB/s", {.settings = forced("ring")});
  EXPECT_EQ(row.outcome, harness::Outcome::ok) << row.note;
  ASSERT_EQ(row.samples.size(), 1U);
  EXPECT_NEAR(row.samples[0], 10 * (1000 + 40), 1e-6);
  EXPECT_EQ(row.sync, harness::Sync::virtual_time);
  EXPECT_TRUE(row.is_checked);
  EXPECT_EQ(row.ran, "all_reduce ring (forced)");
  EXPECT_EQ(row.message->bytes, 6000);
  EXPECT_EQ(row.counters.at("count"), 1500);
  EXPECT_EQ(row.evidence.at("TUTTI_ALLREDUCE_ALGORITHM").obeyed, State::Obeyed::confirmed);
  EXPECT_FALSE(reckoned("ring_1d:6", {}, false).is_checked);
}

TEST(SimulatedPeer, TheVersionOfAGeneratedFabricIsOfWhatWasAsked) {
  const Environment environment;
  const auto version = [&](std::string_view words) { return (*simulated_peer(words, environment))->version(); };
  EXPECT_TRUE(version("ring_1d:4").ends_with(fmt::format("{:08x}", static_cast<std::uint32_t>(digest("ring_1d:4")))));
  EXPECT_NE(version("ring_1d:4"), version("ring_1d:4,latency=2us"));
  EXPECT_NE(version("h100_node"), version("h100_node,latency=2us"));
}

TEST(SimulatedPeer, EveryAlgorithmOfEveryBenchIsAsSimulated) {
  const fabric::Fabric fabric = *fabric::load_fabric("torus_2d:2x3,latency=1us,memory_bandwidth=10GB/s");
  int cells = 0;
  for (const char* bench : {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "all_to_all", "gather",
                            "scatter", "scan", "exclusive_scan", "barrier"}) {
    for (const harness::ForcedAlgorithm& algorithm : simulated_algorithms(bench)) {
      SCOPED_TRACE(fmt::format("{} {}", bench, algorithm.name));
      const Row row = reckoned(fabric.name, {.bench = bench, .settings = algorithm.settings});
      if (algorithm.name.starts_with("multicast")) {
        EXPECT_EQ(row.outcome, harness::Outcome::skipped);
        EXPECT_NE(row.note.find("needs one switch"), std::string::npos) << row.note;
        continue;
      }
      if (row.outcome == harness::Outcome::skipped) {
        EXPECT_NE(row.note.find("power of two"), std::string::npos) << row.note;
        continue;
      }
      EXPECT_EQ(row.outcome, harness::Outcome::ok) << row.note;
      EXPECT_TRUE(row.is_checked);
      ASSERT_EQ(row.samples.size(), 1U);
      EXPECT_DOUBLE_EQ(row.samples[0], simulated(bench, algorithm.name, fabric));
      ++cells;
    }
  }
  EXPECT_GE(cells, 38);
}

TEST(SimulatedPeer, ChoosesAsTheLibraryDoes) {
  const auto ran = [](std::int64_t bytes, std::vector<harness::Setting> settings = {}) {
    return reckoned("switch:8", {.num_ranks = 8, .values = {{"bytes", Value(bytes)}}, .settings = std::move(settings)})
        .ran;
  };
  EXPECT_EQ(ran(1024), "all_reduce one_shot (by size)");
  EXPECT_EQ(ran(1 << 20), "all_reduce two_shot_pull (by size)");
  EXPECT_EQ(ran(1 << 20, {{"BENCH_MEMORY", "symmetric"}}), "all_reduce two_shot (by size, in symmetric memory)");
  EXPECT_EQ(ran(1 << 20, {{"TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE", "2M"}}), "all_reduce two_shot_pull (by size)")
      << "it takes nothing but a ring's place";
  EXPECT_EQ(ran(1024, {{"TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE", "-1"}}),
            "all_reduce ring_bidir_ag (by TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE)");
  EXPECT_EQ(ran(1 << 20, forced("centre(4x2)")), "all_reduce centre(4x2) (forced)");
}

// 70 us were published for one shot of 4 MB on 6 GPUs.
TEST(SimulatedPeer, PublishedTimesCorrectARowAndGiveItsInterval) {
  const auto row_of = [](const char* correction) {
    std::vector<harness::Setting> settings = forced("one_shot");
    settings.push_back({"BENCH_MEMORY", "symmetric"});
    settings.push_back({"BENCH_CORRECTION", correction});
    return reckoned("h100_node:8", {.values = {{"bytes", Value(std::int64_t{4} << 20)}}, .settings = settings});
  };
  const Row corrected = row_of("1");
  ASSERT_EQ(corrected.outcome, harness::Outcome::ok) << corrected.note;
  EXPECT_NEAR(corrected.samples.at(0), 70'000, 1000);
  const harness::Interval interval = *summarize(corrected).interval;
  EXPECT_LT(interval.low, 70'000);
  EXPECT_GT(interval.high, 70'000);
  // 47 us and 53 us were published of NCCL's ring on 6 GPUs, for 3 and 4 MB; nothing there is read by name.
  const Row ring =
      reckoned("h100_node:8", {.values = {{"bytes", Value(std::int64_t{4} << 20)}}, .settings = forced("ring")});
  EXPECT_TRUE(ring.counters.contains("simulated_us"));
  EXPECT_LT(summarize(ring).interval->low, ring.samples.at(0));
  const Row bare = row_of("0");
  EXPECT_DOUBLE_EQ(bare.samples.at(0), corrected.counters.at("simulated_us") * 1e3);
  EXPECT_EQ(summarize(bare).interval->low, bare.samples.at(0));
  EXPECT_EQ(row_of("maybe").outcome, harness::Outcome::error);
  EXPECT_FALSE(reckoned("ring_1d:6", {}).counters.contains("simulated_us")) << "nothing is published of it";
}

TEST(SimulatedPeer, GridsAreTheFabrics) {
  const auto on = [](std::string_view fabric, int ranks, const std::string& algorithm) {
    const Row row = reckoned(fabric, {.num_ranks = ranks, .settings = forced(algorithm)});
    return row.outcome == harness::Outcome::skipped ? row.note : row.ran;
  };
  EXPECT_EQ(on("torus_2d:8x2", 16, "bucket_2d"), "all_reduce bucket_2d(8x2) (forced)");
  EXPECT_EQ(on("torus_2d:8x2", 16, "bucket_2d(2x8)"), "all_reduce bucket_2d(2x8) (forced)");
  EXPECT_EQ(on("torus_2d:8x2", 4, "bucket_2d"), "all_reduce bucket_2d(2x2) (forced)") << "of four of its ranks";
  EXPECT_EQ(on("switch:16", 16, "bucket_2d"), "all_reduce bucket_2d(4x4) (forced)");
  EXPECT_EQ(on("switch:2,inner=packages:3x2x1", 12, "centre"), "all_reduce centre(3x2) (forced)");
  EXPECT_EQ(on("switch:6", 6, "bucket_2d"),
            "bucket_2d: no grid is given, and 6 ranks are no square; say bucket_2d(WxH)");
}

TEST(SimulatedPeer, SkipsWithReasonsWhatItCannotDo) {
  const auto note = [](std::string_view fabric, const Case& asked) {
    const Row row = reckoned(fabric, asked);
    EXPECT_EQ(row.outcome, harness::Outcome::skipped);
    return row.note;
  };
  EXPECT_EQ(note("switch:4", {}), "switch:4 has 4 ranks");
  EXPECT_EQ(note("switch:6", {.values = {{"bytes", Value(std::int64_t{2})}}}), "2 bytes hold no f32");
  EXPECT_EQ(note("switch:1", {}), "switch:1 has 1 rank");
  EXPECT_NE(note("switch:6,queue_slots=1,queue_slot_bytes=2", {.settings = forced("ring")}).find("too small"),
            std::string::npos);
}

TEST(SimulatedPeer, TakesSchedulesFromFiles) {
  const std::string file = "file:" TUTTI_SOURCE_DIR "/examples/my_all_reduce.sched";
  const Row row = reckoned("switch:4,latency=1us", {.num_ranks = 4, .settings = forced(file)});
  EXPECT_EQ(row.outcome, harness::Outcome::ok) << row.note;
  EXPECT_TRUE(row.is_checked);
  EXPECT_EQ(row.ran, "all_reduce square (forced)");
  EXPECT_EQ(reckoned("switch:6", {.settings = forced(file)}).outcome, harness::Outcome::error) << "it is for 4 ranks";
  const Row nowhere = reckoned("switch:6", {.settings = forced("file:/nowhere")});
  EXPECT_EQ(nowhere.outcome, harness::Outcome::error);
  EXPECT_NE(nowhere.note.find("No such file"), std::string::npos) << nowhere.note;
}

TEST(SimulatedPeer, TooLittleMemoryCostsItsOwnCase) {
  const Environment environment;
  const auto peer = simulated_peer("switch:4", environment);
  ASSERT_TRUE(peer.ok());
  harness::MeasureOptions options;
  options.is_interrupted = []() -> bool { throw std::bad_alloc(); };
  const Row row = reckoned_by(**peer, {.bench = "barrier", .num_ranks = 4, .values = {}}, options);
  EXPECT_EQ(row.outcome, harness::Outcome::error);
  EXPECT_EQ(row.note, "there is not enough memory for this");
}

TEST(SimulatedPeer, WhatIsWrongIsAnError) {
  const auto note = [](const Case& asked) {
    const Row row = reckoned("switch:6", asked);
    EXPECT_EQ(row.outcome, harness::Outcome::error);
    return row.note;
  };
  EXPECT_NE(note({.settings = forced("rng")}).find("TUTTI_ALLREDUCE_ALGORITHM"), std::string::npos);
  EXPECT_NE(note({.settings = {{"BENCH_MEMORY", "wet"}}}).find("it takes ordinary or symmetric"), std::string::npos);
  EXPECT_NE(note({.values = {{"bytes", Value(std::int64_t{-1})}}}).find("axis bytes is '-1'"), std::string::npos);
  EXPECT_NE(note({.values = {{"bytes", Value("much")}}}).find("axis bytes is 'much'"), std::string::npos);
  const Environment environment;
  EXPECT_FALSE(simulated_peer("switsch:4", environment).ok());
}

// A rank's own block: 8000 B, read and written at 1 B/ns, which a call in place need not move.
TEST(SimulatedPeer, InPlaceARankLeavesItsOwnBlockWhereItLies) {
  const auto time = [](std::int64_t in_place) {
    return reckoned("switch:4,memory_bandwidth=1GB/s",
                    {.bench = "all_gather",
                     .num_ranks = 4,
                     .values = {{"bytes", Value(std::int64_t{32'000})}, {"in_place", Value(in_place)}},
                     .settings = {{"TUTTI_ALLGATHER_ALGORITHM", "ring"}}})
        .samples.at(0);
  };
  EXPECT_NEAR(time(0) - time(1), 16'000, 1e-6);
}

TEST(SimulatedPeer, ARootIsObeyed) {
  const auto time = [](std::int64_t root) {
    return reckoned("mesh_2d:3x1,latency=1us", {.bench = "broadcast",
                                                .num_ranks = 3,
                                                .values = {{"bytes", Value(std::int64_t{8})}, {"root", Value(root)}},
                                                .settings = {{"TUTTI_BROADCAST_ALGORITHM", "direct"}}})
        .samples.at(0);
  };
  EXPECT_GT(time(0), time(1));
  EXPECT_DOUBLE_EQ(time(0), time(2));
}

TEST(SimulatedPeer, ObeysWhatChoosesAlgorithms) {
  const Environment environment;
  const auto peer = simulated_peer("switch:4", environment);
  ASSERT_TRUE(peer.ok());
  for (const char* name :
       {"TUTTI_ALLREDUCE_ALGORITHM", "TUTTI_BARRIER_ALGORITHM", "BENCH_MEMORY", "TUTTI_STAGING_DEPTH",
        "TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE", "NCCL_CTRAN_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE"})
    EXPECT_TRUE((*peer)->obeys(name)) << name;
  for (const char* name : {"TUTTI_SPIN", "NCCL_ALGO", "FOO", ""}) EXPECT_FALSE((*peer)->obeys(name)) << name;
}

// Whether the rows of a run begun with one may go on with the other.
TEST(SimulatedPeer, WhatDecidesItsTimesTellsRunsApart) {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("mine.sched", "one");
  const auto digest_of = [](const Environment& environment, std::vector<harness::Setting> settings = {}) {
    harness::Group group;
    group.num_ranks = 4;
    group.settings = std::move(settings);
    return (*simulated_peer("switch:4", environment))->settings_digest(group);
  };
  const Environment none;
  EXPECT_EQ(digest_of(none), digest_of({{"TUTTI_TIMEOUT", "5s"}, {"HOME", "/nowhere"}})) << "times are the same";
  std::set<std::uint64_t> seen = {digest_of(none)};
  const auto is_new = [&](std::uint64_t digest) { return seen.insert(digest).second; };
  EXPECT_TRUE(is_new(digest_of({{"TUTTI_ALLREDUCE_ALGORITHM", "ring"}})));
  EXPECT_TRUE(is_new(digest_of({{"BENCH_MEMORY", "symmetric"}})));
  EXPECT_TRUE(is_new(digest_of(none, {{"TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE", "1M"}})));
  EXPECT_EQ(digest_of(none, forced("ring")), digest_of({{"TUTTI_ALLREDUCE_ALGORITHM", "ring"}}));
  const Environment with_file = {{"TUTTI_ALLREDUCE_ALGORITHM", "file:" + file}};
  EXPECT_TRUE(is_new(digest_of(with_file)));
  folder.write("mine.sched", "two");
  EXPECT_TRUE(is_new(digest_of(with_file)));
  EXPECT_TRUE(is_new(digest_of({{"TUTTI_ALLREDUCE_ALGORITHM", "rng"}}))) << "what is wrong is told by the rows";
}

TEST(SimulatedPeer, TellsWhatItMakesOfItsVariables) {
  using Obeyed = State::Obeyed;
  const auto row = [](std::vector<harness::Setting> settings, const std::string& bench = "all_reduce") {
    return reckoned("switch:6", {.bench = bench, .settings = std::move(settings)});
  };
  const harness::Setting both_ways = {"TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE", "1M"};
  const harness::Setting two_shot = {"TUTTI_ALLREDUCE_ALGORITHM", "two_shot"};
  const auto obeyed = [&](const harness::Setting& of, const std::vector<harness::Setting>& settings,
                          const std::string& bench = "all_reduce") {
    const Row made = row(settings, bench);
    EXPECT_EQ(made.outcome, harness::Outcome::ok) << made.note;
    return made.evidence.at(of.name).obeyed;
  };
  EXPECT_EQ(obeyed(both_ways, {{"BENCH_MEMORY", "ordinary"}, both_ways}), Obeyed::unverifiable) << "it is a small one";
  EXPECT_EQ(obeyed(both_ways, {both_ways, two_shot}), Obeyed::unverifiable);
  EXPECT_EQ(obeyed(two_shot, {both_ways, two_shot}), Obeyed::confirmed);
  EXPECT_EQ(obeyed(both_ways, {both_ways}, "broadcast"), Obeyed::unverifiable);
  EXPECT_EQ(obeyed(two_shot, {two_shot}, "broadcast"), Obeyed::unverifiable);

  EXPECT_EQ(row({two_shot}).ran,
            "all_reduce two_shot (forced, which the library would not follow: it needs both buffers in symmetric "
            "memory)");
  EXPECT_EQ(row({{"BENCH_MEMORY", "symmetric"}, two_shot}).ran, "all_reduce two_shot (forced)");
  EXPECT_EQ(obeyed({both_ways.name, "-1"}, {{both_ways.name, "-1"}}), Obeyed::confirmed);
  const Row many = reckoned("switch:1025", {.num_ranks = 1025, .settings = forced("ring")}, false);
  EXPECT_EQ(many.ran,
            "all_reduce ring (forced, which the library would not follow: 1024 ranks are the most on a host)");
  const Row refused = row({{"BENCH_MEMORY", "ordinary"}, two_shot});
  EXPECT_EQ(refused.outcome, harness::Outcome::skipped);
  EXPECT_EQ(refused.note, "two_shot needs both buffers in symmetric memory, and BENCH_MEMORY says ordinary");
}

TEST(SimulatedPeer, ObeysATableOfItsFabric) {
  using Obeyed = State::Obeyed;
  const test::TemporaryFolder folder;
  const std::string text =
      "version = 1\npeer = \"simulate:switch:6\"\n[machine]\nfingerprint = \"any\"\n[[section]]\n"
      "collective = \"all_reduce\"\nranks = 6\n[[section.range]]\nmost_bytes = \"4K\"\nalgorithm = "
      "\"recursive_doubling\"\n"
      "[[section.range]]\nmost_bytes = \"64K\"\nalgorithm = \"two_shot\"\n[[section.range]]\nalgorithm = \"ring\"\n";
  const harness::Setting table = {"TUTTI_TABLE", folder.write("six.toml", text)};
  const auto row = [&](std::int64_t bytes, std::vector<harness::Setting> settings, int num_ranks = 6) {
    return reckoned("switch:6",
                    {.num_ranks = num_ranks, .values = {{"bytes", Value(bytes)}}, .settings = std::move(settings)});
  };
  const Row small = row(4096, {table});
  EXPECT_EQ(small.ran, fmt::format("all_reduce recursive_doubling ({}:10)", *table.value)) << small.note;
  EXPECT_EQ(small.evidence.at("TUTTI_TABLE").obeyed, Obeyed::confirmed);
  EXPECT_EQ(small.samples, row(4096, forced("recursive_doubling")).samples);
  // What a range's way cannot do goes to the next one's.
  EXPECT_EQ(row(6000, {table}).ran,
            fmt::format("all_reduce ring ({0}:15; two_shot ({0}:13) cannot be followed: it needs both buffers in "
                        "symmetric memory)",
                        *table.value));
  EXPECT_EQ(row(1 << 20, {table}, 4).ran, fmt::format("all_reduce ring ({}:15, tuned with 6 ranks)", *table.value));
  // A forced algorithm takes precedence, and so does the variable that decides between the rings.
  const harness::Setting both_ways = {"TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE", "2M"};
  const Row ring = row(1 << 20, {table, both_ways});
  EXPECT_EQ(ring.ran, "all_reduce ring_bidir_ag (by TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE)");
  EXPECT_EQ(ring.evidence.at("TUTTI_TABLE").obeyed, Obeyed::unverifiable);
  EXPECT_EQ(ring.evidence.at(both_ways.name).obeyed, Obeyed::confirmed);
  EXPECT_NE(row(64, {table, {both_ways.name, "-1"}}).ran.find("ring_bidir_ag"), std::string::npos);
  EXPECT_EQ(row(4096, {table, forced("ring").front()}).evidence.at("TUTTI_TABLE").obeyed, Obeyed::unverifiable);
  // That of another fabric is passed over, and the row says so.
  std::string others = text;
  others.replace(others.find("any"), 3, "0123456789abcdef");
  const Row other = row(4096, {{"TUTTI_TABLE", folder.write("other.toml", others)}});
  EXPECT_EQ(other.ran, row(4096, {}).ran);
  EXPECT_EQ(other.evidence.at("TUTTI_TABLE").obeyed, Obeyed::unverifiable);
  EXPECT_NE(other.evidence.at("TUTTI_TABLE").how.find("is not obeyed"), std::string::npos);
  EXPECT_NE(row(4096, {{"TUTTI_TABLE", folder.write("bad.toml", "version = 7")}}).note.find("version"),
            std::string::npos);
}

// By the same peer in turn: what was found out for one case does not spoil another.
TEST(SimulatedPeer, RemembersNothingThatWouldBeWrong) {
  const Environment environment;
  const auto peer = *simulated_peer("switch:64", environment);
  const auto row = [&](const Case& asked, const std::function<bool()>& is_interrupted) {
    harness::MeasureOptions options;
    options.is_interrupted = is_interrupted;
    return reckoned_by(*peer, asked, options);
  };
  const Case large = {.num_ranks = 64, .values = {{"bytes", Value(std::int64_t{1 << 20})}}};
  EXPECT_NE(row(large, [] { return true; }).outcome, harness::Outcome::ok);
  EXPECT_EQ(row(large, []() -> bool { throw std::bad_alloc(); }).note, "there is not enough memory for this");
  const harness::Setting both_ways = {"TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE", "-1"};
  const harness::Setting few_slots = {"TUTTI_STAGING_DEPTH", "8"};
  for (const int num_ranks : {64, 8, 64, 1})
    for (const std::int64_t bytes : {64, 1 << 20})
      for (const char* bench : {"all_reduce", "all_gather"})
        for (const auto& settings : {std::vector<harness::Setting>(),
                                     {both_ways},
                                     {few_slots},
                                     {{"BENCH_MEMORY", "symmetric"}},
                                     forced("swing")}) {
          const Case asked = {bench, num_ranks, {{"bytes", Value(bytes)}}, settings};
          SCOPED_TRACE(fmt::format("{} {} ranks, {} bytes", bench, num_ranks, bytes));
          const Row fresh = reckoned("switch:64", asked);
          const Row again = row(asked, [] { return false; });
          EXPECT_EQ(again.ran, fresh.ran);
          EXPECT_EQ(again.samples, fresh.samples);
        }
}

// The rows of a run are of what was there when it began.
TEST(SimulatedPeer, AFileThatChangesMeanwhileIsAnotherRuns) {
  const test::TemporaryFolder folder;
  const test::TemporaryFolder empty;
  const std::string text = *read_file(TUTTI_SOURCE_DIR "/examples/my_all_reduce.sched", 1 << 20);
  const Environment environment = {{"TUTTI_ALLREDUCE_ALGORITHM", "file:" + folder.write("mine.sched", text)},
                                   {"HOME", empty.path()}};
  const auto peer = *simulated_peer("switch:4", environment);
  harness::Group group;
  group.num_ranks = 4;
  const std::uint64_t digest = peer->settings_digest(group);
  folder.write("mine.sched", "something else");
  EXPECT_EQ(peer->settings_digest(group), digest);
  const Row row = reckoned_by(*peer, {.num_ranks = 4, .values = {{"bytes", Value(std::int64_t{4096})}}}, {});
  EXPECT_EQ(row.ran, "all_reduce square (forced)") << row.note;
  EXPECT_NE((*simulated_peer("switch:4", environment))->settings_digest(group), digest);
}

}  // namespace
}  // namespace tutti::simulated
