// SPDX-License-Identifier: Apache-2.0
// The store in processes of its own: killed while they write, on full disks, without permission.
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/temporary_folder.hpp"
#include "bench/store/store.hpp"
#include "store_rows.hpp"

namespace tutti::harness {
namespace {

using testing::expect_same;
using testing::numbered_row;

using ::tutti::test::TemporaryFolder;

constexpr int kNotPossibleHere = 77;

// Runs the body in a child; its expectations are printed there, and fail this test. False where the child says that the
// machine does not allow it.
bool in_child(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    std::fflush(nullptr);
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotPossibleHere) return false;
  EXPECT_EQ(status, 0) << "the child failed; it says above why";
  return true;
}

std::string integrity(const std::string& path) {
  sqlite3* connection = nullptr;
  EXPECT_EQ(::sqlite3_open(path.c_str(), &connection), SQLITE_OK);
  std::string answer;
  const auto take = [](void* where, int, char** texts, char**) {
    static_cast<std::string*>(where)->append(texts[0]).append(" ");
    return 0;
  };
  const char* both = "PRAGMA integrity_check; PRAGMA foreign_key_check";
  EXPECT_EQ(::sqlite3_exec(connection, both, take, &answer, nullptr), SQLITE_OK) << ::sqlite3_errmsg(connection);
  ::sqlite3_close(connection);
  return answer;
}

// A child that resumes the store's one sweep, adds rows without end and tells of each that add() has come back from.
class Writer {
 public:
  explicit Writer(const std::string& path) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    child_ = ::fork();
    if (child_ == 0) {
      ::close(ends[0]);
      write_rows(path, ends[1]);
    }
    ::close(ends[1]);
    told_ = ends[0];
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { ::close(told_); }

  // The number of rows that it has told of; waits for one.
  int wait_for_a_row() {
    int row = -1;
    EXPECT_EQ(::read(told_, &row, sizeof row), static_cast<ssize_t>(sizeof row));
    return row;
  }

  // The last row that it has told of, -1 if none.
  int kill_after(std::chrono::microseconds time) {
    pollfd never{.fd = -1, .events = 0, .revents = 0};
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    const timespec left{.tv_sec = seconds.count(), .tv_nsec = std::chrono::nanoseconds(time - seconds).count()};
    ::ppoll(&never, 1, &left, nullptr);
    ::kill(child_, SIGKILL);
    int status = 0;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    EXPECT_TRUE(WIFSIGNALED(status)) << "it ended by itself: " << WEXITSTATUS(status);
    int last = -1;
    int row = -1;
    while (::read(told_, &row, sizeof row) == static_cast<ssize_t>(sizeof row)) last = row;
    return last;
  }

