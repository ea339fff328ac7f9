// SPDX-License-Identifier: Apache-2.0
// The options that every command with data has (--format, --json, -o), and where the data goes by them. Values; used by
// the main thread only.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"
#include "bench/views/table.hpp"
#include "bench/views/text_grid.hpp"
#include "cli/command.hpp"

namespace tutti::cli {

struct OutputOptions {
  Format format = Format::table;
  bool as_nccl_tests = false;      // in place of the format
  bool is_wide = false;            // the table for people with every column, however long its lines are
  std::string path;                // empty: context.out
  std::string_view option = "-o";  // which names the path
};

// The options must live as long as the application.
void add_output_options(CLI::App& app, OutputOptions& options);
// And --wide, where the table for people leaves something out.
void add_wide_option(CLI::App& app, OutputOptions& options);
// The same for commands whose data are rows of results: these may also have the layout of nccl-tests.
void add_row_output_options(CLI::App& app, OutputOptions& options);

// What is wrong with the name of a file that an option is given; empty where nothing is.
[[nodiscard]] inline std::string objection_to_file(const std::string& path) {
  return path.empty() ? "'' is not a file" : "";
}

// The file as a word that says a path everywhere: "./FILE" where a mere word would be a name.
[[nodiscard]] inline std::string with_folder(const std::string& path) {
  return path.find('/') == std::string::npos ? "./" + path : path;
}

// Whether the file of -o can be written; what it holds stays, and if there is none, none is made. For commands that
// take long before they have data.
[[nodiscard]] Status check_output(const OutputOptions& options);

// Whether both would be written to one file; both can be written.
[[nodiscard]] bool are_one_file(const OutputOptions& a, const OutputOptions& b);

// The table as the options ask for it; one for people without columns that have nothing in any row.
[[nodiscard]] std::string rendered(const Table& table, const OutputOptions& options);

// The same for people in lines that fit (narrow_table.hpp), unless the options ask for every column.
[[nodiscard]] std::string narrowed(const Table& table, const OutputOptions& options, const Context& context);

// How text for people is written: as the context's output is, but plain into the file of -o.
[[nodiscard]] TextStyle style_of(const OutputOptions& options, const Context& context);

// To the file of -o, whole or with an error, or else to context.out, whose errors run_program reports.
[[nodiscard]] Status write_output(std::string_view text, const OutputOptions& options, const Context& context);

}  // namespace tutti::cli
