// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/sweep/sweep_options.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "bench/axes/declaration.hpp"
#include "bench/measure/estimate.hpp"
#include "bench/process/command.hpp"
#include "bench/process/launcher_variables.hpp"
#include "cli/bench/sweep/algorithm_options.hpp"
#include "cli/bench/sweep/command_options.hpp"
#include "cli/bench/sweep/host_placement.hpp"
#include "cli/bench/sweep/peer_options.hpp"
#include "cli/bench/sweep/sweep_environment.hpp"
#include "cli/bench/sweep/sweep_file.hpp"
#include "cli/command.hpp"
#include "cli/variables_check.hpp"

namespace tutti::cli {

namespace {

using harness::Axis;
using harness::Declaration;
using harness::EnvironmentAxis;
using harness::Sweep;
using harness::Value;

// --- names

// Why there is no such bench. Milestones are benches of `tutti run`, and no sweeps.
Status no_bench(const std::string& name, const BenchWorld& world) {
  std::vector<std::string_view> names;
  for (const Bench& bench : world.benches) names.push_back(bench.declaration().name);
  for (const MilestoneBench& milestone : world.milestones) {
    if (same_name(name, milestone.name))
      return wrong_argument(fmt::format("{} is a milestone: 'tutti run {}' makes it", name, milestone.name));
    names.push_back(milestone.name);
  }
  return wrong_argument(fmt::format("--bench is {}{}; there are: {}", in_quotes(name), nearest_hint(name, names),
                                    fmt::join(names, ", ")));
}

Result<const Declaration*> find_bench(const std::string& name, const BenchWorld& world) {
  if (name.empty() && world.benches.size() == 1) return &world.benches[0].declaration();
  const Declaration* found = harness::find(world.benches, name.empty() ? "all_reduce" : name);
  if (found == nullptr) return no_bench(name, world);
  if (!found->error.ok()) return found->error;
  return found;
}

Status declare_bench(const SweepOptions& options, const BenchWorld& world, Sweep& sweep) {
  const Result<const Declaration*> bench = find_bench(options.bench, world);
  if (!bench.ok()) return bench.status();
  sweep.bench = (*bench)->name;
  sweep.num_ranks = (*bench)->num_ranks;
  sweep.axes = (*bench)->axes;
  sweep.environment = (*bench)->environment;
  sweep.rules = (*bench)->rules;
  sweep.checks = (*bench)->checks;
  for (Axis& axis : sweep.axes)
    TUTTI_TRY(check_values(sweep, axis.name, fmt::format("bench {}: axis {}", sweep.bench, axis.name), axis.values));
  Result<std::vector<std::string>> peers =
      find_peers(options.peers.empty() ? world.default_peers : options.peers, world);
  if (!peers.ok()) return peers.status();
  sweep.peers = std::move(*peers);
  return {};
}

// "PEER:NAME=VALUES" in its parts; the peer is one that the sweep has.
struct Scoped {
  std::string peer;
  std::string name;
  std::string values;
};

Result<Scoped> scoped(const char* option, const std::string& text, const Sweep& sweep) {
  Scoped parts;
  const auto [peer, rest] = peer_in_front(text, sweep.peers);
  parts.peer = peer;
  const std::size_t equals = rest.find('=');
  if (equals == std::string::npos || equals == 0)
    return wrong_argument(fmt::format("{} is {}; it takes NAME=VALUES", option, in_quotes(text)));
  parts.values = rest.substr(equals + 1);
  parts.name = trim(rest.substr(0, equals));
  if (parts.name.find(':') != std::string::npos)
    return wrong_argument(fmt::format("{} is {}, for a peer that is not measured", option, in_quotes(text)));
  return parts;
}

// --- axes

// A value that is there twice would be measured twice and kept once.
template <typename Values>
Status check_distinct(const std::string& what, const Values& values) {
  for (auto each = values.begin(); each != values.end(); ++each)
    if (std::find(values.begin(), each, *each) != each)
      return wrong_argument(fmt::format("{} has a value twice", what));
  return {};
}

// What the axes say besides the sweep.
struct AxisWords {
  std::vector<AlgorithmWords> algorithms;
  std::int64_t most_ranks = harness::SyncPage::kMostRanks;
  bool has_num_ranks = false;
};

Status set_num_ranks(const std::vector<Value>& values, Sweep& sweep, AxisWords& words) {
  sweep.num_ranks.clear();
  words.has_num_ranks = true;
  for (const Value& value : values) {
    if (!value.is_integer() || value.integer() < 1 || value.integer() > words.most_ranks)
      return wrong_argument(
          fmt::format("num_ranks has {}; it takes numbers from 1 to {}", in_quotes(value.text()), words.most_ranks));
    sweep.num_ranks.push_back(static_cast<int>(value.integer()));
  }
  return {};
}

Axis* find_axis(Sweep& sweep, std::string_view name) {
  const auto found =
      std::find_if(sweep.axes.begin(), sweep.axes.end(), [&](const Axis& axis) { return same_name(axis.name, name); });
  return found == sweep.axes.end() ? nullptr : &*found;
}

// As the column is called, unless a program has an axis of that name.
bool is_num_ranks(std::string_view name, Sweep& sweep) {
  return same_name(name, harness::kNumRanksAxis) || (same_name(name, "ranks") && find_axis(sweep, name) == nullptr);
}

Status no_such_axis(const char* option, const std::string& name, const Sweep& sweep) {
  std::string known = "num_ranks";
  for (const Axis& axis : sweep.axes) known += ", " + axis.name;
  return wrong_argument(
      fmt::format("{} names {}, which is no axis of {}; there are: {}", option, in_quotes(name), sweep.bench, known));
}

Status override_axis(const std::string& text, const BenchWorld& world, Sweep& sweep, AxisWords& words) {
  const Result<Scoped> parts = scoped("-a", text, sweep);
  if (!parts.ok()) return parts.status();
  Result<std::vector<Value>> values = harness::parse_values(parts->values);
  if (!values.ok()) return values.status().with_context(fmt::format("-a {}", parts->name));
  Axis* axis = find_axis(sweep, parts->name);
  if (axis != nullptr) TUTTI_TRY(check_values(sweep, axis->name, fmt::format("-a {}", axis->name), *values));
  TUTTI_TRY(check_distinct(fmt::format("-a {}", parts->name), *values));
  if (is_num_ranks(parts->name, sweep)) {
    if (!parts->peer.empty()) return wrong_argument("-a num_ranks is for all peers");
    return set_num_ranks(*values, sweep, words);
  }
  if (is_algorithm_axis(parts->name, sweep, world)) {
    AlgorithmWords& algorithms = words.algorithms.emplace_back(AlgorithmWords{parts->peer, {}});
    for (const Value& value : *values) algorithms.words.push_back(value.text());
    return {};
  }
  if (axis == nullptr) return no_such_axis("-a", parts->name, sweep);
  if (parts->peer.empty()) {
    axis->values = std::move(*values);
  } else {
    sweep.axes.push_back({axis->name, std::move(*values), parts->peer});
  }
  return {};
}

Status add_skip(const std::string& text, Sweep& sweep) {
  const Result<Scoped> parts = scoped("--skip", text, sweep);
  if (!parts.ok()) return parts.status();
  Result<std::vector<Value>> values = harness::parse_values(parts->values);
  if (!values.ok()) return values.status().with_context(fmt::format("--skip {}", parts->name));
  if (!parts->peer.empty())
    return wrong_argument(
        fmt::format("--skip is {}; it is for all peers, and -a PEER:NAME=VALUES says what one has", in_quotes(text)));
  if (is_num_ranks(parts->name, sweep)) {
    sweep.rules.emplace_back([values = std::move(*values)](const harness::Point&, int num_ranks) {
      const bool hit = std::find(values.begin(), values.end(), Value(std::int64_t{num_ranks})) != values.end();
      return hit ? std::string("asked to be skipped") : std::string();
    });
    return {};
  }
  const Axis* axis = find_axis(sweep, parts->name);
  const bool is_algorithm = !sweep.algorithms.empty() && same_name(parts->name, harness::kAlgorithmAxis);
  if (axis == nullptr && !is_algorithm) return no_such_axis("--skip", parts->name, sweep);
  if (axis != nullptr) TUTTI_TRY(check_values(sweep, axis->name, fmt::format("--skip {}", axis->name), *values));
  sweep.rules.emplace_back([name = axis == nullptr ? std::string(harness::kAlgorithmAxis) : axis->name,
                            values = std::move(*values)](const harness::Point& point, int) {
    const Value* value = point.find(name);
    const bool hit = value != nullptr && std::find(values.begin(), values.end(), *value) != values.end();
    return hit ? std::string("asked to be skipped") : std::string();
  });
  return {};
}

// Sizes as nccl-tests' options say them, as values of the axis.
Status take_sizes(SweepOptions& options) {
  if (!says_sizes(options)) return {};
  if (options.least_bytes.empty() || options.most_bytes.empty())
    return wrong_argument("-b and -e say the least and the greatest size together; -a bytes=64K says one alone");
  const bool is_said = std::any_of(options.axes.begin(), options.axes.end(), [](const std::string& text) {
    return same_name(trim(std::string_view(text).substr(0, text.find('='))), "bytes");
  });
  if (is_said) return wrong_argument("sizes are given by -b and -e, and by -a bytes or --bytes as well; leave out one");
  const std::string factor = options.factor.empty() ? "2" : options.factor;
  const Result<std::int64_t> number = parse_integer(factor);
  if (!number.ok() || *number < 2)
    return wrong_argument(fmt::format("-f is {}; it takes a whole number from 2 on", in_quotes(factor)));
  for (const auto& [option, size] : {std::pair("-b", &options.least_bytes), std::pair("-e", &options.most_bytes)})
    if (const Result<Bytes> bytes = parse_bytes(*size); !bytes.ok()) return bytes.status().with_context(option);
  options.axes.push_back(fmt::format("bytes={}:{}:x{}", options.least_bytes, options.most_bytes, factor));
  return {};
}

// --- numbers

Result<double> read_precision(const std::string& text) {
  Result<double> share = parse_share(text);
  if (!share.ok() || *share <= 0 || *share >= 1)
    return wrong_argument(fmt::format("--precision is {}; it takes a share such as 2% or 0.02", in_quotes(text)));
  return share;
}

Result<std::int64_t> read_count(const char* option, const std::string& text, std::int64_t least, std::int64_t most) {
  Result<std::int64_t> number = parse_integer(text);
  if (!number.ok() || *number < least || *number > most)
    return wrong_argument(
        fmt::format("{} is {}; it takes a number from {} to {}", option, in_quotes(text), least, most));
  return number;
}

std::string or_else(const std::string& said, std::string_view usual) {
  return said.empty() ? std::string(usual) : said;
}

Result<Nanos> read_time(const char* option, const std::string& text) {
  Result<Nanos> time = parse_duration(text);
  if (!time.ok()) return time.status().with_context(fmt::format("{} is {}", option, in_quotes(text)));
  if (time->value() <= 0)
    return wrong_argument(fmt::format("{} is {}; it takes a time above 0", option, in_quotes(text)));
  return time;
}

Status read_runner(const SweepOptions& options, harness::RunnerOptions& runner) {
  const Result<Nanos> budget = read_time("--budget", or_else(options.budget, "1s"));
  if (!budget.ok()) return budget.status();
  runner.measure.budget.seconds = static_cast<double>(budget->value()) / 1e9;
  const Result<double> precision = read_precision(or_else(options.precision, "2%"));
  if (!precision.ok()) return precision.status();
  runner.measure.budget.precision = *precision;
  const Result<std::int64_t> least = read_count("--least-samples", or_else(options.least_samples, "20"), 1, 1'000'000);
  if (!least.ok()) return least.status();
  runner.measure.budget.least_samples = static_cast<std::uint64_t>(*least);
  runner.measure.budget.most_samples =
      std::max(runner.measure.budget.most_samples, runner.measure.budget.least_samples);
  const Result<std::int64_t> launches =
      read_count("--launches", options.launches.empty() ? "1" : options.launches, 1, 10'000);
  if (!launches.ok()) return launches.status();
  runner.launches = static_cast<int>(*launches);
  const Result<std::int64_t> seed = read_count("--seed", or_else(options.seed, "1"), 0, INT64_MAX);
  if (!seed.ok()) return seed.status();
  runner.seed = static_cast<std::uint64_t>(*seed);
  const std::string_view usual = options.command.empty() ? "60s" : "10m";
  const Result<Nanos> limit = read_time("--timeout", std::string(options.timeout.empty() ? usual : options.timeout));
  if (!limit.ok()) return limit.status();
  const Result<Nanos> start_limit = read_time("--start-timeout", or_else(options.start_timeout, "60s"));
  if (!start_limit.ok()) return start_limit.status();
  runner.limits = {.start = *start_limit, .answer = *limit};
  runner.measure.check = !options.no_check;
  if (!options.sync.empty()) {
    runner.measure.sync = harness::sync_from_name(options.sync);
    if (!runner.measure.sync)
      return wrong_argument(fmt::format("--sync is {}; it takes round, meeting or barrier", in_quotes(options.sync)));
  }
  if (!options.launcher.empty()) {
    runner.launcher = harness::launcher_from_name(options.launcher);
    if (!runner.launcher)
      return wrong_argument(fmt::format("--launcher is {}; it takes local, mpirun.openmpi, mpirun.mpich or srun",
                                        in_quotes(options.launcher)));
  }
  runner.bind = harness::bind_from_name(options.bind).value_or(harness::Bind::core);
  if (!harness::bind_from_name(options.bind))
    return wrong_argument(fmt::format("--bind is {}; it takes core or none", in_quotes(options.bind)));
  return {};
}

// Whoever starts the groups must be there.
Status check_launchers(const SweepPlan& plan) {
  for (const harness::PeerProgram& program : plan.programs) {
    if (program.reckoner != nullptr) continue;
    const Status found = harness::find_launcher(plan.runner.launcher.value_or(program.launcher));
    if (!found.ok()) return found.with_context(fmt::format("peer {} cannot be started", program.name));
  }
  return {};
}

// A variable that whoever starts ranks sets for each of them would not be what the sweep says.
Status check_variables(const SweepPlan& plan) {
  const auto is_local = [&](const harness::PeerProgram& program) {
    return plan.runner.launcher.value_or(program.launcher) == harness::Launcher::local;
  };
  for (const EnvironmentAxis& axis : plan.sweep.environment)
    for (const std::string& name : axis.names) {
      const bool is_told_locally = name == harness::kMasterAddressVariable || name == harness::kMasterPortVariable;
      const bool is_of_tutti =
          is_told_locally && std::any_of(plan.programs.begin(), plan.programs.end(), [&](const auto& program) {
            return is_local(program) && (axis.peer.empty() || axis.peer == program.name);
          });
      const std::string_view teller = is_of_tutti ? "Tutti" : harness::teller_of(name);
      // A program that nobody gives a rank may be given any.
      const bool has_ranks =
          !plan.programs.empty() || plan.runner.launcher.value_or(harness::Launcher::local) != harness::Launcher::local;
      if (teller.empty() || !(has_ranks || harness::is_of_the_harness(name))) continue;
      return wrong_argument(fmt::format("variable {} cannot be swept: {} sets it for {}", name, teller,
                                        plan.programs.empty() ? "what it starts" : "each rank"));
    }
  return {};
}

// Held against rows that say no more than who they are about: nothing has been started.
Status set_alignments(const std::vector<std::string>& texts, SweepPlan& plan) {
  for (const std::string& text : texts) {
    Result<harness::Alignment> alignment = harness::parse_alignment(text);
    if (!alignment.ok()) return alignment.status();
    plan.alignments.push_back(std::move(*alignment));
  }
  std::vector<harness::Row> rows;
  for (const harness::Group& group : plan.groups)
    for (const harness::Case& each : group.cases) {
      harness::Row& row = rows.emplace_back();
      row.peer = group.label;
      row.settings = group.settings;
      row.point = each.point;
    }
  return plan.alignments.empty() ? Status() : harness::aligned(std::move(rows), plan.alignments).status();
}

}  // namespace

std::size_t SweepPlan::num_cases() const {
  std::size_t count = 0;
  for (const harness::Group& group : groups)
    count += group.cases.size() * static_cast<std::size_t>(launches_of(group, programs, runner.launches));
  return count;
}

double SweepPlan::expected_seconds() const {
  if (command) return 0;
  double seconds = 0;
  for (const harness::Group& group : groups) {
    const auto program =
        std::find_if(programs.begin(), programs.end(), [&](const auto& each) { return each.name == group.peer; });
    if (program == programs.end() || program->reckoner != nullptr) continue;
    const auto measured = std::count_if(group.cases.begin(), group.cases.end(),
                                        [](const harness::Case& each) { return each.skipped.empty(); });
    seconds +=
        runner.launches * (harness::expected_start(runner.launcher.value_or(program->launcher)) +
                           static_cast<double>(measured) * harness::expected_case(runner.measure.budget.seconds));
  }
  return seconds;
}

std::string SweepPlan::announcement() const {
  if (command) return fmt::format("{} of {}", counted(num_cases(), "run"), sweep.bench);
  std::size_t starts = 0;
  for (const harness::Group& group : groups)
    starts += static_cast<std::size_t>(launches_of(group, programs, runner.launches));
  return fmt::format("{}, {}, about {}", counted(starts, "group"), counted(num_cases(), "case"),
                     harness::rough_duration(expected_seconds()));
}

Result<SweepPlan> make_plan(const SweepOptions& given, const BenchWorld& world, const Environment& environment) {
  SweepOptions options = given;
  TUTTI_TRY(take_sizes(options));
  if (!options.file.empty()) TUTTI_TRY(read_sweep_file(given.file, options));
  SweepPlan plan;
  Sweep& sweep = plan.sweep;
  if (options.command.empty()) {
    TUTTI_TRY(check_no_command(options));
    TUTTI_TRY(check_bench_variables(environment));
    TUTTI_TRY(declare_bench(options, world, sweep));
    for (const std::string& peer : sweep.peers) plan.programs.push_back(world.program_of(peer));
  } else {
    TUTTI_TRY(declare_command(options, sweep));
  }
  AxisWords words;
  if (are_all_reckoned(plan.programs)) words.most_ranks = kMostReckonedRanks;
  for (const std::string& text : options.axes) TUTTI_TRY(override_axis(text, world, sweep, words));
  TUTTI_TRY(give_ranks(plan.programs, words.has_num_ranks, sweep));
  TUTTI_TRY(read_runner(options, plan.runner));
  TUTTI_TRY(place_on_hosts(options, world, words.has_num_ranks, plan));
  TUTTI_TRY(set_algorithms(words.algorithms, world, sweep));
  for (const std::string& text : options.skips) TUTTI_TRY(add_skip(text, sweep));
  TUTTI_TRY(add_environments(given, options, sweep, plan.warnings));
  TUTTI_TRY(check_reckoned(plan.programs, sweep));
  if (std::string warning = unheeded_words(options, plan.programs); !warning.empty())
    plan.warnings.push_back(std::move(warning));
  Result<std::vector<harness::Group>> groups = harness::plan(sweep);
  if (!groups.ok()) return groups.status();
  plan.groups = std::move(*groups);
  show_hosts(plan);
  TUTTI_TRY(set_alignments(options.align, plan));
  TUTTI_TRY(check_variables(plan));
  if (options.command.empty()) {
    TUTTI_TRY(check_launchers(plan));
  } else {
    TUTTI_TRY(plan_command(options, environment, plan));
  }
  return plan;
}

std::string list_of(const SweepPlan& plan) {
  std::string text;
  for (const harness::Group& group : plan.groups) {
    text += harness::to_string(group) + "\n";
    for (const harness::Case& each : group.cases) {
      std::string words = each.point.values.empty() ? plan.sweep.bench : harness::to_string(each.point);
      if (plan.command)
        words = harness::in_shell(harness::with_values(plan.command->words, each.point, group.num_ranks));
      text += fmt::format("  {}{}\n", words, each.skipped.empty() ? "" : fmt::format("  (skipped: {})", each.skipped));
    }
  }
  return text;
}

}  // namespace tutti::cli
