// SPDX-License-Identifier: Apache-2.0
// The frame of milestones: folders, rows, resuming, drawing again, and how a call that cannot be done is refused.
#include "cli/milestone/milestone.hpp"

#include <atomic>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "milestone_calling.hpp"

namespace tutti::cli {
namespace {

class MilestoneFrame : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> latency_into(const std::string& name) const {
    return {"milestone-ccl", "--part", "latency", "-o", folder_.file(name)};
  }
  // Only what follows from rows and does not say when they were made.
  [[nodiscard]] std::map<std::string, std::string> drawn_in(const std::string& name) const {
    std::map<std::string, std::string> files = files_in(folder_, name);
    std::erase_if(files, [](const auto& file) {
      return !file.first.ends_with(".csv") && !file.first.ends_with(".svg") && !file.first.ends_with(".md");
    });
    return files;
  }

  test::TemporaryFolder folder_;
};

TEST_F(MilestoneFrame, TheFolderHasWhatItsIndexNamesAndNoMore) {
  const Outcome outcome = run_milestone_with(latency_into("out"));
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  const nlohmann::json index = index_in(folder_, "out");
  ASSERT_TRUE(index.is_object());
  std::set<std::string> there;
  for (const auto& [name, text] : files_in(folder_, "out")) {
    there.insert(name);
    EXPECT_FALSE(text.empty()) << name;
  }
  EXPECT_EQ(there, named_files(index));
  EXPECT_EQ(index["milestone"], "milestone-ccl");
  EXPECT_EQ(index["right"], true);
  EXPECT_EQ(index["complete"], false) << "the other parts have no rows";
  EXPECT_EQ(index["parts"][0]["name"], "latency");
  EXPECT_EQ(index["parts"][0]["cases"], 39);
  EXPECT_TRUE(contains(index["parts"][0]["command"].get<std::string>(), "milestone-ccl --part latency"));
}

TEST_F(MilestoneFrame, DrawingAgainGivesTheSameBytes) {
  ASSERT_EQ(run_milestone_with(latency_into("out")).exit, Exit::done);
  const auto before = files_in(folder_, "out");
  const Outcome outcome = draw_again({"milestone-ccl", "-o", folder_.file("out")});
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_EQ(files_in(folder_, "out"), before);
}

TEST_F(MilestoneFrame, WhatWasInterruptedGoesOnAndComesOutEqual) {
  ASSERT_EQ(run_milestone_with(latency_into("whole")).exit, Exit::done);
  // As a kill leaves it: some lines, in any order, and the beginning of one.
  const std::string rows = folder_.read("whole/latency.jsonl");
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < rows.size();) {
    const std::size_t end = rows.find('\n', at);
    lines.push_back(rows.substr(at, end + 1 - at));
    at = end + 1;
  }
  ASSERT_EQ(lines.size(), 40U);
  folder_.write("cut/latency.csv.half-a1B2c3", "half of a file");
  folder_.write("cut/notes.md.backup", "the user's own");
  folder_.write("cut/latency.jsonl", lines[0] + lines[30] + lines[3] + lines[4].substr(0, lines[4].size() / 2));
  const Outcome outcome = run_milestone_with(latency_into("cut"));
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_TRUE(contains(outcome.error, "2 are done already")) << outcome.error;
  EXPECT_EQ(drawn_in("cut"), drawn_in("whole"));
  EXPECT_EQ(folder_.read("cut/latency.jsonl"), rows);
  EXPECT_FALSE(std::filesystem::exists(folder_.file("cut/latency.csv.half-a1B2c3")));
  EXPECT_TRUE(std::filesystem::exists(folder_.file("cut/notes.md.backup")));
}

TEST_F(MilestoneFrame, WhatIsCompleteIsMadeAnew) {
  ASSERT_EQ(run_milestone_with(latency_into("out")).exit, Exit::done);
  const auto before = drawn_in("out");
  const Outcome outcome = run_milestone_with(latency_into("out"));
  ASSERT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_FALSE(contains(outcome.error, "done already")) << outcome.error;
  EXPECT_EQ(drawn_in("out"), before);
}

