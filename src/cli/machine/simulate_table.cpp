// SPDX-License-Identifier: Apache-2.0
#include "cli/machine/simulate_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "base/units.hpp"
#include "bench/results/result.hpp"

namespace tutti::cli {

namespace {

// Digits that people read.
constexpr int kTimeDigits = 6;
constexpr int kShareDigits = 3;

std::vector<Column> columns(bool has_fabrics, bool has_ways, bool has_costs, bool has_intervals) {
  constexpr std::size_t kHeading = 10;
  std::vector<Column> made{{.name = "fabric", .is_aside = !has_fabrics, .stands_once = true}};
  for (const char* name : {"collective", "algorithm", "ranks", "bytes"})
    made.push_back({.name = name, .digits = kTimeDigits, .stands_once = true});
  made.push_back({.name = "way", .is_aside = !has_ways});
  made.push_back({.name = "costs", .is_aside = !has_costs});
  made.push_back({.name = "time_us", .digits = kTimeDigits});
  made.push_back({.name = "low_us", .is_aside = !has_intervals, .digits = kShareDigits});
  made.push_back({.name = "high_us", .is_aside = !has_intervals, .digits = kShareDigits});
  made.push_back({.name = "simulated_us", .is_aside = !has_intervals, .digits = kTimeDigits, .yields = 5});
  made.push_back({.name = "algbw_gbs", .digits = kTimeDigits, .yields = 2});
  made.push_back({.name = "busbw_gbs", .digits = kTimeDigits});
  made.push_back({.name = "rounds", .digits = kTimeDigits, .yields = 4});
  made.push_back({.name = "messages", .digits = kTimeDigits, .yields = 3});
  made.push_back({.name = "checked", .digits = kTimeDigits, .stands_once = true});
  for (const std::string_view share : simulate::kShareNames)
    made.push_back(
        {.name = fmt::format("{}_percent", share), .wrap_at = kHeading, .digits = kShareDigits, .yields = 1});
  return made;
}

tutti::Cell filled(bool has_value, double number) { return has_value ? tutti::Cell(number) : tutti::Cell(); }

tutti::Cell bound_of(const Simulated& one, double simulate::Correction::*bound) {
  return one.correction ? tutti::Cell(one.answer.time * ((*one.correction).*bound) / 1e3) : tutti::Cell();
}

}  // namespace

std::string undecided(const std::vector<Simulated>& all) {
  std::map<std::tuple<std::string, std::string_view, std::uint64_t>, std::vector<const Simulated*>> contests;
  for (const Simulated& one : all)
    contests[{one.fabric, name_of(one.cell.schedule.collective), one.cell.bytes}].push_back(&one);
  std::string text;
  for (const auto& [key, contest] : contests) {
    const bool has_intervals =
        std::any_of(contest.begin(), contest.end(), [](const Simulated* each) { return each->correction.has_value(); });
    if (contest.size() < 2 || !has_intervals) continue;
    const Simulated* fastest = *std::min_element(
        contest.begin(), contest.end(), [](const Simulated* a, const Simulated* b) { return a->time() < b->time(); });
    const double high = fastest->answer.time * (fastest->correction ? fastest->correction->high : 1);
    std::vector<std::string> others;
    for (const Simulated* each : contest)
      if (each != fastest && each->correction && each->answer.time * each->correction->low <= high)
        others.push_back(each->cell.name());
    text += fmt::format("{}: {} is expected to be the fastest{}{}\n", to_text(Bytes(std::get<2>(key))),
                        fastest->cell.name(), fastest->correction ? "" : ", of which nothing is published",
                        others.empty() ? "" : fmt::format("; undecided between it and {}", fmt::join(others, ", ")));
  }
  if (!text.empty())
    text =
        "times are expected ones, low and high an interval of 90 %: what published times near them say of this "
        "model's errors\n" +
        text;
  return text;
}

Table table_of(const std::vector<Simulated>& all, bool has_fabrics) {
  const bool has_ways =
      std::any_of(all.begin(), all.end(), [](const Simulated& one) { return !one.cell.implementation.empty(); });
  const bool has_costs =
      std::any_of(all.begin(), all.end(), [](const Simulated& one) { return !one.answer.costs.empty(); });
  const bool has_intervals =
      std::any_of(all.begin(), all.end(), [](const Simulated& one) { return one.correction.has_value(); });
  Table table(columns(has_fabrics, has_ways, has_costs, has_intervals));
  for (const Simulated& one : all) {
    const simulate::Answer& answer = one.answer;
    const Schedule& schedule = one.cell.schedule;
    const bool has_rate = answer.time > 0 && schedule.collective != Collective::barrier;
    const auto factor =
        harness::bus_factor(harness::traffic_of(schedule.collective), static_cast<int>(schedule.num_ranks));
    std::vector<tutti::Cell> row{one.fabric, std::string(name_of(schedule.collective)), one.cell.name(),
                                 std::int64_t{schedule.num_ranks}, static_cast<std::int64_t>(one.cell.bytes),
                                 one.cell.implementation.empty() ? tutti::Cell() : tutti::Cell(schedule.name),
                                 answer.costs.empty() ? tutti::Cell() : tutti::Cell(answer.costs), one.time() / 1e3,
                                 bound_of(one, &simulate::Correction::low), bound_of(one, &simulate::Correction::high),
                                 answer.time / 1e3, filled(has_rate, one.cell.moved / one.time()),
                                 filled(has_rate && factor, one.cell.moved / one.time() * factor.value_or(1)),
                                 static_cast<std::int64_t>(answer.rounds), static_cast<std::int64_t>(answer.messages),
                                 // Of ranks that are alike one has been walked, and nothing was carried.
                                 std::string(answer.checked                             ? "yes"
                                             : answer.ranks_walked < schedule.num_ranks ? "alike"
                                                                                        : "no")};
    for (int share = 0; share < simulate::kNumShares; ++share) {
      const double part = answer.shares.of(static_cast<simulate::Share>(share));
      row.emplace_back(filled(answer.time > 0, part / answer.time * 100));
    }
    table.add_row(std::move(row));
  }
  return table;
}

Table links_of(const std::vector<Simulated>& all, const fabric::Fabric& fabric, std::size_t most) {
  Table table({{"collective"},
               {"algorithm"},
               {"bytes"},
               {"link"},
               {"from"},
               {"to"},
               {"carried_bytes"},
               {.name = "busy_us", .digits = kTimeDigits},
               {.name = "busy_percent", .digits = kShareDigits}});
  for (const Simulated& one : all) {
    const std::vector<simulate::LinkUse>& uses = one.answer.links;
    std::vector<std::size_t> order(uses.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return uses[a].busy > uses[b].busy; });
    for (std::size_t i = 0; i < std::min(most, order.size()); ++i) {
      const simulate::LinkUse& use = uses[order[i]];
      if (use.bytes == 0) break;
      const fabric::Link& link = fabric.links[order[i]];
      table.add_row({std::string(name_of(one.cell.schedule.collective)), one.cell.name(),
                     static_cast<std::int64_t>(one.cell.bytes), static_cast<std::int64_t>(order[i]),
                     fabric.nodes[link.from].name, fabric.nodes[link.to].name,
                     static_cast<std::int64_t>(std::llround(use.bytes)), use.busy / 1e3,
                     filled(one.answer.time > 0, use.busy / one.answer.time * 100)});
    }
  }
  return table;
}

}  // namespace tutti::cli
