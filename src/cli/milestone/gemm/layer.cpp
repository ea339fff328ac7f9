// SPDX-License-Identifier: Apache-2.0
// A layer whose weights are spread over the ranks, on this machine: product, then all-reduce, in one piece and in
// tiles, with each algorithm that the all-reduce can be forced to. What share of the layer the choice decides is then a
// measured number (row D8).
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "bench/measure/statistics.hpp"
#include "bench/results/cells.hpp"
#include "bench/views/views.hpp"
#include "cli/interrupt.hpp"
#include "cli/milestone/gemm/gemm_parts.hpp"
#include "cli/milestone/shared/cautions.hpp"
#include "cli/milestone/shared/measured.hpp"
#include "cli/milestone/shared/simulated.hpp"
#include "cli/report/report_page.hpp"

namespace tutti::cli {

namespace {

constexpr std::string_view kForcing = "TUTTI_ALLREDUCE_ALGORITHM";
// What a call is left to, and what users may have heard of.
constexpr std::string_view kWays = "auto,two_shot_pull,ring,recursive_doubling,rabenseifner,reduce_broadcast";

struct LayerSweep {
  SweepPlan plan;
  std::string budget;
};

Result<LayerSweep> layer_sweep(const PartWorld& world) {
  if (!is_peer_here(world.bench, "tutti")) return Status(Code::unsupported, "the worker of tutti is not here");
  LayerSweep sweep{.plan = {}, .budget = world.is_full ? "1s" : "150ms"};
  SweepOptions options;
  options.bench = "layer";
  options.peers = "tutti";
  options.budget = sweep.budget;
  options.axes = {world.is_full ? "tokens=1,16,128,1024" : "tokens=16,128", world.is_full ? "width=2048" : "width=1024",
                  "tiles=1,4"};
  options.skips = {};
  options.env.push_back(fmt::format("{}={}", kForcing, kWays));
  TUTTI_TRY_ASSIGN(sweep.plan, measured_plan(std::move(options), world));
  sweep.budget += fmt::format(", {}", identity_of(sweep.plan));
  return sweep;
}

std::string name_of_point(const harness::Point& point, const std::string& budget) {
  const auto text = [&](std::string_view axis) {
    const harness::Value* const value = point.find(axis);
    return value == nullptr ? std::string("-") : value->text();
  };
  return fmt::format("{} tokens, width {}, {} tiles, at most {}", text("tokens"), text("width"), text("tiles"), budget);
}

Result<std::vector<PartCase>> layer_cases(const PartWorld& world) {
  TUTTI_TRY_ASSIGN(const LayerSweep sweep, layer_sweep(world));
  std::vector<PartCase> cases;
  if (sweep.plan.groups.empty()) return cases;
  const std::vector<harness::Case>& points = sweep.plan.groups.front().cases;
  for (const harness::Case& each : points)
    cases.push_back({.name = name_of_point(each.point, sweep.budget),
                     .seconds = seconds_of(sweep.plan) / static_cast<double>(std::max<std::size_t>(points.size(), 1))});
  return cases;
}

Cell whole_of(const harness::Row& row, std::string_view axis) {
  const harness::Value* const value = row.point.find(axis);
  return value != nullptr && value->is_integer() ? Cell(value->integer()) : Cell();
}

// How the all-reduce was forced.
std::string way_of(const harness::Row& row) {
  for (const harness::Setting& setting : row.settings)
    if (setting.name == kForcing && setting.value) return *setting.value;
  return "auto";
}

PartRow row_of_layer(const harness::Row& row) {
  Cell time;
  Cell low;
  Cell high;
  Cell multiplied;
  if (row.outcome == harness::Outcome::ok && !row.samples.empty()) {
    const harness::Summary summary = summarize(row);
    time = harness::micros(summary.median);
    if (summary.interval) {
      low = harness::micros(summary.interval->low);
      high = harness::micros(summary.interval->high);
    }
    if (const auto gemm = row.counters.find("gemm_us"); gemm != row.counters.end())
      multiplied = harness::figure(gemm->second);
  }
  return {whole_of(row, "tokens"),
          whole_of(row, "width"),
          whole_of(row, "tiles"),
          way_of(row),
          whole_cell(static_cast<std::uint64_t>(row.num_ranks)),
          time,
          low,
          high,
          multiplied,
          whole_cell(row.samples.size()),
          std::string(name_of(row.outcome)),
          row.is_checked,
          harness::text_or_null(row.ran),
          harness::text_or_null(row.outcome == harness::Outcome::ok ? warnings(row) : row.note)};
}

Status make_layer(std::span<const PartCase> pending, const PartWorld& world, const PartSink& sink) {
  TUTTI_TRY_ASSIGN(LayerSweep sweep, layer_sweep(world));
  const auto is_pending = [&](const harness::Point& point) {
    return std::any_of(pending.begin(), pending.end(),
                       [&](const PartCase& each) { return each.name == name_of_point(point, sweep.budget); });
  };
  for (harness::Group& group : sweep.plan.groups)
    std::erase_if(group.cases, [&](const harness::Case& each) { return !is_pending(each.point); });
  std::erase_if(sweep.plan.groups, [](const harness::Group& group) { return group.cases.empty(); });
  sweep.plan.runner.measure.is_interrupted = Interrupt::has_come;
  harness::Runner runner(sweep.plan.runner, sweep.plan.programs, world.context.environment.block());
  return runner.compare(sweep.plan.sweep.bench, sweep.plan.groups, {},
                        [&](std::span<const harness::Row> rows) -> Status {
                          // What an interrupt left is not whole.
                          if (rows.empty() || Interrupt::has_come()) return {};
                          CaseRows made{.name = name_of_point(rows.front().point, sweep.budget)};
                          for (const harness::Row& row : rows) made.rows.push_back(row_of_layer(row));
                          return sink(made);
                        });
}

// "1 token", "16 tokens"; numbers of rows may be any.
std::string number_of(double count, std::string_view noun) {
  return fmt::format("{:g} {}{}", count, noun, count == 1 ? "" : "s");
}

// The ways of one layer, by their rows.
struct Layer {
  double tokens = 0;
  double width = 0;
  double tiles = 0;
  std::vector<std::size_t> rows;  // that have a time
  [[nodiscard]] std::string name() const {
    return tiles > 1 ? fmt::format("{}, {:g} tiles", number_of(tokens, "token"), tiles) : number_of(tokens, "token");
  }
};

std::vector<Layer> layers_in(const PartRows& rows) {
  std::vector<Layer> layers;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (!rows.number(row, "time_us")) continue;
    const double tokens = rows.number(row, "tokens").value_or(0);
    const double width = rows.number(row, "width").value_or(0);
    const double tiles = rows.number(row, "tiles").value_or(0);
    const auto found = std::find_if(layers.begin(), layers.end(), [&](const Layer& each) {
      return each.tokens == tokens && each.width == width && each.tiles == tiles;
    });
    Layer& layer = found == layers.end() ? layers.emplace_back(Layer{tokens, width, tiles, {}}) : *found;
    layer.rows.push_back(row);
  }
  return layers;
}

std::size_t extreme_of(const PartRows& rows, const Layer& layer, bool is_slowest) {
  return *std::max_element(layer.rows.begin(), layer.rows.end(), [&](std::size_t a, std::size_t b) {
    const double left = *rows.number(a, "time_us");
    const double right = *rows.number(b, "time_us");
    return is_slowest ? left < right : left > right;
  });
}

std::optional<std::size_t> row_of_way(const PartRows& rows, const Layer& layer, std::string_view way) {
  for (const std::size_t row : layer.rows)
    if (rows.text(row, "way") == way) return row;
  return std::nullopt;
}

// Of a time in percent, how much shorter another one is.
double share_saved(double from, double to) { return (from - to) / from * 100; }

// The product alone, which is the same work whatever the all-reduce: what it differs by between the ways is what
// measurements of this layer differ by without any reason.
struct Product {
  double median = 0;
  double least = 0;
  double greatest = 0;
};
std::optional<Product> product_of(const PartRows& rows, const Layer& layer) {
  std::vector<double> times;
  for (const std::size_t row : layer.rows)
    if (const std::optional<double> time = rows.number(row, "gemm_us"); time && *time > 0) times.push_back(*time);
  if (times.empty()) return std::nullopt;
  const auto [least, greatest] = std::minmax_element(times.begin(), times.end());
  return Product{harness::median_of(times), *least, *greatest};
}

// Of a layer's time, in percent, what the way `to` saves against `from`: by their medians, and within their intervals.
struct Saving {
  std::size_t from = 0;
  std::size_t to = 0;
  double percent = 0;
  std::optional<report::Range> range;
  bool is_told = false;  // intervals are apart, and it is more than the product alone differs by
};
Saving saving_of(const PartRows& rows, std::size_t from, std::size_t to, const std::optional<Product>& product) {
  const double slower = *rows.number(from, "time_us");
  const double faster = *rows.number(to, "time_us");
  Saving saving{.from = from, .to = to, .percent = share_saved(slower, faster), .range = {}};
  const auto from_low = rows.number(from, "low_us");
  const auto from_high = rows.number(from, "high_us");
  const auto to_low = rows.number(to, "low_us");
  const auto to_high = rows.number(to, "high_us");
  if (!from_low || !from_high || !to_low || !to_high || *from_low <= 0) return saving;
  saving.range = report::Range{share_saved(*from_low, *to_high), share_saved(*from_high, *to_low)};
  saving.is_told = saving.range->low > 0 && (!product || slower - faster > product->greatest - product->least);
  return saving;
}
// From the slowest way of a layer to its fastest.
Saving saving_of(const PartRows& rows, const Layer& layer) {
  return saving_of(rows, extreme_of(rows, layer, true), extreme_of(rows, layer, false), product_of(rows, layer));
}

PartTable table_of_layers(const PartRows& rows, const std::vector<Layer>& layers) {
  using harness::measured;
  Table table({{"tokens"},
               {"width"},
               {"tiles"},
               measured("gemm_us"),
               measured("gemm_least_us"),
               measured("gemm_most_us"),
               measured("auto_us"),
               measured("auto_beside_gemm_percent"),
               {"best"},
               measured("best_us"),
               {"worst"},
               measured("worst_us"),
               measured("saved_percent"),
               measured("saved_low_percent"),
               measured("saved_high_percent"),
               {"is_told"}});
  for (const Layer& layer : layers) {
    const Saving saving = saving_of(rows, layer);
    const std::optional<Product> product = product_of(rows, layer);
    const std::optional<std::size_t> own = row_of_way(rows, layer, "auto");
    const double own_time = own ? rows.number(*own, "time_us").value_or(0) : 0;
    const auto whole = [](double value) { return whole_cell(static_cast<std::uint64_t>(value)); };
    table.add_row({whole(layer.tokens), whole(layer.width), whole(layer.tiles),
                   product ? Cell(product->median) : Cell(), product ? Cell(product->least) : Cell(),
                   product ? Cell(product->greatest) : Cell(), own ? Cell(own_time) : Cell(),
                   own_time > 0 && product ? Cell(share_saved(own_time, product->median)) : Cell(),
                   rows.text(saving.to, "way"), rows.cell(saving.to, "time_us"), rows.text(saving.from, "way"),
                   rows.cell(saving.from, "time_us"), saving.percent, saving.range ? Cell(saving.range->low) : Cell(),
                   saving.range ? Cell(saving.range->high) : Cell(), saving.is_told});
  }
  return {
      .file = "layer_shares",
      .table = {.title = "A layer by the choice of its all-reduce",
                .table = std::move(table),
                .remark = "gemm_us is the product alone: the median of what was measured beside each way, with the "
                          "least and the most. auto_beside_gemm_percent is the share of the layer that is not the "
                          "product. saved_percent is what the best choice saves of the worst one's time, with what the "
                          "intervals of the two allow. It is told only where these exclude 0 and the two times differ "
                          "by more than the product alone does between the ways."},
      .is_data = true};
}

report::BarChart chart_of_layers(const PartRows& rows, const std::vector<Layer>& layers) {
  const std::vector<std::string> ways = rows.texts("way");
  report::BarChart chart{
      .title = "A layer by the choice of its all-reduce",
      .remark = fmt::format("{}; product and all-reduce of {:g} ranks; bars end at medians, with 95 % "
                            "intervals where there are rounds enough for one",
                            machine_in_figures(rows.origin().machine), rows.number(0, "ranks").value_or(0)),
      .kinds = ways,
      .columns = 2,
      .panels = {}};
  for (const Layer& layer : layers) {
    report::BarPanel panel{
        .title = fmt::format("{}, width {:g}", layer.name(), layer.width), .y_name = "time, us", .groups = {}};
    report::BarGroup group{.name = "", .bars = {}};
    for (std::size_t way = 0; way < ways.size(); ++way) {
      const std::optional<std::size_t> row = row_of_way(rows, layer, ways[way]);
      if (!row) continue;
      report::Bar bar{.kind = way, .value = *rows.number(*row, "time_us")};
      const std::optional<double> low = rows.number(*row, "low_us");
      const std::optional<double> high = rows.number(*row, "high_us");
      if (low && high) bar.range = report::Range{*low, *high};
      group.bars.push_back(std::move(bar));
    }
    panel.groups.push_back(std::move(group));
    chart.panels.push_back(std::move(panel));
  }
  return chart;
}

// Over all layers, beside what is published.
std::string savings_in_words(const PartRows& rows, const std::vector<Layer>& layers) {
  constexpr std::string_view kPublished =
      "published is up to 10 % of the time to the first token of a whole model, which this bench does not have";
  const Layer* greatest = nullptr;
  std::size_t num_told = 0;
  std::size_t count = 0;
  for (const Layer& each : layers) {
    if (each.rows.size() < 2) continue;
    ++count;
    if (!saving_of(rows, each).is_told) continue;
    ++num_told;
    if (greatest == nullptr || saving_of(rows, each).percent > saving_of(rows, *greatest).percent) greatest = &each;
  }
  if (greatest == nullptr)
    return fmt::format("In none of {} does the choice of the all-reduce make a difference that can be told; {}.",
                       counted(count, "layer"), kPublished);
  const Saving saving = saving_of(rows, *greatest);
  return fmt::format(
      "In {} of {} the choice of the all-reduce makes a difference that can be told, of up to {:.1f} % ({:.1f} to "
      "{:.1f} "
      "%) of the time, with {}; {}.",
      num_told, counted(count, "layer"), saving.percent, saving.range->low, saving.range->high, greatest->name(),
      kPublished);
}

std::string saving_in_words(const PartRows& rows, const Layer& layer) {
  const Saving saving = saving_of(rows, layer);
  if (saving.is_told)
    return fmt::format(
        "With {} the best choice of the all-reduce ({}) saves {:.1f} % ({:.1f} to {:.1f} %) of the layer's time with "
        "the worst one ({}).",
        layer.name(), rows.text(saving.to, "way"), saving.percent, saving.range->low, saving.range->high,
        rows.text(saving.from, "way"));
  const std::optional<Product> product = product_of(rows, layer);
  const bool is_within = !saving.range || saving.range->low <= 0;
  return fmt::format(
      "With {} the choice of the all-reduce makes no difference that can be told: {:.1f} % from the best "
      "to the worst, {}.",
      layer.name(), saving.percent,
      is_within ? std::string("within their intervals")
                : fmt::format("where the product alone differs by {:.1f} % between them",
                              share_saved(product->greatest, product->least)));
}

std::string tiles_in_words(const PartRows& rows, const Layer& tiled, const Layer& whole) {
  const std::size_t in_tiles = extreme_of(rows, tiled, false);
  const std::size_t in_one = extreme_of(rows, whole, false);
  const double ratio = *rows.number(in_one, "time_us") / *rows.number(in_tiles, "time_us");
  const bool is_slower = ratio < 1;
  // The product in tiles is other work: its own difference is no noise.
  const Saving saving = saving_of(rows, is_slower ? in_tiles : in_one, is_slower ? in_one : in_tiles, std::nullopt);
  if (!saving.is_told)
    return fmt::format("{}: as fast as in one piece, as far as intervals tell ({:.2f} times).", tiled.name(), ratio);
  return fmt::format("{}: {:.2f} times as fast as in one piece.", tiled.name(), ratio);
}

// What the choice saves, in one piece and in tiles, and what tiles do.
std::vector<std::string> layer_answer(const PartRows& rows, const std::vector<Layer>& layers) {
  std::vector<std::string> answer = {savings_in_words(rows, layers)};
  for (const bool is_tiled : {false, true})
    for (const Layer& layer : layers)
      if ((layer.tiles != 1) == is_tiled && layer.rows.size() > 1) answer.push_back(saving_in_words(rows, layer));
  for (const Layer& tiled : layers) {
    if (tiled.tiles == 1) continue;
    const auto whole = std::find_if(layers.begin(), layers.end(), [&](const Layer& each) {
      return each.tokens == tiled.tokens && each.width == tiled.width && each.tiles == 1;
    });
    if (whole != layers.end()) answer.push_back(tiles_in_words(rows, tiled, *whole));
  }
  return answer;
}

Result<PartShown> show_layer(const PartRows& rows) {
  PartShown shown;
  GroupedCautions grouped;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string outcome = rows.text(row, "outcome");
    if (outcome == name_of(harness::Outcome::ok)) continue;
    const bool is_skipped = outcome == name_of(harness::Outcome::skipped);
    shown.is_right = shown.is_right && is_skipped;
    grouped.add(fmt::format("{}, {}", number_of(rows.number(row, "tokens").value_or(0), "token"),
                            number_of(rows.number(row, "tiles").value_or(0), "tile")),
                rows.text(row, "way"), fmt::format("{}: {}", outcome, rows.text(row, "note")), !is_skipped);
  }
  grouped.move_to(shown.cautions);
  const std::vector<Layer> layers = layers_in(rows);
  if (layers.empty()) return shown;
  shown.answer = layer_answer(rows, layers);
  report::BarChart chart = chart_of_layers(rows, layers);
  shown.figures.push_back({.file = "layer", .title = chart.title, .bars = std::move(chart)});
  shown.tables.push_back(table_of_layers(rows, layers));
  return shown;
}

}  // namespace

Part layer_part() {
  using harness::measured;
  return {.name = "layer",
          .title = "A layer on this machine",
          .about = "product and all-reduce of a layer, in one piece and in tiles, with each choice of the algorithm",
          .columns = {{"tokens"},
                      {"width"},
                      {"tiles"},
                      {"way"},
                      {"ranks"},
                      measured("time_us"),
                      measured("low_us"),
                      measured("high_us"),
                      measured("gemm_us"),
                      {"samples"},
                      {"outcome"},
                      {"checked"},
                      {"ran"},
                      {"note"}},
          .cases = layer_cases,
          .make_together = make_layer,
          .show = show_layer};
}

}  // namespace tutti::cli
