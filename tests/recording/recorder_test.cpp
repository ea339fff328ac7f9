// SPDX-License-Identifier: Apache-2.0
// What a recorder counts and measures, by a clock of the test's.
#include "recording/recorder.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace tutti {
namespace {

std::int64_t now = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): the clock is a function
std::int64_t clock_of_test() { return now; }

Recorder::Options without_files() { return {.ranks = 2, .clock = clock_of_test}; }

Recorder::Key key(std::uint64_t site, std::uint64_t count) {
  return Recorder::key_of(reinterpret_cast<const void*>(site), Collective::all_reduce, Type::f32, count, 0);
}

// As the API does; the call takes so long.
void call(Recorder& recorder, const Recorder::Key& what, std::int64_t nanoseconds, std::int64_t gap = 0,
          bool is_done = true) {
  now += gap;
  const Recorder::Call one = recorder.begin(what);
  now += nanoseconds;
  recorder.end(one, is_done);
}

TEST(Recorder, CountsEachSiteAndSizeExactly) {
  Recorder recorder(without_files());
  std::map<std::uint64_t, std::uint64_t> expected;
  std::mt19937 random(20261125);
  for (int turn = 0; turn < 200000; ++turn) {
    // Runs of one kind, and changes between many.
    const std::uint64_t count = 1 + random() % 300;
    const std::uint64_t run = random() % 8;
    for (std::uint64_t again = 0; again < run; ++again) call(recorder, key(0, count), 200);
    expected[count] += run;
  }
  std::erase_if(expected, [](const auto& each) { return each.second == 0; });
  const Part part = recorder.part();
  ASSERT_EQ(part.calls.size(), expected.size());
  for (const PartCall& each : part.calls) EXPECT_EQ(each.calls, expected[each.count]) << each.count;
}

TEST(Recorder, KeepsWhatIsCalledApart) {
  Recorder recorder(without_files());
  const auto at = [](Collective collective, Type type, std::uint64_t count, std::uint32_t root) {
    return Recorder::key_of(nullptr, collective, type, count, root);
  };
  call(recorder, at(Collective::scatter_v, Type::f8e5m2, Recorder::kMostCount, 1), 1);
  call(recorder, at(Collective::scatter_v, Type::f8e5m2, Recorder::kMostCount, (1U << 20U) - 1), 1);
  call(recorder, at(Collective::scatter_v, Type::f64, Recorder::kMostCount, 1), 1);
  call(recorder, at(Collective::gather, Type::f64, Recorder::kMostCount, 1), 1);
  const Part part = recorder.part();
  ASSERT_EQ(part.calls.size(), 4U);
  EXPECT_EQ(part.calls[0].collective, Collective::scatter_v);
  EXPECT_EQ(part.calls[0].type, Type::f8e5m2);
  EXPECT_EQ(part.calls[0].count, Recorder::kMostCount);
  EXPECT_EQ(part.calls[0].root, 1U);
  EXPECT_EQ(part.calls[1].root, (1U << 20U) - 1);
  EXPECT_EQ(part.calls[2].type, Type::f64);
  EXPECT_EQ(part.calls[3].collective, Collective::gather);
}

TEST(Recorder, FailedCallsDoNotCount) {
  Recorder recorder(without_files());
  for (int turn = 0; turn < 1000; ++turn) call(recorder, key(0, 1), 200, 0, turn % 3 != 0);
  for (int turn = 0; turn < 100; ++turn)
    if (recorder.count_again(key(0, 1))) recorder.take_back();
  EXPECT_EQ(recorder.part().calls.at(0).calls, 666U);
}

TEST(Recorder, TimesAreMeansThoughFewCallsAreClocked) {
  Recorder recorder(without_files());
  for (int turn = 0; turn < 300000; ++turn) {
    call(recorder, key(0, 1), 250, 750);
    call(recorder, key(0, 2), 40000, 3000);
  }
  const Part part = recorder.part();
  ASSERT_EQ(part.calls.size(), 2U);
  EXPECT_NEAR(part.calls[0].time_us, 0.25, 0.001);
  EXPECT_NEAR(part.calls[0].compute_us, 0.75, 0.001);
  EXPECT_NEAR(part.calls[1].time_us, 40, 0.01);
  EXPECT_NEAR(part.calls[1].compute_us, 3, 0.001);
}

TEST(Recorder, RareDelaysDoNotStandForTheCallsThatAreNotClocked) {
  Recorder recorder(without_files());
  std::mt19937 random(20261125);
  double whole = 0;
  for (int turn = 0; turn < 1000000; ++turn) {
    const std::int64_t time = random() % 5000 == 0 ? 5'000'000 : 250;
    whole += static_cast<double>(time);
    call(recorder, key(0, 1), time);
  }
  const double mean_us = recorder.part().calls.at(0).time_us;
  EXPECT_GT(mean_us, 0.24);
  EXPECT_LT(mean_us, whole / 1e6 / 1e3);
}

