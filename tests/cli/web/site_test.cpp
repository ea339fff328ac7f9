// SPDX-License-Identifier: Apache-2.0
// What `tutti web` answers, without the network: who is refused, and what others are shown.
#include "cli/web/site.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "../../base/temporary_folder.hpp"
#include "../calling.hpp"
#include "cli/web/web_commands.hpp"
#include "made_up_store.hpp"

namespace tutti::cli {
namespace {

class Site : public testing::Test {
 protected:
  void SetUp() override {
    test::make_store(path_);
    Result<std::unique_ptr<StoreWatch>> watch = StoreWatch::start(path_);
    ASSERT_TRUE(watch.ok());
    watch_ = std::move(*watch);
    Result<Token> token = make_token();
    ASSERT_TRUE(token.ok());
    Result<std::vector<ReportFolder>> folders = report_folders(folder_paths());
    ASSERT_TRUE(folders.ok()) << folders.status().to_string();
    site_ = std::make_unique<WebSite>(
        WebSite::Options{.store = path_, .folders = *folders, .token = *token, .port = 4711}, world_, *watch_);
    const std::string address = site_->address();
    const std::string origin = "http://127.0.0.1:4711";
    ASSERT_TRUE(address.starts_with(origin)) << address;
    home_ = address.substr(origin.size());
  }
  virtual std::vector<std::string> folder_paths() { return {}; }

  WebReply ask(const std::string& path, const std::string& method = "GET",
               std::vector<std::string> hosts = {"127.0.0.1:4711"}) {
    return site_->reply({.method = method, .path = path, .values = {}, .hosts = std::move(hosts)});
  }

