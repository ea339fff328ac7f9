#include "cli/prove_mutate.hpp"

#include <algorithm>
#include <chrono>
#include <ostream>
#include <set>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "cli/table.hpp"
#include "schedule/mutate.hpp"
#include "schedule/random_schedule.hpp"

namespace tutti::cli {

namespace {

// All interleavings are looked for where the ranks are few, up to this many states of each way to run a mutant.
constexpr std::uint32_t kMostStates = 2000;

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

Cell count_cell(std::uint64_t count) { return static_cast<std::int64_t>(count); }

void add_row(Table& table, const std::string& collective, const std::string& algorithm, std::string_view mutation,
             const Tally& tally) {
  std::string reasons;
  std::uint64_t strict = 0;
  for (const auto& [reason, count] : tally.strict) {
    strict += count;
    reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", reason, count);
  }
  table.add_row({collective, algorithm, std::string(mutation), count_cell(tally.mutants), count_cell(tally.rejected),
                 count_cell(tally.harmless), count_cell(tally.harmful), count_cell(strict),
                 reasons.empty() ? Cell() : Cell(reasons)});
}

}  // namespace

Exit mutate_cases(const std::vector<MutateCase>& cases, const MutateChoice& choice, const OutputOptions& output,
                  const Context& context) {
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<Subject> subjects = subjects_of(cases, choice.with_random_schedules);
  const MutateReport report = mutate_all(subjects, judged_by_proof,
                                         {.count = choice.count,
                                          .seed = choice.seed,
                                          .threads = std::max(std::thread::hardware_concurrency(), 1U),
                                          .most_states = kMostStates});
  Table table({{"collective"},
               {"algorithm"},
               {"mutation"},
               {"mutants"},
               {"rejected"},
               {"harmless"},
               {"harmful"},
               {"too_strict"},
               {"reasons"}});
  for (const auto& [subject, mutations] : report.tallies)
    for (const auto& [mutation, tally] : mutations)
      add_row(table, subject.first, subject.second, name_of(mutation), tally);
  const Tally total = report.total();
  add_row(table, "all", "all", "all", total);
  const Status written = write_output(render(table, output.format), output, context);
  if (!written.ok()) {
    context.error << "tutti prove: " << written.to_string() << "\n";
    return Exit::misused;
  }
  for (const Harm& harm : report.harms) context.error << harm.text << "\n";
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  context.error << fmt::format(
      "{} mutants, seed {}: {} rejected, {} accepted, of which {} do harm; {} runs; all interleavings seen in {} of {} "
      "ways to run those accepted; {:.1f} s\n",
      total.mutants, choice.seed, total.rejected, total.harmless + total.harmful, total.harmful, report.runs,
      report.ways_explored, report.ways, taken.count());
  return total.harmful == 0 ? Exit::done : Exit::found_wrong;
}

}  // namespace tutti::cli
