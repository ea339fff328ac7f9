// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/kept_run.hpp"

#include <algorithm>
#include <iterator>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/counted.hpp"
#include "cli/bench/bench_store.hpp"

namespace tutti::cli {

namespace {

// One run of a program: a case of a group in a launch.
struct Turn {
  const harness::Group* group;
  const harness::Point* point;
  int launch;
};

std::optional<Turn> turn_of(const harness::Row& row, const SweepPlan& plan) {
  for (const harness::Group& group : plan.groups)
    for (const harness::Case& each : group.cases)
      if (harness::is_of(row, group, each.point, row.launch)) return Turn{&group, &each.point, row.launch};
  return std::nullopt;
}

// The keys of those of `rows` that are of the same case, group and launch as one of `others`. A worker gives one row
// there; a program gives as many as it prints.
std::set<std::string> keys_of_same_cases(std::span<const harness::Row> rows, std::span<const harness::Row> others,
                                         const SweepPlan& plan) {
  std::set<std::string> keys;
  std::vector<Turn> turns;
  for (const harness::Row& other : others) {
    keys.insert(harness::key_of(other));
    const auto has_other = [&](const Turn& turn) {
      return harness::is_of(other, *turn.group, *turn.point, turn.launch);
    };
    if (!plan.command || std::any_of(turns.begin(), turns.end(), has_other)) continue;
    if (const std::optional<Turn> turn = turn_of(other, plan)) turns.push_back(*turn);
  }
  for (const harness::Row& row : rows)
    if (std::any_of(turns.begin(), turns.end(),
                    [&](const Turn& turn) { return harness::is_of(row, *turn.group, *turn.point, turn.launch); }))
      keys.insert(harness::key_of(row));
  return keys;
}

}  // namespace

void add_keeping_options(CLI::App& app, Keeping& keeping) {
  CLI::Option* store =
      app.add_option("--store", keeping.store, "The SQLite file that keeps results (docs/formats/store.md)");
  store->type_name("FILE");
  CLI::Option* resume = app.add_flag("--resume", keeping.resume,
                                     "Continue the last run of the same sweep if it was interrupted; start one if "
                                     "there is none, and show it if it is complete");
  app.add_flag("--no-store", keeping.no_store, "Keep nothing")->excludes(store)->excludes(resume);
  add_label_options(app, keeping.label);
}

Status KeptRun::add(std::span<const harness::Row> rows_of_case) {
  if (store) TUTTI_TRY(store->add(run, rows_of_case));
  rows.insert(rows.end(), rows_of_case.begin(), rows_of_case.end());
  return {};
}

Status KeptRun::replace(std::span<const harness::Row> rows_of_case, const SweepPlan& plan) {
  const std::set<std::string> forgotten = keys_of_same_cases(rows, rows_of_case, plan);
  if (store) TUTTI_TRY(store->replace(run, rows_of_case, forgotten));
  std::erase_if(rows, [&](const harness::Row& row) { return forgotten.contains(harness::key_of(row)); });
  rows.insert(rows.end(), rows_of_case.begin(), rows_of_case.end());
  return {};
}

namespace {

Status open_store(KeptRun& kept, const Keeping& keeping, const Context& context) {
  Result<std::string> path = keeping.store.empty() ? harness::usual_store(context.environment) : keeping.store;
  if (!path.ok()) return path.status();
  Result<harness::Store> store = harness::Store::open(*path);
  if (!store.ok()) return store.status();
  kept.path = std::move(*path);
  kept.store = std::move(*store);
  return {};
}

// Takes over what there is of the run, without the cases that have an error.
Status go_on(KeptRun& kept, const harness::StoredRun& found, const harness::StoredRun& run, const SweepPlan& plan) {
  kept.run = found.id;
  kept.is_complete = found.is_complete;
  if (!found.is_complete) {
    if (const std::optional<std::string> owner = living_owner(found))
      return {Code::invalid_usage,
              fmt::format("run {} cannot be resumed: process {} is still running it", found.id, *owner)};
    const Result<std::vector<harness::Row>> before = kept.store->rows_of(kept.run);
    if (!before.ok()) return before.status();
    std::vector<harness::Row> errors;
    std::copy_if(before->begin(), before->end(), std::back_inserter(errors),
                 [](const harness::Row& row) { return row.outcome == harness::Outcome::error; });
    TUTTI_TRY(kept.store->adopt(kept.run, run.owner, keys_of_same_cases(*before, errors, plan)));
  }
  Result<std::set<std::string>> keys = kept.store->keys_of(kept.run);
  if (!keys.ok()) return keys.status();
  kept.done = std::move(*keys);
  Result<std::vector<harness::Row>> rows = kept.store->rows_of(kept.run);
  if (!rows.ok()) return rows.status();
  kept.rows = std::move(*rows);
  return {};
}

}  // namespace

Result<KeptRun> keep_run(const Keeping& keeping, const harness::StoredRun& run, const SweepPlan& plan,
                         const Context& context) {
  KeptRun kept;
  if (keeping.no_store) return kept;
  if (const Status opened = open_store(kept, keeping, context); !opened.ok()) {
    if (!keeping.store.empty()) return opened;
    context.error << fmt::format("results are not kept: {}; --store FILE or XDG_DATA_HOME says where to keep them\n",
                                 opened.message());
    return KeptRun();
  }
  if (keeping.resume) {
    const Result<std::optional<harness::StoredRun>> last = kept.store->last_of(run.sweep);
    if (!last.ok()) return last.status();
    if (*last) {
      TUTTI_TRY(go_on(kept, **last, run, plan));
      return kept;
    }
  }
  harness::StoredRun labelled = run;
  set_label(keeping.label, labelled);
  const Result<std::int64_t> begun = kept.store->begin(labelled);
  if (!begun.ok()) return begun.status();
  kept.run = *begun;
  return kept;
}

harness::StoredRun description_of(KeptRun& kept, const harness::StoredRun& begun) {
  if (!kept.store) return begun;
  const Result<harness::StoredRun> run = kept.store->find(std::to_string(kept.run));
  return run.ok() ? *run : begun;
}

std::size_t num_done(const SweepPlan& plan, const KeptRun& kept) {
  if (!plan.command) return kept.rows.size();
  std::size_t count = 0;
  for (int launch = 0; launch < plan.command->launches; ++launch)
    for (const harness::Group& group : plan.groups)
      count += static_cast<std::size_t>(std::count_if(group.cases.begin(), group.cases.end(), [&](const auto& each) {
        return std::any_of(kept.rows.begin(), kept.rows.end(),
                           [&](const harness::Row& row) { return harness::is_of(row, group, each.point, launch); });
      }));
  return count;
}

std::string announcement_of(const SweepPlan& plan, const KeptRun& kept) {
  if (kept.is_complete)
    return fmt::format("run {} has all of its {} already", kept.run, counted(plan.num_cases(), "case"));
  const std::size_t num_before = num_done(plan, kept);
  return plan.announcement() + (num_before > 0 ? fmt::format("; {} of them are done already", num_before) : "");
}

}  // namespace tutti::cli
