// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp/endpoint.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "transport/striped/endpoint.hpp"
#include "transport/tcp/tcp_endpoint.hpp"

namespace tutti::transport::tcp {
namespace {

// Of so many steps one asks the poller although a connection is hot.
constexpr std::uint32_t kHotTurns = 8;
// Large messages take a few steps.
static_assert(kStepsThatReadAll >= 4 * kHotTurns);
// After so many steps with nothing to do, credits are told that could wait.
constexpr std::uint32_t kIdleSteps = 256;
// Whoever has not stepped for so long was busy elsewhere: patience begins anew.
constexpr std::chrono::nanoseconds kLongestGap = std::chrono::seconds(1);
// Between two looks for hosts that are silent.
constexpr std::chrono::nanoseconds kBetweenLooks = std::chrono::milliseconds(500);
constexpr std::chrono::nanoseconds kAcceptPause = std::chrono::milliseconds(10);

constexpr std::uint32_t kGreatestDepth = 1 << 16;
constexpr std::uint64_t kGreatestSlot = 1 << 30;

Status check(const TcpOptions& options) {
  if (options.num_ranks == 0 || options.rank >= options.num_ranks)
    return wrong_argument(fmt::format("rank {} of {} does not exist", options.rank, options.num_ranks));
  if (options.shape.depth == 0 || options.shape.depth > kGreatestDepth)
    return wrong_argument(
        fmt::format("a queue of {} messages; 1 to {} are possible", options.shape.depth, kGreatestDepth));
  if (options.shape.slot == 0 || options.shape.slot > kGreatestSlot)
    return wrong_argument(fmt::format("slots of {} bytes; 1 to {} are possible", options.shape.slot, kGreatestSlot));
  if (options.addresses.size() != options.num_ranks)
    return wrong_argument(
        fmt::format("addresses of {} ranks were given; there are {}", options.addresses.size(), options.num_ranks));
  for (std::uint32_t rank = 0; rank < options.num_ranks; ++rank)
    if (rank != options.rank && options.addresses[rank].empty())
      return wrong_argument(fmt::format("rank {} has no address to connect to", rank));
  if (options.connections == 0) return wrong_argument("no connections to each rank; at least one is needed");
  for (std::uint32_t rank = 0; rank < options.num_ranks; ++rank)
    if (options.addresses[rank].size() % options.connections != 0)
      return wrong_argument(
          fmt::format("the number of addresses of rank {} is {}, not a multiple of the {} connections", rank,
                      options.addresses[rank].size(), options.connections));
  if (options.listeners.size() % options.connections != 0)
    return wrong_argument(fmt::format("the number of listeners is {}, not a multiple of the {} connections",
                                      options.listeners.size(), options.connections));
  return {};
}

Result<std::unique_ptr<Endpoint>> make_one(TcpOptions options) {
  auto endpoint = std::make_unique<TcpEndpoint>(std::move(options));
  TUTTI_TRY(endpoint->open());
  return std::unique_ptr<Endpoint>(std::move(endpoint));
}

// What is left of the options for the connection of that number.
TcpOptions options_of(TcpOptions& all, std::uint32_t number) {
  TcpOptions own = {.rank = all.rank, .num_ranks = all.num_ranks, .shape = all.shape, .token = all.token};
  own.communicator = all.communicator;
  own.restore_within = all.restore_within;
  own.congestion = all.congestion;
  own.warn = all.warn;
  own.addresses.reserve_as(all.addresses, all.connections);
  for (std::size_t rank = 0; rank < all.addresses.size(); ++rank) {
    const std::size_t each = all.addresses[rank].size() / all.connections;
    own.addresses.add(all.addresses[rank].subspan(number * each, each));
  }
  const std::size_t each = all.listeners.size() / all.connections;
  for (std::size_t i = 0; i < each; ++i) own.listeners.push_back(std::move(all.listeners[number * each + i]));
  return own;
}

}  // namespace

Result<std::unique_ptr<Endpoint>> make_tcp_endpoint(TcpOptions options) {
  TUTTI_TRY(check(options));
  TUTTI_TRY(check_congestion(options.congestion));
  if (options.connections == 1) return make_one(std::move(options));
  std::vector<std::unique_ptr<Endpoint>> parts;
  for (std::uint32_t number = 0; number < options.connections; ++number) {
    TUTTI_TRY_ASSIGN(std::unique_ptr<Endpoint> part, make_one(options_of(options, number)));
    parts.push_back(std::move(part));
  }
  return striped::make_striped_endpoint(std::move(parts));
}

TcpEndpoint::TcpEndpoint(TcpOptions options)
    : shared_(std::move(options)), strangers_(shared_), links_(shared_.options.num_ranks) {}

Status TcpEndpoint::open() {
  TUTTI_TRY(shared_.poller.open());
  std::uint32_t index = 0;
  for (const Listener& listener : shared_.options.listeners) {
    // What is accepted inherits it.
    set_congestion(listener.socket.get(), shared_.options.congestion);
    TUTTI_TRY(shared_.poller.add(listener.socket.get(), {PollKey::Kind::listener, index++}));
  }
  return {};
}

Link& TcpEndpoint::link(std::uint32_t rank) {
  TUTTI_ASSERT(rank < links_.size() && rank != shared_.options.rank, "an endpoint talks to other ranks");
  if (links_[rank] == nullptr) links_[rank] = std::make_unique<Link>(shared_, rank);
  return *links_[rank];
}

// An idle step makes one system call: it reads from the hot connection, or else asks the poller.
bool TcpEndpoint::step() {
  bool any = !shared_.due.empty() && tell_due();
  if (!shared_.unread.empty()) any = read_unread() || any;
  if (hot_ != nullptr && !hot_->is_open()) hot_ = nullptr;
  const bool is_hot = hot_ != nullptr && shared_.unsent == 0 && ++turn_ % kHotTurns != 0;
  if (is_hot) {
    Link& source = *hot_;
    const std::uint64_t before = source.num_pieces();
    if (source.receive()) {
      any = true;
      note_source(source, before);
    }
  } else {
    any = use_events() || any;
  }
  if (has_timers()) any = use_time() || any;
  if (any) {
    idle_steps_ = 0;
  } else if (++idle_steps_ >= kIdleSteps) {
    any = !shared_.owing.empty() && tell_owed();
    if (idle_steps_ % kIdleSteps == 0) look_for_silence();
  }
  return any;
}

void TcpEndpoint::look_for_silence() {
  const Clock::time_point now = Clock::now();
  if (now - looked_at_ < kBetweenLooks) return;
  looked_at_ = now;
  for (const std::unique_ptr<Link>& link : links_)
    if (link != nullptr) link->look_for_silence(now);
}

bool TcpEndpoint::tell_due() {
  bool any = false;
  for (Link* link : shared_.due) any = link->tell_due() || any;
  shared_.due.clear();
  return any;
}

bool TcpEndpoint::tell_owed() {
  bool any = false;
  for (Link* link : shared_.owing) any = link->tell_owed() || any;
  shared_.owing.clear();
  return any;
}

bool TcpEndpoint::read_unread() {
  bool any = false;
  // Those that are not done list themselves again.
  const std::size_t count = shared_.unread.size();
  for (std::size_t i = 0; i < count; ++i) any = shared_.unread[i]->read_on() || any;
  shared_.unread.erase(shared_.unread.begin(), shared_.unread.begin() + static_cast<std::ptrdiff_t>(count));
  return any;
}

bool TcpEndpoint::use_events() {
  bool any = false;
  for (const PollEvent& event : shared_.poller.look()) use_event(event, any);
  return any;
}

void TcpEndpoint::use_event(const PollEvent& event, bool& any) {
  const std::uint32_t index = event.key.index;
  switch (event.key.kind) {
    case PollKey::Kind::listener:
      if (std::find(crowded_.begin(), crowded_.end(), index) == crowded_.end()) crowded_.push_back(index);
      accept_again_ = {};
      break;
    case PollKey::Kind::stranger:
      strangers_.on_event(index);
      any = admit() || any;
      break;
    case PollKey::Kind::link: {
      Link& source = link(index);
      const std::uint64_t before = source.num_pieces();
      if (source.on_event(event)) {
        any = true;
        note_source(source, before);
      }
      break;
    }
  }
}

// A connection that brings messages twice in a row becomes hot. One that brings only credits does not stay hot: a rank
// that only sends should leave the socket to the system.
void TcpEndpoint::note_source(Link& link, std::uint64_t pieces_before) {
  Link* const source = link.num_pieces() != pieces_before ? &link : nullptr;
  hot_ = last_source_ == source ? source : nullptr;
  last_source_ = source;
}

bool TcpEndpoint::admit() {
  bool any = false;
  for (Admitted& admitted : strangers_.take_admitted()) {
    Link& source = link(admitted.hello.source);
    source.offer(std::move(admitted));
    any = true;
  }
  return any;
}

bool TcpEndpoint::has_sent_all() const { return shared_.unsent == 0 && shared_.due.empty(); }

bool TcpEndpoint::has_delivered(std::uint32_t rank) const {
  return links_[rank] == nullptr || links_[rank]->has_delivered();
}

// Time.

bool TcpEndpoint::has_timers() const { return !shared_.unconnected.empty() || !crowded_.empty() || strangers_.any(); }

Clock::time_point TcpEndpoint::next_due() const {
  Clock::time_point next = strangers_.due();
  for (const Link* link : shared_.unconnected) next = std::min(next, link->due());
  if (!crowded_.empty()) next = std::min(next, accept_again_);
  return next;
}

bool TcpEndpoint::use_time() {
  const Clock::time_point now = Clock::now();
  if (now - std::exchange(last_step_, now) > std::min(kLongestGap, shared_.options.restore_within)) {
    for (Link* link : shared_.unconnected) {
      link->renew_patience(now);
      link->renew_attempt(now);
    }
  }
  bool any = false;
  if (!crowded_.empty() && now >= accept_again_) {
    std::erase_if(crowded_, [&](std::uint32_t index) {
      const Strangers::Rest rest = strangers_.accept(shared_.options.listeners[index].socket.get(), now);
      if (rest == Strangers::Rest::refused) accept_again_ = now + kAcceptPause;
      return rest == Strangers::Rest::none;
    });
    any = admit();
  }
  std::erase_if(shared_.unconnected, [now](Link* link) { return !link->on_time(now); });
  strangers_.on_time(now);
  return any;
}

void TcpEndpoint::renew_patience(const std::function<bool(std::uint32_t rank)>& matters) {
  const Clock::time_point now = Clock::now();
  for (Link* link : shared_.unconnected)
    if (matters(link->rank())) link->renew_patience(now);
}

std::chrono::nanoseconds TcpEndpoint::may_sleep(std::chrono::nanoseconds longest) {
  // Who sleeps does not know for how long: others get all credits first.
  if (!shared_.owing.empty()) tell_owed();
  if (!shared_.unread.empty()) return {};
  look_for_silence();
  longest = std::min(longest, kBetweenLooks);
  if (!has_timers()) return longest;
  last_step_ = Clock::now();
  return std::clamp<std::chrono::nanoseconds>(next_due() - last_step_, {}, longest);
}

void TcpEndpoint::sleep(std::chrono::nanoseconds longest) {
  shared_.poller.wait(may_sleep(longest));
  if (has_timers()) last_step_ = Clock::now();
}

void TcpEndpoint::forsake() noexcept {
  for (const std::unique_ptr<Link>& link : links_)
    if (link != nullptr) link->forsake();
  strangers_.forsake();
  for (Listener& listener : shared_.options.listeners) listener.socket.reset();
  shared_.poller.close();
}

}  // namespace tutti::transport::tcp
