// SPDX-License-Identifier: Apache-2.0
// Where results are kept: an SQLite file with every run, its machine, its rows as they were finished, and their raw
// samples. docs/formats/store.md is the schema. A row is kept when add() has returned; killing the program at any
// moment loses nothing that was finished.
//
// One thread at a time; not on both sides of a fork. Other processes may read and write the file meanwhile.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "base/variables/environment.hpp"
#include "bench/results/result.hpp"

namespace tutti::harness {

inline constexpr int kStoreVersion = 3;

// What a run is, besides its rows.
struct StoredRun {
  std::int64_t id = 0;
  std::string begun;  // 2026-11-21T16:00:00Z
  std::string bench;
  std::string command;     // as it was called, for people
  std::string sweep;       // what identifies its sweep: equal for a run that may be resumed by the same command
  std::string machine;     // a fingerprint, for people: processor, cores, memory, kernel
  std::string tutti;       // version
  std::string owner;       // the process that writes it: equal for no other process of any time
  bool is_paired = false;  // a live comparison: rounds of one case and launch are pairs
  std::string baseline;    // the competitor over whom its speed-ups are; empty: the first
  bool is_complete = false;
  std::uint64_t num_rows = 0;  // as far as they are there
  std::string name;            // as people call it; empty: it has none. No two runs of a store have the same
  std::string note;            // what people say of it
};

// Whether a run can be called that: letters, digits, _, - and dots, not a number alone, and not "last".
[[nodiscard]] Status check_run_name(std::string_view name);

class Database;

class Store {
 public:
  // How long another process that writes at the same time is waited for. Its writing takes milliseconds.
  static constexpr std::chrono::milliseconds kPatience{10'000};

  // Makes the file where there is none, but not its folder. A file of a later version, of something else, or that
  // cannot be written is an error that says so, and is left as it is.
  [[nodiscard]] static Result<Store> open(const std::string& path, std::chrono::milliseconds patience = kPatience);
  // For reading only: a missing file is an error.
  [[nodiscard]] static Result<Store> open_to_read(const std::string& path,
                                                  std::chrono::milliseconds patience = kPatience);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // The id that it has from now on; neither the one in `run`, nor what that says of rows and completeness, counts.
  [[nodiscard]] Result<std::int64_t> begin(const StoredRun& run);
  // A row whose key (key_of) the run has is an error.
  [[nodiscard]] Status add(std::int64_t run, const Row& row) { return add(run, std::span(&row, 1)); }
  // All of them, or none.
  [[nodiscard]] Status add(std::int64_t run, std::span<const Row> rows);
  // The same, and the rows with the keys `forgotten` are deleted, where the run has them.
  [[nodiscard]] Status replace(std::int64_t run, std::span<const Row> rows, const std::set<std::string>& forgotten);
  // Another process goes on with the run, without the rows that have the keys `forgotten`.
  [[nodiscard]] Status adopt(std::int64_t run, const std::string& owner, const std::set<std::string>& forgotten);
  [[nodiscard]] Status complete(std::int64_t run);
  // In the place of what it had; an empty one takes that away. A name that another run has is an error.
  [[nodiscard]] Status set_name(std::int64_t run, const std::string& name);
  [[nodiscard]] Status set_note(std::int64_t run, const std::string& note);
  // With all of its rows; the file gets smaller by them.
  [[nodiscard]] Status remove(std::int64_t run);

  // The latest run that has this sweep.
  [[nodiscard]] Result<std::optional<StoredRun>> last_of(const std::string& sweep);
  // The keys of the rows that a run has.
  [[nodiscard]] Result<std::set<std::string>> keys_of(std::int64_t run);

  // Latest first.
  [[nodiscard]] Result<std::vector<StoredRun>> runs();
  // By number, by name, or "last".
  [[nodiscard]] Result<StoredRun> find(std::string_view name);
  // In the order in which they were finished, with samples.
  [[nodiscard]] Result<std::vector<Row>> rows_of(std::int64_t run);
  // By name, each once.
  [[nodiscard]] Result<std::vector<std::string>> peers_of(std::int64_t run);
  // Another number than before where others have written to the file since. Asking costs microseconds.
  [[nodiscard]] Result<std::int64_t> data_version();
  // That number stays the same whatever others write: the store is in a folder that may not be written, and is read as
  // it lay there when it was opened. Open it anew to see more.
  [[nodiscard]] bool is_fixed() const;

 private:
  explicit Store(std::unique_ptr<Database> database);
  [[nodiscard]] Status label(const StoredRun& run, std::int64_t id);
  [[nodiscard]] Status forget(std::int64_t run, const std::set<std::string>& keys);
  [[nodiscard]] Status add_row(std::int64_t run, const Row& row);
  [[nodiscard]] Status add_parts(std::int64_t id, const Row& row);
  [[nodiscard]] Status read_parts(std::int64_t id, Row& row);

  std::unique_ptr<Database> database_;
};

// Where results go when nobody says: $XDG_DATA_HOME/tutti/results.db, or ~/.local/share/tutti/results.db. The second
// makes that folder where there is none.
[[nodiscard]] Result<std::string> usual_store_path(const Environment& environment);
[[nodiscard]] Result<std::string> usual_store(const Environment& environment);

}  // namespace tutti::harness
