// SPDX-License-Identifier: Apache-2.0
// The ring with a bidirectional all-gather against the plain ring, by number of nodes: gains, crossovers, and what a
// threshold makes of them (rows B4 and B5).
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/units.hpp"
#include "cli/milestone/ccl/ccl_parts.hpp"
#include "cli/milestone/shared/measured.hpp"
#include "cli/milestone/shared/published.hpp"
#include "cli/milestone/shared/simulated.hpp"

namespace tutti::cli {

namespace {

struct Cluster {
  std::string_view gpu;
  std::string_view fabric;
  std::string_view series;  // the beginning of the ids of what is published
  std::uint32_t parts;      // of a shard that are under way at once: torchcomms' chunks
  std::uint64_t threshold;  // the automatic one of the publication, in bytes
};
constexpr std::array<Cluster, 2> kClusters = {{{"H100", "h100_cluster", "h100", 4, std::uint64_t{4} << 20U},
                                               {"GB200", "gb200_cluster", "gb200", 2, std::uint64_t{128} << 20U}}};
constexpr std::array<int, 4> kNodes = {8, 16, 32, 64};
constexpr std::uint64_t kLeastBytes = std::uint64_t{512} << 10U;
constexpr std::uint64_t kMostBytes = std::uint64_t{128} << 20U;
constexpr std::uint64_t kBytesOfARank = std::uint64_t{512} << 10U;  // the published crossovers are one rule
constexpr double kNoGain = 1;  // percent; less is none, as the publication's file has it

// Published for H100: the automatic threshold against NCCL, from 512 KB (torchcomms, pull request 946).
struct PublishedGains {
  int nodes;
  double average;
  double least;
  double greatest;
};
constexpr std::array<PublishedGains, 4> kPublishedGains = {
    {{8, 0.5, -0.3, 3.6}, {16, -0.9, -5.2, 6.9}, {32, 0.9, -4.8, 19.4}, {64, 3.1, -0.5, 17.0}}};

Result<std::vector<PartRow>> rows_of_gain(const Cluster& cluster, int nodes, std::uint64_t bytes) {
  SimulatedWay way{.fabric = fmt::format("{}:{}x1", cluster.fabric, nodes),
                   .algorithm = "ring",
                   .parts = cluster.parts,
                   .type = "f32"};
  TUTTI_TRY_ASSIGN(const simulate::Answer ring, simulate_all_reduce(way, bytes));
  way.algorithm = "ring_bidir_ag";
  TUTTI_TRY_ASSIGN(const simulate::Answer bidirectional, simulate_all_reduce(way, bytes));
  return std::vector<PartRow>{{std::string(cluster.gpu), way.fabric, std::int64_t{nodes}, whole_cell(bytes),
                               ring.time / 1000, bidirectional.time / 1000, (ring.time / bidirectional.time - 1) * 100,
                               ring.checked && bidirectional.checked}};
}

Result<std::vector<PartCase>> gain_cases(const PartWorld&) {
  std::vector<PartCase> cases;
  for (const Cluster& cluster : kClusters)
    for (const int nodes : kNodes)
      for (std::uint64_t bytes = kLeastBytes; bytes <= kMostBytes; bytes *= 2)
        cases.push_back({.name = fmt::format("{}, {} nodes, {}", cluster.gpu, nodes, to_text(Bytes(bytes))),
                         .seconds = 0.002 * nodes,
                         .make = [&cluster, nodes, bytes] { return rows_of_gain(cluster, nodes, bytes); }});
  return cases;
}

// The gains over sizes, in ascending order.
std::vector<report::Point> gains_of(const PartRows& rows, const Cluster& cluster, int nodes) {
  std::vector<report::Point> gains;
  for (std::size_t row = 0; row < rows.size(); ++row)
    if (rows.text(row, "gpu") == cluster.gpu && rows.number(row, "nodes") == nodes)
      gains.push_back({*rows.number(row, "bytes"), *rows.number(row, "gain_percent")});
  return gains;
}

// The greatest size up to which it gains at every size; half of the least where it never does.
double crossover_of(const std::vector<report::Point>& gains) {
  double crossover = gains.front().x / 2;
  for (const report::Point& gain : gains) {
    if (gain.y <= kNoGain) break;
    crossover = gain.x;
  }
  return crossover;
}

const simulate::Series* series_of(const simulate::References& references, const Cluster& cluster, int nodes,
                                  std::string_view what) {
  const std::string id = fmt::format("{}-{}-{}", cluster.series, nodes, what);
  for (const simulate::Series& each : references.series)
    if (each.id == id) return &each;
  return nullptr;
}

// What is published of a gain: at one size, or a range over several.
void add_published_gain(report::LinePanel& panel, const simulate::Series& series, const std::string& name) {
  report::Line line{.name = name, .points = {}, .is_dashed = true, .is_range = series.uncertainty > 0};
  for (std::size_t each = 0; each < series.bytes.size(); ++each)
    line.points.push_back({static_cast<double>(series.bytes[each]), series.values[each],
                           report::range_around(series.values[each], series.uncertainty)});
  panel.lines.push_back(std::move(line));
}

PartFigure figure_of_gains(const PartRows& rows, const simulate::References& references) {
  report::LineChart chart{
      .title = "Gain of the bidirectional all-gather over the plain ring, by nodes",
      .remark = fmt::format("one rank a node; published: {}; simulated by Tutti", cited(references)),
      .x_name = "bytes",
      .full = "simulated",
      .dashed = "published, at the crossover",
      .ranges = "published as a range of gains over a range of sizes",
      .panels = {}};
  for (const Cluster& cluster : kClusters) {
    report::LinePanel panel{.title = std::string(cluster.gpu),
                            .y_name = "gain in bus bandwidth, percent",
                            .y_scale = report::Scale::linear,
                            .better = report::Better::higher,
                            .lines = {}};
    bool has_range = false;
    for (const int nodes : kNodes) {
      const std::string name = fmt::format("{} nodes", nodes);
      panel.lines.push_back({.name = name, .points = gains_of(rows, cluster, nodes)});
      const simulate::Series* const series = series_of(references, cluster, nodes, "gain");
      if (series == nullptr || has_range) continue;
      // One range stands for all numbers of nodes.
      has_range = series->uncertainty > 0;
      add_published_gain(panel, *series, has_range ? "8 to 64 nodes, published" : name);
    }
    chart.panels.push_back(std::move(panel));
  }
  return {.file = "bidirectional_gains", .title = chart.title, .lines = std::move(chart)};
}

PartFigure figure_of_crossovers(const PartRows& rows, const simulate::References& references) {
  report::LineChart chart{
      .title = "Up to which size the bidirectional all-gather is faster",
      .remark = fmt::format("H100, one rank a node; published: {}; simulated by Tutti", cited(references)),
      .x_name = "bytes",
      .full = "simulated",
      .dashed = "published",
      .panels = {}};
  report::SizePanel panel{.title = "crossover by number of nodes", .rows = {}};
  for (const int nodes : kNodes) {
    const simulate::Series* const series = series_of(references, kClusters[0], nodes, "crossover");
    const std::vector<report::Point> gains = gains_of(rows, kClusters[0], nodes);
    if (series == nullptr || gains.empty()) continue;
    panel.rows.push_back(
        {.name = fmt::format("{} nodes", nodes), .dashed = series->values[0], .full = crossover_of(gains)});
  }
  chart.sizes.push_back(std::move(panel));
  return {.file = "bidirectional_crossovers", .title = chart.title, .lines = std::move(chart)};
}

// Up to which size a policy takes the bidirectional all-gather.
struct Policy {
  std::string_view name;
  std::uint64_t (*threshold)(const Cluster& cluster, int nodes);
};
const std::array<Policy, 3> kPolicies = {
    {{"automatic threshold", [](const Cluster& cluster, int) { return cluster.threshold; }},
     {"0.5 MB a rank", [](const Cluster&, int nodes) { return kBytesOfARank * static_cast<std::uint64_t>(nodes); }},
     {"always", [](const Cluster&, int) { return UINT64_MAX; }}}};

std::vector<Cell> cells_of_policy(const Cluster& cluster, int nodes, const Policy& policy,
                                  const std::vector<report::Point>& gains) {
  std::vector<double> taken;
  std::vector<std::string> slower;
  for (const report::Point& each : gains) {
    const auto bytes = static_cast<std::uint64_t>(each.x);
    taken.push_back(bytes <= policy.threshold(cluster, nodes) ? each.y : 0);
    if (taken.back() < -kNoGain) slower.push_back(to_text(Bytes(bytes)));
  }
  const auto [least, greatest] = std::minmax_element(taken.begin(), taken.end());
  const double average = std::accumulate(taken.begin(), taken.end(), 0.0) / static_cast<double>(taken.size());
  return {std::string(cluster.gpu),
          std::int64_t{nodes},
          fmt::format("simulated, {}", policy.name),
          "plain ring",
          average,
          *least,
          *greatest,
          slower.empty() ? Cell("none") : Cell(fmt::format("slower at {}", fmt::join(slower, ", ")))};
}

PartTable table_by_nodes(const PartRows& rows) {
  const auto share = [](const char* name) { return Column{.name = name, .digits = kShareDigits}; };
  Table table({{"gpu"},
               {"nodes"},
               {"what"},
               {"baseline"},
               share("average_percent"),
               share("least_percent"),
               share("greatest_percent"),
               {"regressions"}});
  for (const Cluster& cluster : kClusters)
    for (const int nodes : kNodes) {
      const std::vector<report::Point> gains = gains_of(rows, cluster, nodes);
      if (gains.empty()) continue;
      for (const Policy& policy : kPolicies) table.add_row(cells_of_policy(cluster, nodes, policy, gains));
      for (const PublishedGains& each : kPublishedGains)
        if (cluster.gpu == "H100" && each.nodes == nodes)
          table.add_row({std::string(cluster.gpu), std::int64_t{nodes}, "published, automatic threshold", "NCCL",
                         each.average, each.least, each.greatest,
                         each.least < -kNoGain ? Cell("yes: sizes are not published") : Cell("none")});
    }
  return {.file = "bidirectional_by_nodes",
          .table = {.title = "Gains by number of nodes, from 512 KB to 128 MB",
                    .table = std::move(table),
                    .remark = "A regression is more than 1 % slower than the baseline. What is published is against "
                              "NCCL as a whole, and what is simulated against the plain ring."},
          .is_data = true};
}

bool is_between(double value, const simulate::Series& series) {
  const auto [least, greatest] = std::minmax_element(series.bytes.begin(), series.bytes.end());
  return value >= static_cast<double>(*least) && value <= static_cast<double>(*greatest);
}

// Of a cluster for which a range of gains is published, over several sizes: where the simulated ones are within it, and
// what they are where only little is published. Empty for other clusters.
std::string range_in_words(const PartRows& rows, const simulate::References& references, const Cluster& cluster) {
  std::vector<std::string> within;
  std::vector<double> marginal;
  const simulate::Series* range = nullptr;
  const simulate::Series* little = nullptr;
  for (const int nodes : kNodes) {
    const std::vector<report::Point> gains = gains_of(rows, cluster, nodes);
    if (const simulate::Series* const series = series_of(references, cluster, nodes, "gain");
        series != nullptr && series->uncertainty > 0 && !gains.empty()) {
      range = series;
      std::size_t count = 0;
      std::size_t num_within = 0;
      for (const report::Point& gain : gains) {
        if (!is_between(gain.x, *series)) continue;
        ++count;
        num_within += std::abs(gain.y - series->values.front()) <= series->uncertainty ? 1 : 0;
      }
      within.push_back(fmt::format("{} of {} sizes on {} nodes", num_within, count, nodes));
    }
    if (const simulate::Series* const series = series_of(references, cluster, nodes, "marginal"); series != nullptr) {
      little = series;
      for (const report::Point& gain : gains)
        if (is_between(gain.x, *series)) marginal.push_back(gain.y);
    }
  }
  if (range == nullptr) return "";
  const auto size = [](std::uint64_t bytes) { return size_in_words(static_cast<double>(bytes)); };
  std::string words = fmt::format(
      "On {} a gain of {:.0f} to {:.0f} % is published from {} to {}; the simulated one is within that at {}",
      cluster.gpu, range->values.front() - range->uncertainty, range->values.front() + range->uncertainty,
      size(range->bytes.front()), size(range->bytes.back()), fmt::join(within, ", "));
  if (little != nullptr && !marginal.empty()) {
    const auto [least, greatest] = std::minmax_element(marginal.begin(), marginal.end());
    words += fmt::format(". At {}, where the published gain is marginal or mixed, it is {:.1f} to {:.1f} %",
                         size(little->bytes.front()), *least, *greatest);
  }
  return words + ".";
}

Result<PartShown> show_gains(const PartRows& rows) {
  TUTTI_TRY_ASSIGN(const simulate::References references, published("bidirectional_all_gather"));
  PartShown shown;
  std::string crossovers;
  std::size_t exact = 0;
  std::size_t compared = 0;
  for (const int nodes : kNodes) {
    const simulate::Series* const series = series_of(references, kClusters[0], nodes, "crossover");
    const std::vector<report::Point> gains = gains_of(rows, kClusters[0], nodes);
    if (series == nullptr || gains.empty()) continue;
    const double crossover = crossover_of(gains);
    crossovers += fmt::format("{}{}", crossovers.empty() ? "" : ", ", size_in_words(crossover));
    ++compared;
    exact += crossover == series->values[0] ? 1 : 0;
  }
  for (std::size_t row = 0; row < rows.size(); ++row) shown.is_right = shown.is_right && rows.is_true(row, "checked");
  shown.is_right = shown.is_right && exact == compared;
  if (compared > 0)
    shown.answer = {
        fmt::format("On 8, 16, 32 and 64 H100 nodes the bidirectional all-gather is faster up to {}; {} of {} "
                    "are the published sizes.",
                    crossovers, exact, compared)};
  for (const Cluster& cluster : kClusters)
    if (std::string words = range_in_words(rows, references, cluster); !words.empty())
      shown.answer.push_back(std::move(words));
  shown.figures = {figure_of_gains(rows, references), figure_of_crossovers(rows, references)};
  shown.tables.push_back(table_by_nodes(rows));
  return shown;
}

}  // namespace

Part bidirectional_part() {
  return {.name = "bidirectional",
          .title = "Bidirectional all-gather",
          .about = "gains and crossovers of the ring with a bidirectional all-gather, by number of nodes",
          .columns = {{"gpu"},
                      {"fabric"},
                      {"nodes"},
                      {"bytes"},
                      time_column("ring_us"),
                      time_column("bidirectional_us"),
                      {.name = "gain_percent", .digits = kShareDigits},
                      {"checked"}},
          .numbers = {"bytes", "gain_percent"},
          .cases = gain_cases,
          .show = show_gains};
}

}  // namespace tutti::cli
