// SPDX-License-Identifier: Apache-2.0
#include "simulate/engine/connections.hpp"

namespace tutti::simulate {

namespace {

constexpr std::size_t kFew = 32;

std::uint64_t key(std::uint32_t peer, std::uint32_t channel) { return std::uint64_t{peer} << 32U | channel; }

}  // namespace

std::uint32_t Connections::Side::find_further(std::uint32_t peer, std::uint32_t channel) {
  if (many_ != nullptr) {
    const auto found = many_->find(key(peer, channel));
    return found == many_->end() ? kNobody : found->second;
  }
  const std::size_t count = known_.size();
  for (std::size_t i = 0, at = last_; i < count; ++i, at = at + 1 == count ? 0 : at + 1) {
    if (known_[at].peer != peer || known_[at].channel != channel) continue;
    last_ = static_cast<std::uint32_t>(at);
    return known_[at].number;
  }
  return kNobody;
}

void Connections::Side::add(std::uint32_t peer, std::uint32_t channel, std::uint32_t number) {
  if (many_ != nullptr) {
    many_->emplace(key(peer, channel), number);
    return;
  }
  known_.push_back({peer, channel, number});
  if (known_.size() <= kFew) return;
  many_ = std::make_unique<std::unordered_map<std::uint64_t, std::uint32_t>>();
  for (const Known& known : known_) many_->emplace(key(known.peer, known.channel), known.number);
  known_ = {};
}

std::uint32_t Connections::make(std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
  const auto number = static_cast<std::uint32_t>(all_.size());
  Connection& made = all_.emplace_back();
  made.from = from;
  made.to = to;
  made.channel = channel;
  outgoing_[from].add(to, channel, number);
  incoming_[to].add(from, channel, number);
  return number;
}

}  // namespace tutti::simulate
