// SPDX-License-Identifier: Apache-2.0
// The watch of a store in a folder that the reader may not write, and what pages say of it.
#include "cli/web/store_watch.hpp"

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../base/temporary_folder.hpp"
#include "../calling.hpp"
#include "cli/web/site.hpp"
#include "made_up_store.hpp"

namespace tutti::cli {
namespace {

constexpr int kNotPossibleHere = 77;

// A letter from one process to the other, or nothing if that has ended.
class Letters {
 public:
  Letters() { EXPECT_EQ(::pipe(ends_), 0); }
  ~Letters() {
    for (const int end : ends_) ::close(end);
  }
  Letters(const Letters&) = delete;
  Letters& operator=(const Letters&) = delete;
  void send() const { EXPECT_EQ(::write(ends_[1], "x", 1), 1); }
  [[nodiscard]] bool wait() const {
    char letter = 0;
    return ::read(ends_[0], &letter, 1) == 1;
  }
  void only_reads() { ::close(std::exchange(ends_[1], -1)); }

 private:
  int ends_[2] = {-1, -1};
};

// A site as a user has it who may read the store and not write to its folder.
class Reader {
 public:
  explicit Reader(const std::string& path) {
    Result<std::unique_ptr<StoreWatch>> watch = StoreWatch::start(path);
    Result<Token> token = make_token();
    EXPECT_TRUE(watch.ok() && token.ok());
    watch_ = std::move(*watch);
    site_ = std::make_unique<WebSite>(WebSite::Options{.store = path, .folders = {}, .token = *token, .port = 4711},
                                      world_, *watch_);
    const std::string address = site_->address();
    home_ = address.substr(address.find('/', 8));
  }

  // Whether the watch sees so many rows of the second run in a while, and a page made now has its mark: then no page is
  // loaded again.
  void expect_rows(std::uint64_t rows) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    std::shared_ptr<const StoreState> state = watch_->state();
    const auto is_seen = [&] { return state->trouble.empty() && !state->runs.empty() && rows_of(*state) == rows; };
    while (!is_seen() && std::chrono::steady_clock::now() < end)
      state = watch_->wait_for_other(state->number, StoreWatch::kInterval);
    ASSERT_TRUE(is_seen()) << rows_of(*state) << " rows " << state->trouble;
    const nlohmann::json event = nlohmann::json::parse(WebSite::event_of(*state, {2}));
    const std::string page =
        site_->reply({.method = "GET", .path = home_ + "run/2", .values = {}, .hosts = {"localhost"}}).body;
    EXPECT_TRUE(contains(page, "\"mark\":" + event["mark"].dump())) << event;
  }

 private:
  static std::uint64_t rows_of(const StoreState& state) {
    return state.runs.empty() ? 0 : state.runs.front().run.num_rows;
  }

  BenchWorld world_;
  std::unique_ptr<StoreWatch> watch_;
  std::unique_ptr<WebSite> site_;
  std::string home_;
};

TEST(StoreWatch, SeesNewRowsWhereItMayNotWrite) {
  const tutti::test::TemporaryFolder folder;
  const std::string path = folder.file("store.db");
  test::make_store(path);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  Letters is_seen;
  Letters is_written;
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (::geteuid() != 0 || ::seteuid(kNobody) != 0) ::_exit(kNotPossibleHere);
    is_written.only_reads();
    {
      Reader reader(path);
      std::uint64_t rows = 12;
      reader.expect_rows(rows);
      do {
        is_seen.send();
        if (!is_written.wait()) break;
        reader.expect_rows(++rows);
      } while (!::testing::Test::HasFailure());
    }
    std::fflush(nullptr);
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  is_seen.only_reads();
  std::optional<harness::Store> open;  // a writer that stays
  for (int row = 1; row <= 4 && is_seen.wait(); ++row) {
    if (row == 3) {
      Result<harness::Store> store = harness::Store::open(path);
      ASSERT_TRUE(store.ok()) << store.status().to_string();
      open.emplace(std::move(*store));
    }
    test::add_a_row(path, 8 * row);
    is_written.send();
  }
  static_cast<void>(is_seen.wait());
  is_written.only_reads();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotPossibleHere) GTEST_SKIP() << "only root can become another user";
  EXPECT_EQ(status, 0) << "the child failed; it says above why";
}

}  // namespace
}  // namespace tutti::cli
