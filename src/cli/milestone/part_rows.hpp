// SPDX-License-Identifier: Apache-2.0
// The rows that a part has made, with access to their cells by column name. Values; thread-safe.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/views/table.hpp"

namespace tutti::cli {

// A cell for each column of the part.
using PartRow = std::vector<Cell>;

// What a case gave: rows, or the reason why it gave none.
struct CaseRows {
  std::string name;
  std::string error = {};
  std::vector<PartRow> rows = {};
};

// Where the rows come from. The first line of the file of rows.
struct PartOrigin {
  std::string tutti;    // version
  std::string command;  // that made them
  std::string begun;
  std::string machine;
  bool is_full = false;
  std::string left_out = {};       // why there are no cases
  std::vector<std::string> cases;  // all that are planned, in their order
};

class PartRows {
 public:
  PartRows(PartOrigin origin, const std::vector<Column>& columns, std::vector<CaseRows> cases);

  [[nodiscard]] const PartOrigin& origin() const { return origin_; }
  [[nodiscard]] const std::vector<CaseRows>& cases() const { return cases_; }  // in the order of the plan
  [[nodiscard]] const Table& table() const { return table_; }                  // all rows
  [[nodiscard]] std::size_t size() const { return table_.rows().size(); }
  [[nodiscard]] bool is_complete() const { return cases_.size() == origin_.cases.size(); }
  [[nodiscard]] std::size_t num_errors() const;

  // A cell of a row. The column must exist.
  [[nodiscard]] const Cell& cell(std::size_t row, std::string_view column) const;
  [[nodiscard]] std::string text(std::size_t row, std::string_view column) const;  // empty if it is null
  [[nodiscard]] std::optional<double> number(std::size_t row, std::string_view column) const;
  [[nodiscard]] bool is_true(std::size_t row, std::string_view column) const;
  // The texts of a column, each once, in the order of the rows.
  [[nodiscard]] std::vector<std::string> texts(std::string_view column) const;

 private:
  PartOrigin origin_;
  std::vector<CaseRows> cases_;
  Table table_;
};

}  // namespace tutti::cli
