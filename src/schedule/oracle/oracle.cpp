// SPDX-License-Identifier: Apache-2.0
#include "schedule/oracle/oracle.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tutti::oracle {

namespace {

constexpr std::uint32_t kDeep = 1000;

std::vector<Setting> ways_to_run(const Schedule& schedule, const Claims& claims) {
  std::vector<Setting> ways;
  for (const Fusion fusion : {Fusion::none, Fusion::neighbours}) {
    for (const bool in_place : {false, true}) {
      if (!(in_place ? schedule.allows_in_place : schedule.allows_out_of_place)) continue;
      Setting way{.fusion = fusion, .in_place = in_place, .staged = true, .slots = claims.slots, .sizes = {}};
      ways.push_back(way);
      way.staged = false;
      if (in_place ? claims.name_safe_in_place : claims.name_safe_out_of_place) ways.push_back(way);
    }
  }
  return ways;
}

// Short operations and longer ones, full pieces and ragged ones, in turns.
void vary(Setting& way, std::uint64_t drawn) {
  if (drawn % 8 == 2) way.sizes.operations = {3, 2};
  if (drawn % 8 == 3) way.sizes.window = 3;
  way.sizes.ragged = drawn / 8 % 2 == 1;
}

std::uint32_t depth_of(const Setting& way, const Claims& claims) {
  return way.fusion == Fusion::none ? claims.depth : claims.depth_fused;
}

}  // namespace

Findings examine(const Schedule& schedule, const Claims& claims, const Effort& effort) {
  Findings findings;
  const std::vector<Setting> ways = ways_to_run(schedule, claims);
  findings.ways = static_cast<std::uint32_t>(ways.size());
  const auto tell = [&](const Setting& way, std::uint32_t depth, std::uint64_t seed, Trouble trouble) {
    trouble.what += fmt::format(" ({}, depth {}, seed {})", to_string(way), depth, seed);
    findings.trouble = std::move(trouble);
  };
  std::uint64_t seed = mix(effort.seed);
  for (std::uint32_t each = 0; each < findings.ways; ++each) {
    if (effort.most_states > 0) {
      Setting way = ways[each];
      way.sizes.window = 1;
      RunOptions options{.depth = depth_of(way, claims), .order = claims.order, .seed = seed, .tells = effort.tells};
      Exploration exploration = run_all(compile(schedule, way, seed), options, effort.most_states);
      findings.ways_explored += exploration.is_complete ? 1 : 0;
      if (exploration.trouble) {
        tell(way, options.depth, seed, *std::move(exploration.trouble));
        return findings;
      }
    }
    // Made anew for a few runs at a time: what is drawn differs, and making costs as much as running. The last few are
    // with more depth and slots than the least.
    constexpr std::uint32_t kRunsOfOne = 8;
    const std::uint32_t runs = effort.interleavings + effort.interleavings / 4;
    Setting way;
    Code code;
    for (std::uint32_t run = 0; run < runs; ++run) {
      const bool is_least = run < effort.interleavings;
      seed = mix(seed + 1);
      if (run % kRunsOfOne == 0) {
        way = ways[each];
        vary(way, run == 0 ? 0 : seed);
        if (!is_least) way.slots *= 2;
        code = compile(schedule, way, seed);
      }
      const std::uint32_t more = is_least ? 0 : (seed >> 8U) % 2 == 0 ? 1 : kDeep;
      const RunOptions options{
          .depth = depth_of(way, claims) + more, .order = claims.order, .seed = seed, .tells = effort.tells};
      ++findings.runs;
      if (std::optional<Trouble> trouble = run_once(code, options)) {
        tell(way, options.depth, seed, *std::move(trouble));
        return findings;
      }
    }
  }
  return findings;
}

}  // namespace tutti::oracle
