// SPDX-License-Identifier: Apache-2.0
// `tutti report` as users call it: the page's content, odd runs, and what cannot be written or read.
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../../base/temporary_folder.hpp"
#include "../calling.hpp"
#include "cli/report/report_commands.hpp"
#include "cli/report/report_page.hpp"
#include "made_up_runs.hpp"

namespace tutti::cli {
namespace {

using harness::Row;
using test::report_row;
using test::report_run;

// What the scripts read.
nlohmann::json data_in(const std::string& html) {
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t at = html.find(begin) + begin.size();
  return nlohmann::json::parse(html.substr(at, html.find("</script>", at) - at));
}

std::string page_of(const std::vector<Row>& rows) { return page_of_runs({report_run(rows)}, {}); }

TEST(ReportPage, HasAnswerChartsFactsAndRows) {
  const std::string html = page_of(test::crossing_rows());
  for (const char* words : {"<p class=\"answer\">", "The fastest by size: a from 1 KB to 16 KB", "<dd>a processor</dd>",
                            "<dd>1.0 GB</dd>", "a 1.0, b 1.0", "tutti compare --peer a,b"})
    EXPECT_TRUE(contains(html, words)) << words;
  if (!report::has_live_charts()) return;
  const nlohmann::json data = data_in(html);
  const nlohmann::json& section = data["sections"][0];
  ASSERT_EQ(section["figures"].size(), 1U);
  const nlohmann::json& figure = section["figures"][0];
  EXPECT_EQ(figure["series"][1]["name"], "b");
  ASSERT_EQ(figure["charts"].size(), 2U);
  EXPECT_EQ(figure["charts"][0]["y"], "time, us");
  const nlohmann::json& line = figure["charts"][0]["lines"][1];
  ASSERT_EQ(line["points"].size(), 6U);
  EXPECT_EQ(line["points"][0][0], 1024);
  EXPECT_NEAR(line["points"][0][1].get<double>(), 2, 0.01);
  EXPECT_EQ(data["commands"][line["command"].get<std::size_t>()], "tutti compare --peer a,b");
  EXPECT_EQ(section["tables"][0]["rows"].size(), 12U);
}

TEST(ReportPage, FiguresSayMemoryInGigabytes) {
  EXPECT_EQ(machine_in_figures("a processor; 2 cores; 1048576 kB; Linux 1"), "a processor; 2 cores; 1.0 GB; Linux 1");
  EXPECT_EQ(machine_in_figures("elsewhere"), "elsewhere");
}

TEST(ReportPage, TextFromOutsideIsNeverMarkup) {
  const std::string evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&";
  RunWithRows run = report_run({report_row(evil, 2, 8, 1000), report_row("b", 2, 8, 2000)});
  run.rows[0].settings = {{"A", evil}};
  run.rows[0].note = evil;
  run.run.name = evil;
  run.run.note = "\xff\x01 no text";
  run.run.command = evil;
  run.run.machine = evil;
  const std::string html = page_of_runs({run}, {});
  EXPECT_FALSE(contains(html, "<script>alert"));
  EXPECT_FALSE(contains(html, "<img"));
  EXPECT_TRUE(contains(html, "&lt;/script&gt;&lt;script&gt;alert(1)"));
  EXPECT_EQ(count_of(html, "</script>"), 3U);
  // It is whole in the data.
  EXPECT_TRUE(contains(data_in(html).dump(), "</script><script>alert(1)"));
}

TEST(ReportPage, AsksNobodyForAnything) {
  const std::string html = page_of(test::crossing_rows());
  EXPECT_TRUE(contains(html, "content=\"default-src 'none'; script-src 'sha256-"));
  for (const char* loading : {" src=", "@import", "url(", "<link rel=\"stylesheet\""}) {
    const std::string before_scripts = html.substr(0, html.find("<script>"));
    EXPECT_FALSE(contains(before_scripts, loading)) << loading;
  }
}

TEST(ReportPage, OfOddRunsIsWhole) {
  Row error = report_row("a", 2, 8, 1000);
  error.outcome = harness::Outcome::error;
  error.samples.clear();
  Row program = report_row("command", 0, 8, 1000);
  program.point.values.clear();
  program.message.reset();
  program.sync = harness::Sync::wall;
  for (const std::vector<Row>& rows :
       {std::vector<Row>(), {report_row("a", 2, 8, 1000)}, {error}, {program}, {report_row("a", 2, 0, 1000)}}) {
    const std::string html = page_of(rows);
    EXPECT_TRUE(html.ends_with("</html>\n"));
    EXPECT_EQ(count_of(html, "class=\"answer\""), 1U);
    EXPECT_FALSE(contains(html, "nan"));
    EXPECT_EQ(data_in(html)["sections"].size(), 1U);
  }
}

TEST(ReportPage, OfThousandsOfRowsSaysWhatItLeavesOut) {
  std::vector<Row> rows;
  for (int each = 0; each < 4000; ++each) {
    Row row;
    row.bench = "all_reduce";
    row.peer = "peer" + std::to_string(each % 20);
    row.point.values.emplace_back("bytes", harness::Value(std::int64_t{8} * (1 + each / 20)));
    row.samples = {1000};
    row.note = std::string(500, 'x');
    row.ran = std::string(500, 'y');
    rows.push_back(std::move(row));
  }
  const std::string html = page_of(rows);
  EXPECT_LT(html.size(), kMostPageBytes);
  EXPECT_TRUE(contains(html, " of 4000 rows; 'tutti show 12 --format csv' has all"));
}

TEST(ReportPage, OfAChangeBeginsWithIt) {
  RunPair pair = {report_run(test::crossing_rows()), report_run(test::crossing_rows())};
  pair[0].run.name = "before";
  pair[1].run.name = "after";
  pair[1].run.id = 13;
  pair[1].run.machine = "another";
  const Result<std::string> html = page_of_change(pair, "", {});
  ASSERT_TRUE(html.ok()) << html.status().to_string();
  EXPECT_TRUE(contains(*html, "after is about as fast as before: 1.00 times as fast as before"));
  EXPECT_TRUE(contains(*html, "The runs differ in machine: a processor"));
  EXPECT_TRUE(contains(*html, ">Several machines; the first run begun 2026-11-24T03:00:00Z<"));
  EXPECT_EQ(count_of(*html, "<section id="), 3U);
  EXPECT_EQ(page_of_change(pair, "nothing", {}).status().code(), Code::invalid_argument);
}

// --- the command

class ReportCommand : public testing::Test {
 protected:
  void SetUp() override {
    Result<harness::Store> store = harness::Store::open(path_);
    ASSERT_TRUE(store.ok());
    for (const char* name : {"first", "second"}) {
      harness::StoredRun run = report_run({}).run;
      run.name = name;
      const Result<std::int64_t> id = store->begin(run);
      ASSERT_TRUE(id.ok());
      ASSERT_TRUE(store->add(*id, test::crossing_rows()).ok());
      ASSERT_TRUE(store->complete(*id).ok());
    }
  }
  Outcome report(std::vector<std::string> arguments) {
    for (const char* more : {"--store", path_.c_str()}) arguments.emplace_back(more);
    return call(report_command(world_), std::move(arguments));
  }
  tutti::test::TemporaryFolder folder_;
  std::string path_ = folder_.file("store.db");
  std::string page_ = folder_.file("page.html");
  BenchWorld world_;
};

TEST_F(ReportCommand, WritesRunsAndTheirChange) {
  const Outcome one = report({"first", "-o", page_});
  EXPECT_EQ(one.exit, Exit::done) << one.error;
  EXPECT_TRUE(contains(one.error, "page.html: "));
  EXPECT_TRUE(contains(folder_.read("page.html"), "first: all_reduce"));
  EXPECT_EQ(report({"first", "2", "-o", page_}).exit, Exit::done);
  EXPECT_EQ(count_of(folder_.read("page.html"), "<section id="), 2U);
  EXPECT_EQ(report({"first", "second", "--compare", "-o", page_}).exit, Exit::done);
  EXPECT_TRUE(contains(folder_.read("page.html"), "From first to second"));
}

TEST_F(ReportCommand, SaysWhatIsWrongWithTheCall) {
  EXPECT_EQ(report({"first", "--compare", "-o", page_}).exit, Exit::misused);
  EXPECT_EQ(report({"first", "--ignore", "A", "-o", page_}).exit, Exit::misused);
  const Outcome unknown = report({"third", "-o", page_});
  EXPECT_EQ(unknown.exit, Exit::misused);
  EXPECT_TRUE(contains(unknown.error, "third"));
}

TEST_F(ReportCommand, SaysWhatCannotBeWrittenOrRead) {
  const Outcome nowhere = report({"first", "-o", folder_.file("none/page.html")});
  EXPECT_EQ(nowhere.exit, Exit::not_done);
  EXPECT_TRUE(contains(nowhere.error, "No such file or directory")) << nowhere.error;
  const Outcome full = report({"first", "-o", "/dev/full"});
  EXPECT_EQ(full.exit, Exit::not_done);
  EXPECT_TRUE(contains(full.error, "No space left on device")) << full.error;
  std::ofstream(path_) << "this is no database, and long enough to tell that it is none";
  const Outcome damaged = report({"first", "-o", page_});
  EXPECT_NE(damaged.exit, Exit::done);
  EXPECT_TRUE(contains(damaged.error, "store.db")) << damaged.error;
}

TEST_F(ReportCommand, RefusesForeignStoresByName) {
  const std::string whole = folder_.read("store.db");
  std::string foreign = whole;
  foreign.replace(68, 4, "GPKG");  // the application of the header
  std::string later = whole;
  later.replace(60, 4, std::string("\0\0\0\x63", 4));
  for (const auto& [text, words] : std::initializer_list<std::pair<std::string, const char*>>{
           {"", "it is empty"},
           {"{\"milestone\": \"milestone-ccl\"}\n", "it is no SQLite database"},
           {std::string(5000, '\0'), "it is no SQLite database"},
           {foreign, "it is another program's SQLite database"},
           {later, "it has version 99 of the form"},
           {whole.substr(0, 4096) + std::string(whole.size() - 4096, '\x55'), "it is damaged"},
           {whole.substr(0, 6000), "it is damaged"}}) {
    SCOPED_TRACE(words);
    folder_.write("store.db", text);
    const Outcome outcome = report({"-o", page_});
    EXPECT_EQ(outcome.exit, Exit::misused);
    EXPECT_TRUE(contains(outcome.error, "store.db': ")) << outcome.error;
    EXPECT_TRUE(contains(outcome.error, words)) << outcome.error;
    EXPECT_FALSE(std::filesystem::exists(page_));
    EXPECT_EQ(folder_.read("store.db"), text) << "who reads changes nothing";
  }
  path_ = folder_.path();
  const Outcome folder = report({"-o", page_});
  EXPECT_EQ(folder.exit, Exit::misused);
  EXPECT_TRUE(contains(folder.error, "it is a folder")) << folder.error;
}

TEST_F(ReportCommand, OfTimesThatCannotBeIsWhole) {
  const double infinite = std::numeric_limits<double>::infinity();
  const double none = std::numeric_limits<double>::quiet_NaN();
  for (const double time : {0.0, -5.0, 1e300, infinite, none}) {
    SCOPED_TRACE(time);
    {
      Result<harness::Store> store = harness::Store::open(path_);
      ASSERT_TRUE(store.ok());
      const Result<std::int64_t> run = store->begin(report_run({}).run);
      Row row = report_row("a", 2, 8, 1000);
      row.samples.assign(10, time);
      row.rounds = {10};
      ASSERT_TRUE(store->add(*run, {{row, report_row("b", 2, 8, 1000)}}).ok());
    }
    const Outcome outcome = report({"-o", page_});
    EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
    const std::string html = folder_.read("page.html");
    EXPECT_TRUE(html.ends_with("</html>\n"));
    EXPECT_EQ(data_in(html)["sections"].size(), 1U);
  }
}

TEST_F(ReportCommand, NeedsNoDisplayBrowserOrProgram) {
  // What it is called with has no variables at all: no DISPLAY, no BROWSER, no PATH.
  const Outcome outcome = report({"first", "-o", page_});
  EXPECT_EQ(outcome.exit, Exit::done) << outcome.error;
  EXPECT_TRUE(contains(outcome.error, "any browser shows it")) << outcome.error;
}

}  // namespace
}  // namespace tutti::cli
