// SPDX-License-Identifier: Apache-2.0
// What several hosts need: where each rank listens, and the links between the leaders of hosts.
#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <poll.h>

#include "base/system/socket.hpp"
#include "runtime/bootstrap/addresses.hpp"
#include "runtime/bootstrap/joiner.hpp"
#include "runtime/bootstrap/waiting_tree.hpp"
#include "runtime/bootstrap/wire.hpp"

namespace tutti {

namespace {

Address without_own_port(Address address) {
  address.port = 0;
  return address;
}

}  // namespace

// Read twice: what is kept of a rank depends on this one's own row.
Status Joiner::take_table(const wire::Frame& frame) {
  wire::TableReader reader(frame);
  const auto num_ranks = static_cast<std::size_t>(request_.num_ranks);
  if (reader.num_ranks() != num_ranks)
    return {Code::internal, "the rendezvous sent a table of another number of ranks"};
  wire::TableRow own;
  for (int rank = 0; rank <= request_.rank && reader.next(own); ++rank) continue;
  membership_.host_of.reserve(num_ranks);
  membership_.addresses.reserve(num_ranks, num_ranks * own.addresses.size());
  membership_.generation = reader.generation();
  reader = wire::TableReader(frame);
  wire::TableRow row;
  for (int rank = 0; reader.next(row); ++rank) TUTTI_TRY(take_row(rank, row, own));
  TUTTI_TRY(reader.end());
  if (leaders_.size() == 1) {
    membership_.addresses = {};
    membership_.endpoint_names.clear();
  }
  for (std::size_t rank = 0; rank < membership_.addresses.size(); ++rank)
    if (membership_.addresses[rank].empty())
      return {Code::internal, "the rendezvous sent a table of hosts without addresses"};
  has_table_ = true;
  return {};
}

Status Joiner::take_row(int rank, wire::TableRow& row, const wire::TableRow& own) {
  if (row.host > leaders_.size()) return {Code::internal, "the rendezvous sent a table of hosts out of order"};
  if (row.host == leaders_.size()) leaders_.push_back(rank);
  if (row.host == own.host) {
    if (rank == leaders_[row.host]) leader_socket_ = row.leader_socket;
    near_.emplace_back(rank, row.pid);
  }
  membership_.host_of.push_back(row.host);
  // Ranks of a host take its interfaces in turn. Two ranks use the interface of the lower one, whichever of them
  // connects.
  if (rank != request_.rank)
    prefer_interface(row.addresses, row.interfaces.begins, static_cast<std::size_t>(request_.num_listeners_each),
                     (rank < request_.rank ? row : own).turn,
                     std::min(row.interfaces.num_in_turn, own.interfaces.num_in_turn));
  membership_.addresses.add(row.addresses);
  if (request_.open_transport) membership_.endpoint_names.push_back(std::move(row.endpoint_name));
  return {};
}

// Where nothing is asked for: the way to the rendezvous is one that is known to work.
Result<HostAddresses> Joiner::own_addresses() const {
  if (request_.find_addresses) {
    Result<HostAddresses> found = request_.find_addresses();
    if (!found.ok() || !found->of_interfaces.empty()) return found;
  }
  TUTTI_TRY_ASSIGN(const Address own, local_address(server_.get()));
  return HostAddresses{.of_interfaces = {{own}}, .others = {}};
}

Status Joiner::listen() {
  if (!membership_.listeners.empty()) return {};
  TUTTI_TRY_ASSIGN(HostAddresses addresses, own_addresses());
  Status refused;
  const auto refuses = [&](const Address& address) {
    const Result<Listener> trial = listen_at(without_own_port(address));
    if (!trial.ok()) refused = trial.status();
    return !trial.ok();
  };
  std::vector<std::vector<Address>>& groups = addresses.of_interfaces;
  for (std::vector<Address>& group : groups) std::erase_if(group, refuses);
  std::erase_if(groups, [](const std::vector<Address>& group) { return group.empty(); });
  std::erase_if(addresses.others, refuses);
  const auto num_parts = static_cast<std::size_t>(request_.num_listeners_each);
  keep_at_most(addresses, wire::kMostAddresses / num_parts);
  interfaces_.num_in_turn = static_cast<std::uint16_t>(groups.size());
  if (!addresses.others.empty()) groups.push_back(addresses.others);
  // One address is enough.
  if (groups.empty()) return refused.with_context("cannot listen for ranks of other hosts");
  std::vector<Listener> all;
  for (std::size_t part = 0; part < num_parts; ++part) {
    for (const std::vector<Address>& group : groups) {
      if (part == 0) interfaces_.begins |= std::uint32_t{1} << all.size();
      for (const Address& address : group) {
        TUTTI_TRY_ASSIGN(Listener listener, listen_at(without_own_port(address)));
        all.push_back(std::move(listener));
      }
    }
  }
  membership_.listeners = std::move(all);
  return {};
}

Status Joiner::open_transport() {
  if (!request_.open_transport || !endpoint_name_.empty()) return {};
  TUTTI_TRY_ASSIGN(endpoint_name_, request_.open_transport(membership_.listeners.front().address));
  if (endpoint_name_.size() <= wire::kMostEndpointNameBytes) return {};
  return {Code::internal, fmt::format("the transport's address has {} bytes; {} can be", endpoint_name_.size(),
                                      wire::kMostEndpointNameBytes)};
}

// A few in a turn, so that what those say who are there already is read in time.
Status Joiner::admit_far_guests() {
  for (const Listener& each : membership_.listeners)
    for (std::size_t i = 0; i < kMostFarGuests / 4; ++i) {
      TUTTI_TRY_ASSIGN(UniqueFd socket, accept_from(each.socket.get()));
      if (!socket.valid()) break;
      watch_silence(socket.get());
      TUTTI_TRY(drop_a_silent_guest());
      guests_.push_back({.pid = 0, .socket = std::move(socket), .pidfd = {}, .is_far = true});
    }
  return {};
}

// The longest silent one makes room for another, unless what it says is there by now. Who has shown the token stays.
Status Joiner::drop_a_silent_guest() {
  const auto is_silent = [](const Guest& guest) { return guest.is_far && guest.in.size() < wire::kFetchBytes; };
  if (static_cast<std::size_t>(std::count_if(guests_.begin(), guests_.end(), is_silent)) < kMostFarGuests) return {};
  Guest& oldest = *std::find_if(guests_.begin(), guests_.end(), is_silent);
  if (has_table_)
    TUTTI_TRY(serve_guest(oldest));
  else
    hear_guest(oldest);
  if (is_silent(oldest)) oldest.socket.reset();
  std::erase_if(guests_, [](const Guest& guest) { return !guest.socket.valid(); });
  return {};
}

int Joiner::leader_above(std::uint32_t host) const {
  return leaders_[(host - 1) / static_cast<std::uint32_t>(kFanOut)];
}

Status Joiner::connect_to_rank(UniqueFd& socket, int rank, std::span<const Address> addresses) {
  Status outcome;
  for (std::size_t attempt = 0; attempt < 2 * addresses.size(); ++attempt) {
    if (attempt > 0) TUTTI_TRY(pause(kRetryConnect));
    const Address& address = addresses[attempt % addresses.size()];
    Result<UniqueFd> begun = begin_connect(address);
    outcome = begun.status();
    if (begun.ok()) {
      socket = std::move(*begun);
      watch_silence(socket.get());
      std::vector<pollfd> fds = {{server_.get(), POLLIN, 0}, {socket.get(), POLLOUT, 0}};
      const auto until = Clock::now() + kAttempt;
      while (fds[1].revents == 0 && Clock::now() < until) {
        TUTTI_TRY(wait(fds, until));
        if (fds[0].revents != 0) TUTTI_TRY(hear_server());
        if (is_going_ && is_attached_) return {};
      }
      outcome = fds[1].revents != 0 ? connect_outcome(socket.get()) : Status::from_errno("cannot connect", ETIMEDOUT);
      if (outcome.ok()) return {};
      socket.reset();
    }
    outcome = outcome.with_context(fmt::format("cannot reach rank {} at {}", rank, to_text(address)));
  }
  // It may have ended, and the rendezvous knows.
  return hear_why({Code::rank_lost, outcome.to_string(), rank});
}

Status Joiner::link_to_parent() {
  const int above = leader_above(host_of(request_.rank));
  const std::vector<std::byte> fetch =
      wire::encode(wire::Fetch{membership_.generation, static_cast<std::uint32_t>(request_.rank)}, request_.id.token());
  std::chrono::milliseconds time = kFirstPause;
  for (int visits = 1;; ++visits) {
    UniqueFd socket;
    // The first part has each address once.
    const std::span<const Address> all = membership_.addresses[static_cast<std::size_t>(above)];
    const std::size_t each = all.size() / static_cast<std::size_t>(request_.num_listeners_each);
    TUTTI_TRY(connect_to_rank(socket, above, all.first(std::max<std::size_t>(each, 1))));
    // The first message of a new connection always has room.
    static_cast<void>(send_some(socket.get(), fetch));
    TUTTI_TRY_ASSIGN(const bool is_welcome, await_greeting(socket.get()));
    if (is_welcome) {
      membership_.links.peers.push_back(
          {.rank = above, .socket = std::move(socket), .pidfd = {}, .is_far = true, .is_parent = true});
      return {};
    }
    // Among many connections it may have taken this rank for a stranger.
    if (visits == kMostVisits)
      return hear_why(
          {Code::rank_lost, fmt::format("rank {} hung up before the links between hosts were made", above), above});
    TUTTI_TRY(pause(time));
    time *= 2;
  }
}

// Whether a rank greets who has come to it, or hangs up.
Result<bool> Joiner::await_greeting(int socket) {
  for (;;) {
    std::vector<pollfd> fds = {{server_.get(), POLLIN, 0}, {socket, POLLIN, 0}};
    TUTTI_TRY(wait(fds));
    if (fds[0].revents != 0) TUTTI_TRY(hear_server());
    if (fds[1].revents == 0) continue;
    std::array<std::byte, 1> greeting{};
    const SocketTransfer got = receive_some(socket, greeting);
    if (got.outcome != SocketTransfer::Outcome::would_block) return got.outcome == SocketTransfer::Outcome::done;
  }
}

}  // namespace tutti
