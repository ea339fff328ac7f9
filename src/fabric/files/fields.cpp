// SPDX-License-Identifier: Apache-2.0
#include "fabric/files/fields.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "fabric/files/quantity.hpp"
#include "fabric/processing_element.hpp"

namespace tutti::fabric {

namespace {

Status read(Unit unit, std::string_view text, double& value) {
  TUTTI_TRY_ASSIGN(value, unit == Unit::rate ? parse_rate(text) : parse_time(text));
  return {};
}

Status too_large(std::string_view text, std::uint64_t most) {
  return {Code::invalid_argument, fmt::format("{} is too large; {} is the most", in_quotes(text), most)};
}

Status read_whole(std::string_view text, std::uint64_t most, std::uint64_t& value) {
  const std::string_view digits = trim(text);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos)
    return {Code::invalid_argument, fmt::format("{} is no whole number from 0 on", in_quotes(text))};
  const Result<std::int64_t> number = parse_integer(digits);
  if (!number.ok() || static_cast<std::uint64_t>(*number) > most) return too_large(text, most);
  value = static_cast<std::uint64_t>(*number);
  return {};
}

Status read(Unit unit, std::string_view text, std::uint64_t& value) {
  if (unit == Unit::bytes) {
    TUTTI_TRY_ASSIGN(const Bytes bytes, parse_bytes(text));
    value = bytes.value();
    return {};
  }
  return read_whole(text, std::numeric_limits<std::int64_t>::max(), value);
}

Status read(Unit unit, std::string_view text, std::uint32_t& value) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t wide = 0;
  TUTTI_TRY(unit == Unit::bytes ? read(unit, text, wide) : read_whole(text, kMost, wide));
  if (wide > kMost) return too_large(text, kMost);
  value = static_cast<std::uint32_t>(wide);
  return {};
}

std::string_view name_of(Channels channels) {
  switch (channels) {
    case Channels::all: return "all";
    case Channels::messages: return "messages";
    case Channels::direct: return "direct";
    case Channels::one_phase: return "one_phase";
    case Channels::exchange: return "exchange";
    case Channels::stores: return "stores";
  }
  return "";
}

Status read(Unit, std::string_view text, BackPressure& value) {
  const bool polls = same_name(trim(text), "poll");
  if (!polls && !same_name(trim(text), "sleep"))
    return {Code::invalid_argument, fmt::format("{} is neither poll nor sleep", in_quotes(text))};
  value = polls ? BackPressure::poll : BackPressure::sleep;
  return {};
}

Status read(Unit, std::string_view text, LongMessages& value) {
  const bool by_rounds = same_name(trim(text), "rounds");
  if (!by_rounds && !same_name(trim(text), "slots"))
    return {Code::invalid_argument, fmt::format("{} is neither rounds nor slots", in_quotes(text))};
  value = by_rounds ? LongMessages::rounds : LongMessages::slots;
  return {};
}

Status read(Unit, std::string_view text, Channels& value) {
  for (const Channels each : {Channels::all, Channels::messages, Channels::direct, Channels::one_phase,
                              Channels::exchange, Channels::stores}) {
    if (!same_name(trim(text), name_of(each))) continue;
    value = each;
    return {};
  }
  return {Code::invalid_argument,
          fmt::format("{} is none of all, messages, direct, one_phase, exchange and stores", in_quotes(text))};
}

// "64:120ns 4K:1.1us"
Status read(Unit unit, std::string_view text, Curve& value) {
  const auto wrong = [](std::string_view point, std::string_view words) {
    return Status(Code::invalid_argument, fmt::format("{}: {}", in_quotes(point), words));
  };
  constexpr std::string_view kBlanks = " \t\r\n";
  Curve curve;
  for (std::size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    const std::string_view point = text.substr(at, end - at);
    at = text.find_first_not_of(kBlanks, end);
    const std::size_t colon = point.find(':');
    if (colon == std::string_view::npos)
      return wrong(point, unit == Unit::times ? "a point is a size and its time, such as 4K:1.5us"
                                              : "a point is a size and its rate, such as 4K:25GB/s");
    const Result<Bytes> bytes = parse_bytes(point.substr(0, colon));
    if (!bytes.ok()) return wrong(point, bytes.status().message());
    double number = 0;
    const Status status = read(unit == Unit::times ? Unit::time : Unit::rate, point.substr(colon + 1), number);
    if (!status.ok()) return wrong(point, status.message());
    if (bytes->value() == 0 || number == 0)
      return wrong(point, "sizes, times and rates of points are more than 0, and none is unlimited");
    if (!curve.empty() && curve.points.back().bytes >= bytes->value())
      return wrong(point, "each point has a greater size than the one before");
    if (curve.points.size() == kMostCurvePoints)
      return wrong(point, fmt::format("there are more than {} points", kMostCurvePoints));
    curve.points.push_back({bytes->value(), number});
  }
  value = std::move(curve);
  return {};
}

std::string write(Unit unit, double value) { return unit == Unit::rate ? rate_to_text(value) : time_to_text(value); }
std::string write(Unit unit, std::uint64_t value) {
  return unit == Unit::bytes ? to_text(Bytes(value)) : std::to_string(value);
}
std::string write(Unit unit, std::uint32_t value) { return write(unit, std::uint64_t{value}); }
std::string write(Unit unit, const Curve& curve) {
  std::string text;
  for (const CurvePoint& point : curve.points)
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", to_text(Bytes(point.bytes)),
                        unit == Unit::rates ? rate_to_text(point.value) : time_to_text(point.value));
  return text;
}
std::string write(Unit, BackPressure value) { return value == BackPressure::poll ? "poll" : "sleep"; }
std::string write(Unit, Channels value) { return std::string(name_of(value)); }
std::string write(Unit, LongMessages value) { return value == LongMessages::rounds ? "rounds" : "slots"; }

}  // namespace

std::string_view example_of(Unit unit) {
  switch (unit) {
    case Unit::rate: return "a rate such as \"25GB/s\"";
    case Unit::time: return "a time such as \"1.5us\"";
    case Unit::bytes: return "a size such as \"4K\"";
    case Unit::count: return "a whole number such as 4";
    case Unit::word: return "one of its words in quotes";
    case Unit::times: return "sizes with times such as \"64:120ns 4K:1.1us\"";
    case Unit::rates: return "sizes with rates such as \"32K:80GB/s 4M:20GB/s\"";
  }
  return "";
}

template <typename Owner>
Status set(const Field<Owner>& field, std::string_view text, Owner& owner) {
  return std::visit([&](auto member) { return read(field.unit, text, owner.*member); }, field.member);
}

template <typename Owner>
std::string get(const Field<Owner>& field, const Owner& owner) {
  return std::visit([&](auto member) { return write(field.unit, owner.*member); }, field.member);
}

template Status set(const Field<Link>&, std::string_view, Link&);
template Status set(const Field<Costs>&, std::string_view, Costs&);
template Status set(const Field<Memory>&, std::string_view, Memory&);
template Status set(const Field<Queue>&, std::string_view, Queue&);
template Status set(const Field<Core>&, std::string_view, Core&);
template Status set(const Field<ProcessingElement>&, std::string_view, ProcessingElement&);
template std::string get(const Field<Link>&, const Link&);
template std::string get(const Field<Costs>&, const Costs&);
template std::string get(const Field<Memory>&, const Memory&);
template std::string get(const Field<Queue>&, const Queue&);
template std::string get(const Field<Core>&, const Core&);
template std::string get(const Field<ProcessingElement>&, const ProcessingElement&);

}  // namespace tutti::fabric
