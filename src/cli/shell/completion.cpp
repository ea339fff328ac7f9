// SPDX-License-Identifier: Apache-2.0
// `tutti completion`: completion scripts for bash, zsh and fish.
#include <algorithm>
#include <array>
#include <ostream>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "algorithms/registry.hpp"
#include "base/text.hpp"
#include "base/variables/bench_variables.hpp"
#include "base/variables/variables_table.hpp"
#include "bench/axes/algorithm_axis.hpp"
#include "bench/axes/declaration.hpp"
#include "bench/process/launcher_variables.hpp"
#include "cli/bench/communicators.hpp"
#include "cli/output.hpp"
#include "cli/shell/completion_scripts.hpp"
#include "cli/shell/shell_commands.hpp"
#include "cli/tune/regret/rule_input.hpp"
#include "data/type.hpp"
#include "fabric/files/load.hpp"
#include "fabric/generators/generate.hpp"
#include "simulate/references/shipped.hpp"

namespace tutti::cli {

namespace {

using Words = std::vector<std::string>;

void add_once(Words& words, std::string_view word) {
  if (std::find(words.begin(), words.end(), word) == words.end()) words.emplace_back(word);
}

template <typename Name>
Words names_of_algorithms(Name name) {
  Words words;
  for (const Algorithm* algorithm : all_algorithms()) add_once(words, name(*algorithm));
  return words;
}

Words fabrics() {
  Words words;
  for (const fabric::Generator& generator : fabric::generators()) words.emplace_back(generator.name);
  for (const fabric::Shipped& shipped : fabric::shipped_fabrics()) words.emplace_back(shipped.name);
  return words;
}

Words peers(const BenchWorld& world) {
  Words words = {"all"};
  for (const PeerSummary& peer : world.peers) words.push_back(peer.name);
  return words;
}

Words benches(const BenchWorld& world) {
  Words words;
  for (const Bench& bench : world.benches) words.push_back(bench.declaration().name);
  if (world.algorithms_of) words.emplace_back(kCommunicators);
  for (const MilestoneBench& milestone : world.milestones) words.push_back(milestone.name);
  return words;
}

Words milestone_parts(const BenchWorld& world) {
  Words words;
  for (const MilestoneBench& milestone : world.milestones)
    for (const std::string& part : milestone.parts) add_once(words, part);
  return words;
}

Words variables(std::string_view behind) {
  Words words;
  for (const VariableRow& row : kVariables) words.push_back(fmt::format("{}{}", row.name, behind));
  return words;
}

// Tutti's, and those by which algorithms of peers are forced.
Words swept_variables(const BenchWorld& world) {
  std::set<std::string> names;
  for (const VariableRow& row : kVariables) names.emplace(row.name);
  for (const BenchVariable& variable : kBenchVariables)
    if (!harness::is_of_a_launch(variable.name)) names.emplace(variable.name);
  for (const PeerSummary& peer : world.peers)
    for (const Bench& bench : world.benches)
      if (world.algorithms_of)
        for (const harness::ForcedAlgorithm& algorithm : world.algorithms_of(peer.name, bench.declaration().name))
          for (const harness::Setting& setting : algorithm.settings) names.insert(setting.name);
  Words words;
  for (const std::string& name : names) words.push_back(name + "=");
  return words;
}

Words axes(const BenchWorld& world) {
  Words words = {"num_ranks="};
  if (world.algorithms_of) words.emplace_back("algorithm=");
  for (const Bench& bench : world.benches)
    for (const harness::Axis& axis : bench.declaration().axes) add_once(words, axis.name + "=");
  return words;
}

Words types() {
  Words words;
  for (int type = 0; type < kNumTypes; ++type) words.emplace_back(name_of(static_cast<Type>(type)));
  return words;
}

Words elements() {
  Words words;
  for (const fabric::Shipped& shipped : fabric::shipped_processing_elements()) words.emplace_back(shipped.name);
  return words;
}

// Rules and results.
Words judged() {
  Words words = names_of_shipped_rules();
  words.emplace_back("always:");
  for (const simulate::ShippedReferences& references : simulate::shipped_references())
    words.emplace_back(references.name);
  words.emplace_back("last");
  return words;
}

// The candidates for each value name in --help.
class Values {
 public:
  explicit Values(std::span<const Command> commands, const BenchWorld& world) {
    for (const char* file : {"FILE", "PATH", "PROGRAM [ARGUMENTS]"}) add(file, {.has_files = true});
    add("FOLDER", {.has_folders = true});
    add("COLLECTIVE", {.words = names_of_algorithms([](const Algorithm& row) { return name_of(row.collective); })});
    add("ALGORITHM", {.words = names_of_algorithms([](const Algorithm& row) { return row.name; })});
    add("FABRIC", {.words = fabrics(), .has_files = true});
    add("ELEMENT", {.words = elements(), .has_files = true});
    add("PEERS", {.words = peers(world), .is_list = true});
    for (const char* bench : {"BENCH", "-- COMMAND"}) add(bench, {.words = benches(world)});
    add("PARTS", {.words = milestone_parts(world), .is_list = true});
    add("FORMAT", {.words = {"auto", "nccl-tests", "osu", "imb", "json", "wall"}});
    add("TYPE", {.words = types()});
    add("VARIABLE", {.words = variables("")});
    for (const char* variable : {"VARIABLE=VALUE", "VARIABLE=VALUES"})
      add(variable, {.words = swept_variables(world), .goes_on = true});
    add("AXIS=VALUES", {.words = axes(world), .goes_on = true});
    add("TABLE RESULTS", {.words = judged(), .has_files = true});
    for (const char* run : {"RUN", "RUN RUN | -- COMMAND"}) add(run, {.words = {"last"}});
    Completion names;
    for (const Command& command : commands) names.words.emplace_back(command.name);
    add("COMMAND", names);
  }

