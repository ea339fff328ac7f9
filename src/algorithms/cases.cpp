// SPDX-License-Identifier: Apache-2.0
#include "algorithms/cases.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "algorithms/registry.hpp"
#include "base/counted.hpp"

namespace tutti {

namespace {

constexpr std::uint32_t kMostCorner = 4;
constexpr int kDrawnGroupings = 4;

using Groups = std::vector<std::uint32_t>;

// Each request once with every value of one parameter.
template <typename Values, typename Set>
void multiply(std::vector<Request>& requests, const Values& values, const Set& set) {
  std::vector<Request> all;
  all.reserve(requests.size() * values.size());
  for (const Request& request : requests)
    for (const auto& value : values) set(all.emplace_back(request), value);
  requests = std::move(all);
}

template <typename T>
std::vector<T> numbers(const std::optional<T>& only, T first, T last) {
  if (only) return {*only};
  std::vector<T> all;
  for (T each = first; each <= last; ++each) all.push_back(each);
  return all;
}

// The greatest divisor that is not above the square root: 1 for primes.
std::uint32_t square_divisor(std::uint32_t number) {
  std::uint32_t divisor = 1;
  for (std::uint32_t each = 1; each * each <= number; ++each)
    if (number % each == 0) divisor = each;
  return divisor;
}

// All with so many ranks, the squarest first.
std::vector<Grid> grids_of_cells(std::uint32_t cells, bool has_depth) {
  std::vector<Grid> grids;
  for (std::uint32_t width = 1; width <= cells; ++width) {
    if (cells % width != 0) continue;
    const std::uint32_t others = cells / width;
    for (std::uint32_t height = has_depth ? 1 : others; height <= others; ++height)
      if (others % height == 0) grids.push_back({width, height, others / height});
  }
  std::stable_sort(grids.begin(), grids.end(), [](const Grid& a, const Grid& b) {
    return std::max({a.width, a.height, a.depth}) < std::max({b.width, b.height, b.depth});
  });
  return grids;
}

// Every grid whose ranks divide the number of ranks; those alone that have all of them, if the algorithm wants these.
// Squarest first, and of several whole grids the usual ones before others.
std::vector<Grid> all_grids(const Takes& takes, std::uint32_t num_ranks) {
  if (!takes.whole_grids) return grids_of_cells(num_ranks, takes.depth);
  const std::uint32_t first_cells = num_ranks / square_divisor(num_ranks);
  std::vector<Grid> grids;
  for (std::uint32_t cells = num_ranks; cells >= 1; --cells) {
    if (num_ranks % cells != 0) continue;
    const std::vector<Grid> of_cells = grids_of_cells(cells, takes.depth);
    grids.insert(cells == first_cells ? grids.begin() : grids.end(), of_cells.begin(), of_cells.end());
  }
  return grids;
}

// The grid of the machine where the algorithm can have it: sides of 1 say nothing if there are too many. Else a square.
std::optional<Grid> grid_on_machine(const Takes& takes, std::uint32_t num_ranks, std::vector<std::uint32_t> sides) {
  const std::uint32_t dimensions = takes.dimensions();
  if (sides.size() > dimensions) std::erase(sides, 1U);
  if (!sides.empty() && sides.size() <= dimensions) {
    sides.resize(3, 1);
    const Grid grid{sides[0], sides[1], sides[2]};
    if (takes.whole_grids ? num_ranks % grid.size() == 0 : num_ranks == grid.size()) return grid;
  }
  for (std::uint32_t side = 1; side <= num_ranks / side; ++side) {
    const Grid grid{side, side, takes.depth ? side : 1};
    if (grid.size() == num_ranks) return grid;
  }
  return std::nullopt;
}

// Where there is none, no grid is known.
std::vector<Grid> grids_of(const Takes& takes, std::uint32_t num_ranks, const CaseFilter& filter) {
  if (filter.grid) return {*filter.grid};
  if (!filter.machine_grid) return all_grids(takes, num_ranks);
  const std::optional<Grid> grid = grid_on_machine(takes, num_ranks, *filter.machine_grid);
  return grid ? std::vector{*grid} : std::vector<Grid>();
}

Cases without_grid(const Takes& takes, std::uint32_t num_ranks, const CaseFilter& filter) {
  std::string words;
  for (const std::uint32_t side : *filter.machine_grid)
    words += fmt::format("{}{}", words.empty() ? "the grid of the machine is " : "x", side);
  if (words.empty()) words = "no grid is given";
  return {.requests = {},
          .objection = fmt::format("{}, and {} {} no {}", words, counted(num_ranks, "rank"), are(num_ranks),
                                   takes.depth ? "cube" : "square"),
          .lacks_grid = true};
}

// About as many groups as they have ranks, all alike where the number of ranks allows: 12 as 4+4+4, 7 as 4+3.
Groups usual_groups(std::uint32_t num_ranks) {
  std::uint32_t num_groups = square_divisor(num_ranks);
  if (num_groups == 1)
    while (num_groups < num_ranks && (num_groups < 2 || (num_groups + 1) * (num_groups + 1) <= num_ranks)) ++num_groups;
  Groups groups(num_groups, num_ranks / num_groups);
  for (std::uint32_t each = 0; each < num_ranks % num_groups; ++each) ++groups[each];
  return groups;
}

std::mt19937_64 random_of(const CaseFilter& filter, std::uint32_t num_ranks) {
  std::seed_seq seed{filter.seed & UINT32_MAX, filter.seed >> 32U, std::uint64_t{num_ranks}};
  return std::mt19937_64(seed);
}

std::vector<Groups> groupings_of(std::uint32_t num_ranks, const CaseFilter& filter, std::mt19937_64& random) {
  if (filter.groups) return {*filter.groups};
  std::vector<Groups> groupings = {usual_groups(num_ranks)};
  const auto add = [&](Groups groups) {
    if (std::find(groupings.begin(), groupings.end(), groups) == groupings.end())
      groupings.push_back(std::move(groups));
  };
  add({num_ranks});
  add(Groups(num_ranks, 1));
  for (int drawn = 0; num_ranks > 2 && drawn < kDrawnGroupings; ++drawn) {
    Groups groups;
    const std::uint64_t widest = 1 + random() % (num_ranks - 1);
    for (std::uint32_t left = num_ranks; left > 0; left -= groups.back())
      groups.push_back(std::min(left, static_cast<std::uint32_t>(1 + random() % widest)));
    add(std::move(groups));
  }
  return groupings;
}

// What is asked of the algorithm between groups. It has no root: only all-reduces take groups.
CaseFilter between_groups(const CaseFilter& filter) {
  CaseFilter between = filter;
  between.root.reset();
  between.groups.reset();
  between.inner.reset();
  if (between.machine_grid) between.machine_grid->clear();  // groups are on no grid
  return between;
}

// The algorithms that may stand between groups, those of the same collective over messages: with all that is asked for.
std::vector<const Algorithm*> inner_of(const Algorithm& algorithm, const CaseFilter& filter) {
  std::vector<const Algorithm*> inner;
  for (const Algorithm* each : algorithms_of(algorithm.collective)) {
    if (each->channel == Channel::message && parameter_not_taken(*each, between_groups(filter)).empty())
      inner.push_back(each);
  }
  return inner;
}

// The request with an algorithm between its groups: in all its cases, or in one that is drawn. Where it has none, once
// with what is asked for, for its objection.
void add_inner(std::vector<Request>& requests, Request request, std::string_view name, const Cases& cases,
               const CaseFilter& filter, std::mt19937_64* draw) {
  const Groups groups = std::exchange(request.parameters.groups, {});
  const auto add = [&](Parameters parameters) {
    parameters.groups = groups;
    parameters.inner = name;
    requests.emplace_back(request).parameters = std::move(parameters);
  };
  if (cases.requests.empty()) {
    if (filter.radix) request.parameters.radix = *filter.radix;
    if (filter.grid) request.parameters.grid = *filter.grid;
    if (filter.corner) request.parameters.corner = *filter.corner;
    add(request.parameters);
  } else if (draw != nullptr) {
    add(cases.requests[(*draw)() % cases.requests.size()].parameters);
  } else {
    for (const Request& each : cases.requests) add(each.parameters);
  }
}

// The request in groups; not in one alone where an algorithm between groups is asked for. None where nothing can run
// between the usual groups because no grid is known: `without_grid` says so.
std::vector<Request> in_groups(const Algorithm& algorithm, Request request, const CaseFilter& filter,
                               Cases& without_grid) {
  std::vector<Request> requests;
  std::mt19937_64 random = random_of(filter, request.num_ranks);
  const std::vector<Groups> groupings = groupings_of(request.num_ranks, filter, random);
  for (const Groups& groups : groupings) {
    request.parameters.groups = groups;
    if (groups.size() == 1) {
      if (!filter.inner && !filter.radix && !filter.grid && !filter.corner) requests.push_back(request);
      continue;
    }
    std::mt19937_64* const draw = &groups == &groupings.front() ? nullptr : &random;
    const auto num_groups = static_cast<std::uint32_t>(groups.size());
    const Algorithm* const asked = filter.inner ? find_algorithm(algorithm.collective, *filter.inner) : nullptr;
    if (filter.inner && asked == nullptr) {
      add_inner(requests, request, *filter.inner, {}, filter, draw);
      continue;
    }
    for (const Algorithm* inner : asked != nullptr ? std::vector{asked} : inner_of(algorithm, filter)) {
      const bool is_right = inner->channel == Channel::message;
      const Cases cases = is_right ? find_cases(*inner, num_groups, between_groups(filter)) : Cases();
      if (cases.lacks_grid) {
        without_grid = cases;
      } else {
        add_inner(requests, request, inner->name, cases, filter, draw);
      }
    }
    if (requests.empty() && without_grid.lacks_grid) break;
  }
  return requests;
}

}  // namespace

Cases find_cases(const Algorithm& algorithm, std::uint32_t num_ranks, const CaseFilter& filter) {
  std::vector<Request> requests = {{.collective = algorithm.collective, .num_ranks = num_ranks}};
  const Takes& takes = algorithm.takes;
  if (facts_of(algorithm.collective).has_root) {
    multiply(requests, numbers(filter.root, 0U, num_ranks - 1),
             [](Request& request, std::uint32_t root) { request.root = root; });
  }
  if (takes.radix) {
    multiply(requests, numbers(filter.radix, 2U, kMostRadix),
             [](Request& request, std::uint32_t radix) { request.parameters.radix = radix; });
  }
  if (takes.grid) {
    const std::vector<Grid> grids = grids_of(takes, num_ranks, filter);
    if (grids.empty()) return without_grid(takes, num_ranks, filter);
    multiply(requests, grids, [](Request& request, const Grid& grid) { request.parameters.grid = grid; });
  }
  if (takes.corner) {
    multiply(requests, numbers(filter.corner, 0U, kMostCorner),
             [](Request& request, std::uint32_t corner) { request.parameters.corner = corner; });
  }
  Cases cases;
  if (takes.groups) {
    Cases between;
    requests = in_groups(algorithm, requests.front(), filter, between);
    if (requests.empty() && between.lacks_grid) {
      between.objection.insert(0, "between groups: ");
      return between;
    }
  }
  if (requests.empty()) cases.objection = "in one group alone, no algorithm runs between groups";
  for (Request& request : requests) {
    std::string objection = objection_to(algorithm, request);
    if (objection.empty()) {
      cases.requests.push_back(std::move(request));
    } else if (cases.objection.empty()) {
      cases.objection = std::move(objection);
    }
  }
  return cases;
}

std::vector<Request> cases_of(const Algorithm& algorithm, std::uint32_t num_ranks, const CaseFilter& filter) {
  return find_cases(algorithm, num_ranks, filter).requests;
}

std::string_view parameter_not_taken(const Algorithm& algorithm, const CaseFilter& filter) {
  const Takes& takes = algorithm.takes;
  if (filter.root && !facts_of(algorithm.collective).has_root) return "root";
  if (filter.groups && !takes.groups) return "groups";
  if (filter.inner && !takes.groups) return "inner";
  if (!takes.groups) {
    if (filter.radix && !takes.radix) return "radix";
    if (filter.grid && !takes.grid) return "grid";
    return filter.corner && !takes.corner ? "corner" : "";
  }
  // Those are for the algorithm between groups. Of one that there is not, objection_to() tells.
  if (filter.inner) {
    const Algorithm* const inner = find_algorithm(algorithm.collective, *filter.inner);
    return inner == nullptr || inner->takes.groups ? "" : parameter_not_taken(*inner, between_groups(filter));
  }
  if (!inner_of(algorithm, filter).empty()) return "";
  return filter.radix ? "radix" : filter.grid ? "grid" : "corner";
}

}  // namespace tutti
