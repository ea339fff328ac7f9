// SPDX-License-Identifier: Apache-2.0
// `tutti web` in Chromium: two runs are chosen and compared, new rows come into a page whose reader has chosen what to
// see, and files of folders are shown, with no message of the console and no request to anyone else.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "../../base/temporary_folder.hpp"
#include "../report/browser.hpp"
#include "cli/report/report_page.hpp"
#include "cli/web/server.hpp"
#include "made_up_store.hpp"
#include "running_web.hpp"

namespace tutti::cli::test {
const char* const kTuttiProgram = TUTTI_PROGRAM;
}  // namespace tutti::cli::test

namespace tutti::cli {
namespace {

class WebInBrowser : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_web_server()) GTEST_SKIP() << kServerIsMissing;
    if (!report::has_live_charts()) GTEST_SKIP() << "this build has no Chart.js (libjs-chart.js)";
    browser_ = test::Browser::start(folder_.file("profile"));
    if (!browser_) GTEST_SKIP() << "there is no chromium (package chromium)";
    test::make_store(path_);
    folder_.write("reports/report.html", page_of_runs({test::report_run(test::crossing_rows())}, {}));
    web_ = std::make_unique<test::RunningWeb>(std::vector<std::string>{"--store", path_, folder_.file("reports")});
    browser_->attach();
    browser_->allow(web_->address());
    browser_->resize(1280, "light");
  }
  void TearDown() override {
    if (!browser_) return;
    EXPECT_EQ(browser_->complaints(), std::vector<std::string>());
  }

  nlohmann::json value(const std::string& expression) { return browser_->value(expression); }
  std::string text(const std::string& selector) {
    return value("document.querySelector('" + selector + "')?.textContent ?? ''").get<std::string>();
  }
  // Whether it comes to be true.
  bool becomes(const std::string& condition) {
    for (int tries = 0; tries < 300; ++tries) {
      if (value(condition) == true) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }

  tutti::test::TemporaryFolder folder_;
  std::string path_ = folder_.file("store.db");
  std::unique_ptr<test::RunningWeb> web_;
  std::unique_ptr<test::Browser> browser_;
};

TEST_F(WebInBrowser, ChoosesAndComparesByKeys) {
  browser_->open(web_->address());
  EXPECT_TRUE(becomes("document.getElementById('news-words').textContent === 'Live: 2 runs with 24 rows.'"))
      << text("#news-words");
  EXPECT_EQ(value("document.getElementById('compare').ariaDisabled"), "true");
  value("document.getElementById('c2').focus()");
  browser_->call("Input.dispatchKeyEvent",
                 {{"type", "keyDown"}, {"key", " "}, {"code", "Space"}, {"text", " "}, {"windowsVirtualKeyCode", 32}});
  browser_->call("Input.dispatchKeyEvent",
                 {{"type", "keyUp"}, {"key", " "}, {"code", "Space"}, {"windowsVirtualKeyCode", 32}});
  EXPECT_EQ(text("#chosen"), "Choose two runs to compare; one is chosen.");

  // New rows change the list; what is chosen and where the keyboard is stay.
  test::add_a_row(path_, 8);
  EXPECT_TRUE(becomes("document.querySelector('.runs').textContent.includes('13')"));
  EXPECT_EQ(value("document.getElementById('c2').checked"), true);
  EXPECT_EQ(value("document.activeElement.id"), "c2");

  value("document.getElementById('c1').click()");
  EXPECT_EQ(text("#chosen"), "How run 2 stands to run 1.");
  value("document.getElementById('compare').focus()");
  browser_->key("Enter");
  EXPECT_TRUE(
      becomes("document.readyState === 'complete' && document.getElementById('h0')?.textContent === "
              "'From first to second' && document.querySelectorAll('canvas').length > 0"));
  value("document.querySelector('.home a').click()");
  EXPECT_TRUE(becomes("document.querySelector('.runs') !== null"));
}

