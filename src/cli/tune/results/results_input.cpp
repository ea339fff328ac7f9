// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/results/results_input.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "base/system/file.hpp"
#include "base/text.hpp"
#include "bench/axes/algorithm_axis.hpp"
#include "bench/hosts/ranks_on_hosts.hpp"
#include "bench/store/store.hpp"
#include "cli/bench/bench_store.hpp"
#include "cli/number.hpp"
#include "data/type.hpp"
#include "fabric/files/load.hpp"
#include "simulate/references/shipped.hpp"

namespace tutti::cli {

namespace {

using harness::Row;
using tune::Timing;

constexpr std::uint64_t kMostResultBytes = std::uint64_t{64} << 20U;
constexpr double kNanosecondsInMicrosecond = 1000;

// How many there are for each reason.
class Reasons {
 public:
  void add(std::string reason) { ++counts_[std::move(reason)]; }
  [[nodiscard]] std::vector<std::string> texts(std::string_view what, std::string_view plural = "s") const {
    std::vector<std::string> texts;
    for (const auto& [reason, count] : counts_)
      texts.push_back(fmt::format("{}: {}", counted(count, what, plural), reason));
    return texts;
  }

 private:
  std::map<std::string, std::size_t> counts_;
};

std::optional<TypeClass> types_of(std::string_view name) {
  const std::optional<Type> type = type_from_name(name);
  return type ? std::optional(class_of(*type)) : std::nullopt;
}

TableMemory memory_named(std::string_view name) {
  return same_name(name, name_of(TableMemory::symmetric)) ? TableMemory::symmetric : TableMemory::ordinary;
}

// --- runs

// The word of an axis; empty where the row has none.
std::string word_of(const Row& row, std::string_view axis) {
  const harness::Value* const value = row.point.find(axis);
  if (value == nullptr) return "";
  return value->is_word() ? value->word() : value->text();
}

// Why the row is no result of a way; empty where it is one.
std::string set_timing(const Row& row, Timing& timing) {
  if (row.outcome != harness::Outcome::ok) return fmt::format("the outcome is {}", harness::name_of(row.outcome));
  const std::optional<Collective> collective = find_collective(row.bench);
  if (!collective) return fmt::format("{} is no collective", printable(row.bench));
  if (row.num_ranks < 1) return "the number of ranks is not known";
  if (row.samples.empty()) return "it has no times";
  const harness::Value* const bytes = row.point.find("bytes");
  const double size = bytes != nullptr && bytes->is_number() ? bytes->number()
                      : row.message                          ? row.message->bytes
                                                             : row.bytes.value_or(-1);
  if (size < 0 && *collective != Collective::barrier) return "its size is not known";
  const harness::Summary summary = harness::summarize(row);
  timing.peer = row.peer;
  timing.key = {.collective = *collective,
                .ranks = static_cast<std::uint32_t>(row.num_ranks),
                .memory = memory_named(word_of(row, "memory")),
                .types = types_of(word_of(row, "type")).value_or(TypeClass::any),
                .hosts = harness::num_hosts_in(word_of(row, harness::kHostsAxis))};
  timing.bytes = static_cast<std::uint64_t>(std::max(size, 0.0));
  const std::string algorithm = word_of(row, harness::kAlgorithmAxis);
  timing.time.way.algorithm = same_name(algorithm, "default") ? "" : algorithm;
  for (const harness::Setting& setting : row.settings)
    if (setting.value) timing.time.way.settings.emplace_back(setting.name, *setting.value);
  timing.time.us = summary.median / kNanosecondsInMicrosecond;
  if (summary.interval) {
    timing.time.low_us = summary.interval->low / kNanosecondsInMicrosecond;
    timing.time.high_us = summary.interval->high / kNanosecondsInMicrosecond;
  }
  timing.time.samples = row.samples.size();
  return timing.time.us > 0 ? "" : "its time is 0";
}

Result<ReadResults> results_of_run(const std::string& name, const std::string& option, const Environment& environment) {
  TUTTI_TRY_ASSIGN(const std::string path, store_path_to_read(option, environment));
  TUTTI_TRY_ASSIGN(harness::Store store, harness::Store::open_to_read(path));
  TUTTI_TRY_ASSIGN(const harness::StoredRun run, store.find(name));
  TUTTI_TRY_ASSIGN(const std::vector<Row> rows, store.rows_of(run.id));
  ReadResults results = results_of_rows(harness::join_launches(rows), fmt::format("run {}", run.id));
  results.run = std::to_string(run.id);
  return results;
}

// --- references

// "h100-6": 6; 0 where it ends in no number.
std::uint32_t number_at_end(std::string_view group) {
  const std::size_t hyphen = group.rfind('-');
  if (hyphen == std::string_view::npos || hyphen == 0) return 0;
  return read_number<std::uint32_t>(group.substr(hyphen + 1), 1, 1U << 20U).value_or(0);
}

}  // namespace

ReadResults results_of_rows(std::span<const Row> rows, const std::string& place) {
  ReadResults results;
  Reasons reasons;
  for (const Row& row : rows) {
    Timing timing;
    std::string reason = set_timing(row, timing);
    if (reason.empty())
      results.timings.push_back(std::move(timing));
    else
      reasons.add(std::move(reason));
  }
  results.left_out = reasons.texts("row");
  results.what = fmt::format("{}: {}", place, counted(results.timings.size(), "time"));
  return results;
}

std::optional<SeriesNames> names_of(const simulate::Series& series) {
  SeriesNames names;
  names.ranks = number_at_end(series.group);
  const simulate::ReferenceWay* const way = series.ways.empty() ? nullptr : &series.ways.front();
  if (names.ranks > 0) {
    names.machine = series.group.substr(0, series.group.rfind('-'));
  } else if (way != nullptr) {
    const Result<fabric::Fabric> fabric = fabric::load_fabric(way->fabric);
    if (!fabric.ok()) return std::nullopt;
    names.ranks = fabric->num_ranks();
    names.machine = way->fabric.substr(0, way->fabric.find_first_of(":,"));
  }
  if (names.ranks == 0) return std::nullopt;
  if (!series.group.empty() && series.id.starts_with(series.group + "-"))
    names.way = series.id.substr(series.group.size() + 1);
  else if (way != nullptr)
    names.way = way->algorithm;
  return names.way.empty() ? std::nullopt : std::optional(std::move(names));
}

Result<ReadResults> results_of_references(simulate::References references, const std::string& place) {
  ReadResults results;
  Reasons reasons;
  for (const simulate::Series& series : references.series) {
    if (series.metric != simulate::Metric::time) {
      reasons.add(fmt::format("its figures are no times but of {}", name_of(series.metric)));
      continue;
    }
    const std::optional<SeriesNames> names = names_of(series);
    if (!names) {
      reasons.add("neither its group, such as \"h100-6\", nor a fabric says its number of ranks");
      continue;
    }
    const double in_us = references.nanoseconds / kNanosecondsInMicrosecond;
    for (std::size_t i = 0; i < series.bytes.size(); ++i) {
      Timing timing{
          .machine = names->machine,
          .peer = {},
          .key = {.collective = references.collective, .ranks = names->ranks, .types = class_of(references.type)},
          .bytes = series.bytes[i],
          .time = {.way = {.algorithm = names->way, .tuning = {}, .settings = {}}, .us = series.values[i] * in_us}};
      if (series.uncertainty > 0) {
        timing.time.low_us = std::max(series.values[i] - series.uncertainty, 0.0) * in_us;
        timing.time.high_us = (series.values[i] + series.uncertainty) * in_us;
      }
      results.timings.push_back(std::move(timing));
    }
  }
  results.left_out = reasons.texts("series", "");
  results.what = fmt::format("{}: {} of {}", place, counted(results.timings.size(), "time"), references.id);
  results.references = std::move(references);
  return results;
}

Result<ReadResults> read_results(const std::string& name, const std::string& store, const Environment& environment) {
  TUTTI_TRY_ASSIGN(const std::optional<std::string> text, read_file_if_there(name, kMostResultBytes));
  if (text) {
    if (text->starts_with("SQLite format 3"))
      return wrong_argument(fmt::format("{} is a store; write --store {}, and as results a run of it, such as last",
                                        in_quotes(name), printable(name)));
    if (!name.ends_with(".toml")) return results_of_csv(*text, name);
    TUTTI_TRY_ASSIGN(simulate::References references, simulate::read_references(*text, name));
    return results_of_references(std::move(references), name);
  }
  for (const simulate::ShippedReferences& shipped : simulate::shipped_references()) {
    if (!same_name(shipped.name, name)) continue;
    TUTTI_TRY_ASSIGN(simulate::References references, simulate::read_references(shipped.text, shipped.name));
    return results_of_references(std::move(references), name);
  }
  if (name.find('/') != std::string::npos || name.ends_with(".csv") || name.ends_with(".toml"))
    return wrong_argument(fmt::format("there is no file {}", in_quotes(name)));
  Result<ReadResults> run = results_of_run(name, store, environment);
  if (run.ok()) return run;
  std::vector<std::string_view> known;
  for (const simulate::ShippedReferences& shipped : simulate::shipped_references()) known.push_back(shipped.name);
  return wrong_argument(fmt::format("{} is no file, no references that come with Tutti ({}){}, and no run: {}",
                                    in_quotes(name), fmt::join(known, ", "), nearest_hint(name, known),
                                    run.status().to_string()));
}

Status keep_peer(ReadResults& results, const std::string& asked, std::string_view preferred) {
  std::vector<std::string> peers;
  for (const Timing& timing : results.timings)
    if (!timing.peer.empty() && std::find(peers.begin(), peers.end(), timing.peer) == peers.end())
      peers.push_back(timing.peer);
  const auto has = [&](std::string_view peer) { return std::find(peers.begin(), peers.end(), peer) != peers.end(); };
  std::string kept;
  if (!asked.empty()) {
    if (!has(asked))
      return wrong_argument(
          fmt::format("--peer: {} is not in the results, which {}", in_quotes(asked),
                      peers.empty() ? std::string("name no peers") : fmt::format("have {}", fmt::join(peers, ", "))));
    kept = asked;
  } else if (has(preferred)) {
    kept = preferred;
  } else if (peers.size() == 1) {
    kept = peers.front();
  } else if (peers.size() > 1) {
    return wrong_argument(fmt::format("the results have ways of {}; --peer says whose count", fmt::join(peers, ", ")));
  }
  if (kept.empty()) return {};
  const std::size_t erased =
      std::erase_if(results.timings, [&](const Timing& timing) { return !timing.peer.empty() && timing.peer != kept; });
  if (erased > 0) results.left_out.push_back(fmt::format("{}: of other peers than {}", counted(erased, "time"), kept));
  return {};
}

}  // namespace tutti::cli
