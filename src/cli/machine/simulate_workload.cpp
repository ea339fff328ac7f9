// SPDX-License-Identifier: Apache-2.0
#include "cli/machine/simulate_workload.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/system/file.hpp"
#include "base/text.hpp"
#include "cli/machine/simulate_cells.hpp"
#include "cli/machine/simulate_table.hpp"
#include "simulate/references/correction.hpp"
#include "workload/workload.hpp"

namespace tutti::cli {

namespace {

// Calls that are alike, wherever they stand in the file.
struct DistinctCall {
  WorkloadEntry entry;      // the first of them
  std::uint64_t calls = 0;  // of all
  double compute_us = 0;    // before all of them together
};

std::vector<DistinctCall> distinct_calls(const Workload& workload) {
  std::vector<DistinctCall> distinct;
  using Key = std::tuple<std::string, Collective, std::uint32_t, std::uint64_t, Type, std::uint32_t, std::string>;
  std::map<Key, std::size_t> known;
  for (const WorkloadEntry& entry : workload.entries) {
    const auto [found, is_new] = known.try_emplace(
        {entry.site, entry.collective, entry.ranks, entry.bytes, entry.type, entry.root, entry.algorithm},
        distinct.size());
    if (is_new) distinct.push_back({.entry = entry});
    DistinctCall& call = distinct[found->second];
    call.calls += entry.calls;
    call.compute_us += entry.compute_us * entry.calls;
  }
  return distinct;
}

// On one fabric; calls that differ only in where they stand are simulated once.
class Fastest {
 public:
  Fastest(const std::string& asked, const fabric::Fabric& fabric,
          const std::optional<simulate::Corrections>& corrections)
      : asked_(asked), fabric_(fabric), corrections_(corrections) {}

  struct Found {
    std::string algorithm;
    double microseconds = 0;
  };

  Result<Found> find(const WorkloadEntry& entry) {
    const Key key{entry.collective, entry.ranks, entry.bytes, entry.type, entry.root, entry.algorithm};
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    CellOptions options;
    options.choice.collective = name_of(entry.collective);
    options.ranks = entry.ranks;
    options.bytes = std::to_string(entry.bytes);
    options.type = name_of(entry.type);
    if (facts_of(entry.collective).has_root) options.filter.root = entry.root;
    const Result<std::vector<SimulatedCell>> cells =
        entry.algorithm.empty() ? cells_of(options, fabric_, skipped_) : cell_by_name(options, entry, fabric_);
    if (!cells.ok()) return wrong_argument(fmt::format("{}: {}", entry.place, cells.status().message()));
    std::optional<Simulated> fastest;
    Status objection;
    for (const SimulatedCell& cell : *cells) {
      Result<Simulated> one = simulate_cell(options, asked_, cell, fabric_, nullptr, corrections_);
      // What the fabric cannot do is left out; anything else is wrong.
      if (!one.ok() && one.status().code() != Code::unsupported) return one.status().with_context(entry.place);
      if (!one.ok()) {
        objection = one.status();
        skipped_.insert(std::string(objection.message()));
      } else if (!fastest || one->time() < fastest->time()) {
        fastest = *std::move(one);
      }
    }
    if (!fastest) return objection.with_context(entry.place);
    return known_[key] = {fastest->cell.schedule.name, fastest->time() / 1e3};
  }

  // Each once, as plain `tutti simulate` tells it.
  void tell_skipped(std::ostream& error) const {
    for (const std::string& words : skipped_) error << "tutti simulate: skipped " << words << "\n";
  }

 private:
  using Key = std::tuple<Collective, std::uint32_t, std::uint64_t, Type, std::uint32_t, std::string>;

