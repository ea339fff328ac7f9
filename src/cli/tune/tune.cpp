// SPDX-License-Identifier: Apache-2.0
// `tutti tune`: finds the fastest way of each collective at each size on this machine, and writes the decision table.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/counted.hpp"
#include "base/system/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "base/variables/variables.hpp"
#include "bench/views/narrow_table.hpp"
#include "cli/interrupt.hpp"
#include "cli/output.hpp"
#include "cli/tune/machine_load.hpp"
#include "cli/tune/peer_track.hpp"
#include "cli/tune/profile_numbers.hpp"
#include "cli/tune/tune_commands.hpp"
#include "cli/tune/tune_report.hpp"
#include "cli/tune/tune_request.hpp"
#include "cli/tune/tune_score.hpp"
#include "runtime/selection/profile_choice.hpp"
#include "runtime/selection/table_choice.hpp"
#include "table/table_file.hpp"
#include "tune/make_sections.hpp"
#include "tune/peer_knobs.hpp"
#include "tune/search.hpp"

namespace tutti::cli {

namespace {

// Shares of the budget.
constexpr double kForScore = 0.25;
constexpr double kForNumbers = 0.12;
constexpr std::size_t kSizesForNumbers = 3;  // every so many

// Lines for people, and on a terminal one that shows what is going on.
class Teller {
 public:
  explicit Teller(std::ostream& stream) : stream_(stream), is_terminal_(::isatty(STDERR_FILENO) != 0) {}
  ~Teller() { clear(); }

  void say(const std::string& line) {
    clear();
    stream_ << line << '\n' << std::flush;
  }
  void show(const std::string& line) {
    if (!is_terminal_) return;
    constexpr std::size_t kWidth = 100;
    stream_ << "\r\033[K" << line.substr(0, kWidth) << std::flush;
    is_shown_ = true;
  }

