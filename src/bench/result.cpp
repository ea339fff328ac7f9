#include "bench/result.hpp"

#include <array>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::harness {

namespace {

constexpr std::array<std::string_view, 4> kOutcomes = {"ok", "wrong", "skipped", "error"};
constexpr std::array<std::string_view, 2> kSyncs = {"round", "barrier"};
constexpr std::array<std::string_view, 3> kObeyed = {"confirmed", "ignored", "unverifiable"};

template <typename Named, std::size_t kCount>
std::optional<Named> named(const std::array<std::string_view, kCount>& names, std::string_view name) {
  for (std::size_t each = 0; each < kCount; ++each)
    if (same_name(names[each], name)) return static_cast<Named>(each);
  return std::nullopt;
}

// Between the parts of a key: what no name or value has.
constexpr char kSeparator = '\x1f';

}  // namespace

std::string_view name_of(Outcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)]; }
std::optional<Outcome> outcome_from_name(std::string_view name) { return named<Outcome>(kOutcomes, name); }
std::string_view name_of(Sync sync) { return kSyncs[static_cast<std::size_t>(sync)]; }
std::optional<Sync> sync_from_name(std::string_view name) { return named<Sync>(kSyncs, name); }
std::string_view name_of(State::Obeyed obeyed) { return kObeyed[static_cast<std::size_t>(obeyed)]; }

std::optional<double> bus_factor(Traffic traffic, int num_ranks) {
  if (num_ranks < 2) return std::nullopt;
  const double others = static_cast<double>(num_ranks - 1) / num_ranks;
  switch (traffic) {
    case Traffic::all_reduce: return 2 * others;
    case Traffic::all_gather:
    case Traffic::reduce_scatter:
    case Traffic::all_to_all:
    case Traffic::gather:
    case Traffic::scatter: return others;
    case Traffic::broadcast:
    case Traffic::reduce:
    case Traffic::send_recv: return 1.0;
  }
  return std::nullopt;
}

std::string key_of(const Row& row) {
  std::string key =
      fmt::format("{}{}{}{}{}{}{}", row.bench, kSeparator, row.peer, kSeparator, row.num_ranks, kSeparator, row.launch);
  for (const Setting& setting : row.settings)
    key += fmt::format("{}{}{}{}", kSeparator, setting.name, setting.value ? '=' : '!', setting.value.value_or(""));
  for (const auto& [name, value] : row.point.values) key += fmt::format("{}{}={}", kSeparator, name, value.text());
  return key;
}

}  // namespace tutti::harness
