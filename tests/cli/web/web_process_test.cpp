// SPDX-License-Identifier: Apache-2.0
// `tutti web` over the network: requests of all kinds, streams of events, many at once, slow ones, and how it ends.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sqlite3.h>
#include <sys/resource.h>

#include "../../base/temporary_folder.hpp"
#include "../calling.hpp"
#include "cli/web/server.hpp"
#include "made_up_store.hpp"
#include "running_web.hpp"

namespace tutti::cli::test {
const char* const kTuttiProgram = TUTTI_PROGRAM;
}  // namespace tutti::cli::test

namespace tutti::cli {
namespace {

using test::Connection;
using test::RunningWeb;

class Web : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_web_server()) GTEST_SKIP() << kServerIsMissing;
    test::make_store(path_);
    web_ = std::make_unique<RunningWeb>(std::vector<std::string>{"--store", path_});
    ASSERT_NE(web_->address(), "");
  }
  [[nodiscard]] std::string get(const std::string& path, const std::string& more = "") const {
    return web_->get(path, more);
  }
  [[nodiscard]] bool is_well() const { return get(web_->home()).starts_with("HTTP/1.1 200 "); }

  tutti::test::TemporaryFolder folder_;
  std::string path_ = folder_.file("store.db");
  std::unique_ptr<RunningWeb> web_;
};

TEST_F(Web, ServesListReportsAndComparisons) {
  const std::string list = get(web_->home());
  EXPECT_TRUE(list.starts_with("HTTP/1.1 200 ")) << list.substr(0, 500);
  for (const char* line :
       {"Content-Security-Policy: default-src 'none'; script-src 'sha256-", "X-Content-Type-Options: nosniff",
        "Referrer-Policy: no-referrer", "Cache-Control: no-store", "Connection: close"})
    EXPECT_TRUE(contains(list, line)) << line << "\n" << list.substr(0, 1500);
  EXPECT_TRUE(contains(list, ">second (2)</a>"));
  EXPECT_TRUE(get(web_->home() + "run/1").ends_with("</html>\n"));
  EXPECT_TRUE(contains(get(web_->home() + "compare/1/2"), "From first to second"));
  EXPECT_TRUE(contains(get(web_->home() + "compare/1/2?ignore=nothing"), "neither run has such a variable"));
  EXPECT_TRUE(get(web_->home() + "run/99").starts_with("HTTP/1.1 404 "));
}

TEST_F(Web, RefusesStrangers) {
  EXPECT_TRUE(get("/").starts_with("HTTP/1.1 403 "));
  EXPECT_TRUE(get("/" + std::string(64, '0') + "/").starts_with("HTTP/1.1 403 "));
  Connection elsewhere = web_->connect();
  elsewhere.send(fmt::format("GET {} HTTP/1.1\r\nHost: evil.example:{}\r\n\r\n", web_->home(), web_->port()));
  EXPECT_TRUE(elsewhere.read_all().starts_with("HTTP/1.1 403 "));
  Connection nameless = web_->connect();
  nameless.send(fmt::format("GET {} HTTP/1.0\r\n\r\n", web_->home()));
  EXPECT_TRUE(nameless.read_all().starts_with("HTTP/1.1 403 "));
  Connection writer = web_->connect();
  writer.send(fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n{}", web_->home(),
                          std::string(1'000'000, 'x')));
  EXPECT_TRUE(writer.read_all().starts_with("HTTP/1.1 405 "));
}

