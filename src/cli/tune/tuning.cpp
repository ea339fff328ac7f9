// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/tuning.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/system/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "base/variables/variables.hpp"
#include "bench/views/narrow_table.hpp"
#include "cli/bench/bench_store.hpp"
#include "cli/interrupt.hpp"
#include "cli/tune/machine_load.hpp"
#include "cli/tune/peer_track.hpp"
#include "cli/tune/profile_numbers.hpp"
#include "cli/tune/race_journal.hpp"
#include "cli/tune/teller.hpp"
#include "cli/tune/tune_report.hpp"
#include "cli/tune/tune_score.hpp"
#include "cli/tune/tune_workload.hpp"
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

// The whole of a tuning, one step after another.
class Tuning {
 public:
  Tuning(const TuneRequest& request, const TuneOptions& options, const Before& before, const BenchWorld& world,
         const Context& context, const TemporaryFolder& folder)
      : request_(request),
        options_(options),
        before_(before.table),
        profile_(before.profile),
        world_(world),
        context_(context),
        teller_(context.error),
        measure_(measure_options()),
        track_(track_options(), folder) {}

  Exit run(const OutputOptions& output) {
    if (const Status read = read_old(); !read.ok()) return failed(context_, "tune", read);
    RaceJournal journal = RaceJournal::open(request_.path + ".races", heading(), options_.resumes, track_);
    // Before anything is measured.
    if (!journal.is_open() && !std::filesystem::is_character_file(request_.path))
      return failed(context_, "tune",
                    Status::from_errno(fmt::format("cannot write {}", in_quotes(request_.path)), errno));
    for (const TuneCase& each : request_.cases)
      if (!track_.is_interrupted()) search(each, journal);
    num_resumed_ = journal.num_resumed();
    if (options_.resumes)
      teller_.say(journal.num_resumed() == 0 ? "nothing to resume: no interrupted tuning with these options"
                                             : fmt::format("resumed: {} taken from the interrupted tuning",
                                                           counted(journal.num_resumed(), "race")));
    if (cells_.empty()) return nothing_measured();
    DecisionTable table = assembled(old_ ? old_->numbers : document::TomlTable());
    if (tunes_numbers() && !track_.is_interrupted()) tune_numbers(table);
    const std::vector<Scored> scored = score(table);
    track_.relaunch();
    const Exit exit = conclude(table, scored, output);
    if (is_kept_ && !track_.is_interrupted()) journal.remove();
    return exit;
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
    options.track.runner.hosts = request_.hosts;
    if (!request_.is_own)
      options.algorithms = [this](Collective collective) {
        return world_.algorithms_of(request_.peer.name, name_of(collective));
      };
    return options;
  }

  [[nodiscard]] bool obeys_tables() const { return request_.is_own || request_.is_on_devices; }
  [[nodiscard]] bool tunes_numbers() const {
    return request_.is_own && request_.hosts.empty() && !options_.keeps_numbers && !options_.exhaustive &&
           !profile_.empty();
  }
  [[nodiscard]] double seconds_of_search() const {
    if (options_.exhaustive || request_.peer.reckoner != nullptr) return request_.seconds;
    return request_.seconds * (1 - kForScore - (tunes_numbers() ? kForNumbers : 0));
  }

  // Empty on one host.
  [[nodiscard]] std::vector<std::uint32_t> ranks_of_hosts(const tune::CaseKey& key) const {
    const auto placed = request_.hosts.find(static_cast<int>(key.ranks));
    return placed == request_.hosts.end() ? std::vector<std::uint32_t>()
                                          : harness::ranks_by_host(placed->second.entries);
  }

  [[nodiscard]] tune::Candidates candidates_for(const tune::CaseKey& key) const {
    if (request_.is_own)
      return tune::own_candidates(key.collective, {.ranks = key.ranks,
                                                   .cores = request_.cores,
                                                   .memory = key.memory,
                                                   .order = request_.order,
                                                   .ranks_of_hosts = ranks_of_hosts(key)});
    std::vector<std::string> names;
    for (const harness::ForcedAlgorithm& each : world_.algorithms_of(request_.peer.name, name_of(key.collective)))
      if (harness::allows(each.ranks, static_cast<int>(key.ranks))) names.push_back(each.name);
    tune::Candidates candidates = tune::peer_candidates(names, tune::knobs_of(request_.peer.name, key.collective));
    // What a simulated library takes by itself is one of its algorithms: a table for a fabric names it.
    if (request_.peer.reckoner != nullptr && candidates.first.size() > 1)
      candidates.first.erase(candidates.first.begin());
    return candidates;
  }

