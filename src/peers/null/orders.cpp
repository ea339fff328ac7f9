// SPDX-License-Identifier: Apache-2.0
#include "peers/null/orders.hpp"

#include <charconv>
#include <functional>
#include <map>
#include <string>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"

namespace tutti::peers {

namespace {

using Reader = std::function<Status(const std::string& text)>;

Reader time_into(std::int64_t& to) {
  return [&to](const std::string& text) -> Status {
    TUTTI_TRY_ASSIGN(const Nanos time, parse_duration(text));
    to = time.value();
    return {};
  };
}

Reader factor_into(double& to) {
  return [&to](const std::string& text) -> Status {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
    if (error != std::errc() || end != text.data() + text.size() || !(to >= 0 && to < 1e6))
      return {Code::invalid_argument, fmt::format("{} is no factor", in_quotes(text))};
    return {};
  };
}

Reader switch_into(bool& to) {
  return [&to](const std::string& text) -> Status {
    if (text != "0" && text != "1")
      return {Code::invalid_argument, fmt::format("{} where 0 or 1 is due", in_quotes(text))};
    to = text == "1";
    return {};
  };
}

Reader rank_into(std::optional<int>& to) {
  return [&to](const std::string& text) -> Status {
    TUTTI_TRY_ASSIGN(const std::int64_t rank, parse_integer(text));
    to = static_cast<int>(rank);
    return {};
  };
}

Reader moment_into(std::optional<Moment>& to) {
  return [&to](const std::string& text) -> Status {
    const std::size_t at = text.find('@');
    const Result<std::int64_t> rank = parse_integer(text.substr(0, at));
    const Result<std::int64_t> call =
        at == std::string::npos ? Result<std::int64_t>(std::int64_t{1}) : parse_integer(text.substr(at + 1));
    if (!rank.ok()) return rank.status();
    if (!call.ok()) return call.status();
    to = Moment{static_cast<int>(*rank), static_cast<std::uint64_t>(*call)};
    return {};
  };
}

}  // namespace

Result<NullOrders> null_orders(const Environment& environment) {
  NullOrders orders;
  const std::map<std::string_view, Reader> readers = {
      {"TUTTI_NULL_WORK", time_into(orders.work)},         {"TUTTI_NULL_FACTOR", factor_into(orders.factor)},
      {"TUTTI_NULL_DELAY", time_into(orders.delay)},       {"TUTTI_NULL_SPIN", switch_into(orders.spins)},
      {"TUTTI_NULL_CRASH", moment_into(orders.crash)},     {"TUTTI_NULL_HANG", moment_into(orders.hang)},
      {"TUTTI_NULL_EXIT", rank_into(orders.exit)},         {"TUTTI_NULL_WRONG", switch_into(orders.is_wrong)},
      {"TUTTI_NULL_RANK", rank_into(orders.claimed_rank)}, {"TUTTI_NULL_TWICE", rank_into(orders.twice)},
      {"TUTTI_NULL_GARBAGE", rank_into(orders.garbage)},   {"TUTTI_NULL_OVERSIZED", rank_into(orders.oversized)},
      {"TUTTI_NULL_SILENT", rank_into(orders.silent)},     {"TUTTI_NULL_STRANGER", rank_into(orders.stranger)},
      {"TUTTI_NULL_CROWDED", rank_into(orders.crowded)},   {"TUTTI_NULL_FAIL", moment_into(orders.fail)},
      {"TUTTI_NULL_BEGIN", time_into(orders.begin)}};
  for (const std::string& name : environment.names()) {
    if (!name.starts_with(kNullPrefix)) continue;
    const auto reader = readers.find(name);
    if (reader == readers.end())
      return Status(Code::invalid_argument, fmt::format("the null peer knows no variable {}", name));
    const Status status = reader->second(environment.lookup(name).value_or(""));
    if (!status.ok()) return status.with_context(name);
  }
  return orders;
}

}  // namespace tutti::peers
