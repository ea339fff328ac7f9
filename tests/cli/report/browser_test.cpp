// SPDX-License-Identifier: Apache-2.0
// Pages in Chromium: that what a reader does with mouse and keys has its effect, nothing is loaded from anywhere, and
// the console stays silent.
#include "browser.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../../base/temporary_folder.hpp"
#include "cli/report/report_page.hpp"
#include "made_up_runs.hpp"

namespace tutti::cli {
namespace {

class ReportInBrowser : public testing::Test {
 protected:
  void SetUp() override {
    if (!report::has_live_charts()) GTEST_SKIP() << "this build has no Chart.js (libjs-chart.js)";
    browser_ = test::Browser::start(folder_.file("profile"));
    if (!browser_) GTEST_SKIP() << "there is no chromium (package chromium)";
    std::vector<harness::Row> rows = test::crossing_rows();
    rows.push_back(test::report_row("</script><script>throw 1</script>", 2, 1024, 3000));
    std::ofstream(folder_.file("page.html")) << page_of_runs({test::report_run(std::move(rows))}, {});
    browser_->attach();
    resize(1280, "light");
    browser_->open("file://" + folder_.file("page.html"));
  }
  void TearDown() override {
    if (!browser_) return;
    EXPECT_EQ(browser_->complaints(), std::vector<std::string>());
  }

  void resize(int width, const std::string& scheme) { browser_->resize(width, scheme); }
  nlohmann::json value(const std::string& expression) { return browser_->value(expression); }
  void click(const std::string& selector) { value("document.querySelector('" + selector + "').click()"); }

  // Of the first chart: a place at shares of its plot, in view.
  struct Place {
    double x = 0;
    double y = 0;
  };
  Place place_in_chart(double x, double y) {
    value("document.querySelector('.plot').scrollIntoView({block: 'center'})");
    const nlohmann::json box = value(
        "(() => { const c = document.querySelector('canvas'), b = c.getBoundingClientRect(),"
        " a = Chart.getChart(c).chartArea; return [b.left + a.left, b.top + a.top, a.width, a.height]; })()");
    return {box[0].get<double>() + x * box[2].get<double>(), box[1].get<double>() + y * box[3].get<double>()};
  }
  void drag(Place from, Place to) {
    browser_->mouse("mouseMoved", from.x, from.y);
    browser_->mouse("mousePressed", from.x, from.y, 1);
    browser_->mouse("mouseMoved", (from.x + to.x) / 2, (from.y + to.y) / 2, 1);
    browser_->mouse("mouseMoved", to.x, to.y, 1);
    browser_->mouse("mouseReleased", to.x, to.y);
  }
  // From least to greatest size of a chart, and whether one can go back.
  nlohmann::json extent(int chart = 0) {
    return value("(() => { const s = Chart.getChart(document.querySelectorAll('canvas')[" + std::to_string(chart) +
                 "]).scales.x; return [s.min, s.max]; })()");
  }
  bool is_zoomed() { return !value("document.querySelector('.tools button').disabled").get<bool>(); }
  std::string readout() { return value("document.querySelector('.readout').textContent").get<std::string>(); }
  std::string cell(int row, int column) {
    return value("document.querySelectorAll('.long tbody tr')[" + std::to_string(row) + "].cells[" +
                 std::to_string(column) + "].textContent")
        .get<std::string>();
  }
  std::string sorted() {
    return value("[...document.querySelectorAll('.long th')].map((th) => th.ariaSort).join(' ')").get<std::string>();
  }