TEST_F(WebInBrowser, ShowsNewRowsAndKeepsWhatIsChosen) {
  browser_->open(web_->address() + "run/2");
  EXPECT_TRUE(becomes("document.getElementById('news-words').textContent.startsWith('Live: run 2 has 12 rows')"));
  const auto is_b_shown = [&] {
    return value(
        "(() => { const c = Chart.getChart(document.querySelector('canvas'));"
        " return c.isDatasetVisible(c.data.datasets.findIndex((d) => d.label === 'b' && !d.band)); })()");
  };
  value("document.querySelector('.key:nth-child(2)').click()");
  value("document.querySelector('canvas').focus()");
  browser_->key("+");
  value("document.querySelector('input[type=search]').focus()");
  browser_->type("64 kb");
  EXPECT_EQ(text(".card [role=status]"), "2 of 12 rows");

  test::add_a_row(path_, 4096 + 8);
  ASSERT_TRUE(becomes("document.querySelector('.card [role=status]')?.textContent === '2 of 13 rows'"))
      << text(".card [role=status]") << "; " << text("#news-words");
  EXPECT_EQ(is_b_shown(), false);
  EXPECT_EQ(value("document.querySelector('.tools button').disabled"), false);
  EXPECT_EQ(value("document.querySelector('input[type=search]').value"), "64 kb");
  EXPECT_EQ(value("document.activeElement.type"), "search");

  // Paused, it says so and changes nothing.
  value("document.getElementById('pause').click()");
  test::add_a_row(path_, 4096 + 16);
  EXPECT_TRUE(becomes("document.getElementById('news-words').textContent.endsWith('Paused.')")) << text("#news-words");
  EXPECT_EQ(text(".card [role=status]"), "2 of 13 rows");
  value("document.getElementById('pause').click()");
  EXPECT_TRUE(becomes("document.querySelector('.card [role=status]')?.textContent === '2 of 14 rows'"));
}

TEST_F(WebInBrowser, LoadsOnceForNewsThatThePageDoesNotHave) {
  browser_->open(web_->address() + "run/2");
  EXPECT_TRUE(becomes("document.getElementById('news-words').textContent.startsWith('Live: ')"));
  value(
      "const fetched = fetch; window.loads = 0; window.fetch = (...all) => { ++window.loads; return fetched(...all); "
      "}");
  value("live.hear({mark: 'never shown', words: 'more', trouble: ''})");
  EXPECT_TRUE(becomes("window.loads === 1 && !live.isLoading"));
  value("live.hear({mark: 'never shown', words: 'more', trouble: ''})");
  EXPECT_EQ(value("live.wanted"), nullptr);
  test::add_a_row(path_, 8);
  EXPECT_TRUE(becomes("document.body.textContent.includes('it has 13 rows')")) << text("main");
  EXPECT_EQ(value("window.loads"), 2);
}

TEST_F(WebInBrowser, ShowsReportsOfFoldersApart) {
  browser_->open(web_->address());
  const auto report =
      value("[...document.links].find((each) => each.href.endsWith('/report.html')).href").get<std::string>();
  browser_->allow(report);
  browser_->open(report);
  EXPECT_EQ(value("document.querySelectorAll('canvas').length > 0 && self.origin"), "null");
  browser_->call("Browser.setDownloadBehavior", {{"behavior", "allow"}, {"downloadPath", folder_.path()}});
  value("document.querySelector('.controls button').click()");
  const std::string name = folder_.file("Run_12_all_reduce_All_rows.csv");
  for (int tries = 0; tries < 100 && !std::filesystem::exists(name); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(std::filesystem::exists(name));
}

TEST_F(WebInBrowser, FitsPhonesAndTheDark) {
  browser_->resize(360, "dark");
  for (const char* path : {"", "run/2", "compare/1/2"}) {
    browser_->open(web_->address() + path);
    EXPECT_LE(value("document.documentElement.scrollWidth").get<int>(), 360) << path;
    EXPECT_EQ(browser_->num_nameless_controls(), 0) << path;
    EXPECT_GE(browser_->least_contrast(), 4.5) << path;
  }
}

TEST_F(WebInBrowser, SaysThatItHasEnded) {
  browser_->open(web_->address());
  EXPECT_TRUE(becomes("document.getElementById('news-words').textContent.startsWith('Live: ')"));
  browser_->forget_failed_requests();
  EXPECT_EQ(web_->end().exit, 0);
  EXPECT_TRUE(becomes("document.getElementById('news-words').textContent.startsWith('tutti web does not answer')"))
      << text("#news-words");
}

}  // namespace
}  // namespace tutti::cli
