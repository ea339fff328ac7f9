// SPDX-License-Identifier: Apache-2.0
// What is different in a communicator whose ranks are on several hosts.
#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "runtime/communicator/communicator.hpp"
#include "runtime/communicator/over_ofi.hpp"
#include "runtime/failure/lateness.hpp"
#include "runtime/selection/profile_file.hpp"
#include "runtime/selection/shipped_profiles.hpp"
#include "transport/tcp/endpoint.hpp"

namespace tutti {

namespace {

// How long a broken connection may stay so, where the user sets no other limit.
constexpr std::chrono::seconds kRestoreWithin{10};
constexpr std::chrono::milliseconds kBetweenSteps{20};
constexpr std::uint32_t kMostThatMeet = 256;  // after the rendezvous
// How long a rank that leaves waits for others to take what it has sent them.
constexpr std::chrono::seconds kPatienceWithDelivery{30};

// Those of the profile, or if it has none those that hold for any machine.
std::vector<Rule> rules_between_hosts(const MachineProfile& profile) {
  const auto is_for_hosts = [](const Rule& rule) { return rule.hosts; };
  if (std::any_of(profile.rules.begin(), profile.rules.end(), is_for_hosts)) return profile.rules;
  const Result<MachineProfile> generic = find_shipped_profile(kGenericProfile);
  return generic.ok() ? generic->rules : std::vector<Rule>();
}

}  // namespace

Result<std::unique_ptr<Communicator>> Communicator::of_membership(Membership& membership, const UniqueId& id,
                                                                  const Settings& settings, Log& log,
                                                                  std::unique_ptr<transport::ofi::Door> door) {
  Hosts hosts{std::move(membership.host_of)};
  const auto rank = static_cast<std::uint32_t>(membership.links.rank);
  const auto num_ranks = static_cast<std::uint32_t>(membership.links.num_ranks);
  if (!hosts.are_several()) hosts = {};
  const std::vector<std::uint32_t> near = hosts.ranks_near(rank);
  const shm::RegionShape shape = settings.region_for(num_ranks, static_cast<std::uint32_t>(near.size()));
  Result<std::unique_ptr<shm::Region>> region = shm::Region::map(std::move(membership.region), shape, near);
  if (!region.ok()) return region.status();
  std::unique_ptr<transport::Endpoint> endpoint;
  std::optional<Address> address;
  if (hosts.are_several()) {
    address = membership.listeners.front().address;
    address->port = 0;
  }
  const std::chrono::nanoseconds restore_within =
      settings.timeout.count() > 0 ? std::min<std::chrono::nanoseconds>(settings.timeout, kRestoreWithin)
                                   : kRestoreWithin;
  if (hosts.are_several() && settings.transport.is_ofi) {
    TUTTI_TRY_ASSIGN(endpoint, make_endpoint_over_ofi(std::move(door), membership, id.token(),
                                                      shape_between_hosts(shape), restore_within, log));
  } else if (hosts.are_several()) {
    transport::tcp::TcpOptions options;
    options.rank = rank;
    options.num_ranks = num_ranks;
    options.shape = shape_between_hosts(shape);
    options.token = id.token();
    options.communicator = membership.generation;
    options.connections = settings.transport.connections;
    options.addresses = std::move(membership.addresses);
    options.listeners = std::move(membership.listeners);
    options.restore_within = restore_within;
    options.congestion = settings.transport.congestion;
    options.warn = [&log](std::string_view text) { log.warn(LogSubsystem::net, "{}", text); };
    TUTTI_TRY_ASSIGN(endpoint, transport::tcp::make_tcp_endpoint(std::move(options)));
  }
  return std::unique_ptr<Communicator>(
      new Communicator(std::move(*region), rank, settings, log, std::move(hosts), std::move(endpoint), address));
}

bool Communicator::is_first_here() const {
  for (std::uint32_t rank = 0; rank < rank_; ++rank)
    if (region_->is_here(rank)) return false;
  return true;
}

Status Communicator::drive_endpoint() {
  const auto break_for_want_of_memory = [this] { break_all({Code::system, rank_}); };
  TUTTI_TRY_ASSIGN(caretaker_, Caretaker::start(*region_, rank_, *endpoint_,
                                                {.on_unreachable = [this] { notice_unreachable(); },
                                                 .on_no_memory = break_for_want_of_memory}));
  if (region_->shape().num_local() == 1)
    waiter_->drive(*endpoint_, nullptr);
  else
    waiter_->drive(*endpoint_, [this](bool listens) { listens ? caretaker_->listen() : caretaker_->stop(); });
  return {};
}

Status Communicator::agree_between_hosts() {
  host_rules_ = rules_between_hosts(profile_);
  selector_.decide_between_hosts_by(host_rules_, hosts_.count(), hosts_.sizes());
  // All are there: the rendezvous has said so. To meet once more opens the connections that collectives are likely to
  // use, which many ranks may never do.
  return num_ranks_ <= kMostThatMeet ? meet(OwnCall::making) : Status();
}

void Communicator::break_all(const shm::Breakage& why) {
  // The watch first: who sees the breakage in memory may leave at once, and others would hear of that alone.
  if (endpoint_ != nullptr && watch_ && !region_->is_broken())
    watch_->tell_broken(static_cast<int>(why.rank), why.code, why.words);
  region_->break_with(why);
}

// A rank tells other hosts what it has found through the first rank of its host. That one may leave before it is asked,
// so each passes on what it sees.
void Communicator::pass_on_breakage() const noexcept {
  if (endpoint_ == nullptr || !watch_) return;
  try {
    if (const std::optional<shm::Breakage> why = region_->breakage())
      watch_->tell_broken(static_cast<int>(why->rank), why->code, why->words);
  } catch (const std::bad_alloc&) {
    // Words need memory. The rank that found it tells it too.
  }
}

void Communicator::notice_unreachable() {
  if (endpoint_ == nullptr || !endpoint_->unreachable()) return;
  const transport::Unreachable& lost = *endpoint_->unreachable();
  // Who has left in order is not lost.
  if (region_->has_left(lost.rank)) return endpoint_->forget_unreachable();
  break_all({Code::rank_lost, lost.rank, fmt::format("rank {} was lost to rank {}: {}", lost.rank, rank_, lost.words)});
}

bool Communicator::cannot_reach(std::uint32_t rank) const {
  const Caretaker::Relief relief = relieve();
  return endpoint_ != nullptr && endpoint_->unreachable() && endpoint_->unreachable()->rank == rank;
}

void Communicator::await_delivery() {
  const Caretaker::Relief relief = relieve();
  const auto patience = std::chrono::steady_clock::now() + kPatienceWithDelivery;
  // Who has left in order needs nothing more.
  const auto has_delivered = [this] {
    if (endpoint_->unreachable() && has_left(*region_, endpoint_->unreachable()->rank)) endpoint_->forget_unreachable();
    for (std::uint32_t rank = 0; rank < num_ranks(); ++rank)
      if (rank != rank_ && !has_left(*region_, rank) && !endpoint_->has_delivered(rank)) return false;
    return true;
  };
  while (!region_->is_broken() && !has_delivered() && !endpoint_->unreachable() &&
         std::chrono::steady_clock::now() < patience)
    if (!endpoint_->step()) endpoint_->sleep(kBetweenSteps / 20);
}

}  // namespace tutti
