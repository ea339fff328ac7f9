// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/communicators.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::cli {

namespace {

// The published tables' sizes: rows of 8192 elements of 2 bytes.
constexpr std::array<int, 10> kRows = {32, 64, 96, 128, 192, 256, 1024, 2048, 3062, 4096};
constexpr std::array<int, 3> kQuickRows = {32, 256, 1024};
constexpr int kBytesOfARow = 8192 * 2;

std::string bytes_of(std::span<const int> rows) {
  std::string text;
  for (const int each : rows) text += fmt::format("{}{}", text.empty() ? "" : ",", each * kBytesOfARow);
  return text;
}

// For all peers or for one.
bool says(const SweepOptions& sweep, std::string_view axis) {
  return std::any_of(sweep.axes.begin(), sweep.axes.end(), [&](const std::string& text) {
    const std::string_view name = std::string_view(text).substr(0, text.find('='));
    return same_name(trim(name.substr(name.find(':') + 1)), axis);
  });
}

bool is_measured(const SweepOptions& sweep, std::string_view peer) {
  const std::vector<std::string_view> names = split(sweep.peers, ',');
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return same_name(trim(name), peer); });
}

}  // namespace

std::span<const int> rows_of_communicators(bool is_quick) {
  return is_quick ? std::span<const int>(kQuickRows) : std::span<const int>(kRows);
}

SweepOptions sweep_of_communicators(SweepOptions sweep) {
  sweep.bench = "all_reduce";
  if (sweep.peers.empty()) sweep.peers = "all";
  // MPI has no bf16; f32 moves the same bytes.
  const bool has_bf16 = is_measured(sweep, "nccl") || is_measured(sweep, "rccl");
  const std::array<std::pair<std::string_view, std::string>, 3> usual = {
      {{"bytes", bytes_of(rows_of_communicators(sweep.quick))},
       {"type", has_bf16 ? "bf16" : "f32"},
       {"algorithm", "default,all"}}};
  for (const auto& [axis, values] : usual)
    if (!says(sweep, axis) && !(axis == "bytes" && says_sizes(sweep)))
      sweep.axes.push_back(fmt::format("{}={}", axis, values));
  // A look at many; who wants verdicts asks for more.
  if (sweep.launches.empty()) sweep.launches = "1";
  if (sweep.quick && sweep.budget.empty()) sweep.budget = "300ms";
  return sweep;
}

Exit run_communicators(CompareOptions options, const BenchWorld& world, const Context& context) {
  options.sweep = sweep_of_communicators(std::move(options.sweep));
  options.prefers_others = true;
  return compare_live(options, world, context);
}

}  // namespace tutti::cli