TEST_F(MilestoneFrame, RowsThatAreNoneAreAnErrorToDrawAndAreMadeAnew) {
  folder_.write("out/latency.jsonl", "{\"milestone\":\"milestone-ccl\",\"part\":\"latency\",\"version\":9}\nrubbish\n");
  const Outcome refused = draw_again({"milestone-ccl", "-o", folder_.file("out")});
  EXPECT_EQ(refused.exit, Exit::misused);
  EXPECT_TRUE(contains(refused.error, "latency.jsonl was written by another version")) << refused.error;
  EXPECT_EQ(run_milestone_with(latency_into("out")).exit, Exit::done);
}

// As an upgrade leaves the rows of other parts.
TEST_F(MilestoneFrame, RowsOfAnotherVersionKeepNoOtherPartFromBeingDrawn) {
  const std::vector<std::string> topologies = {"milestone-ccl", "--part", "topologies", "-o", folder_.file("out")};
  ASSERT_EQ(run_milestone_with(topologies).exit, Exit::done);
  std::string rows = folder_.read("out/topologies.jsonl");
  rows.replace(rows.find("\"fabric\""), 8, "\"machine\"");
  folder_.write("out/topologies.jsonl", rows);
  const std::string figure = folder_.read("out/topology_ring_1d.svg");

  const Outcome outcome = run_milestone_with(latency_into("out"));
  EXPECT_EQ(outcome.exit, Exit::found_wrong) << "not all is right";
  EXPECT_TRUE(contains(outcome.error, "topologies: not drawn: ")) << outcome.error;
  EXPECT_TRUE(contains(outcome.error, "topologies.jsonl was written by another version of Tutti")) << outcome.error;
  EXPECT_TRUE(contains(outcome.error, "--part topologies makes its rows anew")) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "not drawn")) << outcome.out;
  EXPECT_TRUE(std::filesystem::exists(folder_.file("out/latency_ring_1d.svg")));
  EXPECT_EQ(folder_.read("out/topologies.jsonl"), rows) << "an older Tutti still draws them";
  EXPECT_EQ(folder_.read("out/topology_ring_1d.svg"), figure);
  EXPECT_TRUE(contains(folder_.read("out/report.html"), "The part topologies is not drawn"));
  const nlohmann::json index = index_in(folder_, "out");
  EXPECT_EQ(index["right"], false);
  EXPECT_EQ(index["complete"], false);
  ASSERT_EQ(index["parts"].size(), 1U);
  EXPECT_EQ(index["parts"][0]["right"], true);
  ASSERT_EQ(index["undrawn_parts"].size(), 1U);
  EXPECT_EQ(index["undrawn_parts"][0]["name"], "topologies");
  EXPECT_TRUE(contains(index["undrawn_parts"][0]["reason"].get<std::string>(), "another version of Tutti"));
  EXPECT_TRUE(contains(index["undrawn_parts"][0].dump(), "topology_ring_1d.svg"));

  EXPECT_EQ(run_milestone_with(topologies).exit, Exit::done);
  EXPECT_EQ(index_in(folder_, "out")["right"], true);
  EXPECT_TRUE(index_in(folder_, "out")["undrawn_parts"].empty());
}

