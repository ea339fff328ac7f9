// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/export/export_verify.hpp"

#include <algorithm>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system/unique_fd.hpp"
#include "base/units.hpp"
#include "bench/axes/list_text.hpp"
#include "bench/results/comparison.hpp"
#include "cli/bench/output/progress.hpp"
#include "cli/bench/sweep/sweep_options.hpp"
#include "cli/interrupt.hpp"

namespace tutti::cli {

namespace {

// The exported text where ranks can open it, and nothing is left of it afterwards.
class TextForRanks {
 public:
  static Result<TextForRanks> make(std::string_view text) {
    TextForRanks made;
    made.file_ = UniqueFd(::memfd_create("tutti-export", MFD_CLOEXEC));
    if (!made.file_.valid()) return Status::from_errno("cannot keep the exported file for ranks", errno);
    while (!text.empty()) {
      const ssize_t written = ::write(made.file_.get(), text.data(), text.size());
      if (written <= 0) return Status::from_errno("cannot keep the exported file for ranks", errno);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    return made;
  }
  [[nodiscard]] std::string path() const { return fmt::format("/proc/{}/fd/{}", ::getpid(), file_.get()); }

 private:
  UniqueFd file_;
};

// What is measured in one sweep.
struct SizesToVerify {
  Collective collective = Collective::all_reduce;
  std::uint32_t ranks = 2;
  std::vector<std::uint64_t> bytes;
};

// Those of a section: where the table has evidence and the file says something.
std::vector<std::uint64_t> sizes_to_verify(const tune::RuleSection& section, const DecisionTable& table) {
  std::set<std::uint64_t> sizes;
  for (const TableSection& each : table.sections) {
    if (each.collective != section.collective || each.ranks != section.ranks || each.hosts != section.hosts) continue;
    for (const TableRange& range : each.ranges)
      for (const TableEvidence& evidence : range.evidence) sizes.insert(evidence.bytes);
  }
  if (sizes.empty())
    for (const tune::RuleRange& range : section.ranges)
      sizes.insert(range.most_bytes != kNoEnd ? range.most_bytes
                   : section.is_uniform()     ? std::uint64_t{65536}
                                              : section.ranges[section.ranges.size() - 2].most_bytes * 2);
  std::erase_if(sizes, [&](std::uint64_t bytes) { return section.range_of(bytes).is_own_choice(); });
  return {sizes.begin(), sizes.end()};
}

// "A,B=[[unset,unset],["1","/x"]]": first without, then with the file.
std::string zipped(const tune::Exported& exported, const std::string& path) {
  std::vector<std::string> names;
  std::vector<std::string> without;
  std::vector<std::string> with;
  const auto add = [&](const std::string& name, const std::string& value) {
    names.push_back(name);
    without.emplace_back("unset");
    with.push_back(harness::with_quotes(value));
  };
  for (const auto& [name, value] : exported.variables) add(name, value);
  add(exported.file_variable, path);
  return fmt::format("{}=[[{}],[{}]]", fmt::join(names, ","), fmt::join(without, ","), fmt::join(with, ","));
}

SweepOptions sweep_of(const SizesToVerify& sizes, const std::string& environment, const VerifyOptions& options) {
  SweepOptions sweep;
  sweep.bench = name_of(sizes.collective);
  sweep.peers = options.peer;
  sweep.axes = {fmt::format("num_ranks={}", sizes.ranks)};
  if (sizes.collective != Collective::barrier)
    sweep.axes.push_back(fmt::format("bytes={}", fmt::join(sizes.bytes, ",")));
  sweep.env_zip = {environment};
  sweep.budget = options.budget;
  sweep.launches = options.launches;
  return sweep;
}

// Whether the library has said that it takes no notice of the file.
Status check_obeyed(const harness::Row& row) {
  for (const auto& [name, evidence] : row.evidence)
    if (evidence.obeyed == State::Obeyed::ignored)
      return {Code::aborted, fmt::format("{} did not take {}: {}", row.peer, name, evidence.how)};
  return {};
}

// What the rules say of a size.
std::string way_of(const tune::Rules& rules, const VerifiedSize& size) {
  const tune::RuleSection* const section = rules.find(size.collective, size.ranks);
  if (section == nullptr || section->range_of(size.bytes).is_own_choice()) return "the library's own";
  const std::string& algorithm = section->range_of(size.bytes).algorithm;
  return algorithm.empty() ? "settings" : algorithm;
}

Result<VerifiedSize> size_of(const harness::Comparison& comparison, const harness::ComparedCase& one,
                             const SizesToVerify& sizes, const tune::Rules& rules) {
  VerifiedSize made;
  made.collective = sizes.collective;
  made.ranks = sizes.ranks;
  for (const std::optional<harness::Row>& row : one.rows) {
    if (!row) return Status(Code::aborted, "a case is there once only");
    TUTTI_TRY(check_obeyed(*row));
    if (row->outcome != harness::Outcome::ok)
      return Status(Code::aborted, fmt::format("{}: {}: {}", to_string(row->point), name_of(row->outcome), row->note));
  }
  const harness::Value* const bytes = one.any().point.find("bytes");
  if (bytes != nullptr && bytes->is_integer()) made.bytes = static_cast<std::uint64_t>(bytes->integer());
  made.way = way_of(rules, made);
  const std::optional<harness::Ratio> ratio = comparison.compare(one, 1, 0);
  if (!ratio) return Status(Code::aborted, fmt::format("{}: there are no times", to_string(one.any().point)));
  made.ratio = *ratio;
  made.own_us = summarize(*one.rows[0]).median / 1e3;
  made.exported_us = summarize(*one.rows[1]).median / 1e3;
  return made;
}

// Their rows, side by side.
Result<std::vector<harness::Row>> measured(SweepPlan& plan, const SizesToVerify& sizes, const Context& context) {
  plan.runner.measure.budget.seconds /= plan.runner.launches;
  plan.runner.measure.budget.least_rounds =
      std::max<std::uint64_t>(5, 30 / static_cast<std::uint64_t>(plan.runner.launches));
  plan.runner.measure.is_interrupted = Interrupt::has_come;
  context.error << fmt::format("{} on {} ranks: {}, with the file and without\n", name_of(sizes.collective),
                               sizes.ranks, plan.announcement())
                << std::flush;
  Progress progress(context, {.num_cases = plan.num_cases(), .expected_seconds = plan.expected_seconds()});
  std::vector<harness::Row> rows;
  harness::Runner runner(plan.runner, plan.programs, context.environment.block());
  TUTTI_TRY(runner.compare(plan.sweep.bench, plan.groups, {}, [&](std::span<const harness::Row> more) -> Status {
    rows.insert(rows.end(), more.begin(), more.end());
    for (const harness::Row& row : more) progress.note(std::span(&row, 1));
    return {};
  }));
  return harness::join_launches(rows);
}

// Without the file and with it, in turns.
Status measure_sizes(const SizesToVerify& sizes, const tune::Exported& exported, const std::string& environment,
                     const VerifyOptions& options, const BenchWorld& world, const Context& context,
                     std::vector<VerifiedSize>& all) {
  TUTTI_TRY_ASSIGN(SweepPlan plan, make_plan(sweep_of(sizes, environment, options), world, context.environment));
  if (plan.runner.launches < static_cast<int>(harness::kLeastLaunches))
    return wrong_argument(
        fmt::format("--launches is {}; verdicts need {} or more", options.launches, harness::kLeastLaunches));
  TUTTI_TRY_ASSIGN(const std::vector<harness::Row> rows, measured(plan, sizes, context));
  if (Interrupt::has_come()) return {Code::aborted, "interrupted; nothing was written"};
  const harness::Comparison comparison = harness::Comparison::of_peers(rows, true);
  for (const harness::ComparedCase& one : comparison.cases) {
    TUTTI_TRY_ASSIGN(VerifiedSize made, size_of(comparison, one, sizes, exported.rules));
    all.push_back(std::move(made));
  }
  return {};
}

}  // namespace

Result<std::vector<VerifiedSize>> verify(const tune::Exported& exported, const DecisionTable& table,
                                         const VerifyOptions& options, const BenchWorld& world,
                                         const Context& context) {
  const Result<std::string> here = world.look_for(options.peer);
  if (!here.ok()) return here.status().with_context("--verify");
  TUTTI_TRY_ASSIGN(const TextForRanks file, TextForRanks::make(exported.text));
  const std::string environment = zipped(exported, file.path());
  const Interrupt interrupt;
  std::vector<VerifiedSize> all;
  for (const tune::RuleSection& section : exported.rules.sections) {
    const SizesToVerify sizes{section.collective, section.ranks, sizes_to_verify(section, table)};
    if (sizes.bytes.empty()) continue;
    if (section.hosts > 1) {
      context.error << fmt::format("{}: not verified: it is for {} hosts, and this is one\n",
                                   place_of(exported.rules, section), section.hosts);
      continue;
    }
    const Status done = measure_sizes(sizes, exported, environment, options, world, context, all);
    if (!done.ok()) return done.with_context(place_of(exported.rules, section));
  }
  return all;
}

Result<std::vector<VerifiedSize>> verify_again(const tune::Exported& exported, const std::vector<VerifiedSize>& sizes,
                                               const VerifyOptions& options, const BenchWorld& world,
                                               const Context& context) {
  TUTTI_TRY_ASSIGN(const TextForRanks file, TextForRanks::make(exported.text));
  const std::string environment = zipped(exported, file.path());
  const Interrupt interrupt;
  std::vector<SizesToVerify> sweeps;
  for (const VerifiedSize& size : sizes) {
    if (size.ratio.verdict != harness::Verdict::slower) continue;
    if (sweeps.empty() || sweeps.back().collective != size.collective || sweeps.back().ranks != size.ranks)
      sweeps.push_back({size.collective, size.ranks, {}});
    sweeps.back().bytes.push_back(size.bytes);
  }
  std::vector<VerifiedSize> all;
  for (const SizesToVerify& sweep : sweeps)
    TUTTI_TRY(measure_sizes(sweep, exported, environment, options, world, context, all));
  return all;
}

Table table_of(const std::vector<VerifiedSize>& sizes) {
  Table table({{"collective"},
               {"ranks"},
               {"bytes"},
               {"way"},
               {.name = "default_us", .digits = kTimeDigits},
               {.name = "exported_us", .digits = kTimeDigits},
               {.name = "times_as_fast", .digits = kShareDigits},
               {.name = "low", .digits = kShareDigits},
               {.name = "high", .digits = kShareDigits},
               {"verdict"}});
  for (const VerifiedSize& size : sizes) {
    const std::optional<harness::Interval>& interval = size.ratio.interval;
    table.add_row({std::string(name_of(size.collective)), std::int64_t{size.ranks},
                   static_cast<std::int64_t>(size.bytes), size.way, size.own_us, size.exported_us, size.ratio.ratio,
                   interval ? Cell(interval->low) : Cell(), interval ? Cell(interval->high) : Cell(),
                   std::string(name_of(size.ratio.verdict))});
  }
  return table;
}

std::vector<std::string> costs_of_file(const std::vector<VerifiedSize>& sizes) {
  std::vector<std::string> said;
  for (const VerifiedSize& size : sizes) {
    if (size.ratio.verdict != harness::Verdict::slower) continue;
    const std::string at =
        size.collective == Collective::barrier ? "" : fmt::format(" at {}", to_text(Bytes(size.bytes)));
    said.push_back(
        fmt::format("note: {} on {} ranks{} takes {:.2f} times as long with the file, although the file leaves it to "
                    "the library; a "
                    "program that mostly makes this call is faster without the file",
                    name_of(size.collective), size.ranks, at, 1 / size.ratio.ratio));
  }
  return said;
}

std::vector<std::string> drop_slower(const std::vector<VerifiedSize>& sizes, tune::Rules& rules) {
  std::vector<std::string> said;
  tune::leave_out(rules, [&](const tune::RuleSection& section, const tune::RuleRange& range) -> std::string {
    std::vector<std::string> slower;
    for (const VerifiedSize& size : sizes)
      if (size.collective == section.collective && size.ranks == section.ranks &&
          size.ratio.verdict == harness::Verdict::slower && &section.range_of(size.bytes) == &range)
        slower.push_back(to_text(Bytes(size.bytes)));
    if (slower.empty()) return "";
    said.push_back(fmt::format("{}: slower than the library's own choice at {}, to which it is left",
                               place_of(rules, section, range), fmt::join(slower, ", ")));
    return "slower than the library's own choice";
  });
  return said;
}

}  // namespace tutti::cli
