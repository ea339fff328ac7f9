// SPDX-License-Identifier: Apache-2.0
// The runtime before and after tuning: `tutti tune` with a small budget writes a table into the folder, and both are
// measured side by side.
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/units.hpp"
#include "base/variables/conf.hpp"
#include "base/variables/variables.hpp"
#include "cli/interrupt.hpp"
#include "cli/milestone/ccl/ccl_parts.hpp"
#include "cli/milestone/shared/measured.hpp"
#include "cli/tune/tune_request.hpp"
#include "cli/tune/tuning.hpp"
#include "runtime/selection/profile_choice.hpp"

namespace tutti::cli {

namespace {

constexpr std::string_view kTunedTable = "tuned_table.toml";
constexpr std::string_view kBeforeTuning = "before tuning";
constexpr std::string_view kAfterTuning = "after tuning";

struct TunedForm {
  std::string_view budget;  // of tuning
  double seconds;           // the same
  std::string_view sizes;
  std::string_view case_budget;
};
constexpr TunedForm kShortForm = {"20s", 20, "8,1K,32K,256K,2M", "150ms"};
constexpr TunedForm kFullForm = {"60s", 60, "8:64M:x4", "1s"};
const TunedForm& form_of(const PartWorld& world) { return world.is_full ? kFullForm : kShortForm; }

// The runtime without a table, and with that one.
Result<SweepPlan> tuned_plan(const PartWorld& world, const std::string& table) {
  const TunedForm& form = form_of(world);
  SweepOptions options;
  options.bench = "all_reduce";
  options.peers = "tutti";
  options.budget = form.case_budget;
  options.axes.push_back(fmt::format("bytes={}", form.sizes));
  options.env.push_back(fmt::format("TUTTI_TABLE=[\"none\", \"{}\"]", table));
  return measured_plan(std::move(options), world);
}

Result<std::vector<std::uint64_t>> tuned_sizes(const PartWorld& world) {
  TUTTI_TRY_ASSIGN(const std::vector<Bytes> list, parse_byte_list(form_of(world).sizes));
  std::vector<std::uint64_t> sizes;
  for (const Bytes each : list) sizes.push_back(each.value());
  return sizes;
}

Result<std::vector<PartCase>> tuned_cases(const PartWorld& world) {
  if (!is_peer_here(world.bench, "tutti"))
    return Status(Code::unsupported, "the peer tutti, which would be tuned, is not here");
  const TunedForm& form = form_of(world);
  TUTTI_TRY_ASSIGN(const SweepPlan plan, tuned_plan(world, "/any.toml"));
  TUTTI_TRY_ASSIGN(const std::vector<std::uint64_t> sizes, tuned_sizes(world));
  std::vector<PartCase> cases = cases_of_sizes(plan, sizes, std::string(form.case_budget));
  for (PartCase& each : cases) {
    each.name += fmt::format(", tuned for {}", form.budget);
    each.seconds += form.seconds / static_cast<double>(cases.size());
  }
  return cases;
}

// What `tutti tune` says goes nowhere but into the error.
Status tune_into(const std::string& path, const PartWorld& world) {
  TuneOptions options;
  options.bytes = world.is_full ? "8:64M:x2" : "8:4M:x8";
  options.ranks = "2";
  options.budget = form_of(world).budget;
  options.output = path;
  options.anyway = true;
  options.keeps_numbers = !world.is_full;
  options.no_store = true;
  TUTTI_TRY_ASSIGN(const TuneRequest request, read_request(options, world.bench, world.context.environment));
  const VariablesReading reading =
      Variables::read(world.context.environment, ConfPaths::standard(world.context.environment));
  const ProfileChoice profile = choose_profile(reading.variables.text(VariableId::profile));
  if (!profile.unread.ok()) return profile.unread;
  const Before before{.table = nullptr, .profile = profile.profile->place.empty() ? profile.profile->name : ""};
  std::ostringstream out;
  std::ostringstream error;
  const Context quiet{world.context.environment, out, error, world.context.arguments, world.context.program};
  const Exit exit = run_tuning(request, options, before, world.bench, OutputOptions(), quiet);
  if (Interrupt::has_come()) return {};
  if (exit == Exit::done) return {};
  return {Code::system, fmt::format("tuning ended with {}: {}", static_cast<int>(exit), error.str())};
}

Status make_tuned(std::span<const PartCase> pending, const PartWorld& world, const PartSink& sink) {
  const TunedForm& form = form_of(world);
  TUTTI_TRY_ASSIGN(const std::vector<std::uint64_t> all, tuned_sizes(world));
  const std::string path = std::filesystem::absolute(fmt::format("{}/{}", world.folder, kTunedTable)).string();
  // What is resumed is measured with the table that there is.
  if (pending.size() == all.size() || !std::filesystem::exists(path)) {
    std::error_code none;
    std::filesystem::remove(path, none);
    TUTTI_TRY(tune_into(path, world));
    if (Interrupt::has_come()) return {};
  }
  const auto name_of_case = [&](std::uint64_t bytes) {
    return fmt::format("{}, tuned for {}", name_of_size(bytes, std::string(form.case_budget)), form.budget);
  };
  std::set<std::uint64_t> sizes;
  for (const std::uint64_t bytes : all)
    for (const PartCase& each : pending)
      if (each.name == name_of_case(bytes)) sizes.insert(bytes);
  TUTTI_TRY_ASSIGN(SweepPlan plan, tuned_plan(world, path));
  const auto name = [](const std::string& label) {
    return std::string(label.find("=none") != label.npos ? kBeforeTuning : kAfterTuning);
  };
  return measure_sizes(std::move(plan), sizes, world, [&](std::uint64_t bytes, std::span<const harness::Row> rows) {
    return sink({.name = name_of_case(bytes), .rows = rows_of_competitors(rows, false, {}, name)});
  });
}

// What ran at a size: "all_reduce ring (by size)" as "all_reduce ring". Why it was chosen differs with a table.
struct RanAt {
  std::string before;
  std::string after;
  [[nodiscard]] bool is_changed() const { return before != after; }
};
std::map<double, RanAt> ran_at_sizes(const PartRows& rows) {
  std::map<double, RanAt> sizes;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::optional<double> bytes = rows.number(row, "bytes");
    if (!bytes || !rows.number(row, "time_us")) continue;
    const std::string ran = rows.text(row, "ran");
    RanAt& at = sizes[*bytes];
    (rows.text(row, "competitor") == kBeforeTuning ? at.before : at.after) = ran.substr(0, ran.find(" ("));
  }
  std::erase_if(sizes, [](const auto& each) { return each.second.before.empty() || each.second.after.empty(); });
  return sizes;
}

// Where another algorithm runs after tuning.
SizeFilter where_changed(const std::map<double, RanAt>& sizes) {
  return [&sizes](double bytes) {
    const auto found = sizes.find(bytes);
    return found != sizes.end() && found->second.is_changed();
  };
}

std::vector<std::string> answer_of_tuning(const PartRows& rows, const std::map<double, RanAt>& sizes) {
  const SizeFilter is_changed = where_changed(sizes);
  std::vector<std::string> answer;
  if (const std::string standing = standing_in_words(rows, kAfterTuning, is_changed); !standing.empty())
    answer.push_back(fmt::format("Where the tuned table has another algorithm run, all-reduce is {}.", standing));
  const auto num_same = static_cast<std::size_t>(
      std::count_if(sizes.begin(), sizes.end(), [](const auto& each) { return !each.second.is_changed(); }));
  if (num_same > 0)
    answer.push_back(fmt::format(
        "At {} of {} the same algorithm runs before and after tuning: tuning changed nothing there, and times differ "
        "only as two measurements of one thing do.",
        num_same, counted(sizes.size(), "size")));
  for (std::string& each : bests_in_words(rows, is_changed)) answer.push_back(std::move(each));
  return answer;
}

PartTable table_of_ways(const std::map<double, RanAt>& sizes) {
  Table table({{"bytes"}, {"before_tuning"}, {"after_tuning"}, {"is_changed"}});
  for (const auto& [bytes, ran] : sizes)
    table.add_row({static_cast<std::int64_t>(bytes), ran.before, ran.after, ran.is_changed()});
  return {.file = "tuned_ways",
          .table = {.title = "What ran before and after tuning",
                    .table = std::move(table),
                    .remark = "A table can also set how an algorithm copies, which rows do not say."},
          .is_data = true};
}

Result<PartShown> show_tuned(const PartRows& rows) {
  PartShown shown;
  shown.is_right = are_right(rows, shown.cautions);
  const std::map<double, RanAt> sizes = ran_at_sizes(rows);
  shown.answer = answer_of_tuning(rows, sizes);
  shown.answer.push_back(fmt::format("The table is {}; set TUTTI_TABLE to use it.", kTunedTable));
  report::LineChart chart = chart_of_competitors(rows, "All-reduce before and after tuning");
  if (!chart.panels.empty())
    shown.figures.push_back({.file = "tuned", .title = chart.title, .lines = std::move(chart)});
  shown.tables.push_back(
      {.file = "tuned_best",
       .table = {.title = "All-reduce before and after tuning, in microseconds",
                 .table = table_of_sizes(rows, where_changed(sizes)),
                 .remark = remark_of_sizes() + " Where the same algorithm runs before and after tuning, nothing is "
                                               "compared: tuned_ways says what ran."},
       .is_data = true});
  if (!sizes.empty()) shown.tables.push_back(table_of_ways(sizes));
  return shown;
}

}  // namespace

Part tuned_part() {
  return {.name = "tuned",
          .title = "Before and after tuning",
          .about = "Tutti's runtime without a table and with the one that it was tuned to",
          .columns = measured_columns(),
          .cases = tuned_cases,
          .make_together = make_tuned,
          .keeps = {std::string(kTunedTable)},
          .show = show_tuned};
}

}  // namespace tutti::cli
