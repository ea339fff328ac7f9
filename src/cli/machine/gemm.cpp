// SPDX-License-Identifier: Apache-2.0
// `tutti gemm`: how long matrix products take on a processing element, and what its stages, units and ports do.
#include "simulate/gemm/gemm.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/system/file.hpp"
#include "base/text.hpp"
#include "bench/views/table.hpp"
#include "cli/commands.hpp"
#include "cli/machine/gemm_figures.hpp"
#include "cli/output.hpp"
#include "data/type.hpp"
#include "fabric/files/load.hpp"
#include "simulate/gemm/gemm_references.hpp"

namespace tutti::cli {

namespace {

struct GemmArguments {
  std::vector<std::string> shapes;
  std::string element;  // empty: the accelerator, or what the references are of
  std::string preload = "none,one,both";
  std::string type = "f16";
  bool stages = false;
  std::string against;
  std::string figures;
  OutputOptions output;
};

constexpr std::string_view kUsualElement = "accelerator";
constexpr std::uint64_t kMostBytesOfReferences = std::uint64_t{4} << 20U;

std::int64_t count_cell(std::uint64_t number) { return static_cast<std::int64_t>(number); }
std::int64_t bytes_cell(double bytes) { return std::llround(bytes); }
double percent(double part, double whole) { return whole > 0 ? part / whole * 100 : 0; }
double flops(const simulate::GemmShape& shape) { return 2.0 * shape.m * shape.k * shape.n; }
std::vector<tutti::Cell> names_of_work(const simulate::GemmWork& work) {
  return {simulate::to_text(work.shape), std::string(name_of(work.preloaded))};
}

// Columns for those who keep the data are left out of the table for people.
std::vector<Column> gemm_columns() {
  std::vector<Column> made;
  for (const char* name :
       {"shape", "preloaded", "tiles", "all_ns", "tiled_ns", "model_all_ns", "model_tiled_ns", "slowest", "tflops"})
    made.push_back({.name = name, .digits = kTimeDigits});
  for (const std::string_view unit : simulate::kGemmUnitNames)
    made.push_back({.name = fmt::format("{}_percent", unit), .digits = kShareDigits});
  const auto aside = [&](std::string name) { made.push_back({.name = std::move(name), .is_aside = true}); };
  for (const char* name :
       {"m", "k", "n", "element_bytes", "model_preload_ns", "model_fill_ns", "model_busy_ns", "model_drain_ns"})
    aside(name);
  for (const std::string_view unit : simulate::kGemmUnitNames)
    for (const char* what : {"records", "ns", "percent_of_all"}) aside(fmt::format("{}_{}", unit, what));
  for (const std::string_view stage : simulate::kGemmStageNames)
    for (const char* what : {"records", "bytes", "ns"}) aside(fmt::format("stage_{}_{}", stage, what));
  for (const std::string_view port : simulate::kGemmPortNames)
    for (const char* what : {"bytes", "ns", "percent_of_all"}) aside(fmt::format("{}_{}", port, what));
  return made;
}

Table table_of(const std::vector<GemmRow>& rows) {
  Table table(gemm_columns());
  for (const auto& [work, answer] : rows) {
    std::vector<tutti::Cell> cells = names_of_work(work);
    cells.insert(cells.end(),
                 {count_cell(answer.tiles), answer.all, answer.tiled, answer.model.all(), answer.model.tiled(),
                  std::string(simulate::kGemmUnitNames[static_cast<std::size_t>(answer.model.slowest)]),
                  answer.tiled > 0 ? tutti::Cell(flops(work.shape) / answer.tiled / 1e3) : tutti::Cell()});
    for (const simulate::GemmUse& unit : answer.units_tiled) cells.emplace_back(percent(unit.busy, answer.tiled));
    cells.insert(cells.end(), {std::int64_t{work.shape.m}, std::int64_t{work.shape.k}, std::int64_t{work.shape.n},
                               std::int64_t{work.element_size}, answer.model.preload, answer.model.fill,
                               answer.model.busy, answer.model.drain});
    for (const simulate::GemmUse& unit : answer.units)
      cells.insert(cells.end(), {count_cell(unit.records), unit.busy, percent(unit.busy, answer.all)});
    for (const simulate::GemmUse& stage : answer.stages)
      cells.insert(cells.end(), {count_cell(stage.records), bytes_cell(stage.bytes), stage.busy});
    for (const simulate::LinkUse& port : answer.ports)
      cells.insert(cells.end(), {bytes_cell(port.bytes), port.busy, percent(port.busy, answer.all)});
    table.add_row(std::move(cells));
  }
  return table;
}

// A row for each stage, unit and port.
class Parts {
 public:
  void add(const GemmRow& row) {
    const simulate::GemmAnswer& answer = row.answer;
    const auto share = [&](double busy) { return tutti::Cell(percent(busy, answer.tiled)); };
    for (std::size_t i = 0; i < answer.stages.size(); ++i) {
      const bool is_tiled = i != static_cast<std::size_t>(simulate::GemmStage::preload);
      add(row, "stage", simulate::kGemmStageNames[i], answer.stages[i],
          is_tiled ? share(answer.stages[i].busy) : tutti::Cell());
    }
    for (std::size_t i = 0; i < answer.units.size(); ++i)
      add(row, "unit", simulate::kGemmUnitNames[i], answer.units[i], share(answer.units_tiled[i].busy));
    for (std::size_t i = 0; i < answer.ports.size(); ++i) {
      const simulate::LinkUse& port = answer.ports[i];
      std::vector<tutti::Cell> cells = names_of_work(row.work);
      cells.insert(cells.end(), {std::string("port"), std::string(simulate::kGemmPortNames[i]), tutti::Cell(),
                                 bytes_cell(port.bytes), port.busy, tutti::Cell(), tutti::Cell(),
                                 percent(port.busy, answer.all), tutti::Cell()});
      table_.add_row(std::move(cells));
    }
  }
  [[nodiscard]] const Table& table() const { return table_; }