 private:
  [[noreturn]] static void write_rows(const std::string& path, int tell) {
    Result<Store> store = Store::open(path);
    if (!store.ok()) fail(store.status());
    const Result<std::optional<StoredRun>> run = store->last_of("sweep");
    if (!run.ok()) fail(run.status());
    StoredRun fresh;
    fresh.sweep = "sweep";
    const Result<std::int64_t> id = *run ? Result((*run)->id) : store->begin(fresh);
    if (!id.ok()) fail(id.status());
    const Result<std::set<std::string>> keys = store->keys_of(*id);
    if (!keys.ok()) fail(keys.status());
    for (int row = 0;; ++row) {
      // Some are larger than SQLite's log before it is taken over into the file.
      const Row made = numbered_row(row, row % 20 == 7 ? 200'000 : 500);
      if (keys->contains(key_of(made))) continue;
      if (const Status status = store->add(*id, made); !status.ok()) fail(status);
      if (::write(tell, &row, sizeof row) < 0) ::_exit(3);
    }
  }
  [[noreturn]] static void fail(const Status& status) {
    fmt::print(stderr, "{}\n", status.to_string());
    ::_exit(2);
  }

  pid_t child_ = -1;
  int told_ = -1;
};

class StoreProcesses : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string path_ = folder_.file("results.db");
};

TEST_F(StoreProcesses, KilledAtAnyMomentLosesNothingFinishedAndRepeatsNothing) {
  const char* given = std::getenv("KILL_SEED");
  const unsigned seed = given == nullptr ? std::random_device{}() : static_cast<unsigned>(std::atol(given));
  std::mt19937 random(seed);
  int last = -1;
  for (int kill = 0; kill < 40; ++kill) {
    SCOPED_TRACE(fmt::format("KILL_SEED={} kill {}", seed, kill));
    Writer writer(path_);
    // The first ones hit the making of the file, the others any moment of a few rows.
    for (unsigned rows = kill < 15 ? 0 : random() % 4; rows > 0; --rows) last = std::max(last, writer.wait_for_a_row());
    last = std::max(last, writer.kill_after(std::chrono::microseconds(random() % 5'000)));
    if (last < 0) continue;

    Result<Store> store = Store::open_to_read(path_);
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    const Result<std::vector<StoredRun>> runs = store->runs();
    ASSERT_TRUE(runs.ok()) << runs.status().to_string();
    ASSERT_EQ(runs->size(), 1U);
    const Result<std::vector<Row>> rows = store->rows_of(runs->front().id);
    ASSERT_TRUE(rows.ok()) << rows.status().to_string();
    // The last one may be there without having been told.
    const int num_rows = static_cast<int>(rows->size());
    ASSERT_GE(num_rows, last + 1);
    ASSERT_LE(num_rows, last + 2);
    last = num_rows - 1;
    for (int row = 0; row < num_rows; ++row)
      expect_same(rows->at(static_cast<std::size_t>(row)), numbered_row(row, row % 20 == 7 ? 200'000 : 500));
    ASSERT_EQ(integrity(path_), "ok ");
    if (HasFailure()) break;
  }
  EXPECT_GE(last, 0) << "no row was ever written";
}

TEST_F(StoreProcesses, AreReadWhileTheyWrite) {
  Writer writer(path_);
  writer.wait_for_a_row();
  std::size_t before = 0;
  // Reading takes longer the more there is, and meanwhile there comes more.
  for (int time = 0; time < 20 && before < 200; ++time) {
    const int told = writer.wait_for_a_row();
    Result<Store> store = Store::open_to_read(path_);
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    const Result<std::vector<Row>> rows = store->rows_of(1);
    ASSERT_TRUE(rows.ok()) << rows.status().to_string();
    EXPECT_GE(rows->size(), std::max(before, static_cast<std::size_t>(told) + 1));
    before = rows->size();
    for (std::size_t row = 0; row < rows->size(); ++row)
      expect_same(rows->at(row), numbered_row(static_cast<int>(row), row % 20 == 7 ? 200'000 : 500));
  }
  writer.kill_after(std::chrono::microseconds(0));
}

TEST_F(StoreProcesses, ManyMakeTheFileAtOnce) {
  constexpr int kWriters = 8;
  std::array<pid_t, kWriters> children{};
  for (pid_t& child : children) {
    child = ::fork();
    if (child != 0) continue;
    Result<Store> store = Store::open(path_);
    const Status status = store.ok() ? store->begin({}).status() : store.status();
    if (!status.ok()) fmt::print(stderr, "{}\n", status.to_string());
    ::_exit(status.ok() ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(Store::open_to_read(path_)->runs()->size(), std::size_t{kWriters});
  EXPECT_EQ(integrity(path_), "ok ");
}

// Adds rows until that is refused; the number of rows that were taken.
int fill(Store& store, std::int64_t run, std::string_view words, const std::string& path) {
  for (int row = 0; row < 10'000; ++row) {
    const Status status = store.add(run, numbered_row(row, 1000));
    if (status.ok()) continue;
    EXPECT_NE(status.message().find(words), std::string_view::npos) << status.to_string();
    EXPECT_NE(status.message().find(path), std::string_view::npos) << status.to_string();
    EXPECT_NE(status.message().find("name a file elsewhere"), std::string_view::npos) << status.to_string();
    return row;
  }
  ADD_FAILURE() << "the disk was never full";
  return 0;
}

void expect_rows(Store& store, std::int64_t run, int num_rows) {
  const Result<std::vector<Row>> rows = store.rows_of(run);
  ASSERT_TRUE(rows.ok()) << rows.status().to_string();
  ASSERT_EQ(rows->size(), static_cast<std::size_t>(num_rows));
  for (int row = 0; row < num_rows; ++row)
    expect_same(rows->at(static_cast<std::size_t>(row)), numbered_row(row, 1000));
}

TEST_F(StoreProcesses, AFullDiskKeepsWhatIsFinished) {
  const std::string mounted = folder_.file("small");
  const std::string path = mounted + "/results.db";
  ASSERT_TRUE(std::filesystem::create_directory(mounted));
  const bool possible = in_child([&] {
    const int spaces = ::geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
    if (::unshare(spaces) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("small", mounted.c_str(), "tmpfs", 0, "size=512k") != 0)
      ::_exit(kNotPossibleHere);
    Result<Store> store = Store::open(path);
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    const std::int64_t run = *store->begin({});
    const int num_rows = fill(*store, run, "the disk is full; make room there", path);
    EXPECT_GT(num_rows, 0);
    expect_rows(*store, run, num_rows);
    EXPECT_EQ(integrity(path), "ok ");

    const Result<Store> next = Store::open(mounted + "/next.db");
    ASSERT_FALSE(next.ok());
    EXPECT_NE(next.status().message().find("the disk is full"), std::string_view::npos) << next.status().to_string();

    ASSERT_EQ(::mount("small", mounted.c_str(), "tmpfs", MS_REMOUNT, "size=4m"), 0);
    for (int row = num_rows; row < num_rows + 20; ++row) ASSERT_TRUE(store->add(run, numbered_row(row, 1000)).ok());
    expect_rows(*store, run, num_rows + 20);
  });
  if (!possible) GTEST_SKIP() << "no small file system can be mounted here";
}

TEST_F(StoreProcesses, ALimitOfFilesSizesKeepsWhatIsFinished) {
  in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    Result<Store> store = Store::open(path_);
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    const std::int64_t run = *store->begin({});
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit small{.rlim_cur = 300'000, .rlim_max = limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const int num_rows = fill(*store, run, "File too large", path_);
    EXPECT_GT(num_rows, 0);
    expect_rows(*store, run, num_rows);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (int row = num_rows; row < num_rows + 20; ++row) ASSERT_TRUE(store->add(run, numbered_row(row, 1000)).ok());
    expect_rows(*store, run, num_rows + 20);
  });
  EXPECT_EQ(integrity(path_), "ok ");
}

// From here on permissions count.
void become_nobody() {
  constexpr uid_t kNobody = 65534;
  if (::geteuid() == 0 && ::seteuid(kNobody) != 0) ::_exit(kNotPossibleHere);
}

TEST_F(StoreProcesses, SayWhenTheyMayNotWrite) {
  {
    Result<Store> store = Store::open(path_);
    ASSERT_TRUE(store->add(*store->begin({}), numbered_row(0, 1000)).ok());
  }
  const std::string before = folder_.read("results.db");
  ASSERT_EQ(::chmod(path_.c_str(), 0444), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0555), 0);
  const bool possible = in_child([&] {
    become_nobody();
    const auto expect_refused = [](const Result<Store>& store, std::string_view words) {
      ASSERT_FALSE(store.ok());
      EXPECT_NE(store.status().message().find(words), std::string_view::npos) << store.status().to_string();
    };
    expect_refused(Store::open(path_), "results.db': it may not be written; allow it");
    expect_refused(Store::open(folder_.file("new.db")), "new.db': the folder");
    expect_refused(Store::open(folder_.file("new.db")), "Permission denied");
    // Reading needs no permission to write.
    Result<Store> store = Store::open_to_read(path_);
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    expect_rows(*store, 1, 1);
    EXPECT_TRUE(store->is_fixed()) << "what others write now is not seen";
  });
  EXPECT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  EXPECT_EQ(folder_.read("results.db"), before);

  ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0555), 0);
  in_child([&] {
    become_nobody();
    const Result<Store> store = Store::open(path_);
    ASSERT_FALSE(store.ok()) << "SQLite has to make files beside it";
    EXPECT_NE(store.status().message().find("allow writing to its folder"), std::string_view::npos)
        << store.status().to_string();
  });
  EXPECT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(path_.c_str(), 0), 0);
  in_child([&] {
    become_nobody();
    const Result<Store> store = Store::open_to_read(path_);
    ASSERT_FALSE(store.ok());
    EXPECT_NE(store.status().message().find("Permission denied"), std::string_view::npos);
  });
  if (!possible) GTEST_SKIP() << "this user cannot become one without permissions";
}

TEST_F(StoreProcesses, AreReadByThoseWhoMayNotWrite) {
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0755), 0);
  Writer writer(path_);
  const int told = writer.wait_for_a_row();
  const bool possible = in_child([&] {
    become_nobody();
    Result<Store> store = Store::open_to_read(path_);
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    EXPECT_GT(static_cast<int>(store->rows_of(1)->size()), told);
    EXPECT_FALSE(store->is_fixed());
  });
  writer.kill_after(std::chrono::microseconds(0));
  if (!possible) GTEST_SKIP() << "this user cannot become one without permissions";
}

}  // namespace
}  // namespace tutti::harness