  // Of the same tuning.
  [[nodiscard]] std::string heading() const {
    std::string text = fmt::format("races of tutti tune {}, {}, {}, seed {}, {} s, order {}{}:", TUTTI_VERSION,
                                   request_.peer.name, request_.fingerprint, request_.seed, request_.seconds,
                                   name_of(request_.order), options_.exhaustive ? ", exhaustive" : "");
    for (const auto& [types, type] : request_.types) text += fmt::format(" {} as {},", name_of(types), name_of(type));
    text += fmt::format(" profile {};", profile_);
    for (const std::string& each : context_.environment.block())
      if (each.starts_with("TUTTI_") || each.starts_with("BENCH_")) text += fmt::format(" {}", printable(each));
    for (const auto& [num_ranks, hosts] : request_.hosts)
      for (const harness::HostEntry& each : hosts.entries)
        text += fmt::format(" {} of {} on {};", each.num_ranks, num_ranks, printable(each.host));
    for (const TuneCase& each : request_.cases) {
      text += fmt::format(" {} at", words_of(each.key));
      for (const std::uint64_t bytes : each.sizes) text += fmt::format(" {}", bytes);
      text += ";";
    }
    return text;
  }

  void search(const TuneCase& wanted, RaceJournal& journal) {
    const tune::CaseKey& key = wanted.key;
    const tune::Candidates candidates = candidates_for(key);
    teller_.say(fmt::format("{}: {} at {}", words_of(key), counted(candidates.first.size(), "way"),
                            counted(wanted.sizes.size(), "size")));
    tune::SearchOptions options{.sizes = wanted.sizes,
                                .seconds = seconds_of_search() * wanted.share,
                                .exhaustive = options_.exhaustive || request_.peer.reckoner != nullptr,
                                .is_exact = request_.peer.reckoner != nullptr && !options_.exhaustive};
    const double begin = journal.now();
    const tune::SearchResult result =
        tune::search(key, candidates, options, journal, [&](const tune::Cell& cell, std::string_view phase) {
          teller_.show(fmt::format("{}: {} B, {}: {} takes {:.4g} us", words_of(key), to_text(Bytes(cell.bytes)), phase,
                                   cell.best()->way.to_string(), cell.best()->us));
        });
    const tune::SearchCounts& counts = result.counts;
    std::string line = fmt::format("  {} in {:.0f} s: {} raced, {} skipped", counted(counts.races, "race"),
                                   journal.now() - begin, counted(counts.ways_raced, "way"), counts.ways_spared);
    if (counts.pruning_checks > 0)
      line += fmt::format("; {} checked, {} of them the fastest", counted(counts.pruning_checks, "skipped way"),
                          counts.pruning_faults);
    if (!result.is_complete) line += "; the budget was too short to finish";
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

  // Where the search has not come to a case's greatest size, what is beyond the last one raced is left open.
  void leave_rest(DecisionTable& table) const {
    for (const TuneCase& wanted : request_.cases) {
      std::uint64_t greatest = 0;
      for (const tune::Cell& cell : cells_)
        if (cell.key == wanted.key) greatest = std::max(greatest, cell.bytes);
      if (greatest == 0 || greatest >= wanted.sizes.back()) continue;
      for (TableSection& section : table.sections)
        if (key_of(section) == wanted.key) tune::leave_beyond(greatest, section);
    }
  }
  [[nodiscard]] static tune::CaseKey key_of(const TableSection& section) {
    return {.collective = section.collective,
            .ranks = section.ranks,
            .memory = section.memory,
            .types = section.types,
            .hosts = section.hosts};
  }

  [[nodiscard]] DecisionTable assembled(const document::TomlTable& numbers) {
    DecisionTable table;
    table.name = request_.peer.name;
    table.about = fmt::format("made by tutti tune in {:.0f} s", request_.seconds);
    table.made = now_in_words();
    table.version = track_.version();
    table.set_measured_peer(request_.peer.name);
    table.fingerprint = request_.fingerprint;
    table.machine = request_.peer.reckoner != nullptr ? request_.peer.name : to_string(request_.machine);
    table.cores = request_.peer.reckoner != nullptr || request_.is_on_devices ? 0 : request_.cores;
    if (request_.is_own) table.profile = profile_;
    table.numbers = numbers;
    table.sections = tune::make_sections(cells_, merge_options());
    leave_rest(table);
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
    if (!result.taken.empty()) table.numbers = result.numbers;
    teller_.say(result.taken.empty() ? "  none is surely better"
                                     : fmt::format("  taken: {}; {:.1f} % faster", fmt::join(result.taken, ", "),
                                                   (result.gain - 1) * 100));
  }

  std::vector<Scored> score(DecisionTable& table) {
    // Simulated times are exact.
    if (request_.peer.reckoner != nullptr || options_.exhaustive || track_.is_interrupted()) return {};
    const Result<SettingsAfter> after = settings_after(table);
    if (!after.ok()) {
      teller_.say(fmt::format("not scored: {}", after.status().message()));
      return {};
    }
    teller_.say("scoring in new processes");
    std::vector<tune::Cell> cells;
    for (const tune::Cell& cell : cells_)
      if (is_wanted(cell)) cells.push_back(cell);
    Result<std::vector<harness::Setting>> before = settings_before();
    if (!before.ok()) {
      teller_.say(fmt::format("not scored: {}", before.status().message()));
      return {};
    }
    std::vector<Scored> scored = cli::score(
        cells, table, *after, {.seconds = request_.seconds * kForScore, .before = *std::move(before), .rows = &rows_},
        track_, measure_);
    // Races of an interrupted tuning may be of another day.
    if (num_resumed_ == 0) drifts_ = drifts_of(scored, cells_, [this](const Scored& each) { return way_before(each); });
    give_back_losses(scored, table);
    return scored;
  }

  // On devices, what a table without sections gives: a size that goes back to that is one that the table leaves open.
  Result<std::vector<harness::Setting>> settings_before() {
    if (!request_.is_on_devices) return std::vector<harness::Setting>();
    return track_.settings_for(tune::CaseKey(), TableWay());
  }
  // Tutti's own ranks obey the table. Other peers cannot read it: settings make them go the way of each cell.
  Result<SettingsAfter> settings_after(const DecisionTable& table) {
    if (!obeys_tables())
      return SettingsAfter([this, &table](const tune::Cell& cell) {
        const TableSection* const section = section_for(table, cell.key);
        const TableWay way = section == nullptr ? TableWay() : section->range_of(cell.bytes).way;
        return track_.settings_for(cell.key, way).value();
      });
    TUTTI_TRY_ASSIGN(std::vector<harness::Setting> settings, track_.settings_for(table));
    return SettingsAfter([settings = std::move(settings)](const tune::Cell&) { return settings; });
  }

  // Not one that the search has looked at besides.
  [[nodiscard]] bool is_wanted(const tune::Cell& cell) const {
    return std::any_of(request_.cases.begin(), request_.cases.end(), [&](const TuneCase& each) {
      return each.key == cell.key && std::binary_search(each.sizes.begin(), each.sizes.end(), cell.bytes);
    });
  }

  // Where the table is slower than what ran before, or does wrong, that stays: an old table's way, or what the profile
  // says.
  void give_back_losses(std::vector<Scored>& scored, DecisionTable& table) {
    const std::size_t losses = undo_losses(
        scored, cells_, [this](const Scored& each) { return way_before(each); }, options_.only_faster);
    for (const Scored& each : scored)
      if (!each.fault.empty())
        faults_.push_back(fmt::format("{} at {} B: {}", each.way.to_string(), each.bytes, each.fault));
    if (losses == 0) return;
    teller_.say(
        fmt::format("  {} {}: what ran before stays there", counted(losses, "size"),
                    options_.only_faster ? "not surely faster than before, or wrong" : "slower than before, or wrong"));
    table = assembled(table.numbers);
  }
  // As the runtime finds it in the old table.
  [[nodiscard]] TableWay way_before(const Scored& scored) const {
    if (before_ == nullptr) return {};
    const std::optional<TableAnswer> answer = find_section(*before_, {.collective = scored.key.collective,
                                                                      .ranks = scored.key.ranks,
                                                                      .memory = scored.key.memory,
                                                                      .types = scored.key.types,
                                                                      .crowded = scored.key.ranks > request_.cores,
                                                                      .hosts = scored.key.hosts});
    return answer ? answer->section->range_of(scored.bytes).way : TableWay();
  }

  // What the score has measured, as a run of the store: before without a table or with the old one, after with this
  // one.
  void keep_rows(DecisionTable& table) {
    if (rows_.empty() || options_.no_store) return;
    // Rows of other peers have the settings of their way.
    const std::string name(row_of(request_.is_own ? VariableId::table : VariableId::device_table).name);
    for (std::size_t each = 0; obeys_tables() && each < rows_.size(); ++each) {
      const bool is_after = each % 2 == 1;
      std::string place = before_ == nullptr ? std::string(kNoTable) : before_->title();
      if (is_after) {
        place = request_.path;
      } else if (place == request_.path) {
        place += " (before)";
      }
      // Besides, the memory tells rows apart.
      std::erase_if(rows_[each].settings, [](const harness::Setting& set) { return set.name != kMemoryVariable; });
      rows_[each].settings.push_back({.name = name, .value = std::move(place)});
    }
    const Result<std::int64_t> run = store_rows();
    if (run.ok()) {
      table.run = std::to_string(*run);
      teller_.say(fmt::format("the score is run {} of the store", *run));
    } else {
      teller_.say(fmt::format("the score is not kept: {}", run.status().message()));
    }
  }
  Result<std::int64_t> store_rows() {
    TUTTI_TRY_ASSIGN(const std::string path, store_path(options_.store, context_.environment));
    TUTTI_TRY_ASSIGN(harness::Store store, harness::Store::open(path));
    harness::StoredRun begun = new_run(rows_.front().bench, "tutti tune " + request_.path, context_);
    begun.is_paired = true;
    TUTTI_TRY_ASSIGN(const std::int64_t run, store.begin(begun));
    TUTTI_TRY(store.add(run, rows_));
    TUTTI_TRY(store.complete(run));
    return run;
  }

  Exit conclude(DecisionTable& table, const std::vector<Scored>& scored, const OutputOptions& output) {
    const Table shown = scored.empty() ? table_of_ranges(table) : table_of_scores(scored);
    const Status written = write_output(narrowed(shown, output, context_), output, context_);
    if (!written.ok()) return failed(context_, "tune", written);
    if (!scored.empty()) teller_.say(summary_of(scored));
    if (request_.workload && !scored.empty()) teller_.say(gain_of(*request_.workload, scored));
    for (const std::string& wrong : track_.wrong()) teller_.say("wrong results: " + wrong);
    for (const std::string& fault : faults_) teller_.say("wrong in the score: " + fault);
    if (!drifts_.empty()) teller_.say(words_of_drifts());
    const MachineLoad::Used used = load_.used();
    // Ranks that were started on this host by way of another one would count as others.
    if (!request_.hosts.empty()) teller_.say("whether other programs kept the hosts busy is not known");
    const bool is_disturbed =
        request_.peer.reckoner == nullptr && request_.hosts.empty() && used.cores_of_others > kMostOfOthers;
    if (is_disturbed)
      teller_.say(fmt::format("the machine was disturbed: other programs used {:.2f} cores on average{}",
                              used.cores_of_others,
                              options_.anyway ? "" : "; nothing is written (--anyway writes all the same)"));
    if (is_disturbed && !options_.anyway) return Exit::found_wrong;
    if (track_.is_interrupted())
      teller_.say(
          "interrupted: the table has what is known so far, and is not scored; to go on, repeat the command with "
          "--resume");
    keep_rows(table);
    const Status kept = keep(table);
    if (!kept.ok()) return failed(context_, "tune", kept);
    if (track_.is_interrupted()) return Interrupt::exit();
    return track_.wrong().empty() && faults_.empty() ? Exit::done : Exit::found_wrong;
  }

  // With the sections that the file had of other cases. What an interrupted tuning knows is not in force.
  Status keep(DecisionTable& table) {
    const bool is_partial = track_.is_interrupted() && request_.is_found;
    const std::string path = is_partial ? request_.path + ".partial" : request_.path;
    if (old_ && !is_partial) merge(*old_, table);
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder, error);
    TUTTI_TRY(replace_file(path, write_table(table)));
    is_kept_ = true;
    teller_.say(fmt::format("table: {}{}", path, is_partial ? "; nothing obeys it" : how_to_use()));
    return {};
  }
  // The sections were scored with the numbers that the table has; others' sections go with other numbers.
  void merge(const DecisionTable& before, DecisionTable& table) {
    std::size_t dropped = 0;
    for (const TableSection& section : before.sections) {
      const bool is_new = std::any_of(table.sections.begin(), table.sections.end(),
                                      [&](const TableSection& each) { return key_of(each) == key_of(section); });
      if (is_new) continue;
      table.sections.push_back(section);
      if (!has_same_numbers(before, table)) ++dropped;
    }
    if (dropped > 0)
      teller_.say(
          fmt::format("{} of before stay, tuned with other numbers of the profile", counted(dropped, "section")));
  }
  static bool has_same_numbers(const DecisionTable& a, const DecisionTable& b) {
    DecisionTable only_a;
    DecisionTable only_b;
    only_a.numbers = a.numbers;
    only_b.numbers = b.numbers;
    return write_table(only_a) == write_table(only_b);
  }
  // The table that is there already and is added to. An error where the file is none that this one may replace.
  Status read_old() {
    TUTTI_TRY_ASSIGN(const std::optional<std::string> text, read_file_if_there(request_.path, kMostTableBytes));
    if (!text || text->empty()) return {};
    Result<DecisionTable> old = read_table(*text, request_.path);
    if (!old.ok()) return old.status().with_context("there is a file already, and not a table; -o says where else");
    TUTTI_TRY(request_.check_old(*old));
    const bool is_of_same = (!request_.is_own || (old->profile == profile_ && old->cores == request_.cores));
    if (is_of_same) {
      old_ = *std::move(old);
    } else {
      teller_.say(fmt::format("{} is of another profile or number of cores, and is replaced", request_.path));
    }
    return {};
  }
  [[nodiscard]] std::string how_to_use() const {
    if (request_.is_on_devices)
      return fmt::format("; TUTTI_DEVICE_TABLE={} makes device communicators obey it", request_.path);
    if (request_.peer.reckoner != nullptr)
      return fmt::format("; TUTTI_FABRIC={} TUTTI_TABLE={} makes programs obey it", request_.peer.name, request_.path);
    if (!request_.is_own) return "";
    return request_.is_found ? "; all your programs that use Tutti on this machine obey it"
                             : fmt::format("; TUTTI_TABLE={} makes programs obey it", request_.path);
  }

