// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/units.hpp"
#include "fabric/files/fabric_file.hpp"
#include "fabric/files/fields.hpp"
#include "fabric/files/quantity.hpp"
#include "fabric/generators/draft.hpp"
#include "fabric/generators/generate.hpp"

namespace tutti::calibrate {

namespace {

// What takes less is none: curves have times above 0.
constexpr double kLeastTime = 0.1;
// What own bytes are given beside others' where they were not slower at all: no limit to speak of.
constexpr double kNoLimit = 10'000;

// Four digits are more than was measured.
double rounded(double value) { return std::stod(fmt::format("{:.4g}", value)); }

void add(fabric::Curve& curve, std::uint64_t bytes, double value) { curve.points.push_back({bytes, rounded(value)}); }

// What a message's step takes beside moving bytes, and how long it is on its way.
struct Basis {
  double step = 0;
  double latency = 0;
};

Basis basis_of(const Measurements& measured) {
  if (measured.hops.empty()) return {};
  Basis basis;
  basis.step = rounded(measured.step);
  const HopTimes& shortest = measured.hops.front();
  const double hop = std::min({shortest.copy, shortest.fold, shortest.forward, shortest.fold_forward});
  // The latency is at most the time of any of these calls.
  double least = hop - 2 * basis.step;
  if (!measured.swaps.empty())
    least = std::min({least, measured.swaps.front().once, measured.swaps.front().fold, measured.swaps.front().copy});
  if (!measured.small.empty()) least = std::min(least, measured.small.front().call);
  // Calls in symmetric memory have two.
  if (!measured.shots.empty())
    least = std::min(least, (std::min(measured.shots.front().fold, measured.shots.front().store) - measured.call) / 2);
  basis.latency = rounded(std::max(0.0, least - 2 * kLeastTime));
  basis.step = rounded(std::max(0.0, (hop - basis.latency) / 2 - kLeastTime));
  return basis;
}

// How much longer a swap of so many bytes takes than the shortest, where it folds and where it copies. Half of the
// lesser counts as storing, as a swap cannot tell storing from reading.
void add_swap(std::uint64_t bytes, double folding, double copying, fabric::Costs& costs) {
  const double stored = std::max(kLeastTime, rounded(std::min(folding, copying) / 2));
  add(costs.send_times, bytes, stored);
  add(costs.receive_times, bytes, std::max(kLeastTime, copying - stored));
  add(costs.fold_times, bytes, std::max(kLeastTime, folding - stored));
}
// Of a call that folds: a copy takes less by what it does in a further swap.
void add_first_swap(const SwapTimes& swap, double folding, fabric::Costs& costs) {
  add_swap(swap.bytes, folding, folding - std::max(0.0, swap.fold - swap.copy), costs);
}

fabric::Costs message_costs_of(const Measurements& measured) {
  const auto [step, latency] = basis_of(measured);
  fabric::Costs costs;
  costs.name = "messages";
  costs.channels = fabric::Channels::messages;
  costs.send_overhead = costs.receive_overhead = step;
  costs.post_overhead = costs.wait_overhead = step;
  costs.launch = rounded(std::max(0.0, measured.call));
  for (const HopTimes& hop : measured.hops) {
    const double beside = 2 * step + latency;
    const double end = std::max(kLeastTime, rounded((hop.copy - beside) / 2));
    add(costs.send_times, hop.bytes, end);
    add(costs.receive_times, hop.bytes, end);
    add(costs.fold_times, hop.bytes, std::max(kLeastTime, hop.fold - beside - end));
    add(costs.forward_times, hop.bytes, std::max(kLeastTime, hop.forward - beside));
    add(costs.fold_forward_times, hop.bytes, std::max(kLeastTime, hop.fold_forward - beside));
  }
  return costs;
}

// Of what direct schedules do by messages, as between groups of ranks.
void add_messages(const Measurements& measured, fabric::Costs& costs) {
  const fabric::Costs messages = message_costs_of(measured);
  costs.send_overhead = messages.send_overhead;
  costs.receive_overhead = messages.receive_overhead;
  costs.forward_times = messages.forward_times;
  costs.fold_forward_times = messages.fold_forward_times;
}

// Of direct schedules that post between other steps.
fabric::Costs direct_costs_of(const Measurements& measured) {
  const double latency = basis_of(measured).latency;
  const SwapTimes& shortest = measured.swaps.front();
  fabric::Costs costs;
  costs.name = "direct";
  costs.channels = fabric::Channels::direct;
  const double least = std::min(shortest.fold, shortest.copy);
  costs.post_overhead = rounded(std::max(0.0, least - latency - 2 * kLeastTime));
  costs.launch = rounded(std::max(0.0, shortest.twice - 2 * shortest.fold));
  for (const SwapTimes& swap : measured.swaps) add_swap(swap.bytes, swap.fold - least, swap.copy - least, costs);
  add_messages(measured, costs);
  return costs;
}

// Of those that post first: a list of steps that is known before the call.
fabric::Costs list_costs_of(const Measurements& measured) {
  const SwapTimes& shortest = measured.swaps.front();
  fabric::Costs costs;
  costs.name = "list";
  costs.channels = fabric::Channels::one_phase;
  costs.launch = rounded(std::max(0.0, shortest.once - basis_of(measured).latency - 2 * kLeastTime));
  for (const SwapTimes& swap : measured.swaps) add_first_swap(swap, swap.once - shortest.once, costs);
  add_messages(measured, costs);
  return costs;
}

fabric::Memory memory_of(const Measurements& measured) {
  fabric::Memory memory;
  for (const OwnRate& own : measured.own) {
    add(memory.bandwidths, own.working_set, own.fold_bandwidth);
    if (own.exchange <= 0 || measured.hops.empty()) continue;
    // Of a message each way a rank reads one slot's bytes of its own and writes another's.
    const double longer = own.exchange - measured.hops.back().copy;
    const double own_bytes = 2.0 * static_cast<double>(measured.hops.back().bytes);
    add(memory.beside_bandwidths, own.working_set, std::min(kNoLimit, longer > 0 ? own_bytes / longer : kNoLimit));
  }
  return memory;
}

// Of schedules that store in others' memory. A call has two latencies, of its first posts and of its last. Inputs stay
// as they are, as in the measured calls: what a rank has read before is in its cache.
fabric::Costs store_costs_of(const Measurements& measured) {
  constexpr int kPostsOfFold = 3;
  constexpr int kPostsOfStore = 2;
  const ShotTimes& shortest = measured.shots.front();
  fabric::Costs costs;
  costs.name = "stores";
  costs.channels = fabric::Channels::stores;
  // Posts take some time at least: ranks that share a core take turns for them.
  const double call = 2 * basis_of(measured).latency + rounded(std::max(0.0, measured.call)) + kLeastTime;
  costs.launch = rounded(std::max(0.0, measured.call));
  costs.post_overhead = rounded(
      std::max(kLeastTime, std::min((shortest.fold - call) / kPostsOfFold, (shortest.store - call) / kPostsOfStore)));
  const fabric::Curve beside = memory_of(measured).beside_bandwidths;
  for (const ShotTimes& shot : measured.shots) {
    const auto bytes = static_cast<double>(shot.bytes);
    // The simulator adds the memory's time for own bytes: half of the input and of the output, or all of the input.
    const double rate = fabric::rate_at(beside, 2 * bytes);
    const double rest = call - kLeastTime + (rate > 0 ? bytes / rate : 0);
    const auto less_posts = [&](double time, int posts) {
      return std::max(kLeastTime, time - rest - posts * costs.post_overhead);
    };
    // Of the fold each rank has one of two pieces.
    add(costs.fold_forward_times, std::max<std::uint64_t>(1, shot.bytes / 2), less_posts(shot.fold, kPostsOfFold));
    add(costs.send_times, shot.bytes, less_posts(shot.store, kPostsOfStore));
  }
  double reading = kLeastTime;  // more bytes take no less
  for (const fabric::CurvePoint& both : costs.fold_forward_times.points) {
    reading = std::max(reading, both.value - fabric::time_of(costs.send_times, static_cast<double>(both.bytes)));
    add(costs.receive_times, both.bytes, reading);
  }
  const fabric::Costs messages = message_costs_of(measured);
  costs.send_overhead = messages.send_overhead;
  costs.receive_overhead = messages.receive_overhead;
  return costs;
}

// Of exchanges that the runtime does in its own way for small ones.
fabric::Costs small_costs_of(const Measurements& measured) {
  fabric::Costs costs;
  costs.name = "small";
  costs.channels = fabric::Channels::exchange;
  costs.up_to = measured.small_end - 1;
  costs.launch = rounded(std::max(0.0, measured.small.front().call - basis_of(measured).latency - 2 * kLeastTime));
  for (std::size_t size = 0; size < measured.small.size() && size < measured.swaps.size(); ++size)
    add_first_swap(measured.swaps[size], measured.small[size].call - measured.small.front().call, costs);
  return costs;
}

std::uint32_t cores_for(const Measurements& measured, std::uint32_t ranks) {
  return std::min(ranks, static_cast<std::uint32_t>(measured.places.size()));
}

// Whether all cores that so many ranks are on are as near each other as those that were measured.
bool is_flat(const Measurements& measured, std::uint32_t ranks) {
  const auto first = measured.places.begin();
  return std::all_of(first, first + cores_for(measured, ranks),
                     [&](const CorePlace& place) { return apart(*first, place) <= measured.near; });
}

fabric::Fabric flat(const Measurements& measured, std::uint32_t ranks) {
  return fabric::generate(fmt::format("host:{}x{},bandwidth=unlimited,latency={}", ranks, cores_for(measured, ranks),
                                      fabric::time_to_text(basis_of(measured).latency / 2)))
      .value();
}

// What a message takes longer to so far a core than to a near one, once and by the byte.
fabric::Link farther_link(const Measurements& measured, Apart distance) {
  fabric::Link link;
  if (measured.hops.empty()) return link;
  for (const FartherHop& hop : measured.farther) {
    if (hop.distance != distance) continue;
    link.latency = std::max(0.0, hop.shortest - measured.hops.front().copy);
    const double longer = hop.longest - measured.hops.back().copy - link.latency;
    if (longer > 0) link.bandwidth = rounded(static_cast<double>(measured.hops.back().bytes) / longer);
  }
  return link;
}

// Cores around what they share, and these around what they share.
fabric::Fabric graph(const Measurements& measured, std::uint32_t ranks) {
  fabric::Draft draft;
  const std::uint32_t cores = cores_for(measured, ranks);
  for (std::uint32_t core = 0; core < cores; ++core)
    draft.add_node(fmt::format("core {}", core), fabric::on_circle(core, cores, 2 * fabric::room_for(cores)));
  struct Group {
    std::uint32_t node = 0;
    CorePlace place;
    std::uint32_t first = 0;  // core, for its place in a picture
  };
  const auto in_middle_of = [&](const Group& group, double share) {
    return fabric::on_circle(group.first, cores, share * 2 * fabric::room_for(cores));
  };
  std::vector<Group> inner;
  for (std::uint32_t core = 0; core < cores; ++core) {
    const CorePlace& place = measured.places[core];
    if (inner.empty() || apart(inner.back().place, place) > measured.near) {
      Group group{.place = place, .first = core};
      group.node = draft.add_switch(measured.near == Apart::not_at_all ? fmt::format("cache {}", place.cache)
                                                                       : fmt::format("package {}", place.package),
                                    in_middle_of(group, 0.6));
      inner.push_back(group);
    }
    fabric::Link link;
    link.latency = rounded(basis_of(measured).latency / 2);
    draft.add_both(core, inner.back().node, link);
  }
  const auto join = [&](std::uint32_t part, std::uint32_t whole, fabric::Link link, double reached) {
    link.latency = rounded(std::max(0.0, link.latency - reached) / 2);
    draft.add_both(part, whole, link);
  };
  const fabric::Link between_caches = farther_link(measured, Apart::caches);
  const fabric::Link between_packages = farther_link(measured, Apart::packages);
  const bool has_packages = apart(inner.front().place, inner.back().place) == Apart::packages;
  const std::uint32_t machine = draft.add_switch("machine", {});
  for (std::size_t at = 0; at < inner.size();) {
    std::size_t end = at + 1;
    while (end < inner.size() && inner[end].place.package == inner[at].place.package) ++end;
    if (!has_packages || measured.near != Apart::not_at_all || end == at + 1) {
      for (; at < end; ++at) join(inner[at].node, machine, has_packages ? between_packages : between_caches, 0);
      continue;
    }
    const std::uint32_t package =
        draft.add_switch(fmt::format("package {}", inner[at].place.package), in_middle_of(inner[at], 0.3));
    join(package, machine, between_packages, between_caches.latency);
    for (; at < end; ++at) join(inner[at].node, package, between_caches, 0);
  }
  fabric::Fabric made = std::move(draft).finish({});
  made.ranks.clear();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) made.ranks.push_back({.node = rank % cores, .core = rank % cores});
  return made;
}

}  // namespace

