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

}  // namespace

void Transcript::add(double time, std::uint32_t rank, Kind kind, std::string what) {
  lines_.push_back({time, rank, kind, fmt::format("{}", rank), std::move(what)});
}

void Transcript::step(std::uint32_t rank, std::uint32_t lane, std::uint64_t round, const Step& step, double begin,
                      double end) {
  const std::string who = fmt::format("{}.{}", rank, lane);
  const std::string words =
      fmt::format("{}{}", words_(rank, lane, step), round == 0 ? "" : fmt::format(" (round {})", round));
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

void Transcript::access(const Transfer& transfer, std::uint32_t rank, double end) {
  const bool is_load = transfer.cargo == Cargo::read;
  const auto place = [&](std::uint32_t node) { return fabric_.nodes[node].name; };
  const std::string here = place(fabric_.ranks[rank].node);
  const auto& links = transfer.links;
  std::string from = links.empty() ? here : place(fabric_.links[links.front()].from);
  std::string to = links.empty() ? here : place(fabric_.links[links.back()].to);
  if (transfer.is_tree) {
    from = is_load ? "all ranks" : here;
    to = is_load ? here : "all ranks";
  }
  const std::string what = fmt::format("{}{}", is_load ? "load" : "store", transfer.is_tree ? " by multicast" : "");
  const std::string bytes = in_words(transfer.bytes);
  add(transfer.started, rank, Kind::departure, fmt::format("{}: {} B leave {} for {}", what, bytes, from, to));
  add(end, rank, Kind::arrival, fmt::format("{}: {} B of {} are at {}", what, bytes, from, to));
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