TEST(Recorder, MoreKindsThanItHasRoomForAreCountedTogether) {
  Recorder recorder(without_files());
  for (std::uint64_t count = 1; count <= 20000; ++count) call(recorder, key(0, count), 200);
  const Part part = recorder.part();
  EXPECT_EQ(part.calls.size() + part.left_out, 20000U);
  EXPECT_GT(part.left_out, 0U);
}

TEST(Recorder, WaitsAndGroupsBelongToTheirCalls) {
  Recorder recorder(without_files());
  for (int turn = 0; turn < 10; ++turn) {
    now += 500;
    const Recorder::Call one = recorder.begin(key(0, 1));
    now += 100;
    recorder.end(one, true);
    ASSERT_TRUE(one.is_clocked) << "the first ones are";
    now += 2000;
    const std::int64_t start = recorder.begin_wait(*one.cell);
    now += 900;
    recorder.end_wait(*one.cell, start);
  }
  const Part part = recorder.part();
  EXPECT_NEAR(part.calls.at(0).time_us, 1.0, 0.001);
  EXPECT_NEAR(part.calls.at(0).compute_us, 2.5, 0.06) << "nothing is before the first";
}

// Of a call that is told of at its end, the time and the gap before it are what they were.
TEST(Recorder, CallsThatAreToldOfLateHaveTheirTimes) {
  Recorder recorder(without_files());
  for (int turn = 0; turn < 8; ++turn) {
    now += 500;
    const std::int64_t start = now;
    now += 100;
    const Recorder::Call one = recorder.begin_late(recorder.cell_of(key(0, 1)), start);
    ASSERT_TRUE(one.is_clocked) << "the first ones are";
    recorder.end(one, true);
  }
  const Part part = recorder.part();
  EXPECT_EQ(part.calls.at(0).calls, 8U);
  EXPECT_NEAR(part.calls[0].time_us, 0.1, 0.001);
  EXPECT_NEAR(part.calls[0].compute_us, 0.5, 0.001);
}

// Whoever has merged the folder has removed it: a rank that outlives that makes it anew for nobody.
TEST(Recorder, AFolderThatIsRemovedStaysSo) {
  const std::string folder = testing::TempDir() + "tutti_recorder_gone_" + std::to_string(getpid());
  std::string said;
  {
    Recorder recorder(
        {.folder = folder, .warn = [&](std::string_view words) { said = std::string(words); }, .clock = clock_of_test});
    call(recorder, key(0, 5), 200);
    recorder.write(false);
    EXPECT_TRUE(std::filesystem::exists(folder));
    std::filesystem::remove_all(folder);
  }
  EXPECT_FALSE(std::filesystem::exists(folder));
  EXPECT_EQ(said, "");
}

TEST(Recorder, WritesItsPartAndWhatItCannotWriteItSaysOnce) {
  const std::string folder = testing::TempDir() + "tutti_recorder_" + std::to_string(getpid());
  std::string said;
  {
    Recorder recorder({.folder = folder, .ranks = 3, .rank = 2, .line = 1, .clock = clock_of_test});
    call(recorder, key(0, 5), 200);
    Recorder lost({.folder = "/proc/nowhere",
                   .warn = [&](std::string_view words) { said += std::string(words) + "\n"; },
                   .clock = clock_of_test});
    call(lost, key(0, 5), 200);
    lost.write(true);
  }
  EXPECT_EQ(said, "cannot write '/proc/nowhere': No such file or directory\n");
  std::string name;
  for (const auto& each : std::filesystem::directory_iterator(folder)) {
    EXPECT_TRUE(name.empty()) << "one file";
    name = each.path();
  }
  EXPECT_TRUE(name.ends_with(kPartSuffix));
  std::ifstream file(name);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Result<Part> part = read_part(text, "p");
  std::filesystem::remove_all(folder);
  ASSERT_TRUE(part.ok()) << part.status().to_string();
  EXPECT_EQ(part->ranks, 3U);
  EXPECT_EQ(part->rank, 2U);
  EXPECT_EQ(part->line, 1U);
  EXPECT_TRUE(part->is_whole);
  EXPECT_EQ(part->process, static_cast<std::uint32_t>(getpid()));
  ASSERT_EQ(part->calls.size(), 1U);
  EXPECT_EQ(part->calls[0].count, 5U);
}

}  // namespace
}  // namespace tutti
