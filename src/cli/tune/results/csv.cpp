// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/results/csv.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::cli {

namespace {

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : text_(text) {}

  Result<std::vector<CsvRow>> read() {
    std::vector<CsvRow> rows;
    while (at_ < text_.size()) {
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      const std::string_view line = trim(text_.substr(at_, end - at_));
      if (line.empty() || line.front() == '#') {
        at_ = end + 1;
        ++line_;
        continue;
      }
      CsvRow& row = rows.emplace_back(CsvRow{.line = line_, .fields = {}});
      bool goes_on = true;
      while (goes_on) {
        TUTTI_TRY_ASSIGN(std::string field, read_field());
        row.fields.push_back(std::move(field));
        goes_on = at_ < text_.size() && text_[at_] == ',';
        if (goes_on || at_ < text_.size()) ++at_;  // past the comma or the end of the line
      }
      ++line_;
    }
    return rows;
  }

 private:
  // Up to the comma or the end of the line, which stays.
  Result<std::string> read_field() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    if (at_ >= text_.size() || text_[at_] != '"') {
      const std::size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
      std::string field(trim(text_.substr(at_, end - at_)));
      at_ = end;
      return field;
    }
    const std::size_t begun = line_;
    std::string field;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') {
        field += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        field += text_[++at_];
      } else {
        const std::size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
        if (!trim(text_.substr(at_ + 1, end - at_ - 1)).empty())
          return wrong_argument(fmt::format("line {}: text stands behind a quoted field", line_));
        at_ = end;
        return field;
      }
    }
    return wrong_argument(fmt::format("line {}: a quoted field does not end", begun));
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

Result<std::vector<CsvRow>> read_csv(std::string_view text) { return CsvReader(text).read(); }

}  // namespace tutti::cli
