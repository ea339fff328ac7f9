// SPDX-License-Identifier: Apache-2.0
#include "cli/schedule/prove_mutate.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "bench/views/table.hpp"
#include "cli/heartbeat.hpp"
#include "cli/schedule/proof_summary.hpp"
#include "schedule/oracle/mutate.hpp"
#include "schedule/oracle/random_schedule.hpp"

namespace tutti::cli {

namespace {

// All interleavings are looked for where the ranks are few, up to this many states of each way to run a mutant.
constexpr std::uint32_t kMostStates = 20'000;

std::vector<Subject> subjects_of(const std::vector<MutateCase>& cases, bool with_random_schedules) {
  std::vector<Subject> subjects;
  std::set<std::uint32_t> ranks;
  for (const MutateCase& each : cases) {
    ranks.insert(each.request.num_ranks);
    subjects.push_back({std::string(name_of(each.algorithm->collective)), std::string(each.algorithm->name),
                        each.request.num_ranks, [&each](std::uint64_t) { return each.algorithm->make(each.request); }});
  }
  if (!with_random_schedules) return subjects;
  for (int family = 0; family < kNumFamilies; ++family) {
    for (const std::uint32_t num_ranks : ranks) {
      const auto make = [family, num_ranks](std::uint64_t seed) {
        return random_schedule(seed, static_cast<Family>(family), num_ranks);
      };
      subjects.push_back(
          {"all_reduce", fmt::format("random {}", name_of(static_cast<Family>(family))), num_ranks, make});
    }
  }
  return subjects;
}

void add_row(Table& table, const std::string& collective, const std::string& algorithm, std::string_view mutation,
             const Tally& tally) {
  std::string reasons;
  std::uint64_t strict = 0;
  for (const auto& [reason, count] : tally.strict) {
    strict += count;
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", reason, count);
  }
  table.add_row({collective, algorithm, std::string(mutation), number_cell(tally.mutants), number_cell(tally.rejected),
                 number_cell(tally.harmless), number_cell(tally.harmful), number_cell(strict),
                 reasons.empty() ? Cell() : Cell(reasons)});
}

// The rows that a person reads: one an algorithm, one a kind of mutation, and one of all.
Table table_of(const MutateReport& report, bool details) {
  Table table({{"collective"},
               {"algorithm"},
               {"mutation"},
               {"mutants"},
               {"rejected"},
               {"harmless"},
               {"harmful"},
               {"too_strict"},
               {"reasons", 44}});
  std::map<Mutation, Tally> kinds;
  for (const auto& [subject, mutations] : report.tallies) {
    Tally all;
    for (const auto& [mutation, tally] : mutations) {
      if (details) add_row(table, subject.first, subject.second, name_of(mutation), tally);
      all += tally;
      kinds[mutation] += tally;
    }
    add_row(table, subject.first, subject.second, "all", all);
  }
  for (const auto& [mutation, tally] : kinds) add_row(table, "all", "all", name_of(mutation), tally);
  add_row(table, "all", "all", "all", report.total());
  return table;
}

}  // namespace

Exit mutate_cases(const std::vector<MutateCase>& cases, const MutateChoice& choice, const OutputOptions& output,
                  const Context& context) {
  const auto begin = std::chrono::steady_clock::now();
  if (cases.empty()) return Exit::misused;
  const std::vector<Subject> subjects = subjects_of(cases, choice.with_random_schedules);
  std::atomic<std::uint64_t> num_judged = 0;
  std::optional<Heartbeat> heartbeat;
  heartbeat.emplace(context.error, context.sign_of_life,
                    [&num_judged, begin, count = choice.count] { return how_far(num_judged, count, "mutant", begin); });
  const MutateReport report = mutate_all(subjects, judged_by_proof,
                                         {.count = choice.count,
                                          .seed = choice.seed,
                                          .threads = std::max(std::thread::hardware_concurrency(), 1U),
                                          .most_states = kMostStates,
                                          .most_strict = static_cast<std::size_t>(choice.show),
                                          .num_judged = &num_judged});
  heartbeat.reset();
  const Tally total = report.total();
  if (total.mutants == 0) {
    context.error << "tutti prove: none of these schedules has anything that a mutation could change\n";
    return Exit::misused;
  }
  const Status written = write_output(render(table_of(report, choice.details), output.format), output, context);
  if (!written.ok()) return failed(context, "prove", written);
  for (const auto& [reason, mutants] : report.strict)
    for (const NotedMutant& mutant : mutants) context.error << mutant.text << "\n";
  for (const NotedMutant& harm : report.harms) context.error << harm.text << "\n";
  if (total.mutants < choice.count) {
    context.error << fmt::format("only {} of {} could be made: these schedules have few steps\n", total.mutants,
                                 counted(choice.count, "mutant"));
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  context.error << fmt::format(
      "{}, seed {}: {} rejected, {} accepted, of which {} {} harm; {}; all interleavings seen in {} of {} to run those "
      "of 2 or 3 ranks; {:.1f} s\n",
      counted(total.mutants, "mutant"), choice.seed, total.rejected, total.harmless + total.harmful, total.harmful,
      total.harmful == 1 ? "does" : "do", counted(report.runs, "run"), report.ways_explored,
      counted(report.ways, "way"), taken.count());
  return total.harmful == 0 ? Exit::done : Exit::found_wrong;
}

}  // namespace tutti::cli
