#include "cli/gemm_figures.hpp"

#include <functional>
#include <utility>

#include <fmt/format.h>

#include "report/chart.hpp"

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

// The bars of a row are of one kind after the other.
using ValuesOf = std::function<std::vector<double>(const simulate::GemmAnswer&)>;

BarChart chart_of(const std::vector<GemmRow>& rows, BarChart chart, std::string_view y_name, bool is_stacked,
                  const ValuesOf& values_of) {
  chart.columns = kColumns;
  for (const GemmRow& row : rows) {
    const std::string title = simulate::to_text(row.work.shape);
    if (chart.panels.empty() || chart.panels.back().title != title)
      chart.panels.push_back({.title = title, .y_name = std::string(y_name), .is_stacked = is_stacked, .groups = {}});
    BarGroup group{.name = fmt::format("{} preloaded", name_of(row.work.preloaded)), .bars = {}};
    for (const double value : values_of(row.answer)) group.bars.push_back({.kind = group.bars.size(), .value = value});
    chart.panels.back().groups.push_back(std::move(group));
  }
  return chart;
}

}  // namespace

std::vector<Figure> gemm_figures(const std::vector<GemmRow>& rows) {
  const BarChart windows =
      chart_of(rows,
               {.title = "Windows of matrix products",
                .remark = "over all work, and over the tiled pipeline alone, beside the model",
                .kinds = {"all work", "all work, model", "tiled", "tiled, model"},
                .panels = {}},
               "time, ns", false, [](const simulate::GemmAnswer& answer) {
                 return std::vector<double>{answer.all, answer.model.all(), answer.tiled, answer.model.tiled()};
               });
  const BarChart stages = chart_of(rows,
                                   {.title = "Work of the stages of matrix products",
                                    .remark = "stages overlap, so that together they take longer than the product",
                                    .kinds = words_of(simulate::kGemmStageNames),
                                    .panels = {}},
                                   "at work, ns", true, [](const simulate::GemmAnswer& answer) {
                                     std::vector<double> values;
                                     for (const simulate::GemmUse& stage : answer.stages) values.push_back(stage.busy);
                                     return values;
                                   });
  const BarChart occupancy = chart_of(rows,
                                      {.title = "Occupancy of the units in matrix products",
                                       .remark = "share of the tiled pipeline's window in which a unit is at work",
                                       .kinds = words_of(simulate::kGemmUnitNames),
                                       .panels = {}},
                                      "percent", false, [](const simulate::GemmAnswer& answer) {
                                        std::vector<double> values;
                                        for (const simulate::GemmUse& unit : answer.units_tiled)
                                          values.push_back(answer.tiled > 0 ? unit.busy / answer.tiled * 100 : 0);
                                        return values;
                                      });
  return {{"windows.svg", to_svg(windows)}, {"stages.svg", to_svg(stages)}, {"occupancy.svg", to_svg(occupancy)}};
}

}  // namespace tutti::cli
