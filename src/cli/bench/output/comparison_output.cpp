// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/output/comparison_output.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/results/comparison_by.hpp"
#include "bench/views/comparison_text.hpp"
#include "bench/views/comparison_view.hpp"

namespace tutti::cli {

namespace {

using harness::Comparison;

bool is_for_people(const OutputOptions& options) { return options.format == Format::table && !options.is_wide; }

}  // namespace

Result<std::size_t> baseline_of(const std::vector<std::string>& competitors, const std::string& name) {
  if (name.empty()) return std::size_t{0};
  const auto found = std::find(competitors.begin(), competitors.end(), name);
  if (found != competitors.end()) return static_cast<std::size_t>(found - competitors.begin());
  std::string known;
  for (const std::string& each : competitors) known += (known.empty() ? "" : ", ") + in_quotes(each);
  return Status(Code::invalid_argument, fmt::format("--baseline is {}; there are: {}", in_quotes(name), known));
}

Status write_pairs(const Comparison& comparison, const OutputOptions& options, const Context& context) {
  if (is_for_people(options))
    return write_output(text_of_pairs(comparison, style_of(options, context)), options, context);
  return write_output(rendered(table_of_pairs(comparison), options), options, context);
}

Status write_by(const Comparison& comparison, std::string_view column, const OutputOptions& options,
                const Context& context) {
  if (is_for_people(options)) {
    const Result<std::string> text = text_of_by(comparison, column, style_of(options, context));
    return text.ok() ? write_output(*text, options, context) : text.status();
  }
  const Result<Table> table = table_by(comparison, column);
  return table.ok() ? write_output(rendered(*table, options), options, context) : table.status();
}

Status write_best(const Comparison& comparison, std::size_t baseline, const OutputOptions& options,
                  const Context& context) {
  if (options.format != Format::table)
    return write_output(rendered(table_of_best(comparison, baseline), options), options, context);
  const std::size_t width = options.is_wide ? std::numeric_limits<std::size_t>::max() : TextStyle().width;
  std::string text = text_of_best(comparison, baseline, width);
  return write_output(text, options, context);
}

}  // namespace tutti::cli
