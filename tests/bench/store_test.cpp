// SPDX-License-Identifier: Apache-2.0
#include "bench/store/store.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "../base/temporary_folder.hpp"
#include "store_rows.hpp"

namespace tutti::harness {
namespace {

using testing::expect_same;
using testing::numbered_row;
using testing::RandomRows;

using ::tutti::test::TemporaryFolder;

// Another program that has the file open.
class Other {
 public:
  explicit Other(const std::string& path) { EXPECT_EQ(::sqlite3_open(path.c_str(), &connection_), SQLITE_OK); }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;
  ~Other() { ::sqlite3_close(connection_); }

  // What the last row of the answer begins with.
  std::string ask(const std::string& sql) {
    std::string answer;
    const auto take = [](void* where, int, char** texts, char**) {
      *static_cast<std::string*>(where) = texts[0] == nullptr ? "null" : texts[0];
      return 0;
    };
    EXPECT_EQ(::sqlite3_exec(connection_, sql.c_str(), take, &answer, nullptr), SQLITE_OK)
        << sql << ": " << ::sqlite3_errmsg(connection_);
    return answer;
  }

 private:
  sqlite3* connection_ = nullptr;
};

std::string ask(const std::string& path, const std::string& sql) { return Other(path).ask(sql); }

// That opening is refused with these words and the name of the file, and changes nothing.
void expect_refused(const Result<Store>& store, const std::string& path, std::string_view words) {
  ASSERT_FALSE(store.ok());
  const std::string message = store.status().to_string();
  EXPECT_NE(message.find(words), std::string::npos) << message;
  EXPECT_NE(message.find(std::filesystem::path(path).filename()), std::string::npos) << message;
}

class StoreTest : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string path_ = folder_.file("results.db");
};

// --- what is kept

TEST_F(StoreTest, RowsAndRunsComeBackAsTheyWere) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  RandomRows random(seed);
  constexpr int kRuns = 5;
  constexpr int kRows = 60;
  std::vector<StoredRun> runs;
  std::vector<std::vector<Row>> rows(kRuns);
  {
    Result<Store> store = Store::open(path_);
    ASSERT_TRUE(store.ok()) << store.status().to_string();
    for (int run = 0; run < kRuns; ++run) {
      runs.push_back(random.run());
      const Result<std::int64_t> id = store->begin(runs.back());
      ASSERT_TRUE(id.ok()) << id.status().to_string();
      runs.back().id = *id;
    }
    for (int row = 0; row < kRows; ++row) {
      const std::size_t run = random.below(kRuns);
      rows[run].push_back(random.row(row));
      const Status status = store->add(runs[run].id, rows[run].back());
      ASSERT_TRUE(status.ok()) << status.to_string();
    }
  }
  Result<Store> store = Store::open_to_read(path_);
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  const Result<std::vector<StoredRun>> found = store->runs();
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  ASSERT_EQ(found->size(), runs.size());
  for (std::size_t run = 0; run < runs.size(); ++run) {
    SCOPED_TRACE(fmt::format("run {}", run));
    expect_same(found->at(kRuns - 1 - run), runs[run]);
    EXPECT_EQ(found->at(kRuns - 1 - run).id, runs[run].id);
    EXPECT_EQ(found->at(kRuns - 1 - run).num_rows, rows[run].size());
    const Result<std::vector<Row>> read = store->rows_of(runs[run].id);
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    ASSERT_EQ(read->size(), rows[run].size());
    for (std::size_t row = 0; row < rows[run].size(); ++row) expect_same(read->at(row), rows[run][row]);
    std::set<std::string> keys;
    for (const Row& row : rows[run]) keys.insert(key_of(row));
    const Result<std::set<std::string>> kept = store->keys_of(runs[run].id);
    ASSERT_TRUE(kept.ok());
    EXPECT_EQ(*kept, keys);
  }
}

TEST_F(StoreTest, UnsetAndEmptySettingsDiffer) {
  Result<Store> store = Store::open(path_);
  ASSERT_TRUE(store.ok());
  const std::int64_t run = *store->begin({});
  Row row = numbered_row(0);
  row.settings = {{"A", ""}, {"B", std::nullopt}, {"C", "unset"}};
  ASSERT_TRUE(store->add(run, row).ok());
  EXPECT_EQ(store->rows_of(run)->front().settings, row.settings);
}

