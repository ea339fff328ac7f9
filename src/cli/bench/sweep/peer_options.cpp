// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/sweep/peer_options.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"

namespace tutti::cli {

namespace {

using harness::PeerProgram;

// Nobody means to start more of them without having said so.
constexpr int kMostUnasked = 64;

std::string_view head_of(std::string_view word) { return trim(word.substr(0, word.find(':'))); }

const PeerSummary* find_summary(std::string_view word, const BenchWorld& world) {
  const auto found = std::find_if(world.peers.begin(), world.peers.end(), [&](const PeerSummary& peer) {
    return same_name(peer.name, peer.wants.empty() ? trim(word) : head_of(word));
  });
  return found == world.peers.end() ? nullptr : &*found;
}

// The words of a list, of which some go on behind a comma.
std::vector<std::string> words_of(const std::string& asked, const BenchWorld& world) {
  std::vector<std::string> words;
  bool goes_on = false;
  for (const std::string_view each : split(asked, ',')) {
    const PeerSummary* summary = find_summary(each, world);
    if (goes_on && summary == nullptr && !same_name(each, "all")) {
      words.back() += fmt::format(",{}", each);
      continue;
    }
    words.emplace_back(each);
    goes_on = summary != nullptr && !summary->wants.empty();
  }
  return words;
}

Result<std::string> find_peer(const std::string& word, const BenchWorld& world) {
  const PeerSummary* summary = find_summary(word, world);
  if (summary == nullptr) {
    std::vector<std::string_view> names;
    for (const PeerSummary& peer : world.peers) names.push_back(peer.name);
    return wrong_argument(fmt::format("--peer has {}, which is none{}; all that are here is 'all'", in_quotes(word),
                                      nearest_hint(head_of(word), names)));
  }
  std::string name = summary->name;
  if (!summary->wants.empty()) {
    const std::size_t colon = word.find(':');
    const std::string_view wanted = colon == std::string::npos ? "" : trim(std::string_view(word).substr(colon + 1));
    if (wanted.empty())
      return wrong_argument(fmt::format("--peer has {}, which wants something behind it: {}:{}", in_quotes(word),
                                        summary->name, summary->wants));
    name += fmt::format(":{}", wanted);
  }
  const Result<std::string> here = world.look_for(name);
  if (!here.ok()) return summary->wants.empty() ? here.status() : here.status().with_context("--peer " + summary->name);
  return name;
}

bool is_reckoned(const PeerProgram& program) { return program.reckoner != nullptr; }

}  // namespace

Result<std::vector<std::string>> find_peers(const std::string& asked, const BenchWorld& world) {
  std::vector<std::string> peers;
  for (const std::string& word : words_of(asked, world)) {
    if (same_name(word, "all")) {
      for (const PeerSummary& peer : world.peers)
        if (peer.name != "null" && peer.wants.empty() && world.look_for(peer.name).ok()) peers.push_back(peer.name);
      continue;
    }
    Result<std::string> peer = find_peer(word, world);
    if (!peer.ok()) return peer.status();
    peers.push_back(std::move(*peer));
  }
  return peers;
}

std::pair<std::string, std::string> peer_in_front(std::string_view text, const std::vector<std::string>& peers) {
  // The longest, since one peer's name may go on from another's.
  const std::string* found = nullptr;
  for (const std::string& peer : peers) {
    const bool is_there =
        text.size() > peer.size() && text[peer.size()] == ':' && same_name(trim(text.substr(0, peer.size())), peer);
    if (is_there && (found == nullptr || peer.size() > found->size())) found = &peer;
  }
  if (found == nullptr) return {"", std::string(text)};
  return {*found, std::string(trim(text.substr(found->size() + 1)))};
}

bool are_all_reckoned(const std::vector<PeerProgram>& programs) {
  return !programs.empty() && std::all_of(programs.begin(), programs.end(), is_reckoned);
}

Status give_ranks(const std::vector<PeerProgram>& programs, bool is_said, harness::Sweep& sweep) {
  const auto first = std::find_if(programs.begin(), programs.end(), is_reckoned);
  if (first == programs.end()) return {};
  if (is_said) {
    const int least = *std::min_element(sweep.num_ranks.begin(), sweep.num_ranks.end());
    for (const PeerProgram& program : programs)
      if (is_reckoned(program) && program.reckoner->num_ranks() < least)
        return wrong_argument(fmt::format("peer {} has {}, and -a num_ranks asks for {} and more", program.name,
                                          counted(program.reckoner->num_ranks(), "rank"), least));
    return {};
  }
  const int num_ranks = first->reckoner->num_ranks();
  if (are_all_reckoned(programs)) {
    for (const PeerProgram& program : programs) sweep.num_ranks_of[program.name] = {program.reckoner->num_ranks()};
    return {};
  }
  const bool are_alike = std::all_of(programs.begin(), programs.end(), [&](const PeerProgram& program) {
    return !is_reckoned(program) || program.reckoner->num_ranks() == num_ranks;
  });
  if (!are_alike || num_ranks > kMostUnasked)
    return wrong_argument(fmt::format("peer {} has {}; say with -a num_ranks how many of the others are to be started",
                                      first->name, counted(num_ranks, "rank")));
  sweep.num_ranks = {num_ranks};
  return {};
}

Status check_reckoned(const std::vector<PeerProgram>& programs, const harness::Sweep& sweep) {
  for (const PeerProgram& program : programs)
    for (const harness::EnvironmentAxis& axis : sweep.environment) {
      if (!is_reckoned(program) || (!axis.peer.empty() && axis.peer != program.name)) continue;
      for (const std::string& name : axis.names)
        if (!program.reckoner->obeys(name))
          return wrong_argument(
              fmt::format("variable {} means nothing to peer {}, which has no processes; PEER:{}=... sets it for "
                          "another one",
                          name, program.name, name));
    }
  return {};
}

std::string unheeded_words(const SweepOptions& options, const std::vector<PeerProgram>& programs) {
  struct Word {
    std::string_view option;
    std::string SweepOptions::*value;
  };
  constexpr std::array<Word, 9> kWords = {{{"--sync", &SweepOptions::sync},
                                           {"--budget", &SweepOptions::budget},
                                           {"--precision", &SweepOptions::precision},
                                           {"--least-samples", &SweepOptions::least_samples},
                                           {"--launches", &SweepOptions::launches},
                                           {"--launcher", &SweepOptions::launcher},
                                           {"--bind", &SweepOptions::bind},
                                           {"--start-timeout", &SweepOptions::start_timeout},
                                           {"--seed", &SweepOptions::seed}}};
  if (!are_all_reckoned(programs)) return "";
  static const SweepOptions defaults;
  std::string said;
  for (const Word& word : kWords)
    if (options.*word.value != defaults.*word.value) said += fmt::format("{}{}", said.empty() ? "" : ", ", word.option);
  if (said.empty()) return "";
  return fmt::format("in virtual time nothing is measured, so each case has one sample, whatever {} says", said);
}

}  // namespace tutti::cli
