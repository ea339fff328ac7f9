#include "simulate/ways.hpp"

#include <algorithm>

namespace tutti::simulate {

namespace {

constexpr std::size_t kRoom = std::size_t{1} << 16U;

}  // namespace

std::span<const std::uint32_t> Ways::between(std::uint32_t from_rank, std::uint32_t to_rank) {
  return way(from_rank, to_rank).links;
}

double Ways::latency(std::uint32_t from_rank, std::uint32_t to_rank) { return way(from_rank, to_rank).latency; }

std::span<const std::uint32_t> Ways::keep_present() {
  if (rooms_.empty() || rooms_.back().capacity() - rooms_.back().size() < present_.size())
    rooms_.emplace_back().reserve(std::max(kRoom, present_.size()));
  std::vector<std::uint32_t>& room = rooms_.back();
  const std::size_t first = room.size();
  room.insert(room.end(), present_.begin(), present_.end());
  return {room.data() + first, present_.size()};
}

const Ways::Way& Ways::way(std::uint32_t from_rank, std::uint32_t to_rank) {
  const std::uint64_t key = std::uint64_t{fabric_.ranks[from_rank].node} << 32U | fabric_.ranks[to_rank].node;
  const auto [entry, is_new] = ways_.try_emplace(key);
  Way& way = entry->second;
  if (!is_new) return way;
  way.links = make(from_rank, to_rank);
  for (const std::uint32_t link : way.links) way.latency += fabric_.links[link].latency;
  return way;
}

}  // namespace tutti::simulate
