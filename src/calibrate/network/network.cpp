// SPDX-License-Identifier: Apache-2.0
#include "calibrate/network/network.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.hpp"

namespace tutti::calibrate {

namespace {

constexpr std::size_t kMostHosts = 4096;
constexpr std::string_view kEnd = "end";
constexpr std::string_view kTogether = "together";

Status malformed(std::string_view line) {
  return {Code::invalid_usage, fmt::format("{} is no line of measurements", in_quotes(line.substr(0, 80)))};
}

// The numbers behind the first word.
Result<std::vector<double>> numbers_in(std::string_view line) {
  std::vector<double> numbers;
  const std::vector<std::string_view> words = split(line, ' ');
  for (std::size_t word = 1; word < words.size(); ++word) {
    double& value = numbers.emplace_back();
    const char* const end = words[word].data() + words[word].size();
    const auto read = std::from_chars(words[word].data(), end, value);
    if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value) || value < 0) return malformed(line);
  }
  return numbers;
}

Status add_host(std::span<const double> of, NetworkMeasurements& measured) {
  if (of.size() != 8) return {Code::invalid_usage, "a host has 8 numbers"};
  measured.hosts.push_back(
      {static_cast<std::uint32_t>(std::min(of[0], 1e6)), of[1], of[2], of[3], of[4], of[5], of[6], of[7]});
  return measured.hosts.size() <= kMostHosts ? Status() : Status(Code::invalid_usage, "there are too many hosts");
}

Status add_pair(std::span<const double> of, NetworkMeasurements& measured) {
  const std::size_t hosts = measured.num_hosts();
  measured.pairs.resize(hosts * hosts);
  if (of.size() != 5 || of[0] >= double(hosts) || of[1] >= double(hosts))
    return {Code::invalid_usage, "a pair has two hosts and 3 numbers"};
  measured.pair(static_cast<std::size_t>(of[0]), static_cast<std::size_t>(of[1])) = {of[2], of[3], of[4]};
  return {};
}

// What a fit divides by.
Status check(const NetworkMeasurements& measured) {
  if (measured.num_hosts() < 2) return {Code::invalid_usage, "fewer than two hosts were measured"};
  if (measured.steps.size() < 2 || measured.steps.front().bytes >= measured.steps.back().bytes || measured.all <= 0 ||
      measured.steps.front().time <= 0 || measured.steps.back().time <= 0 || measured.slots == 0 ||
      measured.slot_bytes == 0)
    return {Code::invalid_usage, "what all hosts do at once was not measured"};
  if (measured.pairs.size() != measured.num_hosts() * measured.num_hosts())
    return {Code::invalid_usage, "no pair was measured"};
  for (std::size_t from = 0; from < measured.num_hosts(); ++from) {
    for (std::size_t to = 0; to < measured.num_hosts(); ++to) {
      const PairTimes& pair = measured.pair(from, to);
      if (from != to && (pair.half_round_trip <= 0 || pair.one_way <= 0 || pair.both_ways <= 0))
        return {Code::invalid_usage, fmt::format("hosts {} and {} were not measured", from, to)};
    }
  }
  return {};
}

}  // namespace

std::string to_lines(const NetworkMeasurements& measured) {
  std::string lines;
  for (const HostTimes& host : measured.hosts)
    lines += fmt::format("host {} {} {} {} {} {} {} {}\n", host.ranks, host.out, host.in, host.send, host.receive,
                         host.fold, host.near_hop, host.near_rate);
  for (std::size_t from = 0; from < measured.num_hosts(); ++from) {
    for (std::size_t to = 0; to < measured.num_hosts(); ++to) {
      if (from == to) continue;
      const PairTimes& pair = measured.pair(from, to);
      lines += fmt::format("pair {} {} {} {} {}\n", from, to, pair.half_round_trip, pair.one_way, pair.both_ways);
    }
  }
  for (const StepTime& step : measured.steps) lines += fmt::format("step {} {}\n", step.bytes, step.time);
  lines += fmt::format("all {}\nqueue {} {}\n{}\n", measured.all, measured.slots, measured.slot_bytes, kEnd);
  return lines;
}

Result<NetworkMeasurements> from_lines(std::string_view text) {
  NetworkMeasurements measured;
  bool has_ended = false;
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const std::string_view word = line.substr(0, line.find(' '));
    TUTTI_TRY_ASSIGN(const std::vector<double> numbers, numbers_in(line));
    if (word == "host") {
      TUTTI_TRY(add_host(numbers, measured));
    } else if (word == "pair") {
      TUTTI_TRY(add_pair(numbers, measured));
    } else if (word == "step" && numbers.size() == 2) {
      measured.steps.push_back({static_cast<std::uint64_t>(std::min(numbers[0], 1e12)), numbers[1]});
    } else if (word == "all" && numbers.size() == 1) {
      measured.all = numbers[0];
    } else if (word == "queue" && numbers.size() == 2) {
      measured.slots = static_cast<std::uint32_t>(std::min(numbers[0], 1e6));
      measured.slot_bytes = static_cast<std::uint64_t>(std::min(numbers[1], 1e12));
    } else if (word == kEnd) {
      has_ended = true;
    } else {
      return malformed(line);
    }
  }
  if (!has_ended) return Status(Code::invalid_usage, "the measurements have no end");
  TUTTI_TRY(check(measured));
  return measured;
}

std::string to_line(const std::vector<double>& together) {
  return fmt::format("{} {}\n", kTogether, fmt::join(together, " "));
}

Result<std::vector<double>> together_from_line(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  TUTTI_TRY_ASSIGN(std::vector<double> numbers, numbers_in(line));
  if (line.substr(0, line.find(' ')) != kTogether || numbers.empty()) return malformed(line);
  return numbers;
}

}  // namespace tutti::calibrate
