// SPDX-License-Identifier: Apache-2.0
// Names and notes of runs, runs that are deleted, and what those ask who watch a store.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "../base/temporary_folder.hpp"
#include "bench/store/store.hpp"
#include "store_rows.hpp"

namespace tutti::harness {
namespace {

using testing::numbered_row;

// What the last row of the answer begins with.
std::string answer_of(const std::string& path, const std::string& sql) {
  sqlite3* connection = nullptr;
  EXPECT_EQ(::sqlite3_open(path.c_str(), &connection), SQLITE_OK);
  std::string answer;
  const auto take = [](void* where, int, char** texts, char**) {
    *static_cast<std::string*>(where) = texts[0] == nullptr ? "null" : texts[0];
    return 0;
  };
  EXPECT_EQ(::sqlite3_exec(connection, sql.c_str(), take, &answer, nullptr), SQLITE_OK) << sql;
  ::sqlite3_close(connection);
  return answer;
}

harness::StoredRun run_called(const std::string& name) {
  harness::StoredRun run;
  run.name = name;
  return run;
}

class StoreLabels : public ::testing::Test {
 protected:
  ::tutti::test::TemporaryFolder folder_;
  std::string path_ = folder_.file("results.db");
};

TEST_F(StoreLabels, RunsHaveNamesAndNotes) {
  Result<Store> store = Store::open(path_);
  ASSERT_TRUE(store.ok());
  harness::StoredRun run = run_called("before-the-fix");
  run.note = "quiet machine, 'quoted'";
  const std::int64_t first = *store->begin(run);
  EXPECT_EQ(store->find("before-the-fix")->id, first);
  EXPECT_EQ(store->find("before-the-fix")->note, run.note);
  EXPECT_FALSE(store->begin(run).ok()) << "no two have the same name";
  EXPECT_EQ(store->runs()->size(), 1U) << "and nothing is left of the second";
  run.name.clear();
  const std::int64_t second = *store->begin(run);
  EXPECT_EQ(second, first + 1);
  EXPECT_FALSE(store->set_name(second, "before-the-fix").ok());
  EXPECT_TRUE(store->set_name(second, "after").ok());
  EXPECT_TRUE(store->set_note(second, "").ok());
  EXPECT_EQ(store->find("after")->note, "");
  EXPECT_TRUE(store->set_name(second, "later").ok());
  EXPECT_FALSE(store->find("after").ok());
  EXPECT_EQ(Store::open_to_read(path_)->find("later")->id, second);
  EXPECT_TRUE(store->set_name(second, "").ok());
  EXPECT_FALSE(store->find("later").ok());
  EXPECT_FALSE(store->set_name(99, "x").ok());
  for (const char* name : {"last", "LAST", "12", "a b", "-x", "a'b"}) {
    EXPECT_FALSE(check_run_name(name).ok()) << name;
    EXPECT_FALSE(store->set_name(first, name).ok()) << name;
  }
}

TEST_F(StoreLabels, DeletingARunFreesItsSpace) {
  Result<Store> store = Store::open(path_);
  ASSERT_TRUE(store.ok());
  const std::int64_t small = *store->begin({});
  ASSERT_TRUE(store->add(small, numbered_row(1)).ok());
  const std::int64_t large = *store->begin(run_called("large"));
  Row row = numbered_row(2);
  row.samples.assign(100'000, 1.5);
  row.rounds = {100'000};
  ASSERT_TRUE(store->add(large, row).ok());
  const auto size = [&] { return std::filesystem::file_size(path_) + std::filesystem::file_size(path_ + "-wal"); };
  const auto before = size();
  EXPECT_TRUE(store->remove(large).ok());
  EXPECT_LT(size() + 700'000, before);
  EXPECT_FALSE(store->find("large").ok());
  EXPECT_EQ(store->rows_of(small)->size(), 1U);
  EXPECT_EQ(answer_of(path_, "SELECT count(*) FROM results"), "1");
  EXPECT_EQ(answer_of(path_, "SELECT count(*) FROM labels"), "0");
  EXPECT_FALSE(store->remove(large).ok());
}

TEST_F(StoreLabels, AFileFromBeforeRunsHadNamesGetsThem) {
  {
    Result<Store> store = Store::open(path_);
    ASSERT_TRUE(store->begin({}).ok());
  }
  answer_of(path_, "DROP TABLE labels");
  EXPECT_EQ(Store::open_to_read(path_)->find("last")->name, "");
  EXPECT_FALSE(Store::open_to_read(path_)->find("some").ok());
  EXPECT_TRUE(Store::open(path_)->set_name(1, "some").ok());
  EXPECT_EQ(Store::open_to_read(path_)->find("some")->id, 1);
}

// --- watching

TEST_F(StoreLabels, ChangesOfOthersAreCountedAndPeersNamed) {
  Result<Store> writer = Store::open(path_);
  ASSERT_TRUE(writer.ok());
  const std::int64_t run = *writer->begin({});
  Result<Store> reader = Store::open_to_read(path_);
  ASSERT_TRUE(reader.ok());
  EXPECT_TRUE(reader->peers_of(run)->empty());
  const std::int64_t before = *reader->data_version();
  EXPECT_EQ(*reader->data_version(), before);
  for (const char* peer : {"tutti", "openmpi", "tutti"}) {
    Row row = numbered_row(static_cast<int>(reader->rows_of(run)->size()) + 1);
    row.peer = peer;
    ASSERT_TRUE(writer->add(run, row).ok());
  }
  EXPECT_NE(*reader->data_version(), before);
  EXPECT_EQ(*reader->peers_of(run), (std::vector<std::string>{"openmpi", "tutti"}));
  EXPECT_TRUE(reader->peers_of(run + 1)->empty());
}

}  // namespace
}  // namespace tutti::harness
