// SPDX-License-Identifier: Apache-2.0
#include "algorithms/algorithm.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "algorithms/registry.hpp"
#include "base/counted.hpp"

namespace tutti {

std::string_view name_of(Channel channel) {
  switch (channel) {
    case Channel::staged: return "staged";
    case Channel::symmetric: return "symmetric";
    case Channel::message: return "message";
    case Channel::multicast: return "multicast";
  }
  return "unknown";
}

namespace {

std::string objection_to_grid(const Algorithm& algorithm, const Request& request) {
  const Takes& takes = algorithm.takes;
  if (!takes.grid) return "";
  const Grid& grid = request.parameters.grid;
  const std::uint32_t ranks = request.num_ranks;
  const std::string text = to_text(grid, takes.depth || grid.depth != 1 ? 3 : 2);
  if (grid.depth != 1 && !takes.depth)
    return fmt::format("a grid of {} has three dimensions, and {} is for two", text, algorithm.name);
  if (takes.whole_grids && (grid.size() == 0 || ranks % grid.size() != 0))
    return fmt::format("{} {} not a whole number of grids of {}", counted(ranks, "rank"), are(ranks), text);
  // Sides of more than that could have a product that wraps around.
  const bool has_ranks = std::max({grid.width, grid.height, grid.depth}) <= ranks && grid.size() == ranks;
  if (!takes.whole_grids && !has_ranks)
    return fmt::format("a grid of {} does not have {}", text, counted(ranks, "rank"));
  return "";
}

}  // namespace

std::string objection_to(const Algorithm& algorithm, const Request& request) {
  const Parameters& parameters = request.parameters;
  const std::uint32_t ranks = request.num_ranks;
  if (ranks == 0) return "there are no ranks";
  if (request.root >= ranks)
    return fmt::format("the root is rank {}, and there {} {}", request.root, are(ranks), counted(ranks, "rank"));
  if (algorithm.takes.radix && parameters.radix < 2)
    return fmt::format("the radix is {}; it must be at least 2", parameters.radix);
  if (const std::string against = objection_to_grid(algorithm, request); !against.empty()) return against;
  if (algorithm.takes.corner && parameters.corner > 4)
    return fmt::format("corner {}: there are 1 to 4, and 0 is the centre", parameters.corner);
  if (algorithm.takes.groups) {
    std::uint64_t sum = 0;
    for (const std::uint32_t size : parameters.groups) {
      if (size == 0) return "a group of no ranks";
      sum += size;
    }
    if (sum != ranks)
      return fmt::format("groups of {} ranks do not add up to {}", fmt::join(parameters.groups, "+"), ranks);
  }
  return algorithm.objection == nullptr ? std::string() : algorithm.objection(request);
}

std::string full_name(const Algorithm& algorithm, const Request& request) {
  std::vector<std::string> parts;
  const Parameters& parameters = request.parameters;
  if (algorithm.takes.radix) parts.push_back(fmt::format("{}", parameters.radix));
  if (algorithm.takes.grid) parts.push_back(to_text(parameters.grid, algorithm.takes.dimensions()));
  if (algorithm.takes.corner && parameters.corner != 0) parts.push_back(fmt::format("corner {}", parameters.corner));
  if (algorithm.takes.groups) {
    parts.push_back(fmt::format("{}", fmt::join(parameters.groups, "+")));
  }
  if (algorithm.takes.groups && parameters.groups.size() > 1) {
    // With the parameters that the inner algorithm takes of the same request.
    const Algorithm* const inner = find_algorithm(algorithm.collective, parameters.inner);
    const bool takes_groups = inner != nullptr && inner->takes.groups;
    parts.push_back(inner == nullptr || takes_groups ? parameters.inner : full_name(*inner, request));
  }
  if (parts.empty()) return std::string(algorithm.name);
  return fmt::format("{}({})", algorithm.name, fmt::join(parts, ", "));
}

Schedule header_of(const Algorithm& algorithm, const Request& request, std::uint32_t pieces, std::uint32_t lanes,
                   std::uint32_t scratch) {
  return {
      .name = full_name(algorithm, request),
      .collective = request.collective,
      .num_ranks = request.num_ranks,
      .root = request.root,
      .num_lanes = lanes,
      .spaces = spaces_of(request.collective, request.num_ranks, pieces, scratch),
      .order = algorithm.order,
  };
}

Schedule one_lane(const Algorithm& algorithm, const Request& request, Lane (*steps)(Builder& b), std::uint32_t pieces,
                  std::uint32_t scratch) {
  Schedule schedule = header_of(algorithm, request, pieces, 1, scratch);
  schedule.lane = [steps](Builder& b, std::uint32_t) { return steps(b); };
  return schedule;
}

}  // namespace tutti
