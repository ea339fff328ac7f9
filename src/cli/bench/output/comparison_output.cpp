#include "cli/bench/output/comparison_output.hpp"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/results/comparison_by.hpp"
#include "bench/results/comparison_text.hpp"

namespace tutti::cli {

namespace {

using harness::Comparison;

// The case by the axes in which cases differ.
std::string name_of(const Comparison& comparison, const harness::ComparedCase& one) {
  harness::Point point;
  for (const auto& value : one.any().point.values) {
    const bool varies = std::any_of(comparison.cases.begin(), comparison.cases.end(), [&](const auto& other) {
      const harness::Value* its = other.any().point.find(value.first);
      return its == nullptr || !(*its == value.second);
    });
    if (varies) point.values.push_back(value);
  }
  return point.values.empty() ? one.any().bench : to_string(point);
}

void tell_notes(const Comparison& comparison, const Context& context) {
  for (const harness::ComparedCase& one : comparison.cases)
    if (const std::string notes = notes_of(comparison, one); !notes.empty())
      context.error << fmt::format("{}: {}\n", printable(name_of(comparison, one)), notes);
}

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
  return write_output(rendered(table_of_pairs(comparison), options), options, context);
}

Status write_by(const Comparison& comparison, std::string_view column, const OutputOptions& options,
                const Context& context) {
  const Result<Table> table = table_by(comparison, column);
  if (!table.ok()) return table.status();
  TUTTI_TRY(write_output(rendered(*table, options), options, context));
  if (options.format == Format::table) tell_notes(comparison, context);
  return {};
}

Status write_best(const Comparison& comparison, std::size_t baseline, const OutputOptions& options,
                  const Context& context) {
  // As wide as the terminals of those who have never set any.
  constexpr std::size_t kWidth = 100;
  if (options.format != Format::table)
    return write_output(rendered(table_of_best(comparison, baseline), options), options, context);
  TUTTI_TRY(write_output(text_of_best(comparison, baseline, kWidth), options, context));
  tell_notes(comparison, context);
  return {};
}

}  // namespace tutti::cli