  const std::string& asked_;
  const fabric::Fabric& fabric_;
  const std::optional<simulate::Corrections>& corrections_;
  std::map<Key, Found> known_;
  std::set<std::string> skipped_;
};

struct Totals {
  std::uint64_t calls = 0;
  double communication_us = 0;
  double compute_us = 0;
  [[nodiscard]] double all() const { return communication_us + compute_us; }
};

struct WorkloadRow {
  const DistinctCall* call = nullptr;
  Fastest::Found found;
  [[nodiscard]] double communication_us() const { return static_cast<double>(call->calls) * found.microseconds; }
};

Table table_of_calls(bool has_fabrics, bool has_sites, bool has_ranks, bool has_roots) {
  std::vector<Column> columns{{.name = "fabric", .is_aside = !has_fabrics, .stands_once = true},
                              {.name = "site", .is_aside = !has_sites}};
  columns.push_back({.name = "collective"});
  columns.push_back({.name = "ranks", .is_aside = !has_ranks});
  columns.push_back({.name = "bytes"});
  columns.push_back({.name = "type", .stands_once = true});
  columns.push_back({.name = "root", .is_aside = !has_roots});
  columns.push_back({.name = "algorithm"});
  columns.push_back({.name = "calls"});
  for (const char* name : {"each_us", "communication_us", "compute_us"})
    columns.push_back({.name = name, .digits = kTimeDigits});
  columns.push_back({.name = "percent", .digits = kShareDigits});
  return Table(std::move(columns));
}

void add_calls(Table& table, const std::string& fabric, const std::vector<WorkloadRow>& rows, const Totals& totals) {
  const auto share = [&](double part) { return totals.all() > 0 ? Cell(part / totals.all() * 100) : Cell(); };
  for (const WorkloadRow& row : rows) {
    const WorkloadEntry& entry = row.call->entry;
    table.add_row({fabric, entry.site.empty() ? Cell() : Cell(entry.site), std::string(name_of(entry.collective)),
                   std::int64_t{entry.ranks}, static_cast<std::int64_t>(entry.bytes), std::string(name_of(entry.type)),
                   facts_of(entry.collective).has_root ? Cell(std::int64_t{entry.root}) : Cell(), row.found.algorithm,
                   static_cast<std::int64_t>(row.call->calls), row.found.microseconds, row.communication_us(),
                   row.call->compute_us, share(row.communication_us() + row.call->compute_us)});
  }
  table.add_row({fabric, Cell(), std::string("total"), Cell(), Cell(), Cell(), Cell(), Cell(),
                 static_cast<std::int64_t>(totals.calls), Cell(), totals.communication_us, totals.compute_us,
                 share(totals.all())});
}

// "30.9 s": as many digits as people read.
std::string in_seconds(double microseconds) {
  if (microseconds >= 1e6) return fmt::format("{:.4g} s", microseconds / 1e6);
  if (microseconds >= 1e3) return fmt::format("{:.4g} ms", microseconds / 1e3);
  return fmt::format("{:.4g} us", microseconds);
}

std::string in_a_sentence(const Totals& totals) {
  return fmt::format("{} take {}: {} communicating ({:.3g} %), {} computing\n", counted(totals.calls, "call"),
                     in_seconds(totals.all()), in_seconds(totals.communication_us),
                     totals.all() > 0 ? totals.communication_us / totals.all() * 100 : 0,
                     in_seconds(totals.compute_us));
}

}  // namespace

Result<Exit> simulate_workload(const WorkloadArguments& arguments, const Context& context) {
  TUTTI_TRY_ASSIGN(const std::string text, read_file(arguments.path, kMostWorkloadBytes));
  TUTTI_TRY_ASSIGN(const Workload workload, read_workload(text, arguments.path));
  for (const fabric::Fabric& fabric : arguments.fabrics)
    if (fabric.num_ranks() < workload.ranks)
      return wrong_argument(fmt::format("--workload: {} is of {}, and {} has {}", in_quotes(arguments.path),
                                        counted(workload.ranks, "rank"), fabric.name, fabric.num_ranks()));
  std::optional<simulate::Corrections> corrections;
  if (!arguments.no_correction) {
    TUTTI_TRY_ASSIGN(corrections, simulate::Corrections::of_shipped(arguments.asked));
  }
  const std::vector<DistinctCall> calls = distinct_calls(workload);
  const auto has_site = [](const DistinctCall& call) { return !call.entry.site.empty(); };
  const auto has_ranks = [&](const DistinctCall& call) { return call.entry.ranks != workload.ranks; };
  const auto has_root = [](const DistinctCall& call) { return facts_of(call.entry.collective).has_root; };
  Table table = table_of_calls(arguments.fabrics.size() > 1, std::any_of(calls.begin(), calls.end(), has_site),
                               std::any_of(calls.begin(), calls.end(), has_ranks),
                               std::any_of(calls.begin(), calls.end(), has_root));
  std::string sentences;
  for (std::size_t on = 0; on < arguments.fabrics.size(); ++on) {
    Fastest fastest(arguments.asked[on], arguments.fabrics[on], corrections);
    std::vector<WorkloadRow> rows;
    Totals totals;
    for (const DistinctCall& call : calls) {
      TUTTI_TRY_ASSIGN(Fastest::Found found, fastest.find(call.entry));
      const WorkloadRow& row = rows.emplace_back(WorkloadRow{&call, std::move(found)});
      totals.calls += call.calls;
      totals.communication_us += row.communication_us();
      totals.compute_us += call.compute_us;
    }
    fastest.tell_skipped(context.error);
    add_calls(table, arguments.asked[on], rows, totals);
    if (arguments.fabrics.size() > 1) sentences += arguments.asked[on] + ": ";
    sentences += in_a_sentence(totals);
  }
  std::string out = narrowed(table, arguments.output, context);
  if (arguments.output.format == Format::table) out += sentences;
  TUTTI_TRY(write_output(out, arguments.output, context));
  return Exit::done;
}

}  // namespace tutti::cli