 private:
  void clear() {
    if (is_shown_) stream_ << "\r\033[K";
    is_shown_ = false;
  }
  std::ostream& stream_;
  bool is_terminal_;
  bool is_shown_ = false;
};

std::string words_of(const tune::CaseKey& key) {
  return fmt::format("{}, {}, {} memory{}", name_of(key.collective), counted(key.ranks, "rank"), name_of(key.memory),
                     key.types == TypeClass::any ? "" : fmt::format(", {} types", name_of(key.types)));
}

std::string now_text() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::string text(sizeof "2026-01-01T00:00:00Z" - 1, ' ');
  std::strftime(text.data(), text.size() + 1, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

struct TuneArguments : TuneOptions {
  OutputOptions data;  // of what is shown
};

// The whole of a tuning, one step after another.
class Tuning {
 public:
  Tuning(const TuneRequest& request, const TuneOptions& options, const BenchWorld& world, const Context& context,
         const TemporaryFolder& folder)
      : request_(request),
        options_(options),
        world_(world),
        context_(context),
        teller_(context.error),
        measure_(measure_options()),
        track_(track_options(), folder) {}

  Exit run(const OutputOptions& output) {
    for (const tune::CaseKey& key : request_.keys)
      if (!track_.is_interrupted()) search(key);
    if (cells_.empty()) return nothing_measured();
    DecisionTable table = assembled();
    if (tunes_numbers() && !track_.is_interrupted()) tune_numbers(table);
    const std::vector<Scored> scored = score(table);
    track_.relaunch();
    return conclude(table, scored, output);
  }

 private:
  [[nodiscard]] harness::MeasureOptions measure_options() const {
    harness::MeasureOptions measure;
    measure.is_interrupted = Interrupt::has_come;
    return measure;
  }

  [[nodiscard]] PeerTrackOptions track_options() const {
    PeerTrackOptions options{.track = {.runner = {}, .peer = request_.peer, .inherited = context_.environment.block()},
                             .types = request_.types,
                             .measure = measure_};
    options.track.runner.measure = measure_;
    options.track.runner.seed = request_.seed;
    if (!request_.is_own)
      options.algorithms = [this](Collective collective) {
        return world_.algorithms_of(request_.peer.name, name_of(collective));
      };
    return options;
  }

  [[nodiscard]] bool tunes_numbers() const {
    return request_.is_own && !options_.keeps_numbers && !options_.exhaustive && !profile_.empty();
  }
  [[nodiscard]] double seconds_of_search() const {
    const double share = 1 - kForScore - (request_.is_own && !options_.keeps_numbers ? kForNumbers : 0);
    return request_.seconds * (options_.exhaustive ? 1 : share) / static_cast<double>(request_.keys.size());
  }

  [[nodiscard]] tune::Candidates candidates_for(const tune::CaseKey& key) const {
    if (request_.is_own)
      return tune::own_candidates(
          key.collective, {.ranks = key.ranks, .cores = request_.cores, .memory = key.memory, .order = request_.order});
    std::vector<std::string> names;
    for (const harness::ForcedAlgorithm& each : world_.algorithms_of(request_.peer.name, name_of(key.collective)))
      if (harness::allows(each.ranks, static_cast<int>(key.ranks))) names.push_back(each.name);
    return tune::peer_candidates(names, tune::knobs_of(request_.peer.name, key.collective));
  }

  void search(const tune::CaseKey& key) {
    const tune::Candidates candidates = candidates_for(key);
    teller_.say(fmt::format("{}: {} at {}", words_of(key), counted(candidates.first.size(), "way"),
                            counted(request_.sizes.size(), "size")));
    tune::SearchOptions options{.sizes = request_.sizes,
                                .seconds = seconds_of_search(),
                                .exhaustive = options_.exhaustive || request_.peer.reckoner != nullptr};
    const double begin = track_.now();
    const tune::SearchResult result =
        tune::search(key, candidates, options, track_, [&](const tune::Cell& cell, std::string_view phase) {
          teller_.show(fmt::format("{}: {} B, {}: {} takes {:.4g} us", words_of(key), to_text(Bytes(cell.bytes)), phase,
                                   cell.best()->way.to_string(), cell.best()->us));
        });
    const tune::SearchCounts& counts = result.counts;
    std::string line = fmt::format("  {} in {:.0f} s: {} in all, {} spared", counted(counts.races, "race"),
                                   track_.now() - begin, counted(counts.ways_raced, "way"), counts.ways_spared);
    if (counts.pruning_checks > 0)
      line += fmt::format("; of {} checked {} should not have been", counted(counts.pruning_checks, "spared way"),
                          counts.pruning_faults);
    if (!result.is_complete) line += "; time was too short for all";
    teller_.say(line);
    cells_.insert(cells_.end(), result.cells.begin(), result.cells.end());
  }

  Exit nothing_measured() {
    std::string why;
    for (const auto& [reason, way] : track_.objections()) why += fmt::format("\n  {}: {}", way, reason);
    if (track_.is_interrupted()) return Interrupt::exit();
    context_.error << fmt::format("tutti tune: nothing could be measured{}\n", why);
    return Exit::found_wrong;
  }

  [[nodiscard]] tune::MergeOptions merge_options() const {
    if (request_.peer.reckoner != nullptr)
      return {.tolerance = 0, .least_gain = 0, .least_doubtful_gain = 0, .most_regret = 0};
    return {};
  }

  [[nodiscard]] DecisionTable assembled() {
    DecisionTable table;
    table.name = request_.peer.name;
    table.about = fmt::format("made by tutti tune, --budget {}", options_.budget);
    table.made = now_text();
    table.version = track_.version();
    table.peer = request_.peer.name;
    table.fingerprint = request_.fingerprint;
    table.machine = request_.peer.reckoner != nullptr ? request_.peer.name : to_string(request_.machine);
    table.cores = request_.peer.reckoner != nullptr ? 0 : request_.cores;
    if (request_.is_own) table.profile = profile_;
    table.sections = tune::make_sections(cells_, merge_options());
    if (facts_say_order())
      for (TableSection& section : table.sections) section.order = request_.order;
    return table;
  }
  [[nodiscard]] bool facts_say_order() const { return request_.is_own && request_.order != OrderClass::uniform; }

  void tune_numbers(DecisionTable& table) {
    std::vector<tune::Cell> some;
    for (std::size_t each = 0; each < cells_.size(); each += kSizesForNumbers) some.push_back(cells_[each]);
    std::vector<NumberChange> changes = changes_of(profile_);
    teller_.say(fmt::format("numbers of the profile {}: {}", profile_, counted(changes.size(), "change")));
    const NumbersResult result =
        cli::tune_numbers(table, std::move(changes), some, request_.seconds * kForNumbers, track_, measure_,
                          [&](const std::string& line) { teller_.show("numbers: " + line); });
    table.numbers = result.numbers;
    teller_.say(result.taken.empty() ? "  none is surely better"
                                     : fmt::format("  taken: {}; {:.1f} % faster", fmt::join(result.taken, ", "),
                                                   (result.gain - 1) * 100));
  }

  std::vector<Scored> score(DecisionTable& table) {
    if (options_.exhaustive || track_.is_interrupted()) return {};
    std::vector<harness::Setting> after;
    if (request_.is_own || request_.peer.reckoner != nullptr) {
      if (!request_.is_own) return {};  // what was simulated is exact
      const Result<std::vector<harness::Setting>> settings = track_.settings_for(table);
      if (!settings.ok()) {
        teller_.say(fmt::format("not scored: {}", settings.status().message()));
        return {};
      }
      after = *settings;
    } else {
      return {};  // the table is not what the peer reads: tutti export --verify scores what it does
    }
    teller_.say("scoring in new processes");
    std::vector<tune::Cell> cells;
    for (const tune::Cell& cell : cells_)
      if (std::binary_search(request_.sizes.begin(), request_.sizes.end(), cell.bytes)) cells.push_back(cell);
    std::vector<Scored> scored =
        cli::score(cells, table, {}, after, {.seconds = request_.seconds * kForScore}, track_, measure_);
    give_back_losses(scored, table);
    return scored;
  }

  // Where the table is surely slower than what ran before, that stays: an old table's way, or what the profile says.
  void give_back_losses(std::vector<Scored>& scored, DecisionTable& table) {
    std::size_t losses = 0;
    for (Scored& each : scored) {
      if (each.ratio.verdict != harness::Verdict::slower) continue;
      each.is_undone = true;
      ++losses;
      for (tune::Cell& cell : cells_) {
        if (!(cell.key == each.key) || cell.bytes != each.bytes) continue;
        const TableWay before = way_before(each);
        tune::WayTime* const chosen = best_of(cell);
        std::erase_if(cell.times, [&](const tune::WayTime& time) { return time.way == before; });
        cell.times.push_back({.way = before,
                              .us = chosen->us * std::min(each.ratio.ratio, 0.9),
                              .low_us = each.before_us,
                              .high_us = each.before_us,
                              .samples = 0});
      }
    }
    if (losses == 0) return;
    teller_.say(fmt::format("  {} slower than before: what ran before stays there", counted(losses, "size")));
    const document::TomlTable numbers = table.numbers;
    table = assembled();
    table.numbers = numbers;
  }
  static tune::WayTime* best_of(tune::Cell& cell) {
    return &*std::min_element(cell.times.begin(), cell.times.end(),
                              [](const tune::WayTime& a, const tune::WayTime& b) { return a.us < b.us; });
  }
  [[nodiscard]] TableWay way_before(const Scored& scored) const {
    if (before_ == nullptr) return {};
    for (const TableSection& section : before_->sections)
      if (section.collective == scored.key.collective && section.ranks == scored.key.ranks &&
          section.memory == scored.key.memory && section.types == scored.key.types)
        return section.range_of(scored.bytes).way;
    return {};
  }

  Exit conclude(DecisionTable& table, const std::vector<Scored>& scored, const OutputOptions& output) {
    const Table shown = scored.empty() ? table_of_ranges(table) : table_of_scores(scored);
    const Status written = write_output(narrowed(shown, output, context_), output, context_);
    if (!written.ok()) return failed(context_, "tune", written);
    if (!scored.empty()) teller_.say(summary_of(scored));
    for (const std::string& wrong : track_.wrong()) teller_.say("wrong results: " + wrong);
    const MachineLoad::Used used = load_.used();
    const bool is_disturbed = request_.peer.reckoner == nullptr && used.cores_of_others > kMostOfOthers;
    if (is_disturbed)
      teller_.say(fmt::format("the machine was disturbed: other programs used {:.2f} cores on average{}",
                              used.cores_of_others,
                              options_.anyway ? "" : "; nothing is written (--anyway writes all the same)"));
    if (is_disturbed && !options_.anyway) return Exit::found_wrong;
    if (track_.is_interrupted()) teller_.say("interrupted: the table has what is known so far, and is not scored");
    const Status kept = keep(table);
    if (!kept.ok()) return failed(context_, "tune", kept);
    if (track_.is_interrupted()) return Interrupt::exit();
    return track_.wrong().empty() ? Exit::done : Exit::found_wrong;
  }

  // With the sections that the file had of other cases.
  Status keep(DecisionTable& table) {
    const Result<std::optional<std::string>> old = read_file_if_there(request_.path, kMostTableBytes);
    if (old.ok() && old->has_value()) {
      const Result<DecisionTable> before = read_table(**old, request_.path);
      const bool is_of_same = before.ok() && before->peer == table.peer && before->fingerprint == table.fingerprint &&
                              before->profile == table.profile;
      if (is_of_same) merge(*before, table);
    }
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::path(request_.path).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder, error);
    TUTTI_TRY(replace_file(request_.path, write_table(table)));
    teller_.say(fmt::format("table: {}{}", request_.path, how_to_use()));
    return {};
  }
  static void merge(const DecisionTable& before, DecisionTable& table) {
    for (const TableSection& section : before.sections) {
      const bool is_new = std::any_of(table.sections.begin(), table.sections.end(), [&](const TableSection& each) {
        return each.collective == section.collective && each.ranks == section.ranks && each.memory == section.memory &&
               each.types == section.types;
      });
      if (!is_new) table.sections.push_back(section);
    }
    if (table.numbers.entries.empty()) table.numbers = before.numbers;
  }
  [[nodiscard]] std::string how_to_use() const {
    if (!request_.is_own) return "";
    return options_.output.empty() ? "; every program that uses Tutti on this machine obeys it"
                                   : fmt::format("; TUTTI_TABLE={} makes programs obey it", request_.path);
  }

 public:
  // What is in force before: a table that was found, and the profile beneath.
  void take_before(std::shared_ptr<const DecisionTable> before, std::string profile) {
    before_ = std::move(before);
    profile_ = std::move(profile);
  }

 private:
  const TuneRequest& request_;
  const TuneOptions& options_;
  const BenchWorld& world_;
  const Context& context_;
  Teller teller_;
  MachineLoad load_;
  harness::MeasureOptions measure_;
  PeerTrack track_;
  std::shared_ptr<const DecisionTable> before_;
  std::string profile_;  // that ships; empty: a file
  std::vector<tune::Cell> cells_;
};

std::string candidates_text(const TuneRequest& request, const BenchWorld& world) {
  std::string text;
  for (const tune::CaseKey& key : request.keys) {
    text += words_of(key) + ":\n";
    if (request.is_own) {
      const tune::Candidates candidates = tune::own_candidates(
          key.collective, {.ranks = key.ranks, .cores = request.cores, .memory = key.memory, .order = request.order});
      for (const TableWay& way : candidates.first)
        text += fmt::format("  {}, and {} of values at the greatest size\n", way.to_string(),
                            counted(candidates.neighbours(way, request.sizes.back()).size(), "change"));
      continue;
    }
    text += "  the default\n";
    for (const harness::ForcedAlgorithm& each : world.algorithms_of(request.peer.name, name_of(key.collective)))
      text += fmt::format("  {}\n", each.name);
  }
  return text;
}

Exit explain(const TuneArguments& options, const TuneRequest& request, const Context& context) {
  const Result<Bytes> bytes = parse_bytes(options.explain);
  if (!bytes.ok()) return misused(context, "tune", fmt::format("--explain: {}", bytes.status().message()));
  const Result<std::string> text = read_file(request.path, kMostTableBytes);
  if (!text.ok()) return failed(context, "tune", text.status());
  const Result<DecisionTable> table = read_table(*text, request.path);
  if (!table.ok()) return failed(context, "tune", table.status());
  context.out << explained(*table, bytes->value());
  return Exit::done;
}

Exit run(const TuneArguments& options, const BenchWorld& world, const Context& context) {
  const Result<TuneRequest> request = read_request(options, world, context.environment);
  if (!request.ok()) return failed(context, "tune", request.status());
  if (!options.explain.empty()) return explain(options, *request, context);
  if (options.dry_run) {
    context.out << candidates_text(*request, world);
    return Exit::done;
  }
  const VariablesReading reading = Variables::read(context.environment, ConfPaths::standard(context.environment));
  const ProfileChoice profile = choose_profile(reading.variables.text(VariableId::profile));
  const TableChoice before = choose_table(reading.variables);
  if (!profile.unread.ok()) return failed(context, "tune", profile.unread);
  if (!before.unread.ok()) return failed(context, "tune", before.unread);
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  if (!folder.ok()) return failed(context, "tune", folder.status());
  const Interrupt interrupt;
  Tuning tuning(*request, options, world, context, *folder);
  tuning.take_before(request->is_own ? before.table : nullptr,
                     profile.profile->place.empty() ? profile.profile->name : "");
  return tuning.run(options.data);
}

}  // namespace

Command tune_command(const BenchWorld& world) {
  return {.name = "tune",
          .summary = "Find the fastest way of each collective at each size on this machine, and keep it as a table",
          .examples =
              "tutti tune\n"
              "tutti tune --collective all_gather,broadcast --ranks 4 --budget 30s\n"
              "tutti tune --explain 64K\n"
              "tutti tune --peer openmpi --ranks 2 -o openmpi.toml\n"
              "tutti tune --peer simulate:torus_2d:8x8 -o torus.toml",
          .define = [&world](CLI::App& app) -> Run {
            const auto options = std::make_shared<TuneArguments>();  // shared with the closure, which is copied
            add_tune_options(app, *options);
            return [options, &world](const Context& context) { return run(*options, world, context); };
          }};
}

}  // namespace tutti::cli
