// SPDX-License-Identifier: Apache-2.0
#include "cli/milestone/draw.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "cli/milestone/png.hpp"
#include "cli/milestone/rows_file.hpp"
#include "cli/report/report_page.hpp"

namespace tutti::cli {

namespace {

using report::Fact;
using report::Section;

// A page is passed on; longer tables are in the CSV files.
constexpr std::size_t kMostPageRows = 2000;

std::string svg_of(const PartFigure& figure) {
  if (figure.lines) return to_svg(*figure.lines);
  if (figure.bars) return to_svg(*figure.bars);
  return figure.svg;
}

// What a reader must know of the part beside what it says itself.
std::vector<report::Caution> cautions_of(const DrawnPart& drawn) {
  std::vector<report::Caution> cautions;
  const PartRows& rows = drawn.rows;
  if (!rows.origin().left_out.empty())
    cautions.push_back({fmt::format("Left out on this machine: {}.", rows.origin().left_out)});
  if (!rows.is_complete())
    cautions.push_back({fmt::format("Not complete: {} of {} were made.", rows.cases().size(),
                                    counted(rows.origin().cases.size(), "case")),
                        true});
  for (const CaseRows& each : rows.cases())
    if (!each.error.empty()) cautions.push_back({fmt::format("{}: {}", each.name, each.error), true});
  cautions.insert(cautions.end(), drawn.shown.cautions.begin(), drawn.shown.cautions.end());
  return cautions;
}

std::vector<Fact> facts_of(const DrawnPart& drawn) {
  const PartOrigin& origin = drawn.rows.origin();
  std::vector<Fact> facts = {{"Command", origin.command},
                             {"Begun", origin.begun},
                             {"Machine", machine_in_figures(origin.machine)},
                             {"Tutti", origin.tutti},
                             {"Form", origin.is_full ? "full" : "short (--full makes more)"}};
  std::string files;
  for (const MadeFile& each : drawn.files) files += (files.empty() ? "" : ", ") + each.name;
  facts.push_back({"Files", files});
  std::erase_if(facts, [](const Fact& fact) { return fact.value.empty(); });
  return facts;
}

report::NamedTable rows_table(const DrawnPart& drawn) {
  const Table& all = drawn.rows.table();
  report::NamedTable named{.title = "All rows", .table = Table(all.columns()), .remark = {}};
  const std::size_t count = std::min(all.rows().size(), kMostPageRows);
  for (std::size_t each = 0; each < count; ++each) named.table.add_row(all.rows()[each]);
  if (count < all.rows().size())
    named.remark = fmt::format("The table has the first {} of {} rows; {}.csv has all.", count, all.rows().size(),
                               drawn.part->name);
  return named;
}

// On the page each panel stands alone, so that its title says which chart it is of.
template <typename Chart>
Chart with_whole_titles(Chart chart) {
  for (auto& panel : chart.panels) {
    const bool is_said = chart.title.find(panel.title) != std::string::npos;
    panel.title = is_said ? chart.title : fmt::format("{}: {}", chart.title, panel.title);
  }
  return chart;
}

Section section_of(const DrawnPart& drawn) {
  Section section{.title = std::string(drawn.part->title),
                  .answer = drawn.shown.answer,
                  .cautions = cautions_of(drawn),
                  .summaries = {},
                  .facts = facts_of(drawn),
                  .lines = {},
                  .bars = {},
                  .tables = {}};
  for (const PartTable& each : drawn.shown.tables) section.summaries.push_back(each.table);
  for (const PartFigure& each : drawn.shown.figures) {
    // A chart whose panels are not over sizes of lines only has no live form.
    const bool is_live = each.lines ? each.lines->sizes.empty() : each.bars.has_value();
    if (!is_live) {
      section.pictures.push_back({.title = each.title, .svg = svg_of(each)});
    } else if (each.lines) {
      section.lines.push_back(with_whole_titles(*each.lines));
    } else {
      section.bars.push_back(with_whole_titles(*each.bars));
    }
  }
  if (drawn.rows.size() > 0) section.tables.push_back(rows_table(drawn));
  return section;
}

std::string page_of(const Milestone& milestone, const Drawn& drawn) {
  const PartOrigin& origin = drawn.parts.front().rows.origin();
  report::Page page{.title = std::string(milestone.title),
                    .where = fmt::format("{}; begun {}", machine_in_figures(origin.machine), origin.begun),
                    .made_by = fmt::format("Tutti {}", origin.tutti),
                    .sections = {}};
  for (const DrawnPart& each : drawn.parts) page.sections.push_back(section_of(each));
  if (!drawn.missing.empty())
    page.sections.front().cautions.push_back(
        {fmt::format("Parts that were not made: {}.", fmt::join(drawn.missing, ", "))});
  for (const UndrawnPart& each : drawn.undrawn)
    page.sections.front().cautions.push_back(
        {fmt::format("The part {} is not drawn: {}.", each.name, each.reason.to_string()), true});
  return to_html(page);
}

// Writes the files of one part.
class PartFiles {
 public:
  PartFiles(DrawnPart& drawn, const MilestoneFolder& folder, const PngMaker& png)
      : drawn_(drawn), folder_(folder), png_(png) {}

