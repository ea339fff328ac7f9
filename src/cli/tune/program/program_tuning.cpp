// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/program/program_tuning.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <ostream>
#include <set>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/system/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "bench/process/command.hpp"
#include "bench/process/command_runner.hpp"
#include "bench/views/narrow_table.hpp"
#include "cli/bench/bench_store.hpp"
#include "cli/bench/kept_run.hpp"
#include "cli/bench/sweep/command_options.hpp"
#include "cli/interrupt.hpp"
#include "cli/number.hpp"
#include "cli/output.hpp"
#include "cli/tune/program/settings_race.hpp"
#include "cli/tune/program/shell_file.hpp"
#include "cli/tune/teller.hpp"
#include "cli/tune/tuning.hpp"

namespace tutti::cli {

namespace {

constexpr int kUsualRounds = 8;
constexpr int kMostRounds = 1000;
constexpr int kRoundsOfVerdict = 6;
constexpr std::size_t kMostEnvironments = 4096;
constexpr int kDigitsOfProgramTime = 4;

// What the swept variables are now: where none of them is tuned.
Settings settings_before(const std::vector<harness::Group>& groups, const Environment& environment) {
  Settings before = groups.front().settings;
  for (harness::Setting& each : before) each.value = environment.lookup(each.name);
  return before;
}

// The environments of a plan, the one before in front; of each number of ranks the plan has a group for the latter too.
std::vector<Settings> environments_of(SweepPlan& plan, const Environment& environment) {
  std::vector<Settings> all = {settings_before(plan.groups, environment)};
  for (const harness::Group& group : plan.groups)
    if (std::find(all.begin(), all.end(), group.settings) == all.end()) all.push_back(group.settings);
  std::vector<harness::Group> before;
  for (const harness::Group& group : plan.groups) {
    const auto is_of = [&](const harness::Group& each) {
      return each.num_ranks == group.num_ranks && each.settings == all.front();
    };
    if (std::any_of(plan.groups.begin(), plan.groups.end(), is_of) || std::any_of(before.begin(), before.end(), is_of))
      continue;
    before.push_back(group);
    before.back().settings = all.front();
  }
  plan.groups.insert(plan.groups.begin(), before.begin(), before.end());
  return all;
}

Table table_of_best(const std::vector<BestSettings>& best, const std::vector<Settings>& settings) {
  Table rows({{.name = "ranks", .stands_once = true},
              {.name = "case", .stands_once = true},
              {"bytes"},
              {.name = "before_us", .digits = kDigitsOfProgramTime},
              {.name = "best_us", .digits = kDigitsOfProgramTime},
              {.name = "speedup", .digits = 3},
              {.name = "speedup_low", .digits = 3, .yields = 2},
              {.name = "speedup_high", .digits = 3, .yields = 2},
              {"verdict"},
              {.name = "environment", .wrap_at = 60},
              {.name = "launches", .yields = 1}});
  for (const BestSettings& each : best)
    rows.add_row({each.timed.num_ranks > 0 ? Cell(std::int64_t{each.timed.num_ranks}) : Cell(),
                  each.timed.what.empty() ? Cell() : Cell(each.timed.what),
                  each.timed.bytes ? Cell(static_cast<std::int64_t>(*each.timed.bytes)) : Cell(), each.before_us,
                  each.best_us, each.ratio.ratio, each.ratio.interval ? Cell(each.ratio.interval->low) : Cell(),
                  each.ratio.interval ? Cell(each.ratio.interval->high) : Cell(),
                  std::string(name_of(each.chosen == 0 ? harness::Verdict::same : each.ratio.verdict)),
                  each.chosen == 0 ? std::string("as it is") : words_of(settings[each.chosen]),
                  static_cast<std::int64_t>(each.rounds)});
  return rows;
}

class ProgramTuning {
 public:
  ProgramTuning(SweepPlan plan, SettingsRace race, KeptRun kept, const Context& context)
      : plan_(std::move(plan)),
        race_(std::move(race)),
        judge_(race_.settings()),
        kept_(std::move(kept)),
        context_(context),
        teller_(context.error) {}

  // Chooses, and then judges what it has chosen in further rounds.
  Status run(int most_rounds, double seconds) {
    plan_.command->launches = 1;
    plan_.command->is_interrupted = Interrupt::has_come;
    harness::CommandRunner runner(*plan_.command, context_.environment.block());
    TUTTI_TRY(run_rounds(runner, race_, most_rounds, seconds / 2));
    choices_ = race_.choices();
    overall_ = race_.choice_overall();
    std::set<std::size_t> finalists = {0, overall_};
    for (const auto& [timed, place] : choices_) finalists.insert(place);
    for (std::size_t place = 0; place < race_.settings().size(); ++place)
      if (!finalists.contains(place)) judge_.leave_out(place);
    if (finalists.size() == 1) return {};  // nothing is to be judged
    return run_rounds(runner, judge_, most_rounds, seconds / 2);
  }