  // "a|b|c" is itself the set.
  [[nodiscard]] Completion of(const std::string& value) const {
    if (value.find('|') != std::string::npos && value.find(' ') == std::string::npos) {
      Completion choice;
      for (const std::string_view word : split(value, '|')) choice.words.emplace_back(word);
      return choice;
    }
    const auto found =
        std::find_if(known_.begin(), known_.end(), [&](const auto& each) { return each.first == value; });
    return found == known_.end() ? Completion() : found->second;
  }

 private:
  void add(std::string name, Completion completion) { known_.emplace_back(std::move(name), std::move(completion)); }

  std::vector<std::pair<std::string, Completion>> known_;
};

std::vector<CompletedCommand> completed(std::span<const Command> commands, const BenchWorld& world) {
  const Values values(commands, world);
  std::vector<CompletedCommand> all;
  for (CommandDescription& command : describe_all(commands)) {
    CompletedCommand& made = all.emplace_back(CompletedCommand{std::move(command), {}});
    for (const OptionDescription& option : made.command.options) made.values.push_back(values.of(option.value));
  }
  OptionDescription command{.group = "Options", .names = {"command"}, .value = "COMMAND", .help = "Which"};
  command.is_positional = true;
  all.push_back({{.name = "help",
                  .summary = "Tell more about a command",
                  .usage = "help [command]",
                  .options = {command},
                  .examples = {}},
                 {values.of("COMMAND")}});
  return all;
}

struct Shell {
  std::string_view name;
  std::string (*script)(std::span<const CompletedCommand> commands);
};
constexpr std::array<Shell, 3> kShells = {
    {{"bash", bash_completion}, {"zsh", zsh_completion}, {"fish", fish_completion}}};

struct CompletionArguments {
  std::string shell;
  OutputOptions output;
};

Exit run(const CompletionArguments& options, std::span<const Command> commands, const BenchWorld& world,
         const Context& context) {
  for (const Shell& shell : kShells) {
    if (shell.name != options.shell) continue;
    const Status written = write_output(shell.script(completed(commands, world)), options.output, context);
    return written.ok() ? Exit::done : failed(context, "completion", written);
  }
  return misused(context, "completion",
                 fmt::format("{} is not a known shell; name bash, zsh or fish", in_quotes(options.shell)));
}

}  // namespace

Command completion_command(std::span<const Command> commands, const BenchWorld& world) {
  return {.name = "completion",
          .summary = "Print the script by which a shell completes tutti's command line",
          .examples =
              "source <(tutti completion bash)\n"
              "tutti completion zsh -o ~/.zfunc/_tutti\n"
              "tutti completion fish -o ~/.config/fish/completions/tutti.fish",
          .define = [commands, &world](CLI::App& app) -> Run {
            const auto options = std::make_shared<CompletionArguments>();
            app.add_option("shell", options->shell, "Which shell")->type_name("bash|zsh|fish")->required();
            app.add_option("-o,--output", options->output.path, "Write it to this file instead of standard output")
                ->type_name("FILE")
                ->check(objection_to_file);
            return
                [options, commands, &world](const Context& context) { return run(*options, commands, world, context); };
          }};
}

}  // namespace tutti::cli