  tutti::test::TemporaryFolder folder_;
  std::string path_ = folder_.file("store.db");
  BenchWorld world_;
  std::unique_ptr<StoreWatch> watch_;
  std::unique_ptr<WebSite> site_;
  std::string home_;  // "/TOKEN/"
};

TEST_F(Site, RefusesWhoeverDoesNotKnowTheToken) {
  std::string wrong = home_;
  wrong[5] = wrong[5] == '0' ? '1' : '0';
  for (const std::string& path : {std::string(), std::string("/"), std::string("/run/1"), wrong, wrong + "run/1",
                                  home_.substr(0, home_.size() - 2), std::string(100'000, '/'),
                                  "/" + std::string(100'000, 'a'), std::string("/\0", 2) + home_}) {
    const WebReply reply = ask(path);
    EXPECT_EQ(reply.status, 403) << path.substr(0, 80);
    EXPECT_TRUE(contains(reply.body, "token")) << reply.body;
    EXPECT_FALSE(contains(reply.body, home_.substr(1, 64)));
  }
  EXPECT_EQ(ask(home_).status, 200);
  EXPECT_EQ(ask(home_.substr(0, home_.size() - 1)).status, 200);
}

TEST_F(Site, RefusesOtherNamesOfThisMachine) {
  for (const char* host : {"localhost", "LOCALHOST:4711", "127.0.0.1", "127.0.0.1:4711", "[::1]:4711"})
    EXPECT_EQ(ask(home_, "GET", {host}).status, 200) << host;
  for (const char* host : {"", "evil.example", "evil.example:4711", "localhost.evil.example", "127.0.0.1.evil.example",
                           "localhost:80", "127.0.0.1:", "127.0.0.2:4711", "localhost@evil.example"})
    EXPECT_EQ(ask(home_, "GET", {host}).status, 403) << host;
  EXPECT_EQ(ask(home_, "GET", {}).status, 403);
  EXPECT_EQ(ask(home_, "GET", {"localhost", "localhost"}).status, 403);
}

TEST_F(Site, ChangesNothing) {
  for (const char* method : {"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", ""})
    EXPECT_EQ(ask(home_, method).status, 405) << method;
  EXPECT_EQ(ask(home_, "HEAD").status, 200);
}

TEST_F(Site, ListsRuns) {
  const WebReply list = ask(home_);
  for (const std::string& words :
       {std::string(">first (1)</a>"), std::string(">second (2)</a>"), home_ + "run/1\"", std::string("<td>a, b</td>"),
        std::string("2026-11-24T03:00:00Z"), std::string("<td class=\"number\">12</td>"),
        std::string("<td>complete</td>"), std::string("<td>not complete</td>"), std::string("All on a processor;")})
    EXPECT_TRUE(contains(list.body, words)) << words;
  EXPECT_LT(list.body.find("second (2)"), list.body.find("first (1)"));
}

TEST_F(Site, ServesReportsAsTheyAreWritten) {
  const WebReply one = ask(home_ + "run/first");
  EXPECT_EQ(one.status, 200);
  EXPECT_TRUE(contains(one.body, "The fastest by size: a from 1 KB to 16 KB"));
  EXPECT_EQ(count_of(one.body, "<section id="), 1U);
  EXPECT_EQ(count_of(ask(home_ + "run/1/2").body, "<section id="), 2U);
  EXPECT_TRUE(contains(ask(home_ + "run/last").body, "second: all_reduce"));
  EXPECT_TRUE(contains(ask(home_ + "compare/1/2").body, "From first to second"));
}

TEST_F(Site, PolicyOfPagesAllowsOnlyTheirEvents) {
  for (const std::string& path : {home_, home_ + "run/1", home_ + "compare/1/2", home_ + "run/99"}) {
    const WebReply reply = ask(path);
    for (const std::string& policy : {reply.policy, reply.body}) {
      EXPECT_TRUE(contains(policy, "default-src 'none'; script-src 'sha256-")) << path;
      EXPECT_TRUE(contains(policy, "connect-src 'self'")) << path;
    }
    EXPECT_FALSE(contains(reply.policy, "unsafe")) << path;
    EXPECT_TRUE(contains(reply.policy, "form-action 'none'")) << path;
  }
}

TEST_F(Site, SaysWhatIsNotThere) {
  for (const char* path : {"run", "run/", "run/99", "run/nobody", "run/1/99", "compare/1", "compare/1/99", "folder/0/a",
                           "nothing", "run/%00", "../../etc/passwd"}) {
    const WebReply reply = ask(home_ + path);
    EXPECT_EQ(reply.status, 404) << path;
    EXPECT_TRUE(contains(reply.body, "class=\"answer\"")) << path;
  }
  std::string many = home_ + "run";
  for (int each = 0; each < 1000; ++each) many += "/1";
  EXPECT_EQ(ask(many).status, 404);
  const std::string evil = "<script>alert(1)</script>";
  EXPECT_FALSE(contains(ask(home_ + evil).body, evil));
}

TEST_F(Site, SaysWhyTheStoreCannotBeRead) {
  std::filesystem::remove(path_);
  std::ofstream(path_) << "this is no database, and long enough to tell that it is none, as its first words are wrong";
  EXPECT_TRUE(contains(ask(home_ + "run/1").body, "it is no SQLite database"));
  std::filesystem::remove(path_);
  const WebReply gone = ask(home_ + "run/1");
  EXPECT_EQ(gone.status, 503);
  EXPECT_TRUE(contains(gone.body, "there is no such file")) << gone.body.substr(0, 3000);
  // The list says so as soon as it is seen, and has what was there.
  std::shared_ptr<const StoreState> state = watch_->state();
  for (int tries = 0; tries < 100 && state->trouble.empty(); ++tries)
    state = watch_->wait_for_other(state->number, std::chrono::milliseconds(100));
  EXPECT_TRUE(contains(ask(home_).body, "there is no such file"));
  EXPECT_TRUE(contains(ask(home_).body, ">first (1)</a>"));
}

TEST_F(Site, EventsTellOfNewRowsOfWhatIsFollowed) {
  const WebReply events =
      site_->reply({.method = "GET", .path = home_ + "events", .values = {{"runs", "2,1,x,"}}, .hosts = {"localhost"}});
  EXPECT_TRUE(events.is_events);
  EXPECT_EQ(events.followed, (std::vector<std::int64_t>{2, 1}));

  const std::shared_ptr<const StoreState> before = watch_->state();
  const nlohmann::json first = nlohmann::json::parse(WebSite::event_of(*before, {1}));
  const nlohmann::json second = nlohmann::json::parse(WebSite::event_of(*before, {2}));
  EXPECT_EQ(second["words"], "run 2 has 12 rows and is not complete");
  // The page that shows this has the same mark.
  EXPECT_TRUE(contains(ask(home_ + "run/second").body, second["mark"].dump()));
  EXPECT_TRUE(contains(ask(home_).body, nlohmann::json::parse(WebSite::event_of(*before, {}))["mark"].dump()));

  test::add_a_row(path_, 8);
  std::shared_ptr<const StoreState> after = before;
  for (int tries = 0; tries < 100 && after->number == before->number; ++tries)
    after = watch_->wait_for_other(before->number, std::chrono::milliseconds(100));
  EXPECT_EQ(nlohmann::json::parse(WebSite::event_of(*after, {1})), first);
  const nlohmann::json now = nlohmann::json::parse(WebSite::event_of(*after, {2}));
  EXPECT_EQ(now["words"], "run 2 has 13 rows and is not complete");
  EXPECT_NE(now["mark"], second["mark"]);
  EXPECT_TRUE(contains(ask(home_ + "run/2").body, now["mark"].dump()));
  EXPECT_EQ(nlohmann::json::parse(WebSite::event_of(*after, {}))["words"], "2 runs with 25 rows");
  EXPECT_EQ(nlohmann::json::parse(WebSite::event_of(*after, {99}))["words"], "run 99 is not there");
}

TEST_F(Site, FollowsAStoreThatIsMadeAnew) {
  std::filesystem::remove(path_);
  std::filesystem::remove(path_ + "-wal");
  std::filesystem::remove(path_ + "-shm");
  ASSERT_TRUE(harness::Store::open(path_).ok());
  std::shared_ptr<const StoreState> state = watch_->state();
  for (int tries = 0; tries < 100 && !(state->runs.empty() && state->trouble.empty()); ++tries)
    state = watch_->wait_for_other(state->number, std::chrono::milliseconds(100));
  EXPECT_TRUE(state->runs.empty());
  EXPECT_TRUE(contains(ask(home_).body, "There are no runs yet"));
}

class SiteWithFolder : public Site {
 protected:
  std::vector<std::string> folder_paths() override {
    folder_.write("reports/report.html", "<h1>mine</h1>");
    folder_.write("reports/figures/a b?.svg", "<svg/>");
    folder_.write("reports/.secret", "hidden");
    folder_.write("outside.txt", "outside");
    std::filesystem::create_symlink(folder_.file("outside.txt"), folder_.file("reports/link.txt"));
    return {folder_.file("reports") + "/"};
  }
  // "/TOKEN/" of its files, as the list has it.
  std::string folder_address() {
    const std::string body = ask(home_).body;
    const std::size_t end = body.find("report.html\"");
    return end == std::string::npos || end < 66 ? std::string() : body.substr(end - 66, 66);
  }
};

TEST_F(SiteWithFolder, ListsAndServesItsFilesAndNoOthers) {
  const std::string body = ask(home_).body;
  EXPECT_TRUE(contains(body, ">reports</h2>"));
  const std::string at = folder_address();
  EXPECT_TRUE(contains(body, at + "report.html\""));
  EXPECT_TRUE(contains(body, at + "figures/a%20b%3F.svg\""));
  EXPECT_EQ(ask(at + "report.html").body, "<h1>mine</h1>");
  EXPECT_EQ(ask(at + "figures/a b?.svg").type, "image/svg+xml");
  for (const char* name : {"", ".secret", "link.txt", "../outside.txt", "figures/../../outside.txt", "figures",
                           "/etc/passwd", "./report.html", "report.html/"})
    EXPECT_EQ(ask(at + name).status, 404) << name;
  EXPECT_EQ(ask(at + "report.html", "POST").status, 405);
}

// A page may send its reader elsewhere with its own address, which tells nothing of the site's.
TEST_F(SiteWithFolder, FilesHaveATokenThatIsGoodForThemAlone) {
  const std::string at = folder_address();
  EXPECT_NE(at, home_);
  EXPECT_FALSE(contains(ask(at + "nothing").body, home_.substr(1, 64)));
  for (const char* path : {"run/1", "events", "compare/1/2"}) EXPECT_EQ(ask(at + path).status, 404) << path;
}

TEST_F(SiteWithFolder, ShowsFilesAsIfTheyCameFromNowhere) {
  const std::string at = folder_address();
  const std::string page = ask(at + "report.html").policy;
  EXPECT_TRUE(page.starts_with("sandbox allow-scripts")) << page;
  EXPECT_FALSE(contains(page, "allow-same-origin"));
  EXPECT_FALSE(contains(page, "connect-src"));
  EXPECT_TRUE(ask(at + "figures/a b?.svg").policy.starts_with("sandbox;"));
}

TEST(WebCommand, SaysWhatIsWrongWithTheCall) {
  const tutti::test::TemporaryFolder folder;
  const BenchWorld world;
  const auto error = [&](std::vector<std::string> arguments) {
    const Outcome outcome = call(web_command(world), std::move(arguments));
    EXPECT_NE(outcome.exit, Exit::done);
    EXPECT_EQ(outcome.out, "");
    return outcome.error;
  };
  EXPECT_TRUE(contains(error({"--port", "70000"}), "--port"));
  const std::string none = error({"--store", folder.file("none.db")});
  if (contains(none, "built without cpp-httplib")) return;
  EXPECT_TRUE(contains(none, "there is no such file")) << none;
  folder.write("text.db", std::string(200, 'x'));
  EXPECT_TRUE(contains(error({"--store", folder.file("text.db")}), "it is no SQLite database"));
  EXPECT_TRUE(contains(error({folder.file("text.db")}), "is not a folder"));
  EXPECT_TRUE(contains(error({folder.file("nowhere")}), "No such file or directory"));
}

}  // namespace
}  // namespace tutti::cli
