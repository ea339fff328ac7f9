// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <ostream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "cli/interrupt.hpp"
#include "cli/milestone/ccl/ccl_parts.hpp"
#include "cli/milestone/draw.hpp"
#include "cli/milestone/gemm/gemm_parts.hpp"
#include "cli/milestone/make.hpp"
#include "cli/milestone/milestone.hpp"

namespace tutti::cli {

namespace {

constexpr std::string_view kFast = "MILESTONE_FAST";

std::vector<Milestone> all_milestones() {
  return {
      {.name = "milestone-ccl",
       .title = "Milestone: collectives",
       .about = "Collectives measured, simulated and compared with published figures: rows, tables, figures, a page",
       .parts = ccl_parts()},
      {.name = "milestone-gemm",
       .title = "Milestone: matrix products",
       .about = "Matrix products on a processing element, and what all-reduces take of a layer: rows, tables, figures, "
                "a page",
       .parts = gemm_parts()}};
}

// Whether only stored rows are drawn.
Result<bool> is_fast(const Context& context) {
  const std::string value = context.environment.lookup(kFast).value_or("");
  if (value.empty() || value == "0") return false;
  if (value == "1") return true;
  return wrong_argument(fmt::format("{} is {}; it takes 0 and 1", kFast, in_quotes(value)));
}

Result<std::vector<const Part*>> parts_of(const Milestone& milestone, const std::vector<std::string>& names) {
  std::vector<const Part*> parts;
  std::vector<std::string_view> known;
  for (const Part& each : milestone.parts) known.push_back(each.name);
  const auto is_asked = [&](const Part& part) {
    return names.empty() ||
           std::any_of(names.begin(), names.end(), [&](const auto& name) { return same_name(name, part.name); });
  };
  for (const std::string& name : names)
    if (std::none_of(known.begin(), known.end(), [&](const auto& each) { return same_name(name, each); }))
      return wrong_argument(fmt::format("--part: {} is no part of {}{}; the parts are {}", in_quotes(name),
                                        milestone.name, nearest_hint(name, known), fmt::join(known, ", ")));
  for (const Part& each : milestone.parts)
    if (is_asked(each)) parts.push_back(&each);
  return parts;
}

Table summary_of(const Drawn& drawn) {
  Table table({{"part"}, {"cases"}, {"rows"}, {"files"}, {"result"}, {.name = "answer", .wrap_at = 72}});
  for (const DrawnPart& each : drawn.parts) {
    const PartRows& rows = each.rows;
    const std::string result = !rows.origin().left_out.empty() ? "left out"
                               : !rows.is_complete()           ? "not complete"
                               : !each.is_right()              ? "not right"
                                                               : "right";
    table.add_row({std::string(each.part->name), static_cast<std::int64_t>(rows.cases().size()),
                   static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(each.files.size()), result,
                   !rows.origin().left_out.empty() ? Cell(rows.origin().left_out)
                   : each.shown.answer.empty()     ? Cell()
                                                   : Cell(each.shown.answer.front())});
  }
  for (const UndrawnPart& each : drawn.undrawn)
    table.add_row({each.name, Cell(), Cell(), Cell(), std::string("not drawn"), each.reason.to_string()});
  return table;
}

// What is in the folder, for people.
void tell(const Drawn& drawn, const MilestoneFolder& folder, const Context& context) {
  context.out << to_aligned(summary_of(drawn));
  for (const DrawnPart& each : drawn.parts)
    for (const CaseRows& one : each.rows.cases())
      if (!one.error.empty())
        context.error << fmt::format("{}: {}: {}\n", each.part->name, printable(one.name), printable(one.error));
  for (const UndrawnPart& each : drawn.undrawn)
    context.error << fmt::format("{0}: not drawn: {1}; --part {0} makes its rows anew\n", each.name,
                                 printable(each.reason.to_string()));
  if (!drawn.missing.empty()) context.error << fmt::format("parts without rows: {}\n", fmt::join(drawn.missing, ", "));
  for (const std::string& each : drawn.notes) context.error << each << "\n";
  context.error << fmt::format("{}: any browser shows it; index.json says what was made\n",
                               printable(folder.file(kReportFile)));
}

}  // namespace

Exit run_milestone(const Milestone& milestone, const MilestoneRequest& request, const BenchWorld& world,
                   const Context& context) {
  const auto refuse = [&](const Status& status) { return failed(context, "run", status); };
  const Result<bool> fast = is_fast(context);
  if (!fast.ok()) return refuse(fast.status());
  const Result<std::vector<const Part*>> parts = parts_of(milestone, request.parts);
  if (!parts.ok()) return refuse(parts.status());
  const std::string path = request.folder.empty() ? std::string(milestone.name) : request.folder;
  const Result<MilestoneFolder> folder = MilestoneFolder::open(path, milestone.name, !*fast);
  if (!folder.ok()) return refuse(folder.status());
  Making making;
  if (!*fast) {
    const Result<Making> made = make_rows(milestone, *parts, *folder, request.is_full, world, context);
    if (!made.ok()) return refuse(made.status());
    making = *made;
  }
  if (making.is_interrupted && making.num_before + making.num_made == 0) {
    context.error << "interrupted before anything was made\n";
    return Interrupt::exit();
  }
  const Result<Drawn> drawn = draw_milestone(milestone, *folder, context);
  if (!drawn.ok()) return refuse(drawn.status());
  tell(*drawn, *folder, context);
  if (making.is_interrupted) {
    context.error << fmt::format("interrupted: {} of {} are done and kept; to continue, repeat the command\n",
                                 making.num_before + making.num_made, counted(making.num_cases, "case"));
    return Interrupt::exit();
  }
  return drawn->is_right() ? Exit::done : Exit::found_wrong;
}

std::vector<MilestoneBench> milestone_benches() {
  std::vector<MilestoneBench> benches;
  for (Milestone& each : all_milestones()) {
    const auto milestone = std::make_shared<const Milestone>(std::move(each));
    std::vector<std::string> parts;
    for (const Part& part : milestone->parts) parts.emplace_back(part.name);
    benches.push_back(
        {.name = std::string(milestone->name),
         .about = std::string(milestone->about),
         .parts = std::move(parts),
         .run = [milestone](const MilestoneRequest& request, const BenchWorld& world, const Context& context) {
           return run_milestone(*milestone, request, world, context);
         }});
  }
  return benches;
}

}  // namespace tutti::cli
