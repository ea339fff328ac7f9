// SPDX-License-Identifier: Apache-2.0
#include "cli/milestone/make.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <optional>
#include <ostream>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/system/spawn.hpp"
#include "base/text.hpp"
#include "bench/measure/estimate.hpp"
#include "cli/bench/bench_store.hpp"
#include "cli/interrupt.hpp"
#include "cli/milestone/index.hpp"
#include "cli/milestone/make_progress.hpp"
#include "cli/milestone/rows_file.hpp"

namespace tutti::cli {

namespace {

struct PlannedPart {
  const Part* part = nullptr;
  std::vector<PartCase> cases;
  PartRows kept;  // what is there and still counts; without the cases that failed

  [[nodiscard]] std::vector<PartCase> pending() const {
    std::set<std::string> done;
    for (const CaseRows& each : kept.cases()) done.insert(each.name);
    std::vector<PartCase> left;
    for (const PartCase& each : cases)
      if (!done.contains(each.name)) left.push_back(each);
    return left;
  }
};

PartRows without_errors(const PartRows& rows, PartOrigin origin) {
  std::vector<CaseRows> cases = rows.cases();
  std::erase_if(cases, [](const CaseRows& each) { return !each.error.empty(); });
  return {std::move(origin), rows.table().columns(), std::move(cases)};
}

// Rows of an earlier run count if they are of this version and machine. What cannot be read is made anew.
// The short form would throw away what the full one has taken long for.
Result<PartRows> kept_rows(const Part& part, const RowsOwner& owner, const MilestoneFolder& folder,
                           const PartOrigin& now) {
  const Result<std::optional<PartRows>> before = read_rows(folder.path(), owner, part.columns, part.numbers);
  const bool counts = before.ok() && before->has_value() && (*before)->origin().tutti == now.tutti &&
                      (*before)->origin().machine == now.machine;
  if (before.ok() && before->has_value() && (*before)->origin().is_full && !now.is_full && (*before)->size() > 0)
    return wrong_argument(fmt::format("-o: {} holds rows of the full form; go on with --full, or give another folder",
                                      in_quotes(folder.path())));
  if (!counts) return PartRows(now, part.columns, {});
  PartOrigin origin = (*before)->origin();
  origin.is_full = now.is_full;
  origin.left_out = now.left_out;
  origin.cases = now.cases;
  return without_errors(**before, std::move(origin));
}

Result<PlannedPart> plan_part(const Milestone& milestone, const Part& part, const PartWorld& world,
                              const MilestoneFolder& folder, PartOrigin now) {
  Result<std::vector<PartCase>> cases = part.cases(world);
  if (!cases.ok() && cases.status().code() != Code::unsupported)
    return cases.status().with_context(std::string(part.name));
  if (!cases.ok()) {
    now.left_out = cases.status().to_string();
    cases = std::vector<PartCase>();
  }
  for (const PartCase& each : *cases) now.cases.push_back(each.name);
  TUTTI_TRY_ASSIGN(PartRows kept, kept_rows(part, {std::string(milestone.name), std::string(part.name)}, folder, now));
  return PlannedPart{.part = &part, .cases = std::move(*cases), .kept = std::move(kept)};
}

// Makes the rows of one part.
class PartMaker {
 public:
  PartMaker(const PlannedPart& planned, RowsWriter& writer, MakeProgress& progress)
      : part_(*planned.part), pending_(planned.pending()), writer_(writer), progress_(progress) {}

  Status make_all(const PartWorld& world) {
    std::vector<PartCase> together;
    for (const PartCase& each : pending_)
      if (each.make == nullptr) together.push_back(each);
    TUTTI_TRY(make_each());
    if (together.empty() || Interrupt::has_come()) return {};
    const Status made = part_.make_together(together, world, [this](const CaseRows& rows) { return keep(rows); });
    return made.ok() || is_refused_ || Interrupt::has_come() ? made : fail_rest(together, made);
  }

 private:
  // Threads take one case after another.
  Status make_each() {
    std::vector<const PartCase*> cases;
    for (const PartCase& each : pending_)
      if (each.make != nullptr) cases.push_back(&each);
    const std::size_t num_threads = std::clamp<std::size_t>(allowed_cores().size(), 1, cases.size() + 1);
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      while (!Interrupt::has_come() && !is_refused_) {
        const std::size_t place = next++;
        if (place >= cases.size()) return;
        make_one(*cases[place]);
      }
    };
    std::vector<std::jthread> threads;
    for (std::size_t each = 1; each < num_threads; ++each) threads.emplace_back(work);
    work();
    threads.clear();
    return refused_;
  }

  // What keeps this part from being made is an answer of its cases: others are made all the same.
  Status fail_rest(const std::vector<PartCase>& cases, const Status& why) {
    for (const PartCase& each : cases)
      if (!done_.contains(each.name)) TUTTI_TRY(keep({.name = each.name, .error = why.to_string(), .rows = {}}));
    return {};
  }

