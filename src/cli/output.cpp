// SPDX-License-Identifier: Apache-2.0
#include "cli/output.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/unique_fd.hpp"
#include "base/text.hpp"
#include "bench/views/narrow_table.hpp"

namespace tutti::cli {

namespace {

constexpr std::string_view kNcclTests = "nccl-tests";

void add_options(CLI::App& app, OutputOptions& options, bool has_rows) {
  const std::string known = has_rows ? "table, csv, json, md or nccl-tests" : "table, csv, json or md";
  CLI::Option* format = app.add_option_function<std::string>(
      "--format",
      [&options, has_rows, known](const std::string& name) {
        options.as_nccl_tests = has_rows && same_name(name, kNcclTests);
        if (options.as_nccl_tests) return;
        const std::optional<Format> found = format_from_name(name);
        if (!found)
          throw CLI::ValidationError(fmt::format("--format: {} is not a format; it takes {}", in_quotes(name), known));
        options.format = *found;
      },
      "Format of the data [table]");
  format->type_name(has_rows ? "table|csv|json|md|nccl-tests" : "table|csv|json|md");
  app.add_flag_callback(
         "--json", [&options] { options.format = Format::json; }, "Short for --format json")
      ->excludes(format);
  app.add_option("-o,--output", options.path, "Write the data to this file instead of standard output")
      ->type_name("FILE")
      ->check(objection_to_file);
}

bool is_there(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(std::filesystem::symlink_status(path, none));
}

}  // namespace

void add_output_options(CLI::App& app, OutputOptions& options) { add_options(app, options, false); }
void add_row_output_options(CLI::App& app, OutputOptions& options) {
  add_options(app, options, true);
  add_wide_option(app, options);
}

void add_wide_option(CLI::App& app, OutputOptions& options) {
  app.add_flag("--wide", options.is_wide, "Show people every column, however long the lines (other formats have them)");
}

Status check_output(const OutputOptions& options) {
  if (options.path.empty()) return {};
  const bool is_new = !is_there(options.path);
  const UniqueFd file(::open(options.path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (file.valid()) {
    if (is_new) static_cast<void>(::unlink(options.path.c_str()));
    return {};
  }
  return Status::from_errno(fmt::format("{}: cannot write {}", options.option, in_quotes(options.path)), errno);
}

bool are_one_file(const OutputOptions& a, const OutputOptions& b) {
  if (a.path.empty() || b.path.empty()) return false;
  std::error_code none;
  if (is_there(a.path) && is_there(b.path))
    return std::filesystem::is_regular_file(a.path, none) && std::filesystem::equivalent(a.path, b.path, none);
  return std::filesystem::weakly_canonical(a.path, none) == std::filesystem::weakly_canonical(b.path, none);
}

std::string rendered(const Table& table, const OutputOptions& options) {
  return render(options.format == Format::table ? without_empty_columns(table) : table, options.format);
}

std::string narrowed(const Table& table, const OutputOptions& options, const Context& context) {
  if (options.format != Format::table || options.is_wide) return rendered(table, options);
  return to_narrow(table, style_of(options, context));
}

TextStyle style_of(const OutputOptions& options, const Context& context) {
  return options.path.empty() ? context.out_style : TextStyle();
}

Status write_output(std::string_view text, const OutputOptions& options, const Context& context) {
  if (options.path.empty()) {
    context.out << text;
    return {};
  }
  const auto cannot = [&](int error) {
    return Status::from_errno(fmt::format("{}: cannot write {}", options.option, in_quotes(options.path)), error);
  };
  const auto close = [](std::FILE* file) { return std::fclose(file); };
  std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(options.path.c_str(), "we"), close);
  if (!file) return cannot(errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  if (!written) return cannot(errno);
  if (std::fclose(file.release()) != 0) return cannot(errno);  // the disk may say only now that it is full
  return {};
}

}  // namespace tutti::cli