  [[nodiscard]] const SettingsRace& race() const { return race_; }
  [[nodiscard]] bool has_judged() const { return judge_.num_rounds() > 0; }
  // Without rounds of its own, by those that chose: nothing was chosen there, or all was interrupted.
  [[nodiscard]] std::vector<BestSettings> best() const { return (has_judged() ? judge_ : race_).judged(choices_); }
  struct Overall {
    std::size_t place = 0;  // 0: none is surely faster
    harness::Ratio ratio;
  };
  [[nodiscard]] Overall overall() const {
    const harness::Ratio ratio = overall_ == 0 || !has_judged() ? harness::Ratio() : judge_.judged_overall(overall_);
    return {ratio.verdict == harness::Verdict::faster ? overall_ : 0, ratio};
  }
  [[nodiscard]] KeptRun& kept() { return kept_; }
  [[nodiscard]] const SweepPlan& plan() const { return plan_; }

 private:
  Status run_rounds(harness::CommandRunner& runner, SettingsRace& race, int most_rounds, double seconds) {
    const auto begin = std::chrono::steady_clock::now();
    const auto elapsed = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    for (int round = 0; round < most_rounds && !Interrupt::has_come() && race.is_in(0); ++round) {
      // Whole rounds only, of which one more is expected to take as long as the mean; one at least.
      if (seconds > 0 && round > 0 && elapsed() * (round + 1) / round > seconds) {
        teller_.say(fmt::format("the budget ends after {}{}", counted(static_cast<std::size_t>(round), "round"),
                                round < kRoundsOfVerdict ? fmt::format("; a verdict takes {}", kRoundsOfVerdict) : ""));
        break;
      }
      teller_.show(fmt::format("{} {} of {}: {}", &race == &race_ ? "round" : "judging round", round + 1, most_rounds,
                               counted(race.num_in(), "environment")));
      TUTTI_TRY(run_round(runner, race));
    }
    return {};
  }
  Status run_round(harness::CommandRunner& runner, SettingsRace& race) {
    std::vector<harness::Group> groups;
    for (const harness::Group& group : plan_.groups) {
      const std::vector<Settings>& all = race.settings();
      const auto place = static_cast<std::size_t>(std::find(all.begin(), all.end(), group.settings) - all.begin());
      if (race.is_in(place)) groups.push_back(group);
    }
    std::vector<harness::Row> rows;
    TUTTI_TRY(runner.compare(plan_.sweep.bench, groups, {}, [&](std::span<const harness::Row> of_case) {
      rows.insert(rows.end(), of_case.begin(), of_case.end());
      return Status();
    }));
    if (Interrupt::has_come()) return {};  // it is not whole
    for (harness::Row& row : rows) row.launch = launches_;
    ++launches_;
    TUTTI_TRY(kept_.add(rows));
    race.add_round(rows);
    return {};
  }

