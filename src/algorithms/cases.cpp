#include "algorithms/cases.hpp"

#include <algorithm>
#include <random>

#include "algorithms/registry.hpp"

namespace tutti {

namespace {

constexpr std::uint32_t kMostRadix = 8;
constexpr std::uint32_t kMostCorner = 4;
constexpr int kDrawnGroupings = 4;

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

// Every grid whose ranks divide the number of ranks; the algorithm says whether it wants all of them. Squarest first.
std::vector<Grid> grids_of(std::uint32_t num_ranks, const std::optional<Grid>& only) {
  if (only) return {*only};
  std::vector<Grid> grids;
  for (std::uint32_t cells = num_ranks; cells >= 1; --cells) {
    if (num_ranks % cells != 0) continue;
    std::vector<Grid> of_cells;
    for (std::uint32_t width = 1; width <= cells; ++width)
      if (cells % width == 0) of_cells.push_back({width, cells / width});
    std::stable_sort(of_cells.begin(), of_cells.end(), [](const Grid& a, const Grid& b) {
      return std::max(a.width, a.height) < std::max(b.width, b.height);
    });
    grids.insert(grids.end(), of_cells.begin(), of_cells.end());
  }
  return grids;
}

std::vector<std::vector<std::uint32_t>> groupings_of(std::uint32_t num_ranks, const CaseFilter& filter) {
  if (filter.groups) return {*filter.groups};
  std::vector<std::vector<std::uint32_t>> groupings = {{num_ranks}, std::vector<std::uint32_t>(num_ranks, 1)};
  std::mt19937_64 random(filter.seed + num_ranks);
  for (int drawn = 0; num_ranks > 2 && drawn < kDrawnGroupings; ++drawn) {
    std::vector<std::uint32_t> groups;
    const std::uint64_t widest = 1 + random() % (num_ranks - 1);
    for (std::uint32_t left = num_ranks; left > 0; left -= groups.back())
      groups.push_back(std::min(left, static_cast<std::uint32_t>(1 + random() % widest)));
    groupings.push_back(std::move(groups));
  }
  return groupings;
}

// The algorithms that may stand between groups: those of the same collective over messages that take nothing.
std::vector<std::string> inner_of(const Algorithm& algorithm, const CaseFilter& filter) {
  if (filter.inner) return {*filter.inner};
  std::vector<std::string> names;
  for (const Algorithm* each : algorithms_of(algorithm.collective)) {
    const bool plain = !each->takes.grid && !each->takes.groups && !each->takes.radix;
    if (each->channel == Channel::message && plain) names.emplace_back(each->name);
  }
  return names;
}

}  // namespace

std::vector<Request> cases_of(const Algorithm& algorithm, std::uint32_t num_ranks, const CaseFilter& filter) {
  std::vector<Request> requests = {{.collective = algorithm.collective, .num_ranks = num_ranks}};
  if (facts_of(algorithm.collective).has_root) {
    multiply(requests, numbers(filter.root, 0U, num_ranks - 1),
             [](Request& request, std::uint32_t root) { request.root = root; });
  }
  if (algorithm.takes.radix) {
    multiply(requests, numbers(filter.radix, 2U, kMostRadix),
             [](Request& request, std::uint32_t radix) { request.parameters.radix = radix; });
  }
  if (algorithm.takes.grid) {
    multiply(requests, grids_of(num_ranks, filter.grid),
             [](Request& request, const Grid& grid) { request.parameters.grid = grid; });
  }
  if (algorithm.takes.corner) {
    multiply(requests, numbers(filter.corner, 0U, kMostCorner),
             [](Request& request, std::uint32_t corner) { request.parameters.corner = corner; });
  }
  if (algorithm.takes.groups) {
    multiply(requests, groupings_of(num_ranks, filter),
             [](Request& request, const std::vector<std::uint32_t>& groups) { request.parameters.groups = groups; });
    multiply(requests, inner_of(algorithm, filter),
             [](Request& request, const std::string& inner) { request.parameters.inner = inner; });
  }
  std::erase_if(requests, [&](const Request& request) { return !objection_to(algorithm, request).empty(); });
  return requests;
}

}  // namespace tutti
