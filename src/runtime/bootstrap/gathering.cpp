// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/gathering.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "base/text.hpp"
#include "runtime/bootstrap/rendezvous.hpp"

namespace tutti {
namespace {

constexpr std::size_t kMostRunsShown = 8;
constexpr int kMostDifferencesShown = 4;

using NamedValues = std::map<std::string_view, std::string_view>;

NamedValues variables_of(std::string_view lines) {
  NamedValues variables;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) variables[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return variables;
}

std::string value_on(const NamedValues& variables, std::string_view name, int rank) {
  const auto found = variables.find(name);
  if (found == variables.end()) return fmt::format("unset on rank {}", rank);
  return fmt::format("{} on rank {}", found->second.empty() ? "empty" : printable(found->second), rank);
}

std::string with_process(const wire::Hello& hello) {
  return fmt::format("rank {} (process {})", hello.rank, hello.pid);
}

}  // namespace

std::string rank_list(const std::vector<int>& ranks) {
  std::vector<std::string> runs;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < ranks.size() && runs.size() < kMostRunsShown;) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (last - i < 2) last = i;  // two neighbours read better apart
    runs.push_back(last == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]));
    i = last + 1;
    shown = i;
  }
  if (shown < ranks.size()) runs.push_back(fmt::format("{} more", ranks.size() - shown));
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i > 0) text += i + 1 == runs.size() ? " and " : ", ";
    text += runs[i];
  }
  return text;
}

std::string configuration_difference(const RankConfiguration& a, const RankConfiguration& b) {
  const NamedValues variables_a = variables_of(a.lines);
  const NamedValues variables_b = variables_of(b.lines);
  std::set<std::string_view> names;
  for (const auto& [name, value] : variables_a) names.insert(name);
  for (const auto& [name, value] : variables_b) names.insert(name);

  std::string text;
  int count = 0;
  for (const std::string_view name : names) {
    const auto in_a = variables_a.find(name);
    const auto in_b = variables_b.find(name);
    if (in_a != variables_a.end() && in_b != variables_b.end() && in_a->second == in_b->second) continue;
    if (++count > kMostDifferencesShown) continue;
    text += fmt::format("{}{} is {} and {}", text.empty() ? "" : "; ", printable(name),
                        value_on(variables_a, name, a.rank), value_on(variables_b, name, b.rank));
  }
  if (count > kMostDifferencesShown) text += fmt::format("; and {} more differ", count - kMostDifferencesShown);
  return text;
}

Status Gathering::admit(wire::Hello hello) {
  if (hello.version != wire::kVersion) {
    return {Code::invalid_usage,
            fmt::format("rank {} has another version of Tutti: its rendezvous is version {}, and the server's is {}",
                        hello.rank, hello.version, wire::kVersion),
            hello.rank};
  }
  if (hello.num_ranks < 1 || hello.num_ranks > kMostRanks) {
    return {Code::invalid_argument,
            fmt::format("rank {} asks for {} ranks; 1 to {} can be", hello.rank, hello.num_ranks, kMostRanks)};
  }
  if (num_ranks_ == 0) {
    num_ranks_ = hello.num_ranks;
    first_ = hello.rank;
    seats_.resize(static_cast<std::size_t>(num_ranks_));
  }
  if (hello.num_ranks != num_ranks_) {
    return {Code::invalid_usage,
            fmt::format("rank {} says that there {} {}, and rank {} says {}", first_, are(num_ranks_),
                        counted(num_ranks_, "rank"), hello.rank, hello.num_ranks)};
  }
  if (hello.rank < 0 || hello.rank >= num_ranks_) {
    return {Code::invalid_argument, fmt::format("a process joins as rank {}; of {} the last is {}", hello.rank,
                                                counted(num_ranks_, "rank"), num_ranks_ - 1)};
  }
  if (!hello.refusal.ok())
    return {hello.refusal.code(), fmt::format("rank {} cannot join: {}", hello.rank, hello.refusal.message()),
            hello.rank};
  Seat& seat = seats_[static_cast<std::size_t>(hello.rank)];
  if (seat.arrived) {
    return {Code::invalid_usage,
            fmt::format("two processes join as rank {}: {} and {}", hello.rank, seat.hello.pid, hello.pid)};
  }
  if (arrived_ > 0) TUTTI_TRY(compare(seats_[static_cast<std::size_t>(first_)].hello, hello));
  seat.arrived = true;
  seat.hello = std::move(hello);
  ++arrived_;
  return {};
}