  tutti::test::TemporaryFolder folder_;
  std::unique_ptr<test::Browser> browser_;
};

TEST_F(ReportInBrowser, ObeysMouseAndKeys) {
  // Zoom by dragging, in both charts; back by the button.
  const nlohmann::json whole = extent();
  EXPECT_FALSE(is_zoomed());
  drag(place_in_chart(0.3, 0.5), place_in_chart(0.7, 0.5));
  EXPECT_TRUE(is_zoomed());
  EXPECT_GT(extent()[0], whole[0]);
  EXPECT_LT(extent()[1], whole[1]);
  EXPECT_EQ(extent(0), extent(1));
  click(".tools button");
  EXPECT_EQ(extent(), whole);
  EXPECT_FALSE(is_zoomed());

  // Hovering says the value and the command.
  const Place left = place_in_chart(0.05, 0.5);
  browser_->mouse("mouseMoved", left.x, left.y);
  EXPECT_NE(readout().find("1 KB a 1 us (999 ns to 1 us); b 2 us"), std::string::npos) << readout();
  EXPECT_NE(readout().find("Made by tutti compare --peer a,b"), std::string::npos) << readout();

  // Keys: values, zoom and back.
  value("document.querySelector('canvas').focus()");
  browser_->key("ArrowRight");
  EXPECT_NE(readout().find("4 KB a "), std::string::npos) << readout();
  browser_->key("+");
  EXPECT_TRUE(is_zoomed());
  browser_->key("0");
  EXPECT_FALSE(is_zoomed());

  // The legend hides a line in both charts, and shows it again.
  const std::string visible =
      "[0, 1].map((n) => { const c = Chart.getChart(document.querySelectorAll('canvas')[n]);"
      " return c.isDatasetVisible(c.data.datasets.findIndex((d) => d.label === 'b' && !d.band)); }).join()";
  EXPECT_EQ(value(visible), "true,true");
  click(".key:nth-child(2)");
  EXPECT_EQ(value(visible), "false,false");
  EXPECT_EQ(value("document.querySelector('.key:nth-child(2)').ariaPressed"), "false");
  click(".key:nth-child(2)");
  EXPECT_EQ(value(visible), "true,true");
}

// What milestones put on their pages: published points and ranges, panels of one chart, shares in percent.
report::Page page_of_charts() {
  using report::Range;
  report::LineChart gains{.title = "Gains",
                          .remark = "who published them",
                          .x_name = "bytes a rank",
                          .full = "simulated",
                          .dashed = "published",
                          .ranges = "published range",
                          .panels = {{.title = "gpu",
                                      .y_name = "gain, percent",
                                      .y_scale = report::Scale::linear,
                                      .lines = {{.name = "8 nodes", .points = {{1024, -1.7}, {4096, 7.3}}},
                                                {.name = "8 nodes", .points = {{1024, 6.1}}, .is_dashed = true},
                                                {.name = "range",
                                                 .points = {{1024, 19, Range{10, 28}}, {4096, 19, Range{10, 28}}},
                                                 .is_dashed = true,
                                                 .is_range = true}}}}};
  report::BarChart bars{
      .title = "Occupancy",
      .remark = "share of the window",
      .kinds = {"dma", "gemm", "published"},
      .panels = {{.title = "first",
                  .y_name = "percent",
                  .groups = {{.name = "one",
                              .bars = {{.kind = 0, .value = 20}, {.kind = 2, .value = 22, .range = Range{21, 99}}}}}},
                 {.title = "second",
                  .y_name = "at work, ns",
                  .is_stacked = true,
                  .groups = {{.name = "one", .bars = {{.kind = 0, .value = 60}, {.kind = 1, .value = 60}}}}}}};
  Table table({{"number"}, {"words"}});
  table.add_row({std::int64_t{1}, std::string("what a note says in words of its own, which are some")});
  report::Page page{.title = "charts", .where = "here", .made_by = "a test", .sections = {}};
  page.sections.push_back({.title = "section",
                           .answer = {},
                           .cautions = {},
                           .summaries = {{.title = "notes", .table = table}},
                           .facts = {},
                           .lines = {gains},
                           .bars = {bars},
                           .tables = {}});
  return page;
}

TEST_F(ReportInBrowser, ChartsSayWhatTheirPicturesSay) {
  std::ofstream(folder_.file("charts.html")) << to_html(page_of_charts());
  browser_->open("file://" + folder_.file("charts.html"));
  const auto all = [&](const std::string& selector) {
    return value("[...document.querySelectorAll('" + selector + "')].map((e) => e.textContent)").dump();
  };
  // Captions stand once for each chart, keys only where they are of something.
  EXPECT_EQ(all(".card p.remark:not(.meanings)"), R"(["who published them","share of the window"])");
  EXPECT_EQ(all(".meaning"), R"(["published","simulated","published range"])");
  EXPECT_EQ(all(".key"), R"(["8 nodes","range","dma","published","dma","gemm"])");
  const std::string charts = "[...document.querySelectorAll('canvas')].map((c) => Chart.getChart(c))";
  // Ticks are round and in percent.
  const auto are_whole_percents = [&](const std::string& ticks) {
    return value(charts + ticks + ".every((t) => /^(\\d+ %|0)$/.test(t.label))");
  };
  EXPECT_EQ(are_whole_percents("[0].scales.y.ticks"), true);
  EXPECT_EQ(are_whole_percents("[1].scales.x.ticks"), true);
  EXPECT_EQ(value(charts + "[0].options.scales.x.title.text"), "bytes a rank");
  // A published point is hollow; of a range there is no line.
  EXPECT_EQ(value(charts + "[0].data.datasets.filter((d) => d.hollow && !d.range)"
                           ".every((d) => d.pointBackgroundColor === '#ffffff')"),
            true);
  EXPECT_EQ(value(charts + "[0].data.datasets.filter((d) => d.range).map((d) => d.borderWidth)").dump(), "[0]");
  // Whiskers end within the chart, and stacks are as long as their parts together.
  EXPECT_EQ(value(charts + "[1].scales.x.max >= 99"), true);
  EXPECT_EQ(value(charts + "[2].scales.x.max >= 120"), true);
  value("document.querySelector('canvas').focus()");
  browser_->key("ArrowRight");
  EXPECT_NE(readout().find("range 10 % to 28 %"), std::string::npos) << readout();
  // On a phone, words do not become a column of single ones.
  resize(400, "light");
  EXPECT_LE(value("document.querySelector('.summary tbody tr').getBoundingClientRect().height").get<double>(), 90);
  EXPECT_LE(value("document.querySelector('.head button').getBoundingClientRect().height").get<double>(), 45);
}

TEST_F(ReportInBrowser, SortsFiltersAndHandsOutTables) {
  // Sorted by a click, and the other way by a key.
  const int time = value("[...document.querySelectorAll('.long th')].findIndex((th) => th.textContent === 'time us')");
  const std::string heading = ".long th:nth-child(" + std::to_string(time + 1) + ") button";
  click(heading);
  EXPECT_NE(sorted().find("ascending"), std::string::npos);
  EXPECT_EQ(cell(0, 0), "a");
  browser_->key("Enter");
  EXPECT_NE(sorted().find("descending"), std::string::npos) << sorted();
  EXPECT_EQ(cell(0, time), "4");

  // Filtered by words.
  value("document.querySelector('input[type=search]').focus()");
  browser_->type("64 kb 1.99");
  EXPECT_EQ(value("document.querySelectorAll('.long tbody tr').length"), 1);
  EXPECT_EQ(value("document.querySelector('[role=status]').textContent"), "1 of 13 rows");

  // What is chosen, and a chart, as CSV files.
  browser_->call("Browser.setDownloadBehavior", {{"behavior", "allow"}, {"downloadPath", folder_.path()}});
  for (const char* control : {".controls button", ".chart .head button"}) click(control);
  const auto wait_for = [&](const std::string& name) {
    for (int tries = 0; tries < 500 && !std::filesystem::exists(folder_.file(name)); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return folder_.read(name);
  };
  const std::string rows = wait_for("Run_12_all_reduce_All_rows.csv");
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '\n'), 2) << rows;
  EXPECT_NE(rows.find("65536"), std::string::npos);
  const std::string chart = wait_for("Run_12_all_reduce_time_us.csv");
  EXPECT_EQ(chart.find("series,bytes,\"time, us\",low,high,command\r\na,1024,"), 0U) << chart;
  EXPECT_EQ(std::count(chart.begin(), chart.end(), '\n'), 14);
}

TEST_F(ReportInBrowser, FitsPhonesAndFollowsTheScheme) {
  const auto background = [&] { return value("getComputedStyle(document.documentElement).backgroundColor"); };
  const auto line = [&] {
    return value("Chart.getChart(document.querySelector('canvas')).data.datasets[0].borderColor");
  };
  // Points and bars are of their series' color.
  const auto is_painted = [&] {
    return value(
        "[...document.querySelectorAll('canvas')].map((c) => Chart.getChart(c)).filter((l) => l !== undefined)"
        ".every((l) => l.data.datasets.every((d, n) => d.band || l.getDatasetMeta(n).data.every("
        "(e) => e.options.backgroundColor === d.backgroundColor)))");
  };
  const nlohmann::json light = {background(), line()};
  EXPECT_EQ(is_painted(), true);
  resize(360, "dark");
  value("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");
  EXPECT_EQ(is_painted(), true);
  EXPECT_NE(background(), light[0]);
  EXPECT_NE(line(), light[1]);
  EXPECT_LE(value("document.documentElement.scrollWidth").get<int>(), 360);
  EXPECT_LE(value("document.querySelector('canvas').getBoundingClientRect().right").get<double>(), 360);
  // What a wide table is about stays in view as it scrolls.
  EXPECT_EQ(
      value("(() => { const t = document.querySelector('.scrolls > table.summary'), s = t.parentElement;"
            " t.style.minWidth = '90rem'; t.caption.firstChild.textContent = 'words '.repeat(40); s.scrollLeft = 500;"
            " const c = t.caption.firstChild.getBoundingClientRect(), v = s.getBoundingClientRect();"
            " const seen = [s.scrollLeft, c.left >= v.left - 1, c.right <= v.right + 1]; t.style.minWidth = ''; return "
            "seen; })()"),
      nlohmann::json::array({500, true, true}));
  // So does paper.
  browser_->call("Emulation.setDeviceMetricsOverride",
                 {{"width", 760}, {"height", 900}, {"deviceScaleFactor", 1}, {"mobile", false}});
  browser_->call("Emulation.setEmulatedMedia", {{"media", "print"}});
  EXPECT_LE(value("document.documentElement.scrollWidth").get<int>(), 760);
  resize(360, "dark");
  EXPECT_EQ(browser_->num_nameless_controls(), 0);
  EXPECT_GE(browser_->least_contrast(), 4.5);
}

}  // namespace
}  // namespace tutti::cli
