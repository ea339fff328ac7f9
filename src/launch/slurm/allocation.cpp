// SPDX-License-Identifier: Apache-2.0
#include "launch/slurm/allocation.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"

namespace tutti::launch {

namespace {

constexpr std::size_t kMostNodes = 4096;

Status malformed(std::string_view list) {
  return wrong_argument(fmt::format("{} is no list of nodes such as node[1-3,7]", in_quotes(list)));
}

Status check_room(std::size_t nodes) {
  if (nodes <= kMostNodes) return {};
  return wrong_argument(fmt::format("there are more than {} nodes", kMostNodes));
}

// The numbers of "01-03" or "7", padded with zeros to the width of the first.
Result<std::vector<std::string>> numbers_of_range(std::string_view range) {
  const std::size_t hyphen = range.find('-');
  const std::string_view first = range.substr(0, hyphen);
  const std::string_view last = hyphen == std::string_view::npos ? first : range.substr(hyphen + 1);
  TUTTI_TRY_ASSIGN(const std::int64_t low, parse_integer(first));
  TUTTI_TRY_ASSIGN(const std::int64_t high, parse_integer(last));
  if (low < 0 || high < low) return wrong_argument(fmt::format("{} is no range such as 1-3", in_quotes(range)));
  TUTTI_TRY(check_room(static_cast<std::size_t>(high - low)));
  std::vector<std::string> numbers;
  for (std::int64_t each = 0; each <= high - low; ++each)
    numbers.push_back(fmt::format("{:0{}}", low + each, first.size()));
  return numbers;
}

// Splits at commas outside of brackets.
Result<std::vector<std::string_view>> items_of(std::string_view list) {
  std::vector<std::string_view> items;
  std::size_t begin = 0;
  bool is_within = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '[' || list[i] == ']') {
      if ((list[i] == '[') == is_within) return malformed(list);
      is_within = !is_within;
    }
    if (list[i] != ',' || is_within) continue;
    items.push_back(list.substr(begin, i - begin));
    begin = i + 1;
  }
  if (is_within) return malformed(list);
  items.push_back(list.substr(begin));
  if (std::any_of(items.begin(), items.end(), [](std::string_view item) { return item.empty(); }))
    return malformed(list);
  return items;
}

// Appends to `nodes` each of `begun`, followed by each expansion of `rest`; the last brackets vary fastest.
Status go_on(std::vector<std::string> begun, std::string_view rest, std::vector<std::string>& nodes) {
  while (!rest.empty()) {
    const std::size_t open = std::min(rest.find('['), rest.size());
    for (std::string& each : begun) each += rest.substr(0, open);
    if (open == rest.size()) break;
    const std::size_t close = rest.find(']', open);
    std::vector<std::string> numbers;
    for (const std::string_view range : split(rest.substr(open + 1, close - open - 1), ',')) {
      TUTTI_TRY_ASSIGN(const std::vector<std::string> more, numbers_of_range(range));
      numbers.insert(numbers.end(), more.begin(), more.end());
    }
    TUTTI_TRY(check_room(begun.size() * numbers.size()));
    std::vector<std::string> longer;
    for (const std::string& each : begun)
      for (const std::string& number : numbers) longer.push_back(each + number);
    begun = std::move(longer);
    rest = rest.substr(close + 1);
  }
  TUTTI_TRY(check_room(nodes.size() + begun.size()));
  nodes.insert(nodes.end(), begun.begin(), begun.end());
  return {};
}

Status no_tasks(std::string_view part) {
  return wrong_argument(fmt::format("{} is no number of tasks such as 2 or 2(x3)", in_quotes(part)));
}

// "2(x3),1": two for each of three nodes, one for the next.
Result<std::vector<std::int64_t>> tasks_of_nodes(std::string_view text) {
  std::vector<std::int64_t> tasks;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t open = part.find("(x");
    std::int64_t times = 1;
    if (open != std::string_view::npos) {
      if (!part.ends_with(')')) return no_tasks(part);
      TUTTI_TRY_ASSIGN(times, parse_integer(part.substr(open + 2, part.size() - open - 3)));
    }
    TUTTI_TRY_ASSIGN(const std::int64_t count, parse_integer(part.substr(0, open)));
    if (count < 1 || times < 1) return no_tasks(part);
    TUTTI_TRY(check_room(tasks.size() + static_cast<std::size_t>(times)));
    tasks.insert(tasks.end(), static_cast<std::size_t>(times), count);
  }
  return tasks;
}

}  // namespace

Result<std::vector<std::string>> nodes_of_list(std::string_view list) {
  std::vector<std::string> nodes;
  TUTTI_TRY_ASSIGN(const std::vector<std::string_view> items, items_of(list));
  for (const std::string_view item : items) TUTTI_TRY(go_on({""}, item, nodes));
  return nodes;
}

Result<std::string> hosts_of_allocation(const Environment& environment) {
  constexpr const char* kNodes = "SLURM_JOB_NODELIST";
  constexpr const char* kTasks = "SLURM_TASKS_PER_NODE";
  const std::optional<std::string> list = environment.lookup(kNodes);
  if (!list)
    return wrong_argument(
        fmt::format("there is no Slurm allocation: {} is not set; run this within salloc or sbatch", kNodes));
  Result<std::vector<std::string>> nodes = nodes_of_list(*list);
  if (!nodes.ok()) return nodes.status().with_context(kNodes);
  const std::optional<std::string> counts = environment.lookup(kTasks);
  if (!counts) return fmt::format("{}", fmt::join(*nodes, ","));
  Result<std::vector<std::int64_t>> tasks = tasks_of_nodes(*counts);
  if (!tasks.ok()) return tasks.status().with_context(kTasks);
  if (tasks->size() != nodes->size())
    return wrong_argument(
        fmt::format("{} is {} and {} is {}: they give different numbers of nodes; "
                    "within a step of srun they do, so use the shell of salloc or a batch script",
                    kNodes, in_quotes(*list), kTasks, in_quotes(*counts)));
  std::string text;
  for (std::size_t i = 0; i < nodes->size(); ++i)
    text += fmt::format("{}{}:{}", i == 0 ? "" : ",", (*nodes)[i], (*tasks)[i]);
  return text;
}

}  // namespace tutti::launch
