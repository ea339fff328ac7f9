// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/start/numbers.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "runtime/bootstrap/rendezvous.hpp"

namespace tutti::start {

namespace {

Result<std::int64_t> needed(const Environment& environment, std::string_view name, std::string_view beside,
                            Limits limits) {
  TUTTI_TRY_ASSIGN(const std::optional<std::int64_t> number, number_in(environment, name, limits));
  if (!number.has_value())
    return Status(Code::invalid_usage, fmt::format("{} is not set; it goes with {}", name, beside));
  return *number;
}

}  // namespace

Result<std::optional<std::int64_t>> number_in(const Environment& environment, std::string_view name, Limits limits) {
  const std::optional<std::string> text = environment.lookup(name);
  if (!text) return std::optional<std::int64_t>();
  const Result<std::int64_t> number = parse_integer(*text);
  if (!number.ok() || *number < limits.low || *number > limits.high)
    return Status(Code::invalid_usage, fmt::format("{} is {}; it takes a whole number from {} to {}", name,
                                                   in_quotes(*text), limits.low, limits.high));
  return std::optional(*number);
}

Result<Ranks> ranks_in(const Environment& environment, const RankVariables& names) {
  TUTTI_TRY_ASSIGN(const std::int64_t num_ranks, needed(environment, names.num_ranks, names.rank, {1, kMostRanks}));
  const Result<std::int64_t> rank = needed(environment, names.rank, names.num_ranks, {0, num_ranks - 1});
  if (!rank.ok()) return rank.status().with_context(fmt::format("{} is {}", names.num_ranks, num_ranks));
  const Result<std::optional<std::int64_t>> num_here = number_in(environment, names.num_here, {1, num_ranks});
  if (!num_here.ok()) return num_here.status().with_context(fmt::format("{} is {}", names.num_ranks, num_ranks));
  const bool span_hosts = num_here->value_or(num_ranks) < num_ranks;
  const bool may_span_hosts = num_here->value_or(0) < num_ranks;
  const Status number = check_number(num_ranks, may_span_hosts);
  if (!number.ok()) return number.with_context(fmt::format("{} is {}", names.num_ranks, num_ranks));
  return Ranks{static_cast<int>(*rank), static_cast<int>(num_ranks), span_hosts};
}

Status check_number(std::int64_t num_ranks, bool span_hosts) {
  const int most = span_hosts ? tutti::kMostRanks : kMostRanksOnHost;
  if (num_ranks > most) return {Code::unsupported, fmt::format("there are {} ranks; {} is the most", num_ranks, most)};
  return {};
}

}  // namespace tutti::start
