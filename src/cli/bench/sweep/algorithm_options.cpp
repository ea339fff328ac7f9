// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/sweep/algorithm_options.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::cli {

namespace {

using harness::ForcedAlgorithm;

std::string names_of(const std::vector<ForcedAlgorithm>& algorithms) {
  std::string names = "default, all";
  for (const ForcedAlgorithm& each : algorithms) names += ", " + each.name;
  return names;
}

// The last words for it, else the last for all.
const AlgorithmWords* words_for(const std::vector<AlgorithmWords>& asked, std::string_view peer) {
  const AlgorithmWords* found = nullptr;
  for (const AlgorithmWords& each : asked)
    if (each.peer == peer || (each.peer.empty() && (found == nullptr || found->peer.empty()))) found = &each;
  return found;
}

}  // namespace

bool is_algorithm_axis(std::string_view name, const harness::Sweep& sweep, const BenchWorld& world) {
  if (!world.algorithms_of || !same_name(name, harness::kAlgorithmAxis)) return false;
  return std::none_of(sweep.axes.begin(), sweep.axes.end(),
                      [&](const harness::Axis& axis) { return same_name(axis.name, name); });
}

Status set_algorithms(const std::vector<AlgorithmWords>& asked, const BenchWorld& world, harness::Sweep& sweep) {
  if (asked.empty()) return {};
  const std::vector<std::string> its_own = {"default"};
  const auto words_of = [&](const std::string& peer) -> const std::vector<std::string>& {
    const AlgorithmWords* words = words_for(asked, peer);
    return words == nullptr ? its_own : words->words;
  };
  const auto has = [&](const std::string& peer) {
    return fmt::format("for {} peer {} has {}", sweep.bench, peer, names_of(world.algorithms_of(peer, sweep.bench)));
  };
  for (const std::string& peer : sweep.peers)
    for (const std::string& word : words_of(peer)) {
      const bool is_known = std::any_of(sweep.peers.begin(), sweep.peers.end(), [&](const std::string& other) {
        const std::vector<std::string> alone = {word};
        return !harness::chosen(alone, world.algorithms_of(other, sweep.bench)).empty();
      });
      if (!is_known)
        return {Code::invalid_argument,
                fmt::format("-a algorithm has {}, which is none; {}", in_quotes(word), has(peer))};
    }
  for (const std::string& peer : sweep.peers) {
    std::vector<ForcedAlgorithm> algorithms = harness::chosen(words_of(peer), world.algorithms_of(peer, sweep.bench));
    if (algorithms.empty())
      return {Code::invalid_argument,
              fmt::format("-a algorithm={} leaves nothing for peer {}; {}; -a {}:algorithm=default is its own choice",
                          fmt::join(words_of(peer), ","), peer, has(peer), peer)};
    sweep.algorithms[peer] = std::move(algorithms);
  }
  return {};
}

}  // namespace tutti::cli