Status Gathering::compare(const wire::Hello& a, const wire::Hello& b) const {
  const wire::Hello& low = a.rank < b.rank ? a : b;
  const wire::Hello& high = a.rank < b.rank ? b : a;
  for (const wire::Hello* const each : {&low, &high})
    if (!low.host.is_same(high.host) && each->addresses.empty())
      return {Code::unsupported,
              fmt::format("{} runs on host {} and {} on host {}, and {} has no address at which another host could "
                          "reach it",
                          with_process(low), in_quotes(low.host.name), with_process(high), in_quotes(high.host.name),
                          with_process(*each)),
              each->rank};
  const std::string difference =
      configuration_difference({low.rank, low.configuration}, {high.rank, high.configuration});
  if (!difference.empty()) {
    return {Code::invalid_usage, fmt::format("all ranks must be configured alike: {}", difference)};
  }
  return {};
}

Status Gathering::check_hosts() const {
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, int> ranks;
  for (const Seat& seat : seats_) {
    const Host& host = seat.hello.host;
    if (++ranks[{host.id, host.boot, host.network}] > kMostRanksOnHost)
      return {Code::unsupported,
              fmt::format("more than {} ranks are on host {}", kMostRanksOnHost, in_quotes(host.name))};
  }
  return {};
}

void Gathering::mark_ready(int rank) {
  if (rank < 0 || rank >= num_ranks_) return;
  Seat& seat = seats_[static_cast<std::size_t>(rank)];
  if (std::exchange(seat.ready, true)) return;
  ++ready_;
}

wire::Table Gathering::table() const {
  wire::Table table{.generation = seats_[0].hello.generation, .ranks = {}};
  // By what makes a host; for each its number, its first rank, and whether its ranks are in one pid namespace.
  struct Known {
    std::uint32_t number = 0;
    const Host* first = nullptr;
    bool is_one_namespace = true;
    std::uint32_t num_ranks = 0;
  };
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, Known> hosts;
  for (const Seat& seat : seats_) {
    const Host& host = seat.hello.host;
    const auto [known, is_new] = hosts.try_emplace({host.id, host.boot, host.network});
    if (is_new) known->second = {static_cast<std::uint32_t>(hosts.size() - 1), &host};
    known->second.is_one_namespace = known->second.is_one_namespace && host.processes == known->second.first->processes;
    table.ranks.push_back({.host = known->second.number,
                           .pid = seat.hello.pid,
                           .leader_socket = is_new ? seat.hello.leader_socket : "",
                           .addresses = seat.hello.addresses,
                           .endpoint_name = seat.hello.endpoint_name,
                           .turn = seat.hello.turn.value_or(known->second.num_ranks++),
                           .interfaces = seat.hello.interfaces});
  }
  for (std::size_t rank = 0; rank < seats_.size(); ++rank) {
    const Host& host = seats_[rank].hello.host;
    if (!hosts.at({host.id, host.boot, host.network}).is_one_namespace) table.ranks[rank].pid = 0;
    // Nobody else needs them.
    if (hosts.size() > 1) continue;
    table.ranks[rank].addresses.clear();
    table.ranks[rank].endpoint_name.clear();
  }
  return table;
}

std::string Gathering::progress() const {
  std::vector<int> missing;
  const bool arriving = !all_arrived();
  for (int rank = 0; rank < num_ranks_; ++rank) {
    const Seat& seat = seats_[static_cast<std::size_t>(rank)];
    if (arriving ? !seat.arrived : !seat.ready) missing.push_back(rank);
  }
  const bool one = missing.size() == 1;
  if (arriving) return fmt::format("{} of {} {} not arrived", rank_list(missing), num_ranks_, one ? "has" : "have");
  return fmt::format("{} of {} {} arrived but {} not connected yet", rank_list(missing), num_ranks_,
                     one ? "has" : "have", one ? "is" : "are");
}

Status Gathering::lost(int rank) const {
  const Seat& seat = seats_[static_cast<std::size_t>(rank)];
  return {Code::rank_lost, fmt::format("{} ended before the communicator was complete", with_process(seat.hello)),
          rank};
}

}  // namespace tutti
