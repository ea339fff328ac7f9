// SPDX-License-Identifier: Apache-2.0
// `tutti algorithms`: the catalogue.
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench/views/table.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/schedule/choice.hpp"

namespace tutti::cli {

namespace {

struct AlgorithmsArguments {
  ChoiceOptions choice;
  OutputOptions output;
};

Exit run(const AlgorithmsArguments& options, const Context& context) {
  const Result<std::vector<const Algorithm*>> rows = chosen(options.choice);
  if (!rows.ok()) return failed(context, "algorithms", rows.status());
  Table table({{"collective"},
               {"algorithm"},
               {"channel"},
               {"order"},
               {"ranks_allowed"},
               {"parameters"},
               {"method", 44},
               {"citation", 44}});
  for (const Algorithm* algorithm : *rows) {
    const std::string parameters = parameters_of(*algorithm);
    table.add_row({std::string(name_of(algorithm->collective)), std::string(algorithm->name),
                   std::string(name_of(algorithm->channel)), std::string(name_of(algorithm->order)),
                   std::string(algorithm->ranks), parameters.empty() ? Cell() : Cell(parameters),
                   std::string(algorithm->method), std::string(algorithm->citation)});
  }
  const Status written = write_output(render(table, options.output.format), options.output, context);
  return written.ok() ? Exit::done : failed(context, "algorithms", written);
}

Run define_algorithms(CLI::App& app) {
  const auto options = std::make_shared<AlgorithmsArguments>();  // shared with the closure, which std::function copies
  add_choice_options(app, options->choice);
  add_output_options(app, options->output);
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace

Command algorithms_command() {
  return {.name = "algorithms",
          .summary = "List the algorithms: what each does, what it needs, and who published it",
          .examples =
              "tutti algorithms\n"
              "tutti algorithms --collective all_gather\n"
              "tutti algorithms --algorithm ring --json",
          .define = define_algorithms};
}

}  // namespace tutti::cli
