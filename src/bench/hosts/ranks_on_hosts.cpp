// SPDX-License-Identifier: Apache-2.0
#include "bench/hosts/ranks_on_hosts.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"

namespace tutti::harness {

namespace {

std::vector<int> counts_of(const std::vector<int>& host_of, std::size_t num_hosts) {
  std::vector<int> counts(num_hosts);
  for (const int host : host_of) ++counts[static_cast<std::size_t>(host)];
  return counts;
}

// Entries of one host are one host.
std::vector<int> hosts_wanted(const std::vector<HostEntry>& entries) {
  std::map<std::string, int> numbers;
  std::vector<int> host_of;
  for (const HostEntry& entry : entries) {
    const int host = numbers.try_emplace(entry.host, static_cast<int>(numbers.size())).first->second;
    host_of.insert(host_of.end(), static_cast<std::size_t>(entry.num_ranks), host);
  }
  return host_of;
}

}  // namespace

std::string placement_text(const std::vector<HostEntry>& entries) {
  const std::vector<int> host_of = hosts_wanted(entries);
  if (!std::is_sorted(host_of.begin(), host_of.end())) return fmt::format("on {}", fmt::join(host_of, " "));
  const std::vector<int> counts =
      counts_of(host_of, host_of.empty() ? 0 : static_cast<std::size_t>(host_of.back()) + 1);
  const bool are_alike = std::equal(counts.begin() + (counts.empty() ? 0 : 1), counts.end(), counts.begin());
  if (are_alike && !counts.empty()) return fmt::format("{}x{}", counts.size(), counts.front());
  return fmt::format("{}", fmt::join(counts, "+"));
}

std::uint32_t num_hosts_in(std::string_view text) {
  if (const std::size_t cross = text.find('x'); cross != std::string_view::npos) {
    const Result<std::int64_t> hosts = parse_integer(text.substr(0, cross));
    return hosts.ok() && *hosts > 0 ? static_cast<std::uint32_t>(*hosts) : 1;
  }
  constexpr std::string_view kScattered = "on ";
  if (!text.starts_with(kScattered)) return text.empty() ? 1 : static_cast<std::uint32_t>(split(text, '+').size());
  std::int64_t last = 0;
  for (const std::string_view each : split(text.substr(kScattered.size()), ' ')) {
    const Result<std::int64_t> host = parse_integer(each);
    if (host.ok()) last = std::max(last, *host);
  }
  return static_cast<std::uint32_t>(last) + 1;
}

std::vector<std::uint32_t> ranks_by_host(const std::vector<HostEntry>& entries) {
  std::vector<std::uint32_t> counts;
  for (const int host : hosts_wanted(entries)) {
    counts.resize(std::max(counts.size(), static_cast<std::size_t>(host) + 1));
    ++counts[static_cast<std::size_t>(host)];
  }
  return counts;
}

Here here_of(const Host& host) {
  return {.name = host.name,
          .host = fmt::format("{} {} {}", host.boot, host.network, host.id),
          .machine = host.boot,
          .clock = fmt::format("{} {}", host.boot, host.clock),
          .cores = allowed_whole_cores()};
}

Json to_json(const Here& here) {
  return {{"name", here.name},
          {"host", here.host},
          {"machine", here.machine},
          {"clock", here.clock},
          {"cores", here.cores}};
}

Result<Here> here_in(const Json& said) {
  try {
    return Here{.name = printable(said.at("name").get<std::string>()),
                .host = said.at("host").get<std::string>(),
                .machine = said.at("machine").get<std::string>(),
                .clock = said.at("clock").get<std::string>(),
                .cores = said.at("cores").get<std::vector<Core>>()};
  } catch (const Json::exception& wrong) {
    return Status(Code::invalid_usage, fmt::format("does not say where it is: {}", printable(wrong.what())));
  }
}

RanksOnHosts ranks_on_hosts(const std::vector<Here>& ranks) {
  RanksOnHosts found;
  std::map<std::string, int> hosts;
  // Containers of one machine may have cores of their own.
  std::map<std::pair<std::string, std::vector<Core>>, std::vector<std::size_t>> machines;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto [host, is_new] = hosts.try_emplace(ranks[rank].host, static_cast<int>(hosts.size()));
    if (is_new) found.names.push_back(ranks[rank].name);
    found.host_of.push_back(host->second);
    found.has_common_clock = found.has_common_clock && ranks[rank].clock == ranks.front().clock;
    machines[{ranks[rank].machine, ranks[rank].cores}].push_back(rank);
  }
  found.cores.resize(ranks.size());
  for (const auto& [machine, here] : machines) {
    const std::vector<Core>& cores = ranks[here.front()].cores;
    if (here.size() > cores.size()) found.shares_cores = true;
    const std::vector<Core> given =
        cores.empty() ? std::vector<Core>(here.size()) : cores_of_ranks(cores, static_cast<int>(here.size()));
    for (std::size_t each = 0; each < here.size(); ++each) found.cores[here[each]] = given[each];
  }
  if (std::any_of(found.cores.begin(), found.cores.end(), [](const Core& core) { return core.empty(); }))
    found.cores.clear();
  return found;
}

Status check_placement(const RanksOnHosts& found, const std::vector<HostEntry>& wanted) {
  const std::vector<int> host_of = hosts_wanted(wanted);
  if (found.host_of == host_of) return {};
  for (std::size_t rank = 0; rank < found.host_of.size(); ++rank) {
    if (rank < host_of.size() && found.host_of[rank] == host_of[rank]) continue;
    return {Code::invalid_usage,
            fmt::format("ranks are not where --hosts puts them: rank {} is on {}; they are on {}; Open MPI keeps the "
                        "ranks of a host together, and may take several names for one host",
                        rank, found.names[static_cast<std::size_t>(found.host_of[rank])], in_words(found))};
  }
  return {Code::invalid_usage,
          fmt::format("there are {} ranks, where {} should be", found.host_of.size(), host_of.size())};
}

std::string in_words(const RanksOnHosts& ranks) {
  constexpr std::size_t kMostHosts = 4;
  const std::vector<int> counts = counts_of(ranks.host_of, ranks.names.size());
  std::vector<std::string> hosts;
  for (std::size_t host = 0; host < std::min(kMostHosts, counts.size()); ++host)
    hosts.push_back(fmt::format("{} ({})", ranks.names[host], counts[host]));
  if (counts.size() > kMostHosts) hosts.push_back(fmt::format("{} more", counts.size() - kMostHosts));
  return fmt::format("{} host{} with their ranks: {}", counts.size(), counts.size() == 1 ? "" : "s",
                     fmt::join(hosts, ", "));
}

Seat seat_of(int rank, std::vector<int> host_of) {
  Seat seat{.rank = rank, .num_here = 0, .host_of = std::move(host_of)};
  for (std::size_t each = 0; each < seat.host_of.size(); ++each) {
    if (seat.host_of[each] != seat.host()) continue;
    if (static_cast<int>(each) < rank) ++seat.place;
    ++seat.num_here;
  }
  return seat;
}

}  // namespace tutti::harness
