// SPDX-License-Identifier: Apache-2.0
// Warnings of rows, one for all rows of which the same is to be said. Values; main thread only.
#pragma once

#include <string>
#include <vector>

#include "report/html/page.hpp"

namespace tutti::cli {

class GroupedCautions {
 public:
  // Of one row: "SUBJECT, DETAIL: WORDS". The detail is what may differ between rows that are told together.
  void add(std::string subject, std::string detail, std::string words, bool is_bad);
  // "SUBJECT, DETAIL, DETAIL and 8 more: WORDS", in the order of their first rows.
  void move_to(std::vector<report::Caution>& cautions);

 private:
  struct Group {
    std::string subject;
    std::string words;
    bool is_bad = false;
    std::vector<std::string> details;
  };
  std::vector<Group> groups_;
};

}  // namespace tutti::cli