fabric::Fabric fabric_of(const Measurements& measured, std::uint32_t ranks) {
  fabric::Fabric made = is_flat(measured, ranks) ? flat(measured, ranks) : graph(measured, ranks);
  made.costs = {message_costs_of(measured)};
  if (!measured.swaps.empty())
    made.costs.insert(made.costs.end(), {direct_costs_of(measured), list_costs_of(measured)});
  if (!measured.shots.empty()) made.costs.push_back(store_costs_of(measured));
  if (!measured.small.empty()) made.costs.push_back(small_costs_of(measured));
  made.memories = {memory_of(measured)};
  made.queue.slots = measured.slots;
  made.queue.slot_bytes = measured.slot_bytes;
  for (fabric::Core& core : made.cores) core.switch_cost = rounded(measured.core_switch);
  return made;
}

std::string unsteadiness_in_words(const Measurements& measured) {
  const Steadiness& steadiness = measured.steadiness;
  const bool is_near_steady = steadiness.is_steady && steadiness.passes.size() == measured.passes;
  const bool is_far_steady = std::all_of(measured.farther.begin(), measured.farther.end(),
                                         [](const FartherHop& hop) { return hop.is_steady; });
  if (is_near_steady && is_far_steady) return "";
  if (is_near_steady) return "the machine did not keep still while hops between far cores were measured";
  const std::string seen = fmt::format("the machine did not keep still: the same call took {:.3g} to {:.3g} us",
                                       steadiness.least / 1e3, steadiness.greatest / 1e3);
  if (!steadiness.is_steady) return fmt::format("{}, and changed within each of {} passes", seen, measured.passes);
  return fmt::format("{}; this is of {} of {} passes, in which it took {:.3g} us", seen, steadiness.passes.size(),
                     measured.passes, steadiness.mark / 1e3);
}

