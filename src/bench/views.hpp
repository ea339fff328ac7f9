// Views of rows: the table that people read and what becomes CSV, JSON or Markdown. A view is made for a sweep, so that
// each row has the same columns whatever it is about: swept variables and axes are columns by name. Pure; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "bench/result.hpp"
#include "bench/runner.hpp"
#include "bench/table.hpp"

namespace tutti::harness {

class View {
 public:
  // The columns that these rows need.
  [[nodiscard]] static View of(const std::vector<Row>& rows);
  // Those of groups that are compared, which have what tells them apart in their labels.
  [[nodiscard]] static View side_by_side(const std::vector<Group>& groups);

  // Bench, peer, ranks, swept variables, axes; then times in microseconds, rates, counters, and what is to be said of
  // the row.
  [[nodiscard]] std::vector<Column> columns() const;
  [[nodiscard]] std::vector<Cell> cells(const Row& row) const;

  // The same for cases that were compared: after the axes, for each peer the median, and for all but the first how they
  // stand to the first.
  [[nodiscard]] std::vector<Column> columns_compared(const std::vector<std::string>& labels) const;
  [[nodiscard]] std::vector<Cell> cells_compared(const Compared& compared) const;

 private:
  [[nodiscard]] std::vector<Cell> cells_of_case(const Row& row) const;

  std::vector<std::string> variables_;
  std::vector<std::string> axes_;
  std::vector<std::string> counters_;
};

// "openmpi", or with its algorithm and settings where they differ among the groups: "openmpi ring A=1".
[[nodiscard]] std::vector<std::string> labels_of(const std::vector<const Group*>& groups);

// What a progress line says of a row: "openmpi 2 ranks, bytes=64: 0.42 us".
[[nodiscard]] std::string in_a_line(const Row& row);

}  // namespace tutti::harness
