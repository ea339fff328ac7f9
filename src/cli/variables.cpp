// SPDX-License-Identifier: Apache-2.0
// `tutti variables`: every variable's name, type, default, range, present value, where that came from, meaning and
// aliases; or one of them at length.
#include "base/variables/variables.hpp"

#include <algorithm>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/text.hpp"
#include "base/variables/bench_variables.hpp"
#include "bench/views/table.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "on_fabric/way.hpp"
#include "runtime/selection/profile_choice.hpp"
#include "runtime/selection/table_choice.hpp"

namespace tutti::cli {

namespace {

struct VariablesArguments {
  std::string name;  // empty: all
  OutputOptions output;
};

std::string aliases_of(const VariableRow& row) {
  std::string aliases;
  for (const std::string_view alias : row.aliases) {
    if (alias.empty()) continue;
    if (!aliases.empty()) aliases += ", ";
    aliases += alias;
  }
  return aliases;
}

Cell text_or_null(std::string text) { return text.empty() ? Cell() : Cell(std::move(text)); }

std::string initial_of(const VariableRow& row) {
  const Variables defaults;
  return defaults.text(row.id);
}

bool is_wrong(const VariablesReading& reading, VariableId id) {
  return std::any_of(reading.problems.begin(), reading.problems.end(),
                     [&](const VariableProblem& problem) { return problem.id == id; });
}

// Where its value comes from; of a profile or table that is chosen by itself, which one and why.
std::string origin_of(const VariableRow& row, const VariablesReading& reading) {
  std::string from = reading.variables.origin(row.id).to_string();
  if (row.id == VariableId::table) {
    const TableChoice choice = choose_table(reading.variables);
    const Result<TableChoice> of_fabric = on_fabric::table_of_named_fabric(reading.variables);
    if (!choice.unread.ok() || !of_fabric.ok() || !of_fabric->unread.ok()) return fmt::format("{} (wrong)", from);
    return of_fabric->table == nullptr ? fmt::format("{}: {}", from, choice.to_string())
                                       : fmt::format("{}: {}", from, of_fabric->to_string());
  }
  if (row.id != VariableId::profile) return from;
  const ProfileChoice choice = choose_profile(reading.variables.text(row.id));
  if (!choice.unread.ok()) return fmt::format("{} (wrong)", from);
  return same_name(reading.variables.text(row.id), kAutomaticProfile)
             ? fmt::format("{}: {}, {}", from, choice.profile->name, choice.why)
             : from;
}

std::vector<Cell> cells_of(const VariableRow& row, const VariablesReading& reading) {
  const bool wrong = is_wrong(reading, row.id);
  const std::string from = origin_of(row, reading);
  return {std::string(row.name),
          wrong ? Cell() : text_or_null(reading.variables.text(row.id)),
          wrong ? fmt::format("{} (wrong)", from) : from,
          text_or_null(initial_of(row)),
          std::string(name_of(row.type)),
          allowed_text(row),
          std::string(row.meaning),
          text_or_null(aliases_of(row)),
          std::string(name_of(row.group))};
}

// One that benchmarks read; its value is what the environment says, which they check themselves.
std::vector<Cell> cells_of(const BenchVariable& variable, const Environment& environment) {
  const std::optional<std::string> value = environment.lookup(variable.name);
  return {std::string(variable.name),
          value && variable.secret ? Cell("(hidden)") : text_or_null(value.value_or(std::string(variable.initial))),
          std::string(value ? environment.place_of(variable.name) : "default"),
          text_or_null(std::string(variable.initial)),
          std::string(variable.choices.empty() ? "text" : "choice"),
          allowed_text(variable),
          std::string(variable.meaning),
          Cell(),
          std::string(variable.group)};
}

Table table_of(const std::string& name, const VariablesReading& reading, const Environment& environment) {
  Table table({{"name"},
               {"value"},
               {"from", 24},
               {.name = "default", .yields = 2},
               {.name = "type", .yields = 3},
               {.name = "allowed", .wrap_at = 28, .yields = 1},
               {"meaning", 38},
               {.name = "aliases", .wrap_at = 20, .yields = 5},
               {.name = "group", .yields = 4}});
  const VariableRow* only = name.empty() ? nullptr : find_variable(name);
  for (const VariableRow& row : kVariables) {
    if (name.empty() || only == &row) table.add_row(cells_of(row, reading));
  }
  const BenchVariable* const of_benches = find_bench_variable(name);
  for (const BenchVariable& each : kBenchVariables)
    if (name.empty() || of_benches == &each) table.add_row(cells_of(each, environment));
  return table;
}

// One row at length: a line for each column.
std::string at_length(const Table& table) {
  Table lines({{"variable"}, {std::get<std::string>(table.rows().front().front()), 80}});
  for (std::size_t i = 1; i < table.columns().size(); ++i) {
    lines.add_row({table.columns()[i].name, table.rows().front()[i]});
  }
  return to_aligned(lines);
}

Exit run(const VariablesArguments& options, const Context& context) {
  if (!options.name.empty() && find_variable(options.name) == nullptr && find_bench_variable(options.name) == nullptr) {
    const std::string_view nearest = nearest_variable(options.name);
    return misused(context, "variables",
                   fmt::format("{} is not a variable{}", in_quotes(options.name),
                               nearest.empty() ? "" : fmt::format("; the nearest is {}", nearest)));
  }
  const VariablesReading reading = Variables::read(context.environment, ConfPaths::standard(context.environment));
  const Table table = table_of(options.name, reading, context.environment);
  const bool one = !options.name.empty() && options.output.format == Format::table;
  const Status written =
      write_output(one ? at_length(table) : narrowed(table, options.output, context), options.output, context);
  if (!written.ok()) return failed(context, "variables", written);
  for (const std::string& warning : reading.variables.warnings()) context.error << "warning: " << warning << "\n";
  for (const VariableProblem& problem : reading.problems) context.error << "error: " << problem.text << "\n";
  const Status profile = choose_profile(reading.variables.text(VariableId::profile)).unread;
  const TableChoice decisions = choose_table(reading.variables);
  const Result<TableChoice> of_fabric = on_fabric::table_of_named_fabric(reading.variables);
  for (const TableChoice& choice : {decisions, of_fabric.ok() ? *of_fabric : TableChoice()})
    for (const std::string& warning : choice.warnings) context.error << "warning: " << warning << "\n";
  bool is_wrong = !reading.problems.empty();
  for (const Status& each :
       {profile, decisions.unread, of_fabric.status(), of_fabric.ok() ? of_fabric->unread : Status()}) {
    if (each.ok()) continue;
    context.error << "error: " << each.to_string() << "\n";
    is_wrong = true;
  }
  return is_wrong ? Exit::found_wrong : Exit::done;
}

Run define_variables(CLI::App& app) {
  const auto options = std::make_shared<VariablesArguments>();  // shared with the closure, which std::function copies
  app.add_option("name", options->name, "Show this variable only, at length")->type_name("VARIABLE");
  add_output_options(app, options->output);
  add_wide_option(app, options->output);
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace

Command variables_command() {
  return {
      .name = "variables",
      .summary =
          "List every variable that Tutti or a benchmark reads: its value, where it comes from, and what is allowed",
      .examples =
          "tutti variables\n"
          "tutti variables TUTTI_STAGING_SLOT\n"
          "TUTTI_DEBUG=trace tutti variables --format md -o variables.md",
      .define = define_variables,
      .tells_variables = true};
}

}  // namespace tutti::cli
