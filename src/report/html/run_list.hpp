// SPDX-License-Identifier: Apache-2.0
// The page on which `tutti web` begins: all runs of a store, each with the way to its report and a box to choose two
// for a comparison, and the files of report folders. Names and notes may hold anything; addresses are the caller's.
// Pure; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "report/html/page.hpp"

namespace tutti::report {

struct ListedRun {
  std::string number;
  std::string name;  // its own, or empty
  std::string begun;
  std::string bench;
  std::string peers;
  std::string rows;   // how many
  std::string state;  // empty where it is complete
  std::string machine;
  std::string note;
  std::string address;
};

struct ListedFile {
  std::string name;
  std::string size;
  std::string address;
};
struct ListedFolder {
  std::string name;
  std::vector<ListedFile> files;  // reports first
  std::string remark;             // what is not shown, or why nothing is
};

struct RunList {
  std::string where;  // the file
  std::vector<ListedRun> runs;
  std::string remark;   // below them: what is left out, or why there are none
  std::string trouble;  // why there may be others by now
  std::string compare;  // the address to which two numbers are added: /compare
  std::vector<ListedFolder> folders;
  std::string made_by;
};

[[nodiscard]] std::string to_html(const RunList& list, const Served& served);

}  // namespace tutti::report
