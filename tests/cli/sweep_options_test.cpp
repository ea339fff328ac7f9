// SPDX-License-Identifier: Apache-2.0
// A sweep's values are checked before anything starts.
#include "cli/bench/sweep/sweep_options.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "bench/axes/declaration.hpp"
#include "calling.hpp"
#include "cli/bench/bench_commands.hpp"
#include "peers/collectives.hpp"

namespace tutti::cli {
namespace {

// The collectives, with a peer that exists and never starts.
BenchWorld world_of_collectives() {
  BenchWorld world;
  world.benches = peers::collective_benches(nullptr);
  world.peers = {{.name = "tutti", .package = ""}};
  world.default_peers = "tutti";
  world.look_for = [](const std::string&) -> Result<std::string> { return std::string("here"); };
  world.program_of = [](std::string_view name) {
    return harness::PeerProgram{
        .name = std::string(name), .program = {"/bin/false"}, .launcher = harness::Launcher::local};
  };
  return world;
}

Outcome dry_run(std::vector<std::string> arguments) {
  const BenchWorld world = world_of_collectives();
  arguments.insert(arguments.end(), {"--dry-run", "--no-store"});
  return call(run_command(world), arguments);
}

std::string refusal(std::vector<std::string> arguments) {
  const Outcome outcome = dry_run(std::move(arguments));
  EXPECT_EQ(outcome.exit, Exit::misused) << outcome.out;
  return outcome.error.substr(0, outcome.error.find('\n'));
}

TEST(SweepOptions, AnInvalidAxisValueIsRefused) {
  EXPECT_EQ(refusal({"all_reduce", "-a", "bytes=-8"}),
            "tutti run: -a bytes has '-8'; it takes sizes from 0 to 1T, such as 64 or 4M");
  EXPECT_EQ(refusal({"all_reduce", "-a", "bytes=8,8Q"}),
            "tutti run: -a bytes has '8Q'; it takes sizes from 0 to 1T, such as 64 or 4M");
  EXPECT_EQ(refusal({"all_gather", "-a", "in_place=2"}),
            "tutti run: -a in_place has '2'; it takes 0 (two buffers) and 1 (the input is the output's place)");
  EXPECT_EQ(refusal({"broadcast", "-a", "root=-1"}), "tutti run: -a root has '-1'; it takes ranks, from 0 on");
  EXPECT_EQ(refusal({"all_reduce", "-a", "op=user"}),
            "tutti run: -a op has 'user'; it needs more than a name, so no bench measures it");
  EXPECT_NE(refusal({"all_reduce", "-a", "tutti:bytes=1.5"}).find("has '1.5'"), std::string::npos);
  EXPECT_NE(refusal({"all_reduce", "--skip", "bytes=8Q"}).find("--skip bytes has '8Q'"), std::string::npos);
}

TEST(SweepOptions, EveryAxisOfEveryCollectiveHasACheck) {
  for (const Bench& bench : peers::collective_benches(nullptr))
    for (const harness::Axis& axis : bench.declaration().axes)
      EXPECT_NE(refusal({bench.declaration().name, "-a", axis.name + "=no_such_value"}).find("no_such_value"),
                std::string::npos)
          << bench.declaration().name << " " << axis.name;
}

TEST(SweepOptions, AnUnknownTypeIsRefusedWithAListOfTypes) {
  const std::string why = refusal({"all_reduce", "-a", "type=f31"});
  EXPECT_NE(why.find("there are: i8, u8, i32,"), std::string::npos) << why;
  EXPECT_NE(refusal({"all_reduce", "-a", "op=add"}).find("there are: sum, product,"), std::string::npos);
}

TEST(SweepOptions, OtherLibrariesNamesBecomeTuttis) {
  const Outcome outcome = dry_run({"all_reduce", "-a", "bytes=64", "-a", "type=float,ncclDouble", "-a", "op=MPI_MAX"});
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_NE(outcome.out.find("bytes=64, type=f32, op=maximum,"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("bytes=64, type=f64, op=maximum,"), std::string::npos) << outcome.out;
  EXPECT_NE(refusal({"all_reduce", "-a", "type=float,f32"}).find("has a value twice"), std::string::npos);
  const Outcome skipped = dry_run({"all_reduce", "-a", "bytes=64", "-a", "type=f32,f64", "--skip", "type=MPI_FLOAT"});
  EXPECT_EQ(count_of(skipped.out, "(skipped:"), 1U) << skipped.out;
  EXPECT_NE(dry_run({"all_reduce", "-a", "bytes=1e6"}).out.find("bytes=1000000,"), std::string::npos);
}

TEST(SweepOptions, AUserBenchCanCheckItsAxes) {
  BenchWorld world = world_of_collectives();
  world.benches = {bench("own").num_ranks({1}).axis("speed", {"slow"}).check("speed", [](const AxisValue& value) {
    const auto* word = std::get_if<std::string>(&value);
    return word != nullptr && (*word == "slow" || *word == "fast") ? "" : "it takes slow and fast";
  })};
  const Outcome outcome = call(run_command(world), {"own", "-a", "speed=faster", "--dry-run"});
  EXPECT_EQ(outcome.exit, Exit::misused);
  EXPECT_NE(outcome.error.find("-a speed has 'faster'; it takes slow and fast"), std::string::npos) << outcome.error;
  EXPECT_EQ(call(run_command(world), {"own", "-a", "speed=fast", "--dry-run"}).exit, Exit::done);
  world.benches[0].axis("size", {-1}).check("size", [](const AxisValue& value) {
    return std::get<std::int64_t>(value) > 0 ? "" : "it takes sizes above 0";
  });
  EXPECT_NE(call(run_command(world), {"own", "--dry-run"}).error.find("bench own: axis size has '-1'"),
            std::string::npos)
      << "declared values, too";
}

TEST(SweepOptions, SizesAsNcclTestsSayThem) {
  const Outcome outcome = dry_run({"all_reduce", "-b", "8", "-e", "2K", "-f", "4"});
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_EQ(count_of(outcome.out, "bytes="), 5U) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "bytes=8,") && contains(outcome.out, "bytes=2048,")) << outcome.out;
  EXPECT_EQ(count_of(dry_run({"all_reduce", "-b", "8", "-e", "64"}).out, "bytes="), 4U) << "doubling";
  EXPECT_TRUE(contains(refusal({"all_reduce", "-b", "8"}), "-b and -e say the least and the greatest size together"));
  EXPECT_TRUE(contains(refusal({"all_reduce", "-f", "2"}), "-b and -e say"));
  EXPECT_TRUE(contains(refusal({"all_reduce", "-b", "8", "-e", "64", "-f", "1"}), "-f is '1'"));
  EXPECT_TRUE(contains(refusal({"all_reduce", "-b", "8", "-e", "x"}), "-e"));
  EXPECT_TRUE(contains(refusal({"all_reduce", "-b", "8", "-e", "64", "-a", "bytes=8"}), "leave out one"));
}

TEST(SweepOptions, AnEmptyValueIsRefused) {
  for (const char* option : {"--peer", "--bench", "--budget", "--launches", "--bytes", "--num-ranks", "--sweep"})
    EXPECT_EQ(refusal({option, ""}), fmt::format("tutti run: {}: '' says nothing", option));
  EXPECT_TRUE(contains(refusal({"--peer", "tutti,"}), "--peer has ''"));
  EXPECT_TRUE(contains(refusal({"--peer", "tutti,,tutti"}), "--peer has ''"));
  EXPECT_TRUE(contains(refusal({"-a", "bytes=8,,64"}), "has an empty value"));
}

TEST(SweepOptions, TheHelpIsInGroupsAndHasDefaults) {
  const BenchWorld world = world_of_collectives();
  const std::string help = call(run_command(world), {"--help"}).out;
  for (const char* heading : {"What is measured:", "How it is measured:", "A program instead of a bench:",
                              "The bench communicators:", "What is kept and shown:"})
    EXPECT_EQ(count_of(help, heading), 1U) << heading << help;
  std::string blanks = help;
  std::replace(blanks.begin(), blanks.end(), '\n', ' ');
  std::string in_one_line;  // however it is wrapped
  for (const std::string_view word : split(blanks, ' '))
    if (!word.empty()) in_one_line.append(word).append(" ");
  for (const char* usual : {"[tutti]", "[all_reduce]", "[2]", "[1s]", "[2%]", "[20]", "[1; to compare: 8]"})
    EXPECT_TRUE(contains(in_one_line, usual)) << usual << help;
}

// Each launch of a comparison has a part of the budget, and processes are started in less than half a second.
TEST(SweepOptions, WhatIsAnnouncedIsWhatItTakes) {
  const BenchWorld world = world_of_collectives();
  const std::vector<std::string> sweep = {"--peer", "tutti,tutti", "--dry-run", "--no-store"};
  const std::string compared = call(compare_command(world), sweep).error;
  EXPECT_TRUE(contains(compared, "16 groups, 128 cases, about 11 s")) << compared;
  const std::string run = call(run_command(world), sweep).error;
  EXPECT_TRUE(contains(run, "2 groups, 16 cases, about 2 s")) << run;
}

TEST(List, ShowsTypesAndOperatorsWithTheirNames) {
  const BenchWorld world = world_of_collectives();
  const Outcome types = call(list_command(world), {"types", "--format", "csv"});
  EXPECT_EQ(types.exit, Exit::done);
  EXPECT_NE(types.out.find("f32,4,\"float, float32, fp32, ncclFloat, ncclFloat32, MPI_FLOAT\""), std::string::npos)
      << types.out;
  const Outcome operators = call(list_command(world), {"operators", "--format", "csv"});
  EXPECT_NE(operators.out.find("product,all,\"prod, ncclProd, MPI_PROD\""), std::string::npos) << operators.out;
  EXPECT_NE(operators.out.find("bit_and,integers,\"band, MPI_BAND\""), std::string::npos) << operators.out;
  EXPECT_NE(call(list_command(world), {"typs"}).error.find("algorithms, types, operators,"), std::string::npos);
}

}  // namespace
}  // namespace tutti::cli