// Whatever a file of rows holds, it is drawn or refused.
TEST_F(MilestoneFrame, RowsWithAnyCellsAreDrawnOrRefused) {
  ASSERT_EQ(run_milestone_with({"milestone-ccl", "-o", folder_.file("out")}).exit, Exit::done);
  std::size_t num_refused = 0;
  const nlohmann::json index = index_in(folder_, "out");
  for (const nlohmann::json& part : index["parts"]) {
    const std::string name = "out/" + part["name"].get<std::string>() + ".jsonl";
    const std::string whole = folder_.read(name);
    const std::size_t line = whole.find('\n') + 1;
    const nlohmann::json first = nlohmann::json::parse(whole.substr(0, line));
    for (const nlohmann::json& column : first["columns"])
      for (const nlohmann::json& cell : {nlohmann::json(), nlohmann::json(-1)}) {
        SCOPED_TRACE(name + ": " + column.dump() + " is " + cell.dump());
        std::string rows = whole.substr(0, line);
        for (std::size_t at = line; at < whole.size();) {
          const std::size_t end = whole.find('\n', at);
          nlohmann::json one = nlohmann::json::parse(whole.substr(at, end - at));
          for (nlohmann::json& row : one["rows"]) row[column.get<std::string>()] = cell;
          rows += one.dump() + "\n";
          at = end + 1;
        }
        folder_.write("one/" + name.substr(4), rows);
        const Outcome outcome = draw_again({"milestone-ccl", "-o", folder_.file("one")});
        num_refused += outcome.exit == Exit::misused ? 1 : 0;
        EXPECT_TRUE(outcome.exit != Exit::misused || contains(outcome.error, "a row has no number as its"))
            << outcome.error;
      }
    std::filesystem::remove_all(folder_.file("one"));
  }
  EXPECT_GE(num_refused, 9U);
}

TEST_F(MilestoneFrame, WhatCouldNotBeDrawnIsNotMadeAgainForThat) {
  ASSERT_EQ(run_milestone_with(latency_into("out")).exit, Exit::done);
  const auto before = drawn_in("out");
  // As an end while it draws, or a full disk, leaves it.
  std::filesystem::remove(folder_.file("out/index.json"));
  const Outcome drawn = run_milestone_with(latency_into("out"));
  EXPECT_EQ(drawn.exit, Exit::done);
  EXPECT_TRUE(contains(drawn.error, "39 are done already")) << drawn.error;
  EXPECT_EQ(drawn_in("out"), before);
  // What cannot be drawn at all is.
  std::string rows = folder_.read("out/latency.jsonl");
  rows.replace(rows.rfind("\"bytes\":"), 8, "\"bytes\":\"\",\"byte\":");
  folder_.write("out/latency.jsonl", rows);
  EXPECT_EQ(draw_again({"milestone-ccl", "-o", folder_.file("out")}).exit, Exit::misused);
  const Outcome anew = run_milestone_with(latency_into("out"));
  EXPECT_EQ(anew.exit, Exit::done) << anew.error;
  EXPECT_FALSE(contains(anew.error, "done already")) << anew.error;
  EXPECT_EQ(drawn_in("out"), before);
}

TEST_F(MilestoneFrame, AFolderThatCannotBeIsRefused) {
  folder_.write("file", "");
  const Outcome file = run_milestone_with(latency_into("file"));
  EXPECT_EQ(file.exit, Exit::misused);
  EXPECT_TRUE(contains(file.error, "is not a folder")) << file.error;
  const Outcome below = run_milestone_with(latency_into("file/below"));
  EXPECT_EQ(below.exit, Exit::not_done);
  EXPECT_TRUE(contains(below.error, "cannot make the folder")) << below.error;
  folder_.write("other/index.json", "{\"milestone\": \"another\"}");
  const Outcome other = run_milestone_with(latency_into("other"));
  EXPECT_EQ(other.exit, Exit::misused);
  EXPECT_TRUE(contains(other.error, "is not the index of milestone-ccl")) << other.error;
}

