// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "runtime/bootstrap/rendezvous.hpp"

namespace tutti::launch {

namespace {

constexpr std::size_t kMostHosts = 4096;
constexpr std::size_t kMostTold = 4;

struct Entry {
  std::string host;
  std::optional<int> places;
};

Result<int> read_places(std::string_view text, std::string_view entry) {
  const Result<std::int64_t> number = parse_integer(text);
  if (!number.ok() || *number < 1 || *number > kMostRanksOnHost) {
    return wrong_argument(
        fmt::format("{} has {} ranks; a host has 1 to {}", in_quotes(entry), in_quotes(text), kMostRanksOnHost));
  }
  return static_cast<int>(*number);
}

// A name that begins with a hyphen would be an option of the agent.
Status check_host(std::string_view host, std::string_view entry) {
  const auto is_odd = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 127 || c == '[' || c == ']'; };
  if (!host.empty() && host.front() != '-' && std::none_of(host.begin(), host.end(), is_odd)) return {};
  return wrong_argument(
      fmt::format("{} is not a host; write HOST or HOST:RANKS, and IPv6 addresses in brackets, such as [fd00::1]:2",
                  in_quotes(entry)));
}

Result<Entry> read_entry(std::string_view entry) {
  Entry read;
  std::string_view host = entry;
  std::string_view rest;
  if (const std::size_t bracket = entry.find(']'); entry.starts_with('[') && bracket != std::string_view::npos) {
    host = entry.substr(1, bracket - 1);
    rest = entry.substr(bracket + 1);
    if (!rest.empty() && rest.front() != ':') host = {};
  } else if (const std::size_t colon = entry.find(':'); colon != std::string_view::npos) {
    host = entry.substr(0, colon);
    rest = entry.substr(colon);
    if (rest.find(':', 1) != std::string_view::npos) host = {};
  }
  TUTTI_TRY(check_host(host, entry));
  if (!rest.empty()) {
    TUTTI_TRY_ASSIGN(read.places, read_places(rest.substr(1), entry));
  }
  read.host = host;
  return read;
}

Result<Entry> read_line(std::string_view line) {
  const std::size_t blank = line.find_first_of(" \t");
  if (blank == std::string_view::npos) return read_entry(line);
  constexpr std::string_view kSlots = "slots=";
  const std::string_view rest = trim(line.substr(blank));
  if (!rest.starts_with(kSlots)) {
    return wrong_argument(fmt::format("found {} behind the host, expected slots=N", in_quotes(rest)));
  }
  TUTTI_TRY_ASSIGN(Entry read, read_entry(line.substr(0, blank)));
  if (read.places) return wrong_argument(fmt::format("{} has its number of ranks twice", in_quotes(line)));
  TUTTI_TRY_ASSIGN(read.places, read_places(trim(rest.substr(kSlots.size())), line));
  return read;
}

Result<std::vector<int>> count_ranks(const std::vector<Entry>& entries, std::optional<int> num_ranks) {
  std::vector<int> counts;
  const bool has_places = std::any_of(entries.begin(), entries.end(), [](const Entry& each) { return each.places; });
  const int num_hosts = static_cast<int>(entries.size());
  int left = num_ranks.value_or(0);
  for (int i = 0; i < num_hosts; ++i) {
    const int places = entries[static_cast<std::size_t>(i)].places.value_or(1);
    if (!num_ranks) {
      counts.push_back(places);
    } else if (has_places) {
      counts.push_back(std::min(left, places));
      left -= counts.back();
    } else {
      counts.push_back(*num_ranks / num_hosts + (i < *num_ranks % num_hosts ? 1 : 0));
    }
  }
  if (num_ranks && has_places && left > 0) {
    return wrong_argument(fmt::format("-n is {}, and --hosts has places for {}", *num_ranks, *num_ranks - left));
  }
  if (*std::max_element(counts.begin(), counts.end()) > kMostRanksOnHost) {
    return wrong_argument(
        fmt::format("-n is {} on {} hosts; a host has at most {} ranks", *num_ranks, num_hosts, kMostRanksOnHost));
  }
  return counts;
}

Result<std::vector<HostRanks>> place(const std::vector<Entry>& entries, std::optional<int> num_ranks) {
  if (entries.empty()) return wrong_argument("it names no host");
  if (entries.size() > kMostHosts) {
    return wrong_argument(fmt::format("it names {} hosts; {} are the most", entries.size(), kMostHosts));
  }
  TUTTI_TRY_ASSIGN(const std::vector<int> counts, count_ranks(entries, num_ranks));
  std::vector<HostRanks> placed;
  std::map<std::string, int> taken;  // places on each host
  int rank = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (counts[i] == 0) continue;
    int& first_place = taken[entries[i].host];
    placed.push_back({entries[i].host, {.first = rank, .count = counts[i], .first_place = first_place}});
    first_place += counts[i];
    rank += counts[i];
  }
  for (const auto& [host, count] : taken)
    if (count > kMostRanksOnHost)
      return wrong_argument(
          fmt::format("host {} has {} ranks in all; a host has at most {}", in_quotes(host), count, kMostRanksOnHost));
  if (rank > kMostRanks)
    return wrong_argument(fmt::format("it has places for {} ranks; {} are the most", rank, kMostRanks));
  for (HostRanks& each : placed) each.ranks.total = rank;
  return placed;
}

}  // namespace

Result<std::vector<HostRanks>> place_ranks(std::string_view hosts, std::optional<int> num_ranks) {
  std::vector<Entry> entries;
  for (const std::string_view part : split(hosts, ',')) {
    Result<Entry> entry = read_entry(part);
    if (!entry.ok()) return entry.status().with_context("--hosts");
    entries.push_back(std::move(*entry));
  }
  Result<std::vector<HostRanks>> placed = place(entries, num_ranks);
  if (!placed.ok()) return placed.status().with_context("--hosts");
  return placed;
}

Result<std::vector<HostRanks>> place_ranks_of_file(std::string_view text, std::string_view path,
                                                   std::optional<int> num_ranks) {
  std::vector<Entry> entries;
  int number = 0;
  for (const std::string_view whole : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(whole.substr(0, whole.find('#')));
    if (line.empty()) continue;
    Result<Entry> entry = read_line(line);
    if (!entry.ok()) return entry.status().with_context(fmt::format("{}:{}", printable(path), number));
    entries.push_back(std::move(*entry));
  }
  Result<std::vector<HostRanks>> placed = place(entries, num_ranks);
  if (!placed.ok()) return placed.status().with_context(printable(path));
  return placed;
}

std::string host_list(const std::vector<std::string>& hosts) {
  std::string text;
  const std::size_t told = hosts.size() > kMostTold + 1 ? kMostTold : hosts.size();
  for (std::size_t i = 0; i < told; ++i) {
    const bool is_last = i + 1 == hosts.size() && i > 0;
    text += fmt::format("{}{}", i == 0 ? "" : is_last ? " and " : ", ", hosts[i]);
  }
  if (told < hosts.size()) text += fmt::format(" and {} more", hosts.size() - told);
  return text;
}

}  // namespace tutti::launch
