// SPDX-License-Identifier: Apache-2.0
#include "simulate/explain/transcript.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace tutti::simulate {

namespace {

// A thousandth of a nanosecond is shown where there is one.
std::string in_words(double number) { return fmt::format("{:.10g}", std::round(number * 1000) / 1000); }

std::string_view name_of(Cargo cargo) {
  switch (cargo) {
    case Cargo::message: return "message";
    case Cargo::credit: return "credit";
    case Cargo::read: return "load";
    case Cargo::write: return "store";
    case Cargo::rise: return "load by multicast";
    case Cargo::lead: return "store by multicast";
  }
  return "";
}

}  // namespace

void Transcript::add(double time, std::uint32_t rank, Kind kind, std::string what) {
  lines_.push_back({time, rank, kind, fmt::format("{}", rank), std::move(what)});
}

void Transcript::step(std::uint32_t rank, std::uint32_t lane, std::uint64_t round, const Step& step, double begin,
                      double end) {
  const std::string who = fmt::format("{}.{}", rank, lane);
  const std::string words = fmt::format("{}{}", to_string(step), round == 0 ? "" : fmt::format(" (round {})", round));
  if (begin < end) lines_.push_back({begin, rank, Kind::step, who, fmt::format("begins {}", words)});
  lines_.push_back({end, rank, Kind::step, who, fmt::format("{} {}", begin < end ? "ends" : "does", words)});
}

void Transcript::message(std::uint32_t from, std::uint32_t to, double bytes, double begin, double end) {
  add(begin, from, Kind::departure, fmt::format("message to {}: {} B leave", to, in_words(bytes)));
  add(end, to, Kind::arrival, fmt::format("message from {}: {} B are here", from, in_words(bytes)));
}

void Transcript::credit(std::uint32_t from, std::uint32_t to, double begin, double end) {
  add(begin, from, Kind::departure, fmt::format("credit to {} leaves", to));
  add(end, to, Kind::arrival, fmt::format("credit from {} is here", from));
}

void Transcript::access(Cargo cargo, std::uint32_t rank, std::span<const std::uint32_t> links, double bytes,
                        double begin, double end) {
  const auto place = [&](std::uint32_t node) { return fabric_.nodes[node].name; };
  const std::string here = place(fabric_.ranks[rank].node);
  const std::string from = links.empty() ? here : place(fabric_.links[links.front()].from);
  const std::string to = links.empty() ? here : place(fabric_.links[links.back()].to);
  add(begin, rank, Kind::departure, fmt::format("{}: {} B leave {} for {}", name_of(cargo), in_words(bytes), from, to));
  add(end, rank, Kind::arrival, fmt::format("{}: {} B of {} are at {}", name_of(cargo), in_words(bytes), from, to));
}

void Transcript::done(std::uint32_t rank, double time) { add(time, rank, Kind::end, "is done"); }

std::string Transcript::text() const {
  std::vector<const Line*> order;
  for (const Line& line : lines_) order.push_back(&line);
  std::stable_sort(order.begin(), order.end(), [](const Line* a, const Line* b) {
    return std::tie(a->time, a->rank, a->kind) < std::tie(b->time, b->rank, b->kind);
  });
  std::size_t width = 2;
  std::size_t who = 4;
  for (const Line* line : order) {
    width = std::max(width, in_words(line->time).size());
    who = std::max(who, line->who.size());
  }
  std::string text = fmt::format("{:>{}}  {:<{}}  what happens\n", "ns", width, "rank", who);
  for (const Line* line : order)
    fmt::format_to(std::back_inserter(text), "{:>{}}  {:<{}}  {}\n", in_words(line->time), width, line->who, who,
                   line->what);
  return text;
}

}  // namespace tutti::simulate
