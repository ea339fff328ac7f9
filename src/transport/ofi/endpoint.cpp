// SPDX-License-Identifier: Apache-2.0
#include "transport/ofi/endpoint.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "transport/ofi/ofi_endpoint.hpp"

namespace tutti::transport::ofi {
namespace {

// After so many steps with nothing to do, credits are told that could wait.
constexpr std::uint32_t kIdleSteps = 256;
// Whoever has not stepped for so long was busy elsewhere: patience begins anew.
constexpr std::chrono::nanoseconds kLongestGap = std::chrono::seconds(1);
// Where the provider cannot wake anybody, or refuses what it will take soon.
constexpr std::chrono::nanoseconds kShortSleep = std::chrono::microseconds(50);
// A provider may have to do for others what wakes nobody here, such as to accept their connections.
constexpr std::chrono::nanoseconds kLongestSleep = std::chrono::milliseconds(10);
// How often a rank that leaves looks whether its last words are out.
constexpr int kMostLastReads = 10'000;
// And how often it looks before that for what others have said last.
constexpr int kLastSteps = 64;

Status check(const OfiOptions& options) {
  if (options.num_ranks == 0 || options.rank >= options.num_ranks)
    return wrong_argument(fmt::format("rank {} of {} does not exist", options.rank, options.num_ranks));
  if (options.num_ranks > kMostRanks)
    return wrong_argument(fmt::format("{} ranks; over libfabric {} are possible", options.num_ranks, kMostRanks));
  if (options.shape.depth == 0 || options.shape.depth > kGreatestDepth)
    return wrong_argument(
        fmt::format("a queue of {} messages; 1 to {} are possible", options.shape.depth, kGreatestDepth));
  if (options.names.size() != options.num_ranks)
    return wrong_argument(
        fmt::format("names of {} ranks were given; there are {}", options.names.size(), options.num_ranks));
  return check_names(options.names);
}

}  // namespace

Result<std::unique_ptr<Endpoint>> make_ofi_endpoint(std::unique_ptr<Door> door, OfiOptions options) {
  TUTTI_TRY(check(options));
  // No other class is a door.
  std::unique_ptr<Fabric> fabric(static_cast<Fabric*>(door.release()));
  auto endpoint = std::make_unique<OfiEndpoint>(std::move(fabric), std::move(options));
  TUTTI_TRY(endpoint->open());
  return std::unique_ptr<Endpoint>(std::move(endpoint));
}

OfiEndpoint::OfiEndpoint(std::unique_ptr<Fabric> fabric, OfiOptions options)
    : shared_(std::move(fabric), std::move(options)),
      outgoing_(shared_.options.num_ranks),
      incoming_(shared_.options.num_ranks) {}

// The provider lets go of all memory before that goes.
OfiEndpoint::~OfiEndpoint() {
  say_bye();
  shared_.fabric->close_endpoint();
}

OutgoingLink& OfiEndpoint::outgoing(std::uint32_t rank) {
  TUTTI_ASSERT(rank < outgoing_.size() && rank != shared_.options.rank, "an endpoint reaches other ranks");
  if (outgoing_[rank] == nullptr) {
    IncomingLink& way_back = incoming(rank);
    outgoing_[rank] = std::make_unique<OutgoingLink>(shared_, rank, way_back);
    way_back.set_way_back(*outgoing_[rank]);
  }
  return *outgoing_[rank];
}

IncomingLink& OfiEndpoint::incoming(std::uint32_t rank) {
  TUTTI_ASSERT(rank < incoming_.size() && rank != shared_.options.rank, "an endpoint is reached by other ranks");
  if (incoming_[rank] == nullptr) incoming_[rank] = std::make_unique<IncomingLink>(shared_, rank);
  return *incoming_[rank];
}

// Steps.

bool OfiEndpoint::step() {
  // Who has left is told nothing more.
  bool any = read();
  if (shared_.controls.has_received()) use_controls();
  any = (!shared_.due.empty() && tell_due()) || any;
  if (!shared_.waiting.empty() || !shared_.unposted.empty()) any = go_on() || any;
  if (shared_.controls.has_unposted()) shared_.controls.post_again();
  if (any) {
    idle_steps_ = 0;
  } else if (++idle_steps_ >= kIdleSteps && !shared_.owing.empty()) {
    any = tell_owed();
  }
  return any;
}

bool OfiEndpoint::read() {
  std::array<Completion, 16> done{};
  const std::size_t count = shared_.fabric->read(done);
  for (const Completion& each : std::span(done).first(count)) each.operation->owner->on_completion(each);
  return count > 0;
}

void OfiEndpoint::use_controls() {
  for (const Control& control : shared_.controls.take_received()) use_control(control);
}

void OfiEndpoint::use_control(const Control& control) {
  const bool is_from_rank = control.source < shared_.options.num_ranks && control.source != shared_.options.rank;
  if (!is_from_rank || control.key != shared_.key_from(control.source))
    return shared_.warn("somebody who does not know the token of this communicator says hello to it, and is ignored");
  const EndpointShape& shape = shared_.options.shape;
  switch (control.kind) {
    case ControlKind::hello:
      if (control.first != ByTraffic{shape.depth, shape.slot})
        return shared_.warn("a rank of this communicator has slots of another size, and is ignored");
      incoming(control.source).on_hello(control);
      break;
    case ControlKind::welcome: outgoing(control.source).on_welcome(control); break;
    case ControlKind::credits: outgoing(control.source).on_taken(control.taken); break;
    case ControlKind::bye:
      incoming(control.source).on_bye();
      if (outgoing_[control.source] != nullptr) outgoing_[control.source]->on_bye();
      break;
  }
}

bool OfiEndpoint::go_on() {
  const Clock::time_point now = Clock::now();
  if (now - std::exchange(last_step_, now) > std::min(kLongestGap, shared_.options.restore_within)) {
    for (const auto& link : outgoing_)
      if (link != nullptr) link->renew_patience(now);
    for (const auto& link : incoming_)
      if (link != nullptr) link->renew_patience(now);
  }
  bool any = false;
  // Those that cannot go on list themselves again, or stay.
  std::vector<IncomingLink*> unposted = std::exchange(shared_.unposted, {});
  std::erase_if(unposted, [&](IncomingLink* link) { return !link->go_on(now, any); });
  shared_.unposted = std::move(unposted);
  std::vector<OutgoingLink*> waiting = std::exchange(shared_.waiting, {});
  std::erase_if(waiting, [&](OutgoingLink* link) { return !link->go_on(now, any); });
  shared_.waiting = std::move(waiting);
  return any;
}

bool OfiEndpoint::tell_due() {
  const std::size_t before = shared_.due.size();
  std::erase_if(shared_.due, [](IncomingLink* link) { return !link->tell_due(); });
  return shared_.due.size() < before;
}

bool OfiEndpoint::tell_owed() {
  const std::size_t before = shared_.owing.size();
  std::erase_if(shared_.owing, [](IncomingLink* link) { return !link->tell_owed(); });
  return shared_.owing.size() < before;
}

bool OfiEndpoint::has_sent_all() const {
  return shared_.unsent == 0 && shared_.due.empty() && shared_.controls.num_sending() == 0;
}

// Sleep.

bool OfiEndpoint::has_more_to_do() const {
  return !shared_.waiting.empty() || !shared_.unposted.empty() || !shared_.due.empty() || !shared_.owing.empty() ||
         shared_.controls.has_unposted();
}

std::chrono::nanoseconds OfiEndpoint::may_sleep(std::chrono::nanoseconds longest) {
  // Who sleeps does not know for how long: others get all credits first.
  if (!shared_.owing.empty()) tell_owed();
  if (descriptor() < 0 || has_more_to_do()) return std::min(longest, kShortSleep);
  if (!shared_.fabric->may_wait()) return {};
  return std::min(longest, kLongestSleep);
}

void OfiEndpoint::sleep(std::chrono::nanoseconds longest) { await_readable(descriptor(), may_sleep(longest)); }

// So that nobody takes this rank for lost. Who has not heard it all is told by others that this rank has left.
void OfiEndpoint::say_bye() {
  for (int i = 0; i < kLastSteps; ++i) step();
  tell_owed();
  for (std::uint32_t rank = 0; rank < shared_.options.num_ranks; ++rank) {
    if (incoming_[rank] == nullptr || incoming_[rank]->has_left()) continue;
    const bool has_talked =
        (outgoing_[rank] != nullptr && outgoing_[rank]->is_known_there()) || incoming_[rank]->is_known();
    if (!has_talked) continue;
    std::string why;
    static_cast<void>(shared_.send_control(rank, {.kind = ControlKind::bye}, outgoing(rank), why));
  }
  for (int i = 0; i < kMostLastReads && shared_.controls.num_sending() > 0; ++i) read();
}

}  // namespace tutti::transport::ofi
