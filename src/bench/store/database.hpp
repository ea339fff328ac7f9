// SPDX-License-Identifier: Apache-2.0
// SQLite in the words of this project: a file of one kind and version, statements whose values are always bound, and
// errors that name the file and say what to do. What is in the tables is the business of bench/store.
//
// One thread at a time. A connection must not be used, nor closed, on both sides of a fork.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace tutti::harness {

// What a file must say that it is, and what an empty one becomes.
struct DatabaseKind {
  std::string_view holds;           // for messages: "results"
  std::int32_t application_id = 0;  // not 0, which is what other programs' files say
  int version = 1;
  std::string schema;  // statements that make the tables
  // Files of these versions are read as they are, and brought to `version` when they are opened for writing. Ascending,
  // one version after the other up to the one before `version`.
  struct Upgrade {
    int from = 0;
    std::string statements;  // that make of it what the next version is
  };
  std::vector<Upgrade> upgrades = {};
};

class Database;

// A statement that is being used. What is bound and what is read is in the order in which it is asked for. Text and
// blobs are borrowed: they must outlive it. Ends with it, and must not outlive the database.
class Statement {
 public:
  Statement(Database& database, sqlite3_stmt* statement) : database_(&database), statement_(statement) {}
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  Statement& bind(std::int64_t number);
  Statement& bind(std::string_view text);
  Statement& bind(std::span<const std::byte> blob);
  // Null is how SQLite keeps what is not a number.
  Statement& bind(double number);
  Statement& bind(std::nullopt_t null);
  template <typename T>
  Statement& bind(const std::optional<T>& value) {
    return value ? bind(*value) : bind(std::nullopt);
  }

  // Whether there is a row (the next one).
  [[nodiscard]] Result<bool> step();
  // To its end, whatever rows it has. It can be bound anew afterwards.
  [[nodiscard]] Status run();

  // Columns of the row, in their order.
  enum class Type : std::uint8_t { integer, number, text, blob, null };
  [[nodiscard]] Type next_type() const;
  std::int64_t next_integer();
  double next_number();
  std::optional<double> next_number_if_there();
  std::string next_text();
  std::optional<std::string> next_text_if_there();
  // Valid up to the next step.
  std::span<const std::byte> next_blob();

 private:
  void note(int code);

  Database* database_;
  sqlite3_stmt* statement_;
  int bound_ = 0;
  int read_ = 0;
  int refused_ = 0;  // the first code other than "done" of binding
};

class Database {
 public:
  enum class Access : std::uint8_t {
    write,  // makes the file where there is none or an empty one
    read,   // writes nothing but what ends another program's interrupted writing
  };
  // Another process that writes is waited for as long as `patience`.
  [[nodiscard]] static Result<std::unique_ptr<Database>> open(const std::string& path, Access access,
                                                              const DatabaseKind& kind,
                                                              std::chrono::milliseconds patience);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  // Prepared once and kept; only one of the same text may be in use.
  [[nodiscard]] Result<Statement> prepare(std::string_view sql);
  // Statements without values and rows.
  [[nodiscard]] Status execute(const std::string& sql);

  // The number of the row that was last inserted, and how many the last statement changed.
  [[nodiscard]] std::int64_t last_id() const;
  [[nodiscard]] std::int64_t num_changed() const;

  [[nodiscard]] const std::string& path() const { return path_; }
  // Of the file: that of its kind, or an older one where it was opened for reading.
  [[nodiscard]] int version() const { return version_; }
  // What others write later is not seen: the file is read as it lay there when it was opened.
  [[nodiscard]] bool is_fixed() const { return is_fixed_; }
  // What SQLite said, with the file and what is to be done.
  [[nodiscard]] Status error(int code) const;
  // The file is of the right kind, and what is in it cannot be.
  [[nodiscard]] Status damaged(std::string_view what) const;

 private:
  friend class Transaction;
  Database(std::string path, Access access, DatabaseKind kind);

  [[nodiscard]] Status connect(const std::string& name, int flags, std::chrono::milliseconds patience);
  [[nodiscard]] Status look_at_place() const;
  [[nodiscard]] Status look_at_header();
  [[nodiscard]] Status prepare_to_write();
  [[nodiscard]] Status prepare_to_read(std::chrono::milliseconds patience);
  [[nodiscard]] Status make_tables();
  [[nodiscard]] Status check_version(std::int64_t version);
  [[nodiscard]] Status upgrade();
  [[nodiscard]] Status choose_journal();
  [[nodiscard]] Result<std::int64_t> number(std::string_view sql);
  [[nodiscard]] Status refusal(Code code, std::string_view what, std::string_view remedy) const;
  [[nodiscard]] bool in_transaction() const;
  void disconnect();

  std::string path_;
  Access access_;
  bool is_fixed_ = false;
  DatabaseKind kind_;
  int version_;
  sqlite3* connection_ = nullptr;
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
};

// All or nothing: what is done until commit() is undone where that is not reached.
class Transaction {
 public:
  // To write, so that nobody else begins to; or to read one state of the file however many statements it takes.
  enum class For : std::uint8_t { writing, reading };
  [[nodiscard]] static Result<Transaction> begin(Database& database, For purpose);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  [[nodiscard]] Status commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace tutti::harness