 private:
  void add(const GemmRow& row, const char* what, std::string_view name, const simulate::GemmUse& use,
           tutti::Cell share_of_tiled) {
    if (use.records == 0) return;
    std::vector<tutti::Cell> cells = names_of_work(row.work);
    cells.insert(cells.end(),
                 {std::string(what), std::string(name), count_cell(use.records), bytes_cell(use.bytes), use.busy,
                  use.first, use.last, percent(use.busy, row.answer.all), std::move(share_of_tiled)});
    table_.add_row(std::move(cells));
  }

  Table table_{{{"shape"},
                {"preloaded"},
                {"what"},
                {"name"},
                {"records"},
                {"bytes"},
                {.name = "busy_ns", .digits = kTimeDigits},
                {.name = "first_ns", .digits = kTimeDigits},
                {.name = "last_ns", .digits = kTimeDigits},
                {.name = "percent_of_all", .digits = kShareDigits},
                {.name = "percent_of_tiled", .digits = kShareDigits}}};
};

Result<std::vector<simulate::GemmShape>> shapes_of(const GemmArguments& options) {
  if (options.shapes.empty())
    return std::vector<simulate::GemmShape>(simulate::kGemmShapes.begin(), simulate::kGemmShapes.end());
  std::vector<simulate::GemmShape> shapes;
  for (const std::string& text : options.shapes) {
    const Result<simulate::GemmShape> shape = simulate::parse_gemm_shape(text);
    if (!shape.ok()) return shape.status();
    shapes.push_back(*shape);
  }
  return shapes;
}

Result<std::vector<simulate::Preloaded>> placements_of(const GemmArguments& options) {
  std::vector<simulate::Preloaded> placements;
  for (const std::string_view word : split(options.preload, ',')) {
    const std::optional<simulate::Preloaded> found = simulate::preloaded_from_name(word);
    if (!found) return wrong_argument(fmt::format("--preload: {} is not none, one or both", in_quotes(word)));
    if (std::find(placements.begin(), placements.end(), *found) != placements.end())
      return wrong_argument(fmt::format("--preload: {} is there twice", in_quotes(word)));
    placements.push_back(*found);
  }
  return placements;
}

Result<std::uint32_t> element_size_of(const GemmArguments& options) {
  const std::optional<Type> type = type_from_name(options.type);
  if (!type)
    return wrong_argument(
        fmt::format("--type: {} is not a type; the types are: {}", in_quotes(options.type), all_type_names()));
  return static_cast<std::uint32_t>(size_of(*type));
}

Result<fabric::ProcessingElement> element_of(const GemmArguments& options, std::string_view usual) {
  Result<fabric::ProcessingElement> element =
      fabric::load_processing_element(options.element.empty() ? usual : std::string_view(options.element));
  return element.ok() ? std::move(element) : element.status().with_context("--pe");
}

// Each in a file of its own.
Status write_figures(const std::vector<GemmRow>& rows, const simulate::GemmReferences* references,
                     const GemmArguments& options, const Context& context) {
  const std::string& folder = options.figures;
  const OutputOptions& output = options.output;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return Status::from_errno(fmt::format("--figure: cannot make the folder {}", in_quotes(folder)), error.value());
  for (const GemmChart& figure : gemm_charts(rows, references)) {
    const OutputOptions picture{.path = (std::filesystem::path(folder) / (figure.name + ".svg")).string(),
                                .option = "--figure"};
    if (are_one_file(picture, output))
      return wrong_argument(fmt::format("-o is {}, which --figure writes; give another file", in_quotes(output.path)));
    TUTTI_TRY(write_output(to_svg(figure.chart), picture, context));
  }
  return {};
}

// Each shape with each placement that is asked for.
Result<std::vector<GemmRow>> rows_of(const GemmArguments& options, const std::vector<simulate::GemmShape>& shapes,
                                     std::string_view usual_element) {
  const Result<std::uint32_t> element_size = element_size_of(options);
  if (!element_size.ok()) return element_size.status();
  const Result<std::vector<simulate::Preloaded>> placements = placements_of(options);
  if (!placements.ok()) return placements.status();
  const Result<fabric::ProcessingElement> element = element_of(options, usual_element);
  if (!element.ok()) return element.status();
  std::vector<GemmRow> rows;
  for (const simulate::GemmShape& shape : shapes) {
    for (const simulate::Preloaded preloaded : *placements) {
      const simulate::GemmWork work{.shape = shape, .preloaded = preloaded, .element_size = *element_size};
      const Result<simulate::GemmAnswer> answer = simulate::simulate_gemm(work, *element);
      if (!answer.ok()) return answer.status();
      rows.push_back({work, *answer});
    }
  }
  return rows;
}

// The usual shapes and those of published windows, with these beside the simulated ones.
Status write_figures_against(const simulate::GemmReferences& references, const GemmArguments& options,
                             const Context& context) {
  std::vector<simulate::GemmShape> shapes(simulate::kGemmShapes.begin(), simulate::kGemmShapes.end());
  for (const simulate::GemmReference& reference : references.windows) {
    const bool is_there = std::any_of(shapes.begin(), shapes.end(), [&](const simulate::GemmShape& shape) {
      return simulate::to_text(shape) == simulate::to_text(reference.shape);
    });
    if (!is_there) shapes.push_back(reference.shape);
  }
  const Result<std::vector<GemmRow>> rows = rows_of(options, shapes, references.element);
  return rows.ok() ? write_figures(*rows, &references, options, context) : rows.status();
}

Result<Table> simulate_products(const GemmArguments& options, const Context& context) {
  const Result<std::vector<simulate::GemmShape>> shapes = shapes_of(options);
  if (!shapes.ok()) return shapes.status();
  const Result<std::vector<GemmRow>> rows = rows_of(options, *shapes, kUsualElement);
  if (!rows.ok()) return rows.status();
  if (!options.figures.empty()) TUTTI_TRY(write_figures(*rows, nullptr, options, context));
  if (!options.stages) return table_of(*rows);
  Parts parts;
  for (const GemmRow& row : *rows) parts.add(row);
  return parts.table();
}

// Published windows, each beside the simulated one.
Result<Table> compare_windows(const GemmArguments& options, const Context& context) {
  const Result<std::uint32_t> element_size = element_size_of(options);
  if (!element_size.ok()) return element_size.status();
  const Result<std::string> text = read_file(options.against, kMostBytesOfReferences);
  if (!text.ok()) return text.status();
  const Result<simulate::GemmReferences> references = simulate::read_gemm_references(*text, options.against);
  if (!references.ok()) return references.status();
  const Result<fabric::ProcessingElement> element = element_of(options, references->element);
  if (!element.ok()) return element.status();
  Table table({{"id"},
               {"shape"},
               {"preloaded"},
               {"window"},
               {.name = "published_ns", .digits = kTimeDigits},
               {.name = "simulated_ns", .digits = kTimeDigits},
               {.name = "error_percent", .digits = kShareDigits},
               {.name = "uncertainty_ns", .is_aside = true},
               {.name = "configuration", .is_aside = true},
               {.name = "source", .is_aside = true},
               {.name = "date", .is_aside = true}});
  for (const simulate::GemmReference& reference : references->windows) {
    const Result<simulate::GemmAnswer> answer = simulate::simulate_gemm(
        {.shape = reference.shape, .preloaded = reference.preloaded, .element_size = *element_size}, *element);
    if (!answer.ok()) return answer.status();
    const double simulated = reference.is_tiled ? answer->tiled : answer->all;
    table.add_row({reference.id, simulate::to_text(reference.shape), std::string(name_of(reference.preloaded)),
                   std::string(reference.is_tiled ? "tiled" : "all"), reference.value, simulated,
                   percent(simulated - reference.value, reference.value), reference.uncertainty,
                   reference.configuration, references->source, references->date});
  }
  if (!options.figures.empty()) TUTTI_TRY(write_figures_against(*references, options, context));
  return table;
}

Exit run(const GemmArguments& options, const Context& context) {
  if (const Status status = check_output(options.output); !status.ok()) return failed(context, "gemm", status);
  const Result<Table> table =
      options.against.empty() ? simulate_products(options, context) : compare_windows(options, context);
  if (!table.ok()) return failed(context, "gemm", table.status());
  const Status written = write_output(rendered(*table, options.output), options.output, context);
  return written.ok() ? Exit::done : failed(context, "gemm", written);
}

Run define_gemm(CLI::App& app) {
  const auto options = std::make_shared<GemmArguments>();
  CLI::Option* shapes = app.add_option("shapes", options->shapes,
                                       "Products of an MxK by a KxN matrix, such as 32x3072x32 [eight usual ones]")
                            ->type_name("MxKxN");
  CLI::Option* preload = app.add_option("--preload", options->preload,
                                        "Which operands are loaded before the pipeline begins: none, one (A) or both")
                             ->type_name("LIST")
                             ->capture_default_str();
  app.add_option(
         "--pe", options->element,
         "The processing element, a name or a file; parameters may follow: accelerator,dma_overhead=2ns [accelerator]")
      ->type_name("ELEMENT")
      ->check([](const std::string& text) {
        return std::string(text.empty() ? "'' is not a processing element, such as accelerator" : "");
      });
  app.add_option("--type", options->type, "The elements' type")->type_name("TYPE")->capture_default_str();
  CLI::Option* stages = app.add_flag("--stages", options->stages, "Instead: a row for each stage, unit and port");
  app.add_option("--against", options->against,
                 "Instead: set the published figures of a file beside the simulated ones")
      ->type_name("FILE")
      ->check(objection_to_file)
      ->excludes(shapes)
      ->excludes(preload)
      ->excludes(stages);
  app.add_option(
         "--figure", options->figures,
         "Also: draw SVG pictures into this folder: windows, the work of each stage, the occupancy of each unit")
      ->type_name("FOLDER")
      ->check([](const std::string& path) { return std::string(path.empty() ? "'' is not a folder" : ""); });
  add_output_options(app, options->output);
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace

Command gemm_command() {
  return {.name = "gemm",
          .summary = "Simulate matrix products on a processing element of an accelerator, and show where time goes",
          .examples =
              "tutti gemm\n"
              "tutti gemm 32x3072x32 --preload one --stages\n"
              "tutti gemm --figure products --format csv -o products.csv\n"
              "tutti gemm --against data/references/accelerator_gemm.toml --figure products\n"
              "tutti gemm 512x512x512 --pe accelerator,hbm_bandwidth=512GB/s --json",
          .define = define_gemm};
}

}  // namespace tutti::cli