TEST_F(StoreTest, ValuesKeepTheirType) {
  Result<Store> store = Store::open(path_);
  ASSERT_TRUE(store.ok());
  const std::int64_t run = *store->begin({});
  Row row = numbered_row(0);
  row.point.values = {{"a", std::int64_t{64}}, {"b", 64.0}, {"c", "64"}, {"d", ""}};
  ASSERT_TRUE(store->add(run, row).ok());
  EXPECT_EQ(store->rows_of(run)->front().point, row.point);
  EXPECT_EQ(ask(path_, "SELECT group_concat(typeof(value)) FROM (SELECT value FROM points ORDER BY position)"),
            "integer,real,text,text");
}

TEST_F(StoreTest, SamplesAreLittleEndianDoubles) {
  Result<Store> store = Store::open(path_);
  ASSERT_TRUE(store.ok());
  Row row = numbered_row(0);
  row.samples = {1.0, -2.5};
  ASSERT_TRUE(store->add(*store->begin({}), row).ok());
  EXPECT_EQ(ask(path_, "SELECT hex(samples) FROM results"), "000000000000F03F00000000000004C0");
}

TEST_F(StoreTest, CountersMayBeNoNumber) {
  Result<Store> store = Store::open(path_);
  ASSERT_TRUE(store.ok());
  const std::int64_t run = *store->begin({});
  Row row = numbered_row(0);
  row.counters = {{"ratio", std::numeric_limits<double>::quiet_NaN()}};
  ASSERT_TRUE(store->add(run, row).ok());
  EXPECT_TRUE(std::isnan(store->rows_of(run)->front().counters.at("ratio")));
}

TEST_F(StoreTest, TextIsNeverTakenForSql) {
  Result<Store> store = Store::open(path_);
  ASSERT_TRUE(store.ok());
  const std::string evil = "'); DROP TABLE results; --";
  StoredRun run;
  run.sweep = evil;
  const std::int64_t id = *store->begin(run);
  Row row = numbered_row(0);
  row.note = row.bench = evil;
  row.settings = {{evil, evil}};
  ASSERT_TRUE(store->add(id, row).ok());
  expect_same(store->rows_of(id)->front(), row);
  EXPECT_EQ(store->last_of(evil)->value().id, id);
}

TEST_F(StoreTest, KeepsNoRowTwiceAndNoneWithoutARun) {
  Result<Store> store = Store::open(path_);
  ASSERT_TRUE(store.ok());
  const std::int64_t run = *store->begin({});
  ASSERT_TRUE(store->add(run, numbered_row(0)).ok());
  const Status twice = store->add(run, numbered_row(0));
  EXPECT_EQ(twice.code(), Code::invalid_usage);
  EXPECT_NE(twice.message().find("already"), std::string_view::npos) << twice.to_string();
  const Status lost = store->add(run + 1, numbered_row(0));
  EXPECT_NE(lost.message().find(fmt::format("no run {}", run + 1)), std::string_view::npos) << lost.to_string();
  EXPECT_FALSE(store->complete(run + 1).ok());
  ASSERT_TRUE(store->add(run, numbered_row(1)).ok());
  EXPECT_EQ(store->rows_of(run)->size(), 2U);
  // Of several none, where one cannot be.
  const std::vector<Row> some = {numbered_row(2), numbered_row(1)};
  EXPECT_FALSE(store->add(run, some).ok());
  EXPECT_EQ(store->rows_of(run)->size(), 2U);
  ASSERT_TRUE(store->add(run, std::span(some).first(1)).ok());
  EXPECT_EQ(store->rows_of(run)->size(), 3U);
}

TEST_F(StoreTest, ReplacesExistingRows) {
  Result<Store> store = Store::open(path_);
  ASSERT_TRUE(store.ok());
  const std::int64_t run = *store->begin({});
  const std::int64_t other = *store->begin({});
  for (const std::int64_t each : {run, other}) ASSERT_TRUE(store->add(each, numbered_row(0)).ok());
  std::vector<Row> again = {numbered_row(0), numbered_row(1)};
  again[0].note = "once more";
  ASSERT_TRUE(store->replace(run, again, {key_of(again[0])}).ok());
  const std::vector<Row> rows = *store->rows_of(run);
  ASSERT_EQ(rows.size(), 2U);
  expect_same(rows[0], again[0]);
  expect_same(rows[1], again[1]);
  expect_same(store->rows_of(other)->at(0), numbered_row(0));
}

// --- finding runs