// In the places of a milestone's files there may be anything.
TEST_F(MilestoneFrame, ForeignFilesAreRefusedByName) {
  const std::string heading =
      R"({"milestone":"milestone-ccl","part":"latency","version":1,"tutti":"0.1.0","columns":["topology","fabric",)"
      R"("root","ranks","elements","bytes","time_us","slowest_rank","checked"],"cases":["a"]})"
      "\n";
  const std::string nested(100'000, '[');
  for (const std::string& text :
       {std::string("SQLite format 3\0", 16) + std::string(84, '\0') + "\n", std::string("\n"), std::string("null\n"),
        nested + "\n", std::string("{\"milestone\":\"milestone-gemm\",\"part\":\"latency\",\"version\":1}\n"),
        heading + "[]\n", heading + "{\"case\":\"a\",\"rows\":[5]}\n", heading + "{\"case\":\"a\",\"rows\":[{}]}\n",
        heading + nested + "\n"}) {
    SCOPED_TRACE(text.substr(0, 300));
    folder_.write("out/latency.jsonl", text);
    const Outcome outcome = draw_again({"milestone-ccl", "-o", folder_.file("out")});
    EXPECT_EQ(outcome.exit, Exit::misused);
    EXPECT_TRUE(contains(outcome.error, "cannot draw latency: ")) << outcome.error;
    EXPECT_TRUE(contains(outcome.error, "latency.jsonl")) << outcome.error;
  }
  std::filesystem::remove(folder_.file("out/latency.jsonl"));
  ASSERT_EQ(::mkfifo(folder_.file("out/latency.jsonl").c_str(), 0600), 0);
  const Outcome pipe = draw_again({"milestone-ccl", "-o", folder_.file("out")});
  EXPECT_NE(pipe.exit, Exit::done);
  EXPECT_TRUE(contains(pipe.error, "latency.jsonl")) << pipe.error;
  for (const std::string& text :
       {std::string("rubbish"), std::string("[]"), nested, std::string("{\"milestone\": 5}")}) {
    folder_.write("other/index.json", text);
    const Outcome other = run_milestone_with(latency_into("other"));
    EXPECT_EQ(other.exit, Exit::misused);
    EXPECT_TRUE(contains(other.error, "index.json' is not the index of milestone-ccl")) << other.error;
  }
  folder_.write("strange/index.json",
                R"({"milestone":"milestone-ccl","parts":[5,{"name":7,"files":3}],"files":{"file":"../x"}})");
  EXPECT_EQ(run_milestone_with(latency_into("strange")).exit, Exit::done);
}

TEST_F(MilestoneFrame, WithoutRowsNothingIsDrawn) {
  std::filesystem::create_directory(folder_.file("empty"));
  const Outcome outcome = draw_again({"milestone-ccl", "-o", folder_.file("empty")});
  EXPECT_EQ(outcome.exit, Exit::not_done);
  EXPECT_TRUE(contains(outcome.error, "has no rows of milestone-ccl")) << outcome.error;
  EXPECT_TRUE(std::filesystem::is_empty(folder_.file("empty")));
}

TEST_F(MilestoneFrame, WrongArgumentsAreRefused) {
  const auto refusal = [&](std::vector<std::string> arguments) {
    const Outcome outcome = run_milestone_with(std::move(arguments));
    EXPECT_EQ(outcome.exit, Exit::misused) << outcome.out;
    return outcome.error.substr(0, outcome.error.find('\n'));
  };
  EXPECT_TRUE(contains(refusal({"milestone-ccl", "--part", "latncy"}),
                       "--part: 'latncy' is no part of milestone-ccl; the "
                       "nearest is 'latency'"));
  EXPECT_EQ(refusal({"milestone-ccl", "--peer", "tutti"}),
            "tutti run: milestone-ccl has configurations of its own: it takes -o, --full and --part, and no --peer");
  EXPECT_EQ(refusal({"--bench", "milestone-ccl", "-a", "bytes=8"}),
            "tutti run: milestone-ccl has configurations of its own: it takes -o, --full and --part, and no --axis");
  EXPECT_EQ(refusal({"all_reduce", "--full"}), "tutti run: --full is for milestones; 'tutti list benches' has them");
  const Outcome fast = run_in(Environment{{"MILESTONE_FAST", "yes"}}, latency_into("out"));
  EXPECT_EQ(fast.exit, Exit::misused);
  EXPECT_TRUE(contains(fast.error, "MILESTONE_FAST is 'yes'")) << fast.error;
  EXPECT_FALSE(std::filesystem::exists(folder_.file("out")));
}

// --- a milestone of the test's own

Part made_up_part(std::function<Result<std::vector<PartCase>>(const PartWorld& world)> cases) {
  return {.name = "made_up",
          .title = "Made up",
          .about = "of a test",
          .columns = {{"number"}, {"share"}, {"word"}, {"truth"}},
          .cases = std::move(cases),
          .show = [](const PartRows& rows) -> Result<PartShown> {
            return PartShown{.answer = {"There are " + std::to_string(rows.size()) + " rows."}};
          }};
}

Outcome run_made_up(Part part, const std::string& folder) {
  const Milestone milestone{.name = "milestone-test", .title = "Test", .about = "", .parts = {std::move(part)}};
  const BenchWorld world = world_of_milestones();
  const Environment environment;
  std::ostringstream out;
  std::ostringstream error;
  const Exit exit = run_milestone(milestone, {.folder = folder}, world, {environment, out, error});
  return {exit, out.str(), error.str()};
}

TEST_F(MilestoneFrame, CellsReadBackAsTheyWere) {
  const PartRow row = {std::int64_t{7}, 1.0 / 3, std::string("a,\"b\"\n"), true};
  const PartRow empty = {Cell(), Cell(), Cell(), Cell()};
  const auto part = made_up_part([&](const PartWorld&) -> Result<std::vector<PartCase>> {
    return std::vector<PartCase>{{.name = "one", .make = [&]() -> Result<std::vector<PartRow>> {
                                    return std::vector<PartRow>{row, empty};
                                  }}};
  });
  ASSERT_EQ(run_made_up(part, folder_.file("out")).exit, Exit::done);
  EXPECT_EQ(folder_.read("out/made_up.csv"),
            "number,share,word,truth\n7,0.3333333333333333,\"a,\"\"b\"\"\n\",true\n,,,\n");
  EXPECT_TRUE(
      contains(folder_.read("out/made_up.jsonl"),
               R"({"case":"one","rows":[{"number":7,"share":0.3333333333333333,"word":"a,\"b\"\n","truth":true})"));
  EXPECT_TRUE(contains(folder_.read("out/report.html"), "There are 2 rows."));
}

TEST_F(MilestoneFrame, ACaseThatFailsIsSaidAndTriedAgain) {
  std::atomic<int> calls = 0;
  const auto part = made_up_part([&](const PartWorld&) -> Result<std::vector<PartCase>> {
    return std::vector<PartCase>{{.name = "good",
                                  .make = [&]() -> Result<std::vector<PartRow>> {
                                    ++calls;
                                    return std::vector<PartRow>{{std::int64_t{1}, 1.0, std::string("x"), true}};
                                  }},
                                 {.name = "bad", .make = [&]() -> Result<std::vector<PartRow>> {
                                    ++calls;
                                    return Status(Code::system, "the disk is on fire");
                                  }}};
  });
  const Outcome outcome = run_made_up(part, folder_.file("out"));
  EXPECT_EQ(outcome.exit, Exit::found_wrong);
  EXPECT_TRUE(contains(outcome.error, "made_up: bad: the disk is on fire")) << outcome.error;
  const nlohmann::json index = index_in(folder_, "out");
  EXPECT_EQ(index["right"], false);
  EXPECT_EQ(index["parts"][0]["errors"][0]["case"], "bad");
  EXPECT_TRUE(contains(folder_.read("out/report.html"), "the disk is on fire"));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(run_made_up(part, folder_.file("out")).exit, Exit::found_wrong);
  EXPECT_EQ(calls, 3) << "what is good stays";
}

TEST_F(MilestoneFrame, APartThatThisMachineLacksIsLeftOutWithItsReason) {
  const auto part = made_up_part([](const PartWorld&) -> Result<std::vector<PartCase>> {
    return Status(Code::unsupported, "there is no such device");
  });
  const Outcome outcome = run_made_up(part, folder_.file("out"));
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_TRUE(contains(outcome.out, "left out")) << outcome.out;
  EXPECT_EQ(index_in(folder_, "out")["parts"][0]["left_out"], "there is no such device");
}

}  // namespace
}  // namespace tutti::cli