namespace {
std::string comment_of(const std::string& words) {
  return fmt::format("# {}{}.\n", static_cast<char>(std::toupper(words[0])), words.substr(1));
}
std::string origin_of_messages(std::string_view name, std::string_view mark) {
  if (name == "launch") return fmt::format("{}: a call, beside its hop", mark);
  if (name.ends_with("overhead"))
    return fmt::format("{}: half of what the least hop of 8 bytes takes beside the latency", mark);
  if (name == "send_times" || name == "receive_times")
    return fmt::format("{}: half of a copying hop, less steps and latency", mark);
  return fmt::format("{}: a hop of this kind, less steps, latency and sending", mark);
}

// Where a number of costs is from; empty: nothing was measured for it.
std::string origin_of(const fabric::Costs& costs, std::string_view name, std::string_view mark) {
  using fabric::Channels;
  if (name == "channels") return "";
  if (name == "up_to") return fmt::format("{}: longer exchanges are lists", mark);
  if (name == "send_overhead" || name == "receive_overhead") return origin_of_messages(name, mark);
  if (costs.channels == Channels::stores) {
    if (name == "launch") return origin_of_messages(name, mark);
    if (name == "post_overhead")
      return fmt::format("{}: a call of 8 bytes in symmetric memory less launch and two latencies, for each post",
                         mark);
    if (name == "receive_times") return fmt::format("{}: what folding and storing takes longer than storing", mark);
    return fmt::format("{}: what a longer call in symmetric memory takes longer", mark);
  }
  if (name == "forward_times" || name == "fold_forward_times") return origin_of_messages(name, mark);
  if (costs.channels != Channels::messages && name == "receive_times")
    return fmt::format("{}: what a longer swap that copies takes longer, less storing", mark);
  if (costs.channels == Channels::exchange || costs.channels == Channels::one_phase) {
    const std::string_view what = costs.channels == Channels::exchange ? "all-reduce" : "swap";
    if (name == "launch") return fmt::format("{}: one {} of 8 bytes, less the latency", mark, what);
    return fmt::format("{}: what a longer {} takes longer, half of it for storing", mark, what);
  }
  if (costs.channels == Channels::direct) {
    if (name == "launch") return fmt::format("{}: two swaps of 8 bytes, less what two further ones add", mark);
    if (name == "post_overhead") return fmt::format("{}: what a further swap of 8 bytes adds, less the latency", mark);
    return fmt::format("{}: what a longer further swap takes longer, half of it for storing", mark);
  }
  return origin_of_messages(name, mark);
}

}  // namespace

