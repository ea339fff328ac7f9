// The options that pick cases of an algorithm (--root, --radix, --grid …), for all commands that make schedules.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "algorithms/cases.hpp"
#include "base/status.hpp"

namespace tutti::cli {

// As written; empty where not given.
struct CaseOptions {
  std::string root;
  std::string radix;
  std::string grid;
  std::string groups;
  std::string inner;
  std::string corner;
};

void add_case_options(CLI::App& app, CaseOptions& options);

// What was written, read; or which option is wrong and how.
[[nodiscard]] Result<CaseFilter> parse_case_options(const CaseOptions& options);

}  // namespace tutti::cli
