// SPDX-License-Identifier: Apache-2.0
// The tables of a store, what is asked of them, and the words that stand in them. docs/formats/store.md explains them;
// what changes here raises kStoreVersion, or is noted there. Constants.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tutti::harness {

inline constexpr std::int32_t kStoreApplicationId = 0x54555454;  // "TUTT"

inline constexpr std::string_view kStoreSchema = R"(
CREATE TABLE runs (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  begun       TEXT NOT NULL,
  bench       TEXT NOT NULL,
  command     TEXT NOT NULL,
  sweep       TEXT NOT NULL,
  machine     TEXT NOT NULL,
  tutti       TEXT NOT NULL,
  is_paired   INTEGER NOT NULL,
  owner       TEXT NOT NULL,
  is_complete INTEGER NOT NULL DEFAULT 0,
  baseline    TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX runs_by_sweep ON runs (sweep);

CREATE TABLE results (
  id              INTEGER PRIMARY KEY AUTOINCREMENT,
  run             INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  key             TEXT NOT NULL,
  bench           TEXT NOT NULL,
  peer            TEXT NOT NULL,
  num_ranks       INTEGER NOT NULL,
  launch          INTEGER NOT NULL,
  outcome         TEXT NOT NULL,
  note            TEXT NOT NULL,
  is_checked      INTEGER NOT NULL,
  samples         BLOB NOT NULL,
  rounds          BLOB NOT NULL,
  invalid         INTEGER NOT NULL,
  sync            TEXT NOT NULL,
  stop            TEXT NOT NULL,
  shares_cores    INTEGER NOT NULL,
  bytes           REAL,
  message_bytes   REAL,
  message_traffic TEXT,
  items           REAL,
  flops           REAL,
  version         TEXT NOT NULL,
  ran             TEXT NOT NULL,
  UNIQUE (run, key)
) STRICT;

CREATE TABLE settings (
  result   INTEGER NOT NULL REFERENCES results ON DELETE CASCADE,
  position INTEGER NOT NULL,
  name     TEXT NOT NULL,
  value    TEXT,
  PRIMARY KEY (result, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE points (
  result   INTEGER NOT NULL REFERENCES results ON DELETE CASCADE,
  position INTEGER NOT NULL,
  axis     TEXT NOT NULL,
  value    ANY NOT NULL,
  PRIMARY KEY (result, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (
  result INTEGER NOT NULL REFERENCES results ON DELETE CASCADE,
  name   TEXT NOT NULL,
  value  REAL,
  PRIMARY KEY (result, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE evidence (
  result   INTEGER NOT NULL REFERENCES results ON DELETE CASCADE,
  variable TEXT NOT NULL,
  obeyed   TEXT NOT NULL,
  how      TEXT NOT NULL,
  PRIMARY KEY (result, variable)
) STRICT, WITHOUT ROWID;
)";

// What a file of version 2 lacks; and its imported runs had the name of the machine that imported them.
inline constexpr std::string_view kUpgradeFrom2 =
    "ALTER TABLE runs ADD COLUMN baseline TEXT NOT NULL DEFAULT ''; "
    "UPDATE runs SET machine = 'unknown machine (imported without --machine)' WHERE sweep = 'import'";
inline constexpr int kFirstWithBaseline = 3;

// Names and notes of runs. A file without this table has no names; the first write adds the table.
inline constexpr std::string_view kLabels = R"(
CREATE TABLE IF NOT EXISTS labels (
  run  INTEGER PRIMARY KEY REFERENCES runs ON DELETE CASCADE,
  name TEXT UNIQUE,
  note TEXT NOT NULL DEFAULT ''
) STRICT;
)";
inline constexpr std::string_view kHasLabels = "SELECT count(*) FROM sqlite_schema WHERE name = 'labels'";
inline constexpr std::string_view kRunOfName = "SELECT run FROM labels WHERE name = ?";
inline constexpr std::string_view kSetName =
    "INSERT INTO labels (run, name) VALUES (?1, nullif(?2, '')) ON CONFLICT (run) DO UPDATE SET name = excluded.name";
inline constexpr std::string_view kSetNote =
    "INSERT INTO labels (run, note) VALUES (?1, ?2) ON CONFLICT (run) DO UPDATE SET note = excluded.note";
inline constexpr std::string_view kDeleteRun = "DELETE FROM runs WHERE id = ?";

inline constexpr std::string_view kInsertRun =
    "INSERT INTO runs (begun, bench, command, sweep, machine, tutti, owner, baseline, is_paired) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
inline constexpr std::string_view kAdopt = "UPDATE runs SET owner = ? WHERE id = ?";
inline constexpr std::string_view kComplete = "UPDATE runs SET is_complete = 1 WHERE id = ?";
inline constexpr std::string_view kRunExists = "SELECT count(*) FROM runs WHERE id = ?";
inline constexpr std::string_view kKeyExists = "SELECT count(*) FROM results WHERE run = ? AND key = ?";
inline constexpr std::string_view kForgetRow = "DELETE FROM results WHERE run = ? AND key = ?";
inline constexpr std::string_view kKeys = "SELECT key FROM results WHERE run = ?";

inline constexpr std::string_view kInsertRow =
    "INSERT INTO results (run, key, bench, peer, num_ranks, launch, outcome, note, is_checked, samples, rounds, "
    "invalid, "
    "sync, stop, shares_cores, bytes, message_bytes, message_traffic, items, flops, version, ran) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
inline constexpr std::string_view kRows =
    "SELECT id, bench, peer, num_ranks, launch, outcome, note, is_checked, samples, rounds, invalid, "
    "sync, stop, shares_cores, bytes, message_bytes, message_traffic, items, flops, version, ran "
    "FROM results WHERE run = ? ORDER BY id";

inline constexpr std::string_view kInsertSetting =
    "INSERT INTO settings (result, position, name, value) VALUES (?, ?, ?, ?)";
inline constexpr std::string_view kInsertPoint =
    "INSERT INTO points (result, position, axis, value) VALUES (?, ?, ?, ?)";
inline constexpr std::string_view kInsertCounter = "INSERT INTO counters (result, name, value) VALUES (?, ?, ?)";
inline constexpr std::string_view kInsertEvidence =
    "INSERT INTO evidence (result, variable, obeyed, how) VALUES (?, ?, ?, ?)";
inline constexpr std::string_view kPeers = "SELECT DISTINCT peer FROM results WHERE run = ? ORDER BY peer";
inline constexpr std::string_view kDataVersion = "PRAGMA data_version";
inline constexpr std::string_view kSettings = "SELECT name, value FROM settings WHERE result = ? ORDER BY position";
inline constexpr std::string_view kPoints = "SELECT axis, value FROM points WHERE result = ? ORDER BY position";
inline constexpr std::string_view kCounters = "SELECT name, value FROM counters WHERE result = ?";
inline constexpr std::string_view kEvidence = "SELECT variable, obeyed, how FROM evidence WHERE result = ?";

// The words of the form, which are not to change when those for people do. In the order of the enumerations.
inline constexpr std::array<std::string_view, 4> kOutcomeWords = {"ok", "wrong", "skipped", "error"};
inline constexpr std::array<std::string_view, 6> kSyncWords = {"round", "barrier", "program",
                                                               "wall",  "meeting", "virtual"};
inline constexpr std::array<std::string_view, 4> kStopWords = {"not_yet", "precise", "samples", "time"};
inline constexpr std::array<std::string_view, 3> kObeyedWords = {"confirmed", "ignored", "unverifiable"};
inline constexpr std::array<std::string_view, 9> kTrafficWords = {"all_reduce", "all_gather", "reduce_scatter",
                                                                  "broadcast",  "reduce",     "all_to_all",
                                                                  "gather",     "scatter",    "send_recv"};

}  // namespace tutti::harness