TEST_F(StoreTest, FindsTheLastRunOfASweep) {
  Result<Store> store = Store::open(path_);
  ASSERT_TRUE(store.ok());
  StoredRun run;
  run.sweep = "this";
  EXPECT_FALSE(store->last_of("this")->has_value());
  ASSERT_TRUE(store->begin(run).ok());
  const std::int64_t second = *store->begin(run);
  run.sweep = "that";
  ASSERT_TRUE(store->begin(run).ok());
  EXPECT_EQ(store->last_of("this")->value().id, second);
  EXPECT_FALSE(store->last_of("this")->value().is_complete);
  ASSERT_TRUE(store->complete(second).ok());
  EXPECT_TRUE(store->find(std::to_string(second))->is_complete);
  EXPECT_TRUE(store->last_of("this")->value().is_complete);
  EXPECT_FALSE(store->last_of("THIS")->has_value());
}

TEST_F(StoreTest, FindsRunsByNumberAndLast) {
  Result<Store> store = Store::open(path_);
  ASSERT_TRUE(store.ok());
  const auto message = [&](std::string_view name) {
    const Result<StoredRun> run = store->find(name);
    return run.ok() ? fmt::format("run {}", run->id) : std::string(run.status().message());
  };
  const std::string place = fmt::format("'{}'", path_);
  EXPECT_EQ(message("last"), "there are no runs in " + place);
  EXPECT_EQ(message("12"), "there are no runs in " + place);
  StoredRun run;
  run.begun = "2026-11-21T16:00:00Z";
  for (int each = 0; each < 3; ++each) ASSERT_TRUE(store->begin(run).ok());
  EXPECT_EQ(message("last"), "run 3");
  EXPECT_EQ(message("Last"), "run 3");
  EXPECT_EQ(message("2"), "run 2");
  for (const std::string number : {"12", "0", "99999999999999999999"}) {
    EXPECT_EQ(message(number),
              fmt::format("there is no run {} in {}; the last one is 3, of 2026-11-21T16:00:00Z", number, place));
  }
  for (const std::string nonsense : {"nonsense", "", "-1", "2x", "1.5", "1 OR 1"})
    EXPECT_EQ(message(nonsense), fmt::format("'{}' is no run; give the number or the name of one, or last", nonsense));
}

// --- files that are not ours

