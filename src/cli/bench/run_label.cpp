// SPDX-License-Identifier: Apache-2.0
// `tutti label` and `tutti delete`: name, annotate and delete kept runs.
#include "cli/bench/run_label.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "cli/bench/bench_commands.hpp"
#include "cli/bench/bench_store.hpp"

namespace tutti::cli {

namespace {

std::string objection_to_name(const std::string& name) {
  const Status fits = name.empty() ? Status() : harness::check_run_name(name);
  return fits.ok() ? "" : std::string(fits.message());
}

Result<harness::Store> open_store(const std::string& option, const Context& context) {
  const Result<std::string> path = store_path_to_read(option, context.environment);
  if (!path.ok()) return path.status();
  // A missing file is an error: there is no run in it.
  if (Result<harness::Store> there = harness::Store::open_to_read(*path); !there.ok()) return there.status();
  return harness::Store::open(*path);
}

// "run 12 (nightly)".
std::string called(const harness::StoredRun& run) {
  return fmt::format("run {}{}", run.id, run.name.empty() ? "" : fmt::format(" ({})", printable(run.name)));
}

// --- label

struct LabelArguments {
  std::string run;
  std::optional<std::string> name;
  std::optional<std::string> note;
  std::string store;
};

Status label(const LabelArguments& options, const Context& context) {
  if (!options.name && !options.note) return wrong_argument("give --run-name, --note or both");
  Result<harness::Store> store = open_store(options.store, context);
  if (!store.ok()) return store.status();
  const Result<harness::StoredRun> run = store->find(options.run);
  if (!run.ok()) return run.status();
  if (options.name) TUTTI_TRY(store->set_name(run->id, *options.name));
  if (options.note) TUTTI_TRY(store->set_note(run->id, *options.note));
  return {};
}

// --- delete

struct DeleteArguments {
  std::vector<std::string> runs;
  std::string store;
  bool yes = false;
};

bool is_agreed(const harness::StoredRun& run, const DeleteArguments& options, const Context& context) {
  if (options.yes || ::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) return true;
  context.error << fmt::format("delete {}, {}, {}: {}? [y/N] ", called(run), printable(run.begun),
                               counted(run.num_rows, "row"), printable(run.command))
                << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return same_name(trim(answer), "y") || same_name(trim(answer), "yes");
}

// All of them are looked up before the first is deleted.
Status remove(const DeleteArguments& options, const Context& context) {
  Result<harness::Store> store = open_store(options.store, context);
  if (!store.ok()) return store.status();
  std::vector<harness::StoredRun> runs;
  for (const std::string& name : options.runs) {
    if (same_name(trim(name), "last"))
      return wrong_argument("the last run may be another one by now; give the number or the name of the run");
    Result<harness::StoredRun> run = store->find(name);
    if (!run.ok()) return run.status();
    if (const std::optional<std::string> owner = living_owner(*run); owner && !run->is_complete)
      return wrong_argument(fmt::format("{} is not finished: process {} is still running it", called(*run), *owner));
    const bool is_there = std::any_of(runs.begin(), runs.end(), [&](const auto& other) { return other.id == run->id; });
    if (!is_there) runs.push_back(std::move(*run));
  }
  for (const harness::StoredRun& run : runs) {
    if (!is_agreed(run, options, context)) continue;
    TUTTI_TRY(store->remove(run.id));
    context.error << fmt::format("{} is deleted, with its {}\n", called(run), counted(run.num_rows, "row"));
  }
  return {};
}

}  // namespace

void add_label_options(CLI::App& app, RunLabel& label) {
  CLI::Option* name = app.add_option("--run-name", label.name,
                                     "A name for the run, accepted wherever its number is: letters, digits, _, - "
                                     "and dots");
  name->type_name("NAME")->check(
      [](const std::string& text) { return text.empty() ? std::string("'' names no run") : objection_to_name(text); });
  CLI::Option* note = app.add_option("--note", label.note, "What 'tutti list runs' and 'tutti show' say of the run");
  note->type_name("TEXT");
  if (CLI::Option* none = app.get_option_no_throw("--no-store"); none != nullptr) none->excludes(name)->excludes(note);
}

Command label_command() {
  return {.name = "label",
          .summary = "Name a kept run, or add a note to it",
          .examples =
              "tutti label last --run-name before --note 'kernel 6.1, quiet machine'\n"
              "tutti label 12 --run-name ''",
          .define = [](CLI::App& app) -> Run {
            const auto options = std::make_shared<LabelArguments>();
            app.add_option("run", options->run, "A run by its number or name, or last")->type_name("RUN")->required();
            // An empty text is one, too.
            const auto add = [&](const char* name, const char* type, std::optional<std::string>& value,
                                 const char* help) {
              return app
                  .add_option_function<std::string>(
                      name, [&value](const std::string& text) { value = text; }, help)
                  ->type_name(type);
            };
            add("--run-name", "NAME", options->name, "The new name; '' removes it")->check(objection_to_name);
            add("--note", "TEXT", options->note, "The new note; '' removes it");
            app.add_option("--store", options->store, "The file that keeps results")->type_name("FILE");
            return [options](const Context& context) {
              const Status done = label(*options, context);
              return done.ok() ? Exit::done : failed(context, "label", done);
            };
          }};
}

Command delete_command() {
  return {.name = "delete",
          .summary = "Delete runs that were kept, with all their rows",
          .examples = "tutti delete 12\ntutti delete 12 13 before --yes",
          .define = [](CLI::App& app) -> Run {
            const auto options = std::make_shared<DeleteArguments>();
            app.add_option("runs", options->runs, "Runs by their numbers or names")->type_name("RUN")->required();
            app.add_flag("--yes", options->yes, "Do not ask, as on a terminal is done");
            app.add_option("--store", options->store, "The file that keeps results")->type_name("FILE");
            return [options](const Context& context) {
              const Status done = remove(*options, context);
              return done.ok() ? Exit::done : failed(context, "delete", done);
            };
          }};
}

}  // namespace tutti::cli