std::string file_of(const Measurements& measured, std::uint32_t ranks) {
  const fabric::Fabric made = fabric_of(measured, ranks);
  const std::string unsteadiness = unsteadiness_in_words(measured);
  if (!is_flat(measured, ranks)) {
    std::string text = unsteadiness.empty() ? "" : comment_of(unsteadiness);
    text += fmt::format(
        "# A machine as `tutti probe --calibrate` has measured it, {}: {}.\n"
        "# Where cores are is from hwloc. Links: a copying hop of 8 bytes, and of a slot, between cores as far from "
        "each "
        "other,\n"
        "# less the same between near ones. Costs: ping-pong and swaps between near cores. Memories: reduction "
        "kernels.\n",
        measured.date, measured.machine);
    return text + fabric::write_fabric(made);
  }
  const std::uint32_t cores = cores_for(measured, ranks);
  const std::string mark = fmt::format("measured {}", measured.date);
  std::string text = fmt::format(
      "# A machine as `tutti probe --calibrate` has measured it: ping-pong and swaps between two cores, and\n"
      "# reduction kernels. `measured {0}` is of {1}.\n"
      "version = 1\n"
      "about = \"{2} ranks on {3} cores, calibrated on {0}\"\n"
      "generator = \"host:{2}x{3}\"\n"
      "switch_cost = \"{4}\"  # {5}: from one process of a core to the next, by sched_yield\n"
      "\n[parameters]\n"
      "latency = \"{6}\"  # {5}: half of the least time from rank to rank\n"
      "bandwidth = \"unlimited\"  # what limits is the cores and their memory, below\n",
      measured.date, measured.machine, ranks, cores, fabric::time_to_text(made.cores.front().switch_cost), mark,
      fabric::time_to_text(made.links.front().latency));
  if (!unsteadiness.empty()) text = comment_of(unsteadiness) + text;
  const auto add_lines = [&](const auto& fields, const auto& owner, const auto& why) {
    for (const auto& field : fields) {
      const std::string value = fabric::get(field, owner);
      if (value == fabric::get(field, std::decay_t<decltype(owner)>())) continue;
      const std::string reason = why(field.name);
      text += fmt::format("{} = {}{}{}\n", field.name,
                          field.unit == fabric::Unit::count ? value : fmt::format("\"{}\"", value),
                          reason.empty() ? "" : "  # ", reason);
    }
  };
  text += "\n[[memories]]\nname = \"memory\"\n";
  add_lines(fabric::kMemoryFields, made.memories.front(), [&](std::string_view name) {
    return fmt::format("{}: {}", mark,
                       name == "bandwidths" ? "a kernel with two own sources, on both cores at once, by working set"
                                            : "own bytes of messages, by working set, beside what a small one takes");
  });
  for (const fabric::Costs& costs : made.costs) {
    text += fmt::format("\n[[costs]]\nname = \"{}\"\n", costs.name);
    add_lines(fabric::kCostFields, costs, [&](std::string_view name) { return origin_of(costs, name, mark); });
  }
  text += "\n[queue]\n";
  add_lines(fabric::kQueueFields, made.queue, [](std::string_view name) {
    return name == "slots" ? "TUTTI_STAGING_DEPTH where it was measured" : "TUTTI_STAGING_SLOT where it was measured";
  });
  return text;
}

}  // namespace tutti::calibrate