TEST_F(StoreTest, RefusesWhatIsNoDatabase) {
  const std::string text = "bytes,us\n8,1.5\n";
  for (const std::string& contents : {text, std::string(5000, 'x'), std::string("SQLite format 3\0", 16)}) {
    folder_.write("results.db", contents);
    expect_refused(Store::open(path_), path_, "it is no SQLite database; name another file");
    expect_refused(Store::open_to_read(path_), path_, "it is no SQLite database; name another file");
    EXPECT_EQ(folder_.read("results.db"), contents);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(StoreTest, RefusesAnotherProgramsDatabase) {
  for (const std::string sql : {"CREATE TABLE a (b)", "VACUUM", "PRAGMA application_id = 7",
                                "PRAGMA journal_mode = WAL; CREATE TABLE a (b)", "PRAGMA user_version = 1"}) {
    std::filesystem::remove(path_);
    ask(path_, sql);
    const std::string before = folder_.read("results.db");
    ASSERT_FALSE(before.empty()) << sql;
    expect_refused(Store::open(path_), path_, "it is another program's SQLite database; name another file");
    expect_refused(Store::open_to_read(path_), path_, "another program's");
    EXPECT_EQ(folder_.read("results.db"), before) << sql;
  }
}

TEST_F(StoreTest, DoesNotEvenTidyUpAnotherProgramsDatabase) {
  // What a process leaves that is killed while it writes: a journal that every SQLite would roll back.
  const std::string original = folder_.file("original.db");
  Other other(original);
  other.ask("CREATE TABLE a (b); INSERT INTO a VALUES (randomblob(50000))");
  other.ask(
      "PRAGMA cache_size = 1; BEGIN; UPDATE a SET b = randomblob(50000); INSERT INTO a VALUES (randomblob(99999))");
  std::filesystem::copy_file(original, path_);
  std::filesystem::copy_file(original + "-journal", path_ + "-journal");
  const std::string before = folder_.read("results.db");
  const std::string journal = folder_.read("results.db-journal");
  ASSERT_FALSE(journal.empty());
  expect_refused(Store::open(path_), path_, "another program's");
  EXPECT_EQ(folder_.read("results.db"), before);
  EXPECT_EQ(folder_.read("results.db-journal"), journal);
}

TEST_F(StoreTest, RefusesALaterVersion) {
  ASSERT_TRUE(Store::open(path_).ok());
  EXPECT_EQ(ask(path_, "PRAGMA user_version"), std::to_string(kStoreVersion));
  ask(path_, fmt::format("PRAGMA journal_mode = DELETE; PRAGMA user_version = {}", kStoreVersion + 1));
  const std::string before = folder_.read("results.db");
  expect_refused(Store::open(path_), path_,
                 fmt::format("it has version {} of the form, and this Tutti knows {}; use the Tutti that wrote it",
                             kStoreVersion + 1, kStoreVersion));
  expect_refused(Store::open_to_read(path_), path_, "use the Tutti that wrote it");
  EXPECT_EQ(folder_.read("results.db"), before);
}

// A file as the last version made it, with a run.
TEST_F(StoreTest, OpensThePreviousVersion) {
  {
    Result<Store> store = Store::open(path_);
    ASSERT_TRUE(store.ok());
    StoredRun run;
    run.sweep = "this";
    ASSERT_TRUE(store->add(*store->begin(run), numbered_row(0)).ok());
  }
  ask(path_, "PRAGMA journal_mode = DELETE; ALTER TABLE runs DROP COLUMN baseline; PRAGMA user_version = 2");
  const std::string before = folder_.read("results.db");
  {
    Result<Store> reader = Store::open_to_read(path_);
    ASSERT_TRUE(reader.ok()) << reader.status().to_string();
    EXPECT_EQ(reader->find("last")->baseline, "");
    EXPECT_EQ(reader->rows_of(1)->size(), 1U);
    EXPECT_EQ(folder_.read("results.db"), before) << "who reads changes nothing";
  }
  Result<Store> store = Store::open(path_);
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  EXPECT_EQ(ask(path_, "PRAGMA user_version"), std::to_string(kStoreVersion));
  EXPECT_EQ(store->find("1")->baseline, "");
  EXPECT_EQ(store->rows_of(1)->size(), 1U);
  StoredRun run;
  run.baseline = "openmpi default";
  ASSERT_TRUE(store->begin(run).ok());
  // The version is in the log now, and not yet in the header.
  Result<Store> reader = Store::open_to_read(path_);
  ASSERT_TRUE(reader.ok()) << reader.status().to_string();
  EXPECT_EQ(reader->find("last")->baseline, "openmpi default");
}

TEST_F(StoreTest, RefusesFoldersDevicesAndPipes) {
  const std::string pipe = folder_.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_refused(Store::open(folder_.path()), folder_.path(), "it is a folder; name a file in it");
  expect_refused(Store::open_to_read(folder_.path()), folder_.path(), "it is a folder");
  expect_refused(Store::open(pipe), pipe, "it is not a regular file");
  expect_refused(Store::open("/dev/full"), "/dev/full", "it is not a regular file");
  expect_refused(Store::open("/dev/null"), "/dev/null", "it is not a regular file");
}

TEST_F(StoreTest, RefusesPlacesThatAreNotThere) {
  const std::string nowhere = folder_.file("missing/results.db");
  expect_refused(Store::open(nowhere), nowhere, "there is no folder");
  expect_refused(Store::open(nowhere), nowhere, "mkdir -p");
  expect_refused(Store::open_to_read(nowhere), nowhere, "there is no such file");
  expect_refused(Store::open(folder_.write("file", "") + "/results.db"), "results.db", "Not a directory");
  expect_refused(Store::open(""), "", "has no name");
  expect_refused(Store::open_to_read(path_), path_, "there is no such file");
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(StoreTest, AnEmptyFileBecomesAStoreAndHasNothingToRead) {
  folder_.write("results.db", "");
  expect_refused(Store::open_to_read(path_), path_, "it is empty");
  EXPECT_TRUE(Store::open(path_).ok());
  EXPECT_TRUE(Store::open_to_read(path_).ok());
}

TEST_F(StoreTest, NamesThatSqliteTakesForOtherThingsAreFiles) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  for (const std::string name : {":memory:", "file:x?mode=memory", "a?b#c%d.db"}) {
    EXPECT_TRUE(Store::open(name).ok()) << name;
    EXPECT_TRUE(std::filesystem::exists(folder_.file(name))) << name;
    EXPECT_TRUE(Store::open_to_read(name).ok()) << name;
  }
  std::filesystem::current_path(before);
}

TEST_F(StoreTest, SaysThatAFileIsDamaged) {
  {
    Result<Store> store = Store::open(path_);
    ASSERT_TRUE(store.ok());
    const std::int64_t run = *store->begin({});
    for (int row = 0; row < 50; ++row) ASSERT_TRUE(store->add(run, numbered_row(row)).ok());
  }
  const std::string whole = folder_.read("results.db");
  const auto expect_damaged = [&] {
    Result<Store> store = Store::open_to_read(path_);
    const Status status = store.ok() ? store->rows_of(1).status() : store.status();
    EXPECT_NE(status.message().find("it is damaged"), std::string_view::npos) << status.to_string();
    EXPECT_NE(status.message().find("results.db"), std::string_view::npos) << status.to_string();
  };
  folder_.write("results.db", whole.substr(0, 4096) + std::string(whole.size() - 4096, '\x55'));
  expect_damaged();
  folder_.write("results.db", whole.substr(0, 8192));
  expect_damaged();
  for (const std::string sql :
       {"UPDATE results SET samples = x'00'", "UPDATE results SET outcome = 'fine'", "UPDATE points SET value = x'00'",
        "UPDATE results SET message_bytes = 1", "UPDATE evidence SET obeyed = 'perhaps'"}) {
    folder_.write("results.db", whole);
    ask(path_, sql);
    SCOPED_TRACE(sql);
    expect_damaged();
  }
}

// --- others beside

TEST_F(StoreTest, ReadersKeepNoRowFromBeingWrittenAndSeeOneState) {
  Result<Store> store = Store::open(path_, std::chrono::milliseconds(0));
  ASSERT_TRUE(store.ok());
  const std::int64_t run = *store->begin({});
  ASSERT_TRUE(store->add(run, numbered_row(0)).ok());
  Other reader(path_);
  reader.ask("BEGIN");
  EXPECT_EQ(reader.ask("SELECT count(*) FROM results"), "1");
  for (int row = 1; row < 5; ++row) ASSERT_TRUE(store->add(run, numbered_row(row)).ok());
  EXPECT_EQ(reader.ask("SELECT count(*) FROM results"), "1");
  reader.ask("COMMIT");
  EXPECT_EQ(reader.ask("SELECT count(*) FROM results"), "5");
  EXPECT_EQ(Store::open_to_read(path_)->rows_of(run)->size(), 5U);
}

TEST_F(StoreTest, SaysWhoKeepsItFromWriting) {
  Result<Store> store = Store::open(path_, std::chrono::milliseconds(1));
  ASSERT_TRUE(store.ok());
  const std::int64_t run = *store->begin({});
  Other other(path_);
  other.ask("BEGIN IMMEDIATE");
  const Status status = store->add(run, numbered_row(0));
  EXPECT_NE(status.message().find("another process has kept it locked"), std::string_view::npos) << status.to_string();
  EXPECT_NE(status.message().find(path_), std::string_view::npos) << status.to_string();
  other.ask("COMMIT");
  EXPECT_TRUE(store->add(run, numbered_row(0)).ok());
}

TEST_F(StoreTest, OpensWhileAnotherHasItOpenInTheOtherWay) {
  ASSERT_TRUE(Store::open(path_).ok());
  ask(path_, "PRAGMA journal_mode = DELETE");
  Other other(path_);
  other.ask("BEGIN; SELECT count(*) FROM runs");
  Result<Store> store = Store::open(path_, std::chrono::milliseconds(1));
  ASSERT_TRUE(store.ok()) << store.status().to_string();
  other.ask("COMMIT");
  EXPECT_TRUE(store->begin({}).ok());
}

TEST_F(StoreTest, ReadersWriteNothing) {
  ASSERT_TRUE(Store::open(path_).ok());
  Result<Store> store = Store::open_to_read(path_);
  ASSERT_TRUE(store.ok());
  EXPECT_FALSE(store->begin({}).ok());
}

TEST_F(StoreTest, IsASingleFileWhenNobodyHasItOpen) {
  { ASSERT_TRUE(Store::open(path_)->begin({}).ok()); }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

// --- where it is

TEST_F(StoreTest, UsualPlace) {
  const std::string data = folder_.file("data");
  const std::string home = folder_.file("home");
  EXPECT_EQ(*usual_store({{"XDG_DATA_HOME", data}, {"HOME", home}}), data + "/tutti/results.db");
  EXPECT_TRUE(std::filesystem::is_directory(data + "/tutti"));
  EXPECT_EQ(*usual_store({{"XDG_DATA_HOME", "relative"}, {"HOME", home}}), home + "/.local/share/tutti/results.db");
  EXPECT_TRUE(std::filesystem::is_directory(home + "/.local/share/tutti"));
  EXPECT_NE(usual_store({}).status().message().find("HOME"), std::string_view::npos);
  const Status blocked = usual_store({{"XDG_DATA_HOME", folder_.write("file", "")}}).status();
  EXPECT_NE(blocked.message().find("Not a directory"), std::string_view::npos) << blocked.to_string();
}

}  // namespace
}  // namespace tutti::harness