  [[nodiscard]] std::string words_of_drifts() const {
    const Drift& first = drifts_.front();
    return fmt::format(
        "the machine became {} meanwhile: {}: what ran before took {:.2f} times as long in the score as in "
        "the races{}; better ways may have been missed, so tune again",
        first.times > 1 ? "slower" : "faster", words_of(first.key), first.times,
        drifts_.size() > 1 ? fmt::format(" (and {} more like this)", drifts_.size() - 1) : "");
  }

  const TuneRequest& request_;
  const TuneOptions& options_;
  std::shared_ptr<const DecisionTable> before_;
  std::string profile_;
  const BenchWorld& world_;
  const Context& context_;
  Teller teller_;
  MachineLoad load_;
  harness::MeasureOptions measure_;
  PeerTrack track_;
  std::vector<tune::Cell> cells_;
  std::vector<harness::Row> rows_;    // of the score
  std::vector<std::string> faults_;   // of what was scored
  std::vector<Drift> drifts_;         // between races and score
  std::size_t num_resumed_ = 0;       // races
  std::optional<DecisionTable> old_;  // in the file that is written
  bool is_kept_ = false;
};

}  // namespace

std::string words_of(const tune::CaseKey& key) {
  return fmt::format("{}, {}{}, {} memory{}", name_of(key.collective), counted(key.ranks, "rank"),
                     key.hosts == 1 ? "" : fmt::format(" on {} hosts", key.hosts), name_of(key.memory),
                     key.types == TypeClass::any ? "" : fmt::format(", {} types", name_of(key.types)));
}

Exit run_tuning(const TuneRequest& request, const TuneOptions& options, const Before& before, const BenchWorld& world,
                const OutputOptions& output, const Context& context) {
  // Other hosts read candidates' tables too: they share the folder that programs work in.
  const Result<TemporaryFolder> folder =
      request.hosts.empty() ? TemporaryFolder::make("tune") : TemporaryFolder::make("tune", ".");
  if (!folder.ok()) return failed(context, "tune", folder.status());
  const Interrupt interrupt;
  Tuning tuning(request, options, before, world, context, *folder);
  return tuning.run(output);
}

}  // namespace tutti::cli
