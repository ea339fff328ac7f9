// SPDX-License-Identifier: Apache-2.0
#include "simulate/network/ways.hpp"

#include <algorithm>

namespace tutti::simulate {

namespace {

constexpr std::size_t kRoom = std::size_t{1} << 16U;

}  // namespace

std::span<const std::uint32_t> Ways::between(std::uint32_t from_rank, std::uint32_t to_rank) {
  const std::uint64_t key = std::uint64_t{fabric_.ranks[from_rank].node} << 32U | fabric_.ranks[to_rank].node;
  const auto [entry, is_new] = ways_.try_emplace(key);
  if (is_new) entry->second = make(from_rank, to_rank);
  return entry->second;
}

double Ways::latency(std::uint32_t from_rank, std::uint32_t to_rank) {
  find(from_rank, to_rank);
  double latency = 0;
  for (const std::uint32_t link : present_) latency += fabric_.links[link].latency;
  return latency;
}

std::span<const std::uint32_t> Ways::keep_present() {
  if (rooms_.empty() || rooms_.back().capacity() - rooms_.back().size() < present_.size())
    rooms_.emplace_back().reserve(std::max(kRoom, present_.size()));
  std::vector<std::uint32_t>& room = rooms_.back();
  const std::size_t first = room.size();
  num_kept_ += present_.size();
  room.insert(room.end(), present_.begin(), present_.end());
  return {room.data() + first, present_.size()};
}

}  // namespace tutti::simulate
