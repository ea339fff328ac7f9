// SPDX-License-Identifier: Apache-2.0
#include "cli/machine/gemm_figures.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

namespace tutti::cli {

namespace {

using report::Bar;
using report::BarChart;
using report::BarGroup;

constexpr std::size_t kColumns = 2;

template <std::size_t kCount>
std::vector<std::string> words_of(const std::array<std::string_view, kCount>& names) {
  return {names.begin(), names.end()};
}

std::string group_name(simulate::Preloaded preloaded) { return fmt::format("{} preloaded", name_of(preloaded)); }

// The bars of a row are of one kind after the other.
using ValuesOf = std::function<std::vector<double>(const simulate::GemmAnswer&)>;

BarChart chart_of(const std::vector<GemmRow>& rows, BarChart chart, std::string_view y_name, bool is_stacked,
                  const ValuesOf& values_of) {
  chart.columns = kColumns;
  for (const GemmRow& row : rows) {
    const std::string title = simulate::to_text(row.work.shape);
    if (chart.panels.empty() || chart.panels.back().title != title)
      chart.panels.push_back({.title = title, .y_name = std::string(y_name), .is_stacked = is_stacked, .groups = {}});
    BarGroup group{.name = group_name(row.work.preloaded), .bars = {}};
    for (const double value : values_of(row.answer)) group.bars.push_back({.kind = group.bars.size(), .value = value});
    chart.panels.back().groups.push_back(std::move(group));
  }
  return chart;
}

// Kinds of the bars of windows.
enum WindowKind : std::size_t { tiled_kind = 2, published_all_kind = 4, published_tiled_kind = 5 };

// Each in front of the simulated window that it is to be compared with.
void add_published(BarChart& windows, const simulate::GemmReferences& references) {
  windows.remark += fmt::format("; published: {} ({})", references.source, references.date);
  const bool is_inferred = std::any_of(references.windows.begin(), references.windows.end(),
                                       [](const simulate::GemmReference& each) { return each.is_inferred; });
  if (is_inferred) windows.remark += ", which does not say what is preloaded: it is inferred from the times";
  for (const simulate::GemmReference& reference : references.windows)
    for (report::BarPanel& panel : windows.panels) {
      if (panel.title != simulate::to_text(reference.shape)) continue;
      for (BarGroup& group : panel.groups) {
        if (group.name != group_name(reference.preloaded)) continue;
        const auto before = std::find_if(group.bars.begin(), group.bars.end(), [&](const Bar& bar) {
          return bar.kind == (reference.is_tiled ? tiled_kind : std::size_t{0});
        });
        group.bars.insert(before, {.kind = reference.is_tiled ? published_tiled_kind : published_all_kind,
                                   .value = reference.value,
                                   .range = report::range_around(reference.value, reference.uncertainty),
                                   .remark = reference.configuration});
      }
    }
}

}  // namespace

std::vector<GemmChart> gemm_charts(const std::vector<GemmRow>& rows, const simulate::GemmReferences* references) {
  BarChart windows = chart_of(
      rows,
      {.title = "Windows of matrix products",
       .remark =
           "simulated by Tutti over all work, and over the tiled pipeline alone, beside Tutti's closed-form model",
       .kinds = {"all work", "all work, model", "tiled", "tiled, model", "all work, published", "tiled, published"},
       .panels = {}},
      "time, ns", false, [](const simulate::GemmAnswer& answer) {
        return std::vector<double>{answer.all, answer.model.all(), answer.tiled, answer.model.tiled()};
      });
  std::string origin = "; simulated by Tutti";
  if (references != nullptr) {
    add_published(windows, *references);
    origin += fmt::format(" on the processing element \"{}\", after {} ({})", references->element, references->source,
                          references->date);
  }
  BarChart stages = chart_of(
      rows,
      {.title = "Work of the stages of matrix products",
       .remark = "stages of different tiles overlap: with several tiles their sum is longer than the product" + origin,
       .kinds = words_of(simulate::kGemmStageNames),
       .panels = {}},
      "at work, ns", true, [](const simulate::GemmAnswer& answer) {
        std::vector<double> values;
        for (const simulate::GemmUse& stage : answer.stages) values.push_back(stage.busy);
        return values;
      });
  BarChart occupancy = chart_of(rows,
                                {.title = "Occupancy of the units in matrix products",
                                 .remark = "share of the tiled pipeline's window in which a unit is at work" + origin,
                                 .kinds = words_of(simulate::kGemmUnitNames),
                                 .panels = {}},
                                "percent", false, [](const simulate::GemmAnswer& answer) {
                                  std::vector<double> values;
                                  for (const simulate::GemmUse& unit : answer.units_tiled)
                                    values.push_back(answer.tiled > 0 ? unit.busy / answer.tiled * 100 : 0);
                                  return values;
                                });
  for (report::BarPanel& panel : occupancy.panels) panel.reaches = 100;
  return {{"windows", std::move(windows)}, {"stages", std::move(stages)}, {"occupancy", std::move(occupancy)}};
}

}  // namespace tutti::cli
