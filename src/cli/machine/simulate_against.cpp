// SPDX-License-Identifier: Apache-2.0
#include "cli/machine/simulate_against.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/system/file.hpp"
#include "base/units.hpp"
#include "bench/views/table.hpp"
#include "cli/machine/simulate_figure.hpp"
#include "simulate/references/against.hpp"
#include "simulate/references/losses.hpp"
#include "simulate/references/sensitivity.hpp"

namespace tutti::cli {

namespace {

using simulate::Compared;
using simulate::Metric;

constexpr int kSimulatedDigits = 5;

std::string unit_of(const Compared& compared, const simulate::References& references) {
  switch (compared.series->metric) {
    case Metric::time: return references.unit;
    case Metric::gain: return "percent";
    case Metric::crossover: return "bytes";
  }
  return "";
}

// In percent, points, or doublings.
Cell error_of(const Compared& compared) {
  if (!compared.simulated) return {};
  return compared.series->metric == Metric::time ? compared.error() * 100 : compared.error();
}

Cell simulated_of(const Compared& compared) {
  if (!compared.simulated) return {};
  if (compared.series->metric == Metric::crossover) return static_cast<std::int64_t>(*compared.simulated);
  return *compared.simulated;
}

Table figures_of(const std::vector<Compared>& all, const simulate::References& references) {
  Table table({{"figure"},
               {"metric"},
               {"bytes"},
               {"unit"},
               {"published"},
               {"uncertainty", 0, true},
               {.name = "simulated", .digits = kSimulatedDigits},
               {.name = "error", .digits = kShareDigits},
               {"algorithm"},
               {"left_out"},
               {"source", 0, true},
               {"date", 0, true},
               {"configuration", 0, true}});
  for (const Compared& each : all)
    table.add_row({each.series->id, std::string(name_of(each.series->metric)),
                   each.bytes == 0 ? Cell() : Cell(static_cast<std::int64_t>(each.bytes)), unit_of(each, references),
                   each.published, each.series->uncertainty, simulated_of(each), error_of(each), std::string(each.best),
                   each.is_left_out ? Cell(std::string("left out")) : Cell(), references.source, references.date,
                   each.series->configuration});
  return table;
}

std::string line_of(std::string_view what, Metric metric, const simulate::Score& score) {
  if (score.cells == 0) return "";
  switch (metric) {
    case Metric::time: {
      std::string line =
          fmt::format("{}: {}: median error {:.1f} %, greatest {:.1f} %", what, counted(score.cells, "time"),
                      score.median_error * 100, score.greatest_error * 100);
      if (score.contests > 0)
        line +=
            fmt::format("; the right winner, or one within {:.0f} % of it, in {} of {} ({:.0f} %); in order: {}",
                        simulate::kSameTime * 100, score.winners, score.contests,
                        100.0 * static_cast<double>(score.winners) / static_cast<double>(score.contests), score.orders);
      return line + "\n";
    }
    case Metric::gain:
      return fmt::format("{}: {}: median error {:.1f} points, greatest {:.1f}\n", what, counted(score.cells, "gain"),
                         score.median_error, score.greatest_error);
    case Metric::crossover:
      return fmt::format(
          "{}: {}: {}\n", what, counted(score.cells, "crossover"),
          score.greatest_error == 0 ? "all exact" : fmt::format("up to {:.0f} doublings off", score.greatest_error));
  }
  return "";
}

// "bars: 20 of 20 held", with the series that miss theirs.
std::string bars_of(const std::vector<Compared>& all, const simulate::References& references) {
  std::size_t held = 0;
  std::size_t bars = 0;
  std::string missed;
  for (const simulate::Series& series : references.series) {
    if (series.bar < 0 || series.ways.empty()) continue;
    ++bars;
    const double error = simulate::error_of_series(series, all);
    const bool holds = error <= series.bar;
    held += holds ? 1 : 0;
    if (!holds) missed += fmt::format("; {} has {:.3g} for {:.3g}", series.id, error, series.bar);
  }
  return bars == 0 ? "" : fmt::format("bars: {} of {} held{}\n", held, bars, missed);
}

// What comes out over the sizes of a series of gains: "8 nodes: 4 sizes: average +14.0 %, least ...".
std::string gains_of(const std::vector<Compared>& all, const simulate::References& references) {
  std::string text;
  for (const simulate::Series& series : references.series) {
    std::vector<double> gains;
    for (const Compared& each : all)
      if (each.series == &series && series.metric == Metric::gain && each.simulated) gains.push_back(*each.simulated);
    if (gains.size() < 2) continue;
    const auto [least, greatest] = std::minmax_element(gains.begin(), gains.end());
    const auto losses = std::count_if(gains.begin(), gains.end(), [](double gain) { return gain < 0; });
    text += fmt::format(
        "{}: simulated, of {} sizes: average {:+.1f} %, least {:+.1f}, greatest {:+.1f}; slower in {}\n", series.id,
        gains.size(), std::accumulate(gains.begin(), gains.end(), 0.0) / static_cast<double>(gains.size()), *least,
        *greatest, losses);
  }
  return text;
}

std::string scores_of(const std::vector<Compared>& all, const simulate::References& references) {
  std::string text;
  const auto add = [&](std::string_view what, const std::function<bool(const Compared&)>& counts) {
    for (const Metric metric : {Metric::time, Metric::gain, Metric::crossover})
      text += line_of(what, metric, simulate::score(all, metric, counts));
  };
  add("all", [](const Compared&) { return true; });
  if (!references.left_out.empty()) {
    add("fitted", [](const Compared& each) { return !each.is_left_out; });
    add("left out", [](const Compared& each) { return each.is_left_out; });
  }
  for (const simulate::Fit& fit : references.fits) {
    const auto is_on_it = [&](const Compared& each) { return simulate::is_about(fit, *each.series); };
    std::size_t seen = 0;
    for (const Compared& each : all) {
      bool is_asked = fit.series.empty();
      for (const std::string& beginning : fit.series) is_asked = is_asked || each.series->id.starts_with(beginning);
      if (is_on_it(each) && is_asked && !each.is_left_out) ++seen;
    }
    text += fmt::format("{}: {}, fitted to {}\n", fit.name, counted(fit.parameters.size(), "parameter"),
                        counted(seen, "figure"));
    add(fit.name + ", fitted", [&](const Compared& each) { return is_on_it(each) && !each.is_left_out; });
    add(fit.name + ", left out", [&](const Compared& each) { return is_on_it(each) && each.is_left_out; });
  }
  return text;
}

// What the bound of an interval is; nothing where it lies beyond all that was looked at.
Cell bound_of(const simulate::Knob& knob, double factor) {
  if (factor >= simulate::kFar || factor <= 1 / simulate::kFar) return {};
  return knob.at(knob.value * factor).value;
}

Result<simulate::References> references_in(const std::string& path) {
  TUTTI_TRY_ASSIGN(const std::string text, read_file(path, simulate::kMostReferenceBytes));
  return simulate::read_references(text, path);
}

}  // namespace

Result<std::string> uncertainty(const std::string& path, const OutputOptions& output) {
  TUTTI_TRY_ASSIGN(const simulate::References references, references_in(path));
  if (references.fits.empty()) return wrong_argument(fmt::format("{} has no fits", path));
  Table table(
      {{"fit"}, {"parameter"}, {"value"}, {"low"}, {"high"}, {"bars_missed_below"}, {"bars_missed_above"}, {"marked"}});
  std::size_t misses = 0;
  std::size_t fitted = 0;
  for (const simulate::Fit& fit : references.fits) {
    TUTTI_TRY_ASSIGN(const std::vector<simulate::Sensitivity> all, simulate::sensitivities_of(references, fit, true));
    for (const simulate::Sensitivity& each : all) {
      TUTTI_TRY_ASSIGN(const simulate::Knob knob, simulate::knob_of({each.parameter->name, each.parameter->value}));
      table.add_row({fit.name, each.parameter->name, each.parameter->value, bound_of(knob, each.low),
                     bound_of(knob, each.high), static_cast<std::int64_t>(each.missed_below.size()),
                     static_cast<std::int64_t>(each.missed_above.size()),
                     std::string(each.parameter->assumed ? "assumed" : "fitted")});
      if (each.parameter->assumed) continue;
      fitted += 2;
      misses += (each.missed_below.empty() ? 0U : 1U) + (each.missed_above.empty() ? 0U : 1U);
    }
  }
  std::string answer = rendered(table, output);
  if (output.format != Format::table) return answer;
  answer += fmt::format(
      "\nbetween low and high the loss is at most {:.0f} % above its least, the other parameters being as they are; no "
      "bound: not\nwithin a factor of {:.0f}\n{} of {} changes of a fitted parameter by {:.0f} % miss a bar\n",
      (simulate::kLossWithin - 1) * 100, simulate::kFar, misses, fitted, (simulate::kMoved - 1) * 100);
  return answer;
}

Result<Against> against(const std::string& path, const OutputOptions& output, bool with_figure) {
  const Result<simulate::References> references = references_in(path);
  if (!references.ok()) return references.status();
  const Result<std::vector<Compared>> all = simulate::compare(*references, {}, nullptr);
  if (!all.ok()) return all.status();
  Against answer{.text = rendered(figures_of(*all, *references), output),
                 .figure = with_figure ? comparison_to_svg(*all, *references) : std::string()};
  if (output.format == Format::table)
    answer.text += "\n" + gains_of(*all, *references) + scores_of(*all, *references) + bars_of(*all, *references);
  return answer;
}

}  // namespace tutti::cli