TEST_F(Web, ListensOnThisMachineOnly) {
  // Another address of the loopback interface is none of its own.
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(web_->port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
  EXPECT_NE(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ::close(socket);
}

TEST_F(Web, SendsEventsWhenRowsCome) {
  Connection events = web_->connect();
  events.send(web_->head(web_->home() + "events?runs=2"));
  ASSERT_TRUE(events.read_until("Content-Type: text/event-stream"));
  ASSERT_TRUE(events.read_until("\"words\":\"run 2 has 12 rows"));
  Connection all = web_->connect();
  all.send(web_->head(web_->home() + "events"));
  ASSERT_TRUE(all.read_until("\"words\":\"2 runs with 24 rows\""));
  for (int row = 1; row <= 3; ++row) {
    test::add_a_row(path_, 8 * row);
    ASSERT_TRUE(events.read_until(fmt::format("\"words\":\"run 2 has {} rows", 12 + row)));
    ASSERT_TRUE(all.read_until(fmt::format("2 runs with {} rows", 24 + row)));
  }
  EXPECT_TRUE(contains(get(web_->home() + "run/2"), "and is not complete") ||
              contains(get(web_->home() + "run/2"), "The run is not complete: it has 15 rows"));
}

TEST_F(Web, LimitsStreamsAndKeepsRoomForPages) {
  std::vector<Connection> streams;
  for (int each = 0; each < 40; ++each) {
    streams.push_back(web_->connect());
    streams.back().send(web_->head(web_->home() + "events"));
  }
  int num_served = 0;
  int num_refused = 0;
  for (Connection& each : streams) {
    if (each.read_until("HTTP/1.1 200 ") && each.read_until("data: "))
      ++num_served;
    else
      ++num_refused;
  }
  EXPECT_GE(num_served, 4);
  EXPECT_GE(num_refused, 20);
  EXPECT_TRUE(is_well());
  // Places are given back.
  streams.clear();
  bool has_place = false;
  for (int tries = 0; tries < 50 && !has_place; ++tries) {
    Connection again = web_->connect();
    again.send(web_->head(web_->home() + "events"));
    has_place = again.read_until("HTTP/1.1 ") && again.read_until("data: ");
    if (!has_place) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_TRUE(has_place);
}

TEST_F(Web, SurvivesGarbage) {
  const std::string home = web_->home();
  const std::string host = "Host: localhost\r\n";
  std::vector<std::string> requests = {
      "",
      "\r\n\r\n",
      "GET\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      "get / http/1.1\r\n\r\n",
      std::string(3, '\0'),
      "GET " + std::string(1'000'000, 'a') + " HTTP/1.1\r\n" + host + "\r\n",
      "GET " + home + "?" + std::string(7000, '&') + " HTTP/1.1\r\n" + host + "\r\n",
      "GET " + home + " HTTP/1.1\r\n" + host + "A: " + std::string(1'000'000, 'b') + "\r\n\r\n",
      "GET " + home + " HTTP/1.1\r\n" + host + "Range: bytes=" + std::string(8000, '0') + "-\r\n\r\n",
      "GET " + home + " HTTP/1.1\r\n" + host + "Range: bytes=99999999999999999999-\r\n\r\n",
      "GET " + home + " HTTP/1.1\r\n" + host + "Content-Length: -1\r\nTransfer-Encoding: chunked\r\n\r\nzz",
      "GET " + home + "%zz%0 HTTP/1.1\r\n" + host + "\r\n",
      "GET " + home + "events?runs=" + std::string(6000, ',') + " HTTP/1.1\r\n\r\n",
      "HEAD " + home + "events HTTP/1.1\r\n" + host + "\r\n",
      "GET " + home + " HTTP/1.1\r\n" + host + "Expect: 100-continue\r\n\r\n"};
  std::string ranges = "Range: bytes=";
  for (int each = 0; each < 2000; ++each) ranges += "0-,";
  requests.push_back("GET " + home + "run/1 HTTP/1.1\r\n" + host + ranges + "0-\r\n\r\n");
  std::string headers;
  for (int each = 0; each < 100'000; ++each) headers += fmt::format("h{}: x\r\n", each);
  requests.push_back("GET " + home + " HTTP/1.1\r\n" + host + headers + "\r\n");
  std::mt19937 random(28);
  for (int each = 0; each < 50; ++each) {
    std::string text = "GET " + home + " HTTP/1.1\r\n" + host + "\r\n";
    for (int change = 0; change < 6; ++change) text[random() % text.size()] = static_cast<char>(random() % 256);
    requests.push_back(text);
  }
  for (const std::string& request : requests) {
    Connection connection = web_->connect();
    connection.send(request);
    connection.end_sending();
    const std::string reply = connection.read_all();
    EXPECT_TRUE(reply.empty() || reply.starts_with("HTTP/1.1 ")) << request.substr(0, 80);
    // Parts and ranges are not served: a page is whole or refused.
    EXPECT_LT(reply.size(), 4'000'000U) << request.substr(0, 80);
    ASSERT_TRUE(web_->is_alive()) << request.substr(0, 80);
  }
  EXPECT_TRUE(is_well());
}

TEST_F(Web, ServesManyAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> num_right = 0;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&, thread] {
      for (int each = 0; each < 12; ++each) {
        const bool is_list = (thread + each) % 2 == 0;
        const std::string reply = get(web_->home() + (is_list ? "" : "run/1"));
        num_right += reply.starts_with("HTTP/1.1 200 ") && reply.ends_with("</html>\n") ? 1 : 0;
      }
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(num_right, 96);
}

TEST_F(Web, SlowOnesHoldUpNobody) {
  // Who says nothing, who says little, and who reads nothing of a page.
  std::vector<Connection> slow;
  for (int each = 0; each < 6; ++each) {
    slow.push_back(web_->connect());
    slow.push_back(web_->connect());
    slow.back().send("GET ");
    slow.push_back(web_->connect(2048));
    slow.back().send(web_->head(web_->home() + "run/1"));
  }
  EXPECT_TRUE(is_well());
}

TEST_F(Web, EndsAtOnceWhateverIsOpen) {
  Connection silent = web_->connect();
  Connection slow = web_->connect();
  slow.send("GET ");
  Connection reader = web_->connect(2048);
  reader.send(web_->head(web_->home() + "run/1"));
  Connection events = web_->connect();
  events.send(web_->head(web_->home() + "events"));
  ASSERT_TRUE(events.read_until("data: "));
  const RunningWeb::End end = web_->end();
  EXPECT_EQ(end.exit, 0);
  EXPECT_LT(end.took.count(), 2000);
}

TEST_F(Web, TakesAPortAgainThatWasJustUsed) {
  const std::string port = std::to_string(web_->port());
  EXPECT_EQ(web_->end(SIGTERM).exit, 0);
  for (int time = 0; time < 2; ++time) {
    web_ = std::make_unique<RunningWeb>(std::vector<std::string>{"--store", path_, "--port", port});
    ASSERT_EQ(std::to_string(web_->port()), port);
    EXPECT_TRUE(is_well());
    if (time == 0) {
      EXPECT_EQ(web_->end().exit, 0);
    }
  }
  // Two at a time cannot have it.
  const std::string command = fmt::format("'{}' web --store '{}' --port {} >'{}' 2>&1", test::kTuttiProgram, path_,
                                          port, folder_.file("error"));
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_TRUE(contains(folder_.read("error"), "Address already in use; --port 0 takes a free port"))
      << folder_.read("error");
}

TEST_F(Web, SaysThatTheStoreIsLocked) {
  const std::string path = folder_.file("locked.db");
  test::make_store(path);
  // As a program that has it for itself.
  sqlite3* held = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &held), SQLITE_OK);
  for (const char* words : {"PRAGMA journal_mode=DELETE", "PRAGMA locking_mode=EXCLUSIVE", "BEGIN EXCLUSIVE"})
    ASSERT_EQ(sqlite3_exec(held, words, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(held);
  const int status = std::system(
      fmt::format("'{}' web --store '{}' >'{}' 2>&1", test::kTuttiProgram, path, folder_.file("error")).c_str());
  sqlite3_close(held);
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_TRUE(contains(folder_.read("error"), "another process has kept it locked for too long"))
      << folder_.read("error");
}

}  // namespace
}  // namespace tutti::cli