  SweepPlan plan_;
  SettingsRace race_;
  SettingsRace judge_;
  Choices choices_;
  std::size_t overall_ = 0;
  int launches_ = 0;
  KeptRun kept_;
  const Context& context_;
  Teller teller_;
};

std::string gain_text(const harness::Ratio& ratio) {
  return ratio.interval ? fmt::format("{:.3f} times as fast ({:.3f} to {:.3f})", ratio.ratio, ratio.interval->low,
                                      ratio.interval->high)
                        : fmt::format("{:.3f} times as fast", ratio.ratio);
}

Status write_shell_file(const ProgramTuning& tuning, const std::vector<BestSettings>& best, const std::string& path,
                        const Context& context) {
  const SettingsRace& race = tuning.race();
  const ProgramTuning::Overall overall = tuning.overall();
  ShellFile file;
  file.remarks = {fmt::format("The best environment of: {}", harness::in_shell(tuning.plan().command->words)),
                  fmt::format("made by tutti tune, {}", now_in_words())};
  file.overall = overall.place == 0 ? Settings() : race.settings()[overall.place];
  file.remarks.push_back(
      overall.place == 0 ? "all cases together: no environment is surely faster than the one before"
                         : fmt::format("all cases together: {}, {}", words_of(file.overall), gain_text(overall.ratio)));
  for (const BestSettings& each : best)
    if (each.best != 0)
      file.remarks.push_back(fmt::format("{}{}{}: {}, {}",
                                         each.timed.bytes ? to_text(Bytes(*each.timed.bytes)) + " B" : "time",
                                         each.timed.what.empty() ? "" : ", ", each.timed.what,
                                         words_of(race.settings()[each.best]), gain_text(each.ratio)));
  file.by_size = ranges_of(best, race.settings());
  TUTTI_TRY(replace_file(path, to_text(file)));
  context.error << file.remarks[2] << "\n";
  context.error << fmt::format("wrote {}; '. {}' sets it\n", path, with_folder(path));
  return {};
}

Result<int> read_rounds(const std::string& text) {
  if (text.empty()) return kUsualRounds;
  const std::optional<std::uint32_t> rounds = read_number<std::uint32_t>(text, 1, kMostRounds);
  if (!rounds)
    return wrong_argument(
        fmt::format("--launches is {}; it takes a number from 1 to {}", in_quotes(text), kMostRounds));
  return static_cast<int>(*rounds);
}

Result<ProgramTuning> prepare(const ProgramOptions& options, const BenchWorld& world, const Context& context) {
  if (options.sweep.env.empty() && options.sweep.env_zip.empty())
    return wrong_argument("nothing is to be tried: --env VARIABLE=VALUES names values of the program's environment");
  TUTTI_TRY_ASSIGN(SweepPlan plan, make_plan(options.sweep, world, context.environment));
  for (const std::string& warning : plan.warnings) context.error << warning << "\n";
  std::vector<Settings> settings = environments_of(plan, context.environment);
  if (settings.size() > kMostEnvironments)
    return wrong_argument(
        fmt::format("{} environments are too many; {} is the most", settings.size(), kMostEnvironments));
  TUTTI_TRY_ASSIGN(KeptRun kept,
                   keep_run({.store = options.store, .no_store = options.no_store, .resume = false, .label = {}},
                            run_of(plan, context), plan, context));
  return ProgramTuning(std::move(plan), SettingsRace(std::move(settings)), std::move(kept), context);
}

std::string usual_path_of(const SweepPlan& plan) {
  return harness::name_of_program(plan.command->words.front()) + ".env.sh";
}

}  // namespace

void add_program_tuning_options(CLI::App& app, ProgramOptions& options) {
  add_command_options(app, options.sweep);
  const auto repeated = [&](const char* name, std::vector<std::string>& values, const char* help, const char* type) {
    app.add_option(name, values, help)
        ->type_name(type)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  repeated("--env", options.sweep.env, "Values of a variable that the program reads; unset is one", "VARIABLE=VALUES");
  repeated("--env-zip", options.sweep.env_zip, "Variables that change together: A,B=[[1,2],[3,4]]", "NAMES=ROWS");
  repeated("-a,--axis", options.sweep.axes, "Values of a {NAME} in the command, or num_ranks", "AXIS=VALUES");
  app.add_option("--launches", options.rounds, "How often each environment is run, if it is not surely slower [8]")
      ->type_name("N");
  app.add_option("--launcher", options.sweep.launcher, "Who starts the ranks of the program")
      ->type_name("local|mpirun.openmpi|mpirun.mpich|srun");
  app.add_option("--timeout", options.sweep.timeout, "Ends a run that takes longer than this [10m]")->type_name("TIME");
}

Exit tune_program(const ProgramOptions& options, const BenchWorld& world, const OutputOptions& output,
                  const Context& context) {
  const Result<int> rounds = read_rounds(options.rounds);
  if (!rounds.ok()) return failed(context, "tune", rounds.status());
  const Result<Nanos> budget = options.budget.empty() ? Result<Nanos>(Nanos(0)) : parse_duration(options.budget);
  if (!budget.ok()) return failed(context, "tune", budget.status().with_context("--budget"));
  Result<ProgramTuning> tuning = prepare(options, world, context);
  if (!tuning.ok()) return failed(context, "tune", tuning.status());
  context.error << fmt::format("{} in {}, {}\n", tuning->plan().command->words.front(),
                               counted(tuning->race().settings().size(), "environment"),
                               counted(static_cast<std::size_t>(*rounds), "round"));
  const Interrupt interrupt;
  const Status ran = tuning->run(*rounds, static_cast<double>(budget->value()) / 1e9);
  if (!ran.ok()) return failed(context, "tune", ran);
  for (const std::string& each : tuning->race().failures()) context.error << "out: " << each << "\n";
  const std::vector<BestSettings> best = tuning->best();
  if (best.empty()) {
    context.error << "tutti tune: the program gave no time in its environment as it is\n";
    return Interrupt::has_come() ? Interrupt::exit() : Exit::found_wrong;
  }
  const Status shown =
      write_output(narrowed(table_of_best(best, tuning->race().settings()), output, context), output, context);
  if (!shown.ok()) return failed(context, "tune", shown);
  const std::string path = options.output.empty() ? usual_path_of(tuning->plan()) : options.output;
  const Status written = write_shell_file(*tuning, best, path, context);
  if (!written.ok()) return failed(context, "tune", written);
  KeptRun& kept = tuning->kept();
  if (kept.store) {
    const bool is_whole = !Interrupt::has_come();
    if (const Status done = is_whole ? kept.store->complete(kept.run) : Status(); !done.ok())
      return failed(context, "tune", done);
    context.error << fmt::format("evidence: run {} in {}\n", kept.run, kept.path);
  }
  return Interrupt::has_come() ? Interrupt::exit() : Exit::done;
}

}  // namespace tutti::cli
