// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp/strangers.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace tutti::transport::tcp {
namespace {

constexpr std::chrono::nanoseconds kHelloWithin = std::chrono::seconds(5);
constexpr std::chrono::nanoseconds kWarnEvery = std::chrono::minutes(1);
constexpr int kMostAccepted = 16;  // at once, so that strangers hold up nobody

}  // namespace

Strangers::Rest Strangers::accept(int listener, Clock::time_point now) {
  for (int i = 0; i < kMostAccepted; ++i) {
    Result<UniqueFd> accepted = accept_from(listener);
    // Out of descriptors, as a rule.
    if (!accepted.ok()) {
      warn(accepted.status().message());
      return Rest::refused;
    }
    if (!accepted->valid()) return Rest::none;
    auto place = std::find_if(places_.begin(), places_.end(), [](const Place& one) { return !one.socket.valid(); });
    if (place == places_.end()) {
      place = std::min_element(places_.begin(), places_.end(),
                               [](const Place& a, const Place& b) { return a.until < b.until; });
      turn_away(*place, "too many others waited to say who they are");
    }
    const auto index = static_cast<std::uint32_t>(place - places_.begin());
    place->socket = std::move(accepted).value();
    place->filled = 0;
    place->until = now + kHelloWithin;
    ++count_;
    if (!shared_.poller.add(place->socket.get(), {PollKey::Kind::stranger, index}).ok()) {
      close(*place);
      continue;
    }
    // A rank's hello has come by now, as a rule.
    read(index);
  }
  return Rest::more;
}

void Strangers::warn(std::string_view words) {
  const Clock::time_point now = Clock::now();
  if (warned_at_ && now - *warned_at_ < kWarnEvery) return;
  warned_at_ = now;
  shared_.warn(words);
}

void Strangers::close(Place& place) {
  place.socket.reset();
  --count_;
}

void Strangers::turn_away(Place& place, std::string_view why) {
  close(place);
  warn(fmt::format("rank {} closed the connection of somebody who is no rank of this communicator: {}",
                   shared_.options.rank, why));
}

void Strangers::on_event(std::uint32_t place) {
  if (place < kMost && places_[place].socket.valid()) read(place);
}

void Strangers::read(std::uint32_t index) {
  Place& place = places_[index];
  while (place.filled < kHelloBytes) {
    const Received got = receive_into(place.socket.get(), std::span(place.hello).subspan(place.filled));
    // A rank whose attempt is no longer needed leaves without a word.
    if (got.has_ended && place.filled == 0) return close(place);
    if (got.has_ended) return turn_away(place, "it left before it had shown the token");
    if (got.bytes == 0) return;
    place.filled += got.bytes;
    if (!may_be_hello(std::span(place.hello).first(place.filled)))
      return turn_away(place, "it began with something else than Tutti's hello");
  }
  const std::optional<Hello> hello = decode_hello(place.hello);
  if (!hello) return turn_away(place, "it began with something else than Tutti's hello");
  if (const std::string_view fault = fault_of(*hello); !fault.empty()) return turn_away(place, fault);
  // Its rank may have another connection by now.
  if (has_been_closed(place.socket.get())) return close(place);
  --count_;
  admitted_.push_back({std::exchange(place.socket, UniqueFd()), *hello});
}

std::string_view Strangers::fault_of(const Hello& hello) const {
  const TcpOptions& options = shared_.options;
  if (!same_token(hello.token, options.token)) return "it has another token";
  if (hello.communicator != options.communicator) return "it belongs to another communicator";
  if (hello.destination != options.rank) return "it looks for another rank";
  if (hello.source >= options.num_ranks || hello.source == options.rank) return "it names a rank that it cannot be";
  if (hello.shape.depth != options.shape.depth || hello.shape.slot != options.shape.slot)
    return "its queues have another depth, or slots of another size";
  return "";
}

void Strangers::on_time(Clock::time_point now) {
  if (count_ == 0) return;
  for (Place& place : places_)
    if (place.socket.valid() && now >= place.until) turn_away(place, "it did not show the token within 5 seconds");
}

Clock::time_point Strangers::due() const {
  Clock::time_point next = Clock::time_point::max();
  for (const Place& place : places_)
    if (place.socket.valid()) next = std::min(next, place.until);
  return next;
}

void Strangers::forsake() noexcept {
  for (Place& place : places_) place.socket.reset();
  admitted_.clear();
}

std::vector<Admitted> Strangers::take_admitted() { return std::exchange(admitted_, {}); }

}  // namespace tutti::transport::tcp
