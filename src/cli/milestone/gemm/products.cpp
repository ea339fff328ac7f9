// SPDX-License-Identifier: Apache-2.0
// Matrix products on a processing element: eight shapes with each placement of the operands (row C12). The rows hold
// all that the three figures need.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/machine/gemm_figures.hpp"
#include "cli/milestone/gemm/gemm_parts.hpp"
#include "cli/milestone/shared/published.hpp"
#include "cli/milestone/shared/simulated.hpp"
#include "fabric/files/load.hpp"
#include "simulate/gemm/gemm.hpp"

namespace tutti::cli {

namespace {

using simulate::kGemmStageNames;
using simulate::kGemmUnitNames;
using simulate::Preloaded;

constexpr std::string_view kGemmFigures = "accelerator_gemm";

std::vector<Column> product_columns() {
  std::vector<Column> columns = {{"shape"}, {"preloaded"}, {"element_bytes"}, {"tiles"}};
  for (const char* name :
       {"all_ns", "tiled_ns", "model_preload_ns", "model_fill_ns", "model_busy_ns", "model_drain_ns"})
    columns.push_back(time_column(name));
  columns.push_back({"slowest"});
  for (const std::string_view stage : kGemmStageNames) {
    columns.push_back({fmt::format("stage_{}_records", stage)});
    columns.push_back(time_column(fmt::format("stage_{}_ns", stage)));
  }
  for (const std::string_view unit : kGemmUnitNames) {
    columns.push_back({fmt::format("unit_{}_records", unit)});
    columns.push_back(time_column(fmt::format("unit_{}_ns", unit)));
    columns.push_back(time_column(fmt::format("unit_{}_tiled_ns", unit)));
  }
  return columns;
}

// Without what adding up leaves in the last digits: millionths of a nanosecond.
double nanos_of(double value) { return std::round(value * 1e6) / 1e6; }

Result<std::vector<PartRow>> rows_of_product(const simulate::GemmWork& work, const fabric::ProcessingElement& element) {
  TUTTI_TRY_ASSIGN(const simulate::GemmAnswer answer, simulate::simulate_gemm(work, element));
  PartRow row = {simulate::to_text(work.shape),
                 std::string(name_of(work.preloaded)),
                 whole_cell(work.element_size),
                 whole_cell(answer.tiles),
                 nanos_of(answer.all),
                 nanos_of(answer.tiled),
                 nanos_of(answer.model.preload),
                 nanos_of(answer.model.fill),
                 nanos_of(answer.model.busy),
                 nanos_of(answer.model.drain),
                 std::string(kGemmUnitNames[static_cast<std::size_t>(answer.model.slowest)])};
  for (const simulate::GemmUse& stage : answer.stages) {
    row.push_back(whole_cell(stage.records));
    row.emplace_back(nanos_of(stage.busy));
  }
  for (std::size_t unit = 0; unit < kGemmUnitNames.size(); ++unit) {
    row.push_back(whole_cell(answer.units[unit].records));
    row.emplace_back(nanos_of(answer.units[unit].busy));
    row.emplace_back(nanos_of(answer.units_tiled[unit].busy));
  }
  return std::vector<PartRow>{std::move(row)};
}

Result<std::vector<PartCase>> product_cases(const PartWorld&) {
  TUTTI_TRY_ASSIGN(const simulate::GemmReferences references, published_gemm(kGemmFigures));
  TUTTI_TRY_ASSIGN(const fabric::ProcessingElement element, fabric::load_processing_element(references.element));
  std::vector<PartCase> cases;
  for (const simulate::GemmShape& shape : simulate::kGemmShapes)
    for (std::size_t placement = 0; placement < simulate::kPreloadedNames.size(); ++placement) {
      const simulate::GemmWork work{.shape = shape, .preloaded = static_cast<Preloaded>(placement)};
      cases.push_back(
          {.name = fmt::format("{}, {} preloaded", simulate::to_text(shape), simulate::kPreloadedNames[placement]),
           .make = [work, element] { return rows_of_product(work, element); }});
    }
  return cases;
}

// What the figures are of, back from a row.
Result<GemmRow> product_in(const PartRows& rows, std::size_t row) {
  GemmRow product;
  TUTTI_TRY_ASSIGN(product.work.shape, simulate::parse_gemm_shape(rows.text(row, "shape")));
  const std::optional<Preloaded> preloaded = simulate::preloaded_from_name(rows.text(row, "preloaded"));
  if (!preloaded) return wrong_argument(fmt::format("row {}: preloaded is none, one or both", row));
  product.work.preloaded = *preloaded;
  const auto number = [&](const std::string& column) { return rows.number(row, column).value_or(0); };
  simulate::GemmAnswer& answer = product.answer;
  answer.all = number("all_ns");
  answer.tiled = number("tiled_ns");
  answer.model = {.preload = number("model_preload_ns"),
                  .fill = number("model_fill_ns"),
                  .busy = number("model_busy_ns"),
                  .drain = number("model_drain_ns")};
  for (std::size_t stage = 0; stage < kGemmStageNames.size(); ++stage)
    answer.stages[stage].busy = number(fmt::format("stage_{}_ns", kGemmStageNames[stage]));
  for (std::size_t unit = 0; unit < kGemmUnitNames.size(); ++unit)
    answer.units_tiled[unit].busy = number(fmt::format("unit_{}_tiled_ns", kGemmUnitNames[unit]));
  return product;
}

// The simulated window that a published one is of.
std::optional<double> window_of(const std::vector<GemmRow>& products, const simulate::GemmReference& reference) {
  for (const GemmRow& each : products)
    if (simulate::to_text(each.work.shape) == simulate::to_text(reference.shape) &&
        each.work.preloaded == reference.preloaded)
      return reference.is_tiled ? each.answer.tiled : each.answer.all;
  return std::nullopt;
}

constexpr double kMostError = 0.10;  // row C12

// Empty if all is published.
std::string inferred_in_words(const simulate::GemmReferences& references) {
  const bool is_inferred = std::any_of(references.windows.begin(), references.windows.end(),
                                       [](const simulate::GemmReference& each) { return each.is_inferred; });
  return is_inferred ? "Published windows do not say which operands are preloaded: that is inferred from the times."
                     : "";
}

PartTable table_of_published(const std::vector<GemmRow>& products, const simulate::GemmReferences& references,
                             bool& is_right) {
  Table table({{"window"},
               {.name = "published_ns", .digits = 4},
               {.name = "simulated_ns", .digits = 4},
               {.name = "error_percent", .digits = kShareDigits}});
  for (const simulate::GemmReference& reference : references.windows) {
    const std::optional<double> simulated = window_of(products, reference);
    if (!simulated) continue;
    const double error = *simulated / reference.value - 1;
    is_right = is_right && std::abs(error) <= kMostError;
    table.add_row({reference.configuration, reference.value, *simulated, error * 100});
  }
  return {.file = "products_published",
          .table = {.title = "Published windows beside the simulated ones",
                    .table = std::move(table),
                    .remark = fmt::format("{}. {}", cited(references.source, references.date),
                                          inferred_in_words(references))},
          .is_data = true};
}

// How many operations each stage and each unit has done.
PartTable table_of_records(const PartRows& rows) {
  std::vector<std::string> names = {"shape", "preloaded", "tiles"};
  std::vector<Column> columns = {{"shape"}, {"preloaded"}, {"tiles"}};
  const auto add = [&](std::string name) {
    names.push_back(name + "_records");
    columns.push_back({.name = std::move(name)});
  };
  for (const std::string_view stage : kGemmStageNames) add(fmt::format("stage_{}", stage));
  for (const std::string_view unit : kGemmUnitNames) add(fmt::format("unit_{}", unit));
  Table table(std::move(columns));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::vector<Cell> cells;
    for (const std::string& name : names) cells.push_back(rows.cell(row, name));
    table.add_row(std::move(cells));
  }
  return {.file = "products_records",
          .table = {.title = "Records of each stage and unit",
                    .table = std::move(table),
                    .remark = "A record is one operation: a tile in a stage, or a whole operand that is preloaded."},
          .is_data = true};
}

// The greatest share by which the model is off, for one of the two windows.
template <typename OfModel>
double greatest_error(const std::vector<GemmRow>& products, double simulate::GemmAnswer::*window, OfModel of_model) {
  double greatest = 0;
  for (const GemmRow& each : products)
    if (const double simulated = each.answer.*window; simulated > 0)
      greatest = std::max(greatest, std::abs(of_model(each.answer.model) / simulated - 1));
  return greatest;
}

Result<PartShown> show_products(const PartRows& rows) {
  TUTTI_TRY_ASSIGN(const simulate::GemmReferences references, published_gemm(kGemmFigures));
  std::vector<GemmRow> products;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    TUTTI_TRY_ASSIGN(GemmRow product, product_in(rows, row));
    products.push_back(std::move(product));
  }
  PartShown shown;
  if (products.empty()) return shown;
  for (GemmChart& each : gemm_charts(products, &references))
    shown.figures.push_back(
        {.file = fmt::format("products_{}", each.name), .title = each.chart.title, .bars = std::move(each.chart)});
  shown.tables.push_back(table_of_published(products, references, shown.is_right));
  shown.tables.push_back(table_of_records(rows));
  const double error_of_all = greatest_error(products, &simulate::GemmAnswer::all,
                                             [](const simulate::GemmModel& model) { return model.all(); });
  const double error_of_tiled = greatest_error(products, &simulate::GemmAnswer::tiled,
                                               [](const simulate::GemmModel& model) { return model.tiled(); });
  shown.answer = {fmt::format(
      "The closed-form model is within {:.1f} % of the simulated window over all work of each of {} products, and "
      "within {:.1f} % of that of the tiled pipeline alone.",
      error_of_all * 100, products.size(), error_of_tiled * 100)};
  if (std::string words = inferred_in_words(references); !words.empty()) shown.answer.push_back(std::move(words));
  for (const simulate::GemmReference& reference : references.windows)
    if (const std::optional<double> simulated = window_of(products, reference))
      shown.answer.push_back(fmt::format("{}: published {:.0f} ns, simulated {:.0f}.", reference.configuration,
                                         reference.value, *simulated));
  return shown;
}

}  // namespace

Part products_part() {
  return {.name = "products",
          .title = "Matrix products on a processing element",
          .about = "eight shapes with none, one and both operands preloaded: windows, stages, occupancy",
          .columns = product_columns(),
          .cases = product_cases,
          .show = show_products};
}

}  // namespace tutti::cli
