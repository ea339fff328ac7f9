// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/said.hpp"

#include <limits>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::harness {

namespace {

constexpr int kNumTraffics = static_cast<int>(Traffic::send_recv) + 1;
constexpr int kNumObeyed = static_cast<int>(State::Obeyed::unverifiable) + 1;

Status malformed(std::string_view what, const Json& found) {
  return {Code::invalid_argument, fmt::format("{} is {}", printable(what), in_quotes(found.dump()))};
}

Result<double> number_in(std::string_view what, const Json& said) {
  if (said.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!said.is_number()) return malformed(what, said);
  return said.get<double>();
}

Result<std::string> word_in(std::string_view what, const Json& said) {
  if (!said.is_string()) return malformed(what, said);
  return printable(said.get<std::string>());
}

template <typename Enumeration>
Result<Enumeration> one_of(std::string_view what, const Json& said, int count) {
  if (!said.is_number_integer() || said < 0 || said >= count) return malformed(what, said);
  return static_cast<Enumeration>(said.get<int>());
}

Json part_of(const Json& said, const char* name) { return said.is_object() ? said.value(name, Json()) : Json(); }

Status take_size(const Json& said, const char* name, std::optional<double>& size) {
  const Result<double> number = number_in(name, part_of(said, name));
  if (!number.ok()) return number.status();
  if (*number == *number) size = *number;
  return {};
}

}  // namespace

Status take_said(const Json& said, Row& row) {
  TUTTI_TRY(take_size(said, "bytes", row.bytes));
  TUTTI_TRY(take_size(said, "items", row.items));
  TUTTI_TRY(take_size(said, "flops", row.flops));
  if (said.contains("ran")) {
    Result<std::string> ran = word_in("ran", said.at("ran"));
    if (!ran.ok()) return ran.status();
    row.ran = std::move(*ran);
  }
  if (said.contains("message")) {
    std::optional<double> bytes;
    TUTTI_TRY(take_size(said.at("message"), "bytes", bytes));
    const Result<Traffic> traffic =
        one_of<Traffic>("the traffic of the message", part_of(said.at("message"), "traffic"), kNumTraffics);
    if (!traffic.ok()) return traffic.status();
    if (bytes) row.message = {*bytes, *traffic};
  }
  const Json counters = part_of(said, "counters");
  for (const auto& [name, value] : counters.items()) {
    const Result<double> number = number_in(name, value);
    if (!number.ok()) return number.status();
    row.counters[printable(name)] = *number;
  }
  const Json evidence = part_of(said, "evidence");
  for (const auto& [name, value] : evidence.items()) {
    const Result<State::Obeyed> obeyed = one_of<State::Obeyed>(name, part_of(value, "obeyed"), kNumObeyed);
    if (!obeyed.ok()) return obeyed.status();
    Result<std::string> how = word_in(name, part_of(value, "how"));
    if (!how.ok()) return how.status();
    row.evidence[printable(name)] = {*obeyed, std::move(*how)};
  }
  return {};
}

}  // namespace tutti::harness
