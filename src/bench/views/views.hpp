// SPDX-License-Identifier: Apache-2.0
// Views of rows: the table that people read and what becomes CSV, JSON or Markdown. A view is made for a sweep, so that
// each row has the same columns whatever it is about: swept variables and axes are columns by name. Pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/axes/case.hpp"
#include "bench/results/result.hpp"
#include "bench/views/table.hpp"

namespace tutti::harness {

// Who is measured: a peer with its algorithm, where that is compared, and its settings.
struct Competitor {
  std::string peer;
  std::string algorithm;
  std::vector<Setting> settings;

  friend bool operator==(const Competitor&, const Competitor&) = default;
};

// "openmpi", or with its algorithm and settings where they differ among them: "openmpi ring A=1".
[[nodiscard]] std::vector<std::string> labels_of(const std::vector<Competitor>& competitors);

class View {
 public:
  // The columns that these rows need. Launches of one case are one line each, so they are joined before.
  [[nodiscard]] static View of(const std::vector<Row>& rows);

  // Bench, peer, ranks, swept variables, axes. A variable, axis or counter with the name of a column that is there
  // already, or that all rows have, is called env.NAME, axis.NAME or counter.NAME; so is one with the name of another
  // column that the table has.
  [[nodiscard]] std::vector<Column> identity_columns(std::span<const std::string_view> others = {}) const;
  [[nodiscard]] std::vector<Cell> identity_cells(const Row& row) const;
  // Without the peer, the algorithm where they have one, and the variables in which these differ.
  void leave_out_competitors(const std::vector<Competitor>& competitors);

  // These, then times in microseconds, rates, counters, and what is to be said of the row.
  [[nodiscard]] std::vector<Column> columns() const;
  [[nodiscard]] std::vector<Cell> cells(const Row& row) const;

 private:
  bool has_peer_ = true;
  std::vector<std::string> variables_;
  std::vector<std::string> axes_;
  std::vector<std::string> counters_;
  bool is_of_programs_ = false;  // which have long command lines
};

// A line for each row, with launches joined.
[[nodiscard]] Table table_of(const std::vector<Row>& rows);

// One thing to be known of a row besides its figures: "more ranks than cores", or 12 and "% outliers".
struct Warning {
  std::string words;
  std::optional<std::int64_t> percent = {};

  [[nodiscard]] std::string text() const;
};
[[nodiscard]] std::vector<Warning> warnings_of(const Row& row);

// All of that in a line; empty where there is nothing. Remarks are warnings, and why it was not measured for longer.
[[nodiscard]] std::string warnings(const Row& row);
[[nodiscard]] std::string remarks(const Row& row);

// What a progress line says of a row: "openmpi 2 ranks, bytes=64: 0.42 us".
[[nodiscard]] std::string in_a_line(const Row& row);

}  // namespace tutti::harness