  Status write_all(std::vector<std::string>& notes) {
    const std::string name(drawn_.part->name);
    drawn_.files = {{name + ".jsonl", "rows"}};
    TUTTI_TRY(write(name + ".csv", "rows", to_csv(drawn_.rows.table())));
    for (const std::string& each : drawn_.part->keeps)
      if (std::filesystem::exists(folder_.file(each))) drawn_.files.push_back({each, "data"});
    for (const PartTable& each : drawn_.shown.tables) {
      TUTTI_TRY(write(each.file + ".md", "table",
                      fmt::format("# {}\n\n{}{}", each.table.title, to_markdown(each.table.table),
                                  each.table.remark.empty() ? "" : "\n" + each.table.remark + "\n")));
      if (each.is_data) TUTTI_TRY(write(each.file + ".csv", "table", to_csv(each.table.table)));
    }
    for (const PartFigure& each : drawn_.shown.figures) {
      TUTTI_TRY(write(each.file + ".svg", "figure", svg_of(each)));
      if (!png_.is_there()) continue;
      const Status made = png_.make(folder_.file(each.file + ".svg"), folder_.file(each.file + ".png"));
      if (made.ok()) drawn_.files.push_back({each.file + ".png", "figure"});
      if (!made.ok()) notes.push_back(made.to_string());
    }
    return {};
  }

 private:
  Status write(const std::string& name, const char* kind, const std::string& text) {
    TUTTI_TRY(folder_.write(name, text));
    drawn_.files.push_back({name, kind});
    return {};
  }

  DrawnPart& drawn_;
  const MilestoneFolder& folder_;
  const PngMaker& png_;
};

// What an earlier run made and this one did not.
void remove_others(const Drawn& drawn, const std::vector<std::string>& before, const MilestoneFolder& folder) {
  std::set<std::string> names;
  for (const DrawnPart& part : drawn.parts)
    for (const MadeFile& each : part.files) names.insert(each.name);
  for (const UndrawnPart& part : drawn.undrawn)
    for (const MadeFile& each : part.files) names.insert(each.name);
  for (const MadeFile& each : drawn.whole) names.insert(each.name);
  for (const std::string& each : before)
    if (!names.contains(each) && each != kIndexFile) folder.remove(each);
}

// Nothing if the part has no rows.
Result<std::optional<DrawnPart>> show_part(const Milestone& milestone, const Part& part,
                                           const MilestoneFolder& folder) {
  const RowsOwner owner{std::string(milestone.name), std::string(part.name)};
  TUTTI_TRY_ASSIGN(std::optional<PartRows> rows, read_rows(folder.path(), owner, part.columns, part.numbers));
  if (!rows) return std::optional<DrawnPart>();
  TUTTI_TRY_ASSIGN(PartShown shown, part.show(*rows));
  return std::optional(DrawnPart{.part = &part, .rows = std::move(*rows), .shown = std::move(shown), .files = {}});
}

UndrawnPart undrawn_part(const Part& part, const MilestoneFolder& folder, Status reason) {
  const std::string rows = fmt::format("{}.jsonl", part.name);
  std::vector<MadeFile> files = files_of_part(folder.file(kIndexFile), part.name);
  if (std::none_of(files.begin(), files.end(), [&](const MadeFile& each) { return each.name == rows; }))
    files.insert(files.begin(), {rows, "rows"});
  return {.name = std::string(part.name), .reason = std::move(reason), .files = std::move(files)};
}

}  // namespace

Result<Drawn> draw_milestone(const Milestone& milestone, const MilestoneFolder& folder, const Context& context) {
  const PngMaker png(context.environment);
  Drawn drawn;
  for (const Part& part : milestone.parts) {
    Result<std::optional<DrawnPart>> shown = show_part(milestone, part, folder);
    if (!shown.ok())
      drawn.undrawn.push_back(undrawn_part(part, folder, shown.status()));
    else if (shown->has_value())
      drawn.parts.push_back(std::move(**shown));
    else
      drawn.missing.emplace_back(part.name);
  }
  if (drawn.parts.empty() && !drawn.undrawn.empty())
    return drawn.undrawn.front().reason.with_context(fmt::format("cannot draw {}", drawn.undrawn.front().name));
  if (drawn.parts.empty())
    return Status(Code::system, fmt::format("{} has no rows of {}; run it without MILESTONE_FAST to make them",
                                            in_quotes(folder.path()), milestone.name));
  if (!png.is_there()) drawn.notes.push_back(png.reason());
  for (DrawnPart& each : drawn.parts) TUTTI_TRY(PartFiles(each, folder, png).write_all(drawn.notes));
  TUTTI_TRY(folder.write(kReportFile, page_of(milestone, drawn)));
  drawn.whole = {{std::string(kReportFile), "page"}, {std::string(kIndexFile), "index"}};
  const std::vector<std::string> before = files_in_index(folder.file(kIndexFile));
  TUTTI_TRY(folder.write(kIndexFile, index_of(milestone, drawn)));
  remove_others(drawn, before, folder);
  return drawn;
}

}  // namespace tutti::cli
