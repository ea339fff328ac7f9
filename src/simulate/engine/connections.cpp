// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/connections.hpp"

#include <utility>

namespace tutti::simulate {

namespace {

// Ranks come in regular patterns, so every bit of the ends must affect every bit of the hash.
std::uint32_t hash_of(std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
  std::uint64_t hash = (std::uint64_t{from} << 32U | to) + channel * std::uint64_t{0x9e3779b97f4a7c15};
  for (int round = 0; round < 2; ++round) hash = (hash ^ hash >> 32U) * 0xd6e8feb86659fd93;
  return static_cast<std::uint32_t>(hash >> 32U);
}

}  // namespace

std::uint32_t Connections::find_or_make(std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
  const std::uint32_t hash = hash_of(from, to, channel);
  std::size_t at = hash & (table_.size() - 1);
  for (; table_[at].number != kNobody; at = (at + 1) & (table_.size() - 1))
    if (table_[at].hash == hash && is(all_[table_[at].number], from, to, channel)) return table_[at].number;
  const auto number = static_cast<std::uint32_t>(all_.size());
  table_[at] = {hash, number};
  Connection& made = all_.emplace_back();
  made.from = from;
  made.to = to;
  made.channel = channel;
  if (all_.size() * 2 > table_.size()) make_room_in_table();
  return number;
}

void Connections::make_room_in_table() {
  HugeVector<Place> larger(table_.size() * 2);
  for (const Place& place : table_) {
    if (place.number == kNobody) continue;
    std::size_t at = place.hash & (larger.size() - 1);
    while (larger[at].number != kNobody) at = (at + 1) & (larger.size() - 1);
    larger[at] = place;
  }
  table_ = std::move(larger);
}

}  // namespace tutti::simulate