  void make_one(const PartCase& one) {
    CaseRows rows{.name = one.name};
    try {
      Result<std::vector<PartRow>> made = one.make();
      // After an interrupt it is no answer.
      if (!made.ok() && made.status().code() == Code::aborted) return;
      if (made.ok()) rows.rows = std::move(*made);
      if (!made.ok()) rows.error = made.status().to_string();
    } catch (const std::bad_alloc&) {
      rows.error = "there is not enough memory for this";
    }
    const Status kept = keep(rows);
    if (kept.ok()) return;
    const std::scoped_lock lock(mutex_);
    is_refused_ = true;
    refused_ = kept;
  }

  Status keep(const CaseRows& rows) {
    if (Status written = writer_.add(rows); !written.ok()) {
      is_refused_ = true;
      return written;
    }
    const auto one =
        std::find_if(pending_.begin(), pending_.end(), [&](const PartCase& each) { return each.name == rows.name; });
    const std::scoped_lock lock(mutex_);
    done_.insert(rows.name);
    progress_.note(part_.name, rows.name, one == pending_.end() ? 0 : one->seconds);
    return {};
  }

  const Part& part_;
  const std::vector<PartCase> pending_;
  RowsWriter& writer_;
  MakeProgress& progress_;
  std::mutex mutex_;
  std::atomic<bool> is_refused_ = false;  // nothing can be written
  Status refused_;                        // under the mutex
  std::set<std::string> done_;            // the same
};

Result<std::vector<PlannedPart>> plan_all(const Milestone& milestone, const std::vector<const Part*>& parts,
                                          const MilestoneFolder& folder, const PartWorld& world) {
  const harness::StoredRun run = new_run(std::string(milestone.name), "", world.context);
  const PartOrigin now{.tutti = run.tutti,
                       .command = run.command,
                       .begun = run.begun,
                       .machine = run.machine,
                       .is_full = world.is_full,
                       .left_out = {},
                       .cases = {}};
  std::vector<PlannedPart> all;
  for (const Part* part : parts) {
    TUTTI_TRY_ASSIGN(PlannedPart planned, plan_part(milestone, *part, world, folder, now));
    all.push_back(std::move(planned));
  }
  // What could not be drawn, for example on a full disk, is not made anew for that.
  const bool is_all_drawn = std::all_of(all.begin(), all.end(), [&](const PlannedPart& each) {
    return each.pending().empty() && are_drawn(folder.file(kIndexFile), each.part->name, each.kept);
  });
  if (!is_all_drawn) return all;
  // Whoever asks again for what is complete wants it anew.
  for (PlannedPart& each : all) {
    PartOrigin origin = now;
    origin.left_out = each.kept.origin().left_out;
    origin.cases = each.kept.origin().cases;
    each.kept = PartRows(std::move(origin), each.part->columns, {});
  }
  return all;
}

}  // namespace

Result<Making> make_rows(const Milestone& milestone, const std::vector<const Part*>& parts,
                         const MilestoneFolder& folder, bool is_full, const BenchWorld& bench, const Context& context) {
  const PartWorld world{.bench = bench, .context = context, .is_full = is_full, .folder = folder.path()};
  TUTTI_TRY_ASSIGN(std::vector<PlannedPart> planned, plan_all(milestone, parts, folder, world));
  Making making;
  double expected = 0;
  std::size_t num_pending = 0;
  for (const PlannedPart& each : planned) {
    making.num_cases += each.kept.origin().cases.size();
    making.num_before += each.kept.cases().size();
    const std::vector<PartCase> pending = each.pending();
    num_pending += pending.size();
    for (const PartCase& one : pending) expected += one.seconds;
  }
  context.error << fmt::format("{}: {}, {}, about {}{}\n", milestone.name, counted(parts.size(), "part"),
                               counted(making.num_cases, "case"), harness::rough_duration(expected),
                               making.num_before > 0
                                   ? fmt::format("; {} {} done already", making.num_before, are(making.num_before))
                                   : "")
                << std::flush;
  const Interrupt interrupt;
  MakeProgress progress(context, num_pending, expected);
  // All at once, so that what is to be made anew is forgotten whenever an interrupt comes.
  std::vector<RowsWriter> writers;
  for (const PlannedPart& each : planned) {
    TUTTI_TRY_ASSIGN(
        RowsWriter writer,
        RowsWriter::begin(folder.path(), {std::string(milestone.name), std::string(each.part->name)}, each.kept));
    writers.push_back(std::move(writer));
  }
  for (std::size_t place = 0; place < planned.size(); ++place) {
    if (Interrupt::has_come()) break;
    const PlannedPart& each = planned[place];
    RowsWriter& writer = writers[place];
    PartMaker maker(each, writer, progress);
    const Status made = maker.make_all(world);
    const Status finished = writer.finish();
    if (!made.ok()) return made.with_context(std::string(each.part->name));
    if (!finished.ok()) return finished;
  }
  making.num_made = progress.num_done();
  making.is_interrupted = Interrupt::has_come();
  return making;
}

}  // namespace tutti::cli
