// SPDX-License-Identifier: Apache-2.0
// How the shared region comes from the leader of a host, which makes it, to the others there, over sockets that then
// stay open.
#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/socket.hpp"
#include "runtime/bootstrap/joiner.hpp"
#include "runtime/bootstrap/wire.hpp"
#include "transport/shm/region.hpp"

namespace tutti {

namespace {

Status check_region(int region, Bytes bytes, int leader) {
  struct stat found {};
  if (fstat(region, &found) != 0) return Status::from_errno("cannot look at the shared region", errno);
  if (static_cast<std::uint64_t>(found.st_size) != bytes.value()) {
    return {Code::internal,
            fmt::format("rank {} made a shared region of {}, and this rank needs {}", leader,
                        to_text(Bytes(static_cast<std::uint64_t>(found.st_size))), to_text(bytes)),
            leader};
  }
  if ((fcntl(region, F_GET_SEALS) & F_SEAL_SHRINK) == 0)
    return {Code::internal, "the shared region is not sealed", leader};
  return {};
}

}  // namespace

// In any order. Who does not know the token or is another user is sent away.
Status Joiner::hand_out_region() {
  TUTTI_TRY_ASSIGN(membership_.region,
                   shm::make_memory(request_.region_bytes(membership_.host_of, request_.rank).value()));
  const std::uint32_t here = host_of(request_.rank);
  std::size_t others = 0;
  for (int rank = 0; rank < request_.num_ranks; ++rank)
    others += host_of(rank) == here && rank != request_.rank ? 1 : 0;
  std::size_t below = 0;
  for (std::uint32_t host = 1; host < leaders_.size(); ++host) below += leader_above(host) == request_.rank ? 1 : 0;
  serves_far_guests_ = below > 0;
  // Some have said who they are before this rank knew that they would come.
  for (Guest& guest : guests_)
    if (guest.in.size() == wire::kFetchBytes) TUTTI_TRY(take_fetch(guest));
  while (membership_.links.peers.size() < others + below) TUTTI_TRY(serve_guests());
  std::sort(membership_.links.peers.begin(), membership_.links.peers.end(),
            [](const RankLink& a, const RankLink& b) { return a.rank < b.rank; });
  leader_listener_.reset();
  guests_.clear();
  return request_.rank == 0 ? Status() : link_to_parent();
}

Status Joiner::serve_guests() {
  std::vector<pollfd> fds = {{server_.get(), POLLIN, 0}, {leader_listener_.get(), POLLIN, 0}};
  // Leaders of other hosts come by way of the network.
  if (serves_far_guests_)
    for (const Listener& each : membership_.listeners) fds.push_back({each.socket.get(), POLLIN, 0});
  const std::size_t first = fds.size();
  for (const Guest& guest : guests_) fds.push_back({guest.socket.get(), POLLIN, 0});
  TUTTI_TRY(wait(fds));
  if (fds[0].revents != 0) TUTTI_TRY(hear_server());
  for (std::size_t i = first; i < fds.size(); ++i) {
    if (fds[i].revents != 0) TUTTI_TRY(serve_guest(guests_[i - first]));
  }
  std::erase_if(guests_, [](const Guest& guest) { return !guest.socket.valid(); });
  if (fds[1].revents != 0) TUTTI_TRY(admit_guests());
  for (std::size_t i = 2; i < first; ++i)
    if (fds[i].revents != 0) return admit_far_guests();
  return {};
}

Status Joiner::admit_guests() {
  for (;;) {
    TUTTI_TRY_ASSIGN(UniqueFd socket, accept_from(leader_listener_.get()));
    if (!socket.valid()) return {};
    Result<PeerCredentials> who = peer_credentials(socket.get());
    if (!who.ok() || who->uid != geteuid()) continue;
    // The pidfd is made before the guest has its answer, so the guest is still alive and the pid is still its own.
    guests_.push_back({who->pid, std::move(socket), open_pidfd(who->pid)});
  }
}

Status Joiner::serve_guest(Guest& guest) {
  std::array<std::byte, wire::kFetchBytes + 1> bytes{};
  const SocketTransfer got = receive_some(guest.socket.get(), std::span(bytes).first(bytes.size() - guest.in.size()));
  if (got.outcome == SocketTransfer::Outcome::would_block) return {};
  guest.in.insert(guest.in.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(got.bytes));
  // Of a stream the rest may follow.
  const bool may_go_on = got.outcome == SocketTransfer::Outcome::done && guest.is_far;
  if (may_go_on && guest.in.size() < wire::kFetchBytes) return {};
  return take_fetch(guest);
}

Status Joiner::take_fetch(Guest& guest) {
  const auto fetch = wire::parse_fetch(guest.in, request_.id.token());
  const auto& peers = membership_.links.peers;
  const bool is_known = fetch && !fetch->attaches && fetch->generation == membership_.generation &&
                        fetch->rank != static_cast<std::uint32_t>(request_.rank) &&
                        fetch->rank < static_cast<std::uint32_t>(request_.num_ranks) &&
                        std::none_of(peers.begin(), peers.end(), [&fetch](const RankLink& link) {
                          return link.rank == static_cast<int>(fetch->rank);
                        });
  const auto belongs_here = [&](int rank) {
    return guest.is_far ? is_leader(rank) && rank != 0 && leader_above(host_of(rank)) == request_.rank
                        : host_of(rank) == host_of(request_.rank);
  };
  if (is_known && belongs_here(static_cast<int>(fetch->rank))) return welcome(guest, *fetch);
  guest.socket.reset();
  return {};
}

Status Joiner::welcome(Guest& guest, const wire::Fetch& fetch) {
  const std::array<std::byte, 1> greeting{};
  const SocketTransfer sent = guest.is_far ? send_some(guest.socket.get(), greeting)
                                           : send_with_fd(guest.socket.get(), greeting, membership_.region.get());
  if (sent.outcome == SocketTransfer::Outcome::would_block) {
    return {Code::system, "cannot hand over the shared region: too many descriptors are in flight"};
  }
  // Where the guest is gone the rendezvous will say so.
  if (sent.outcome == SocketTransfer::Outcome::done) {
    membership_.links.peers.push_back({.rank = static_cast<int>(fetch.rank),
                                       .pid = guest.pid,
                                       .socket = std::move(guest.socket),
                                       .pidfd = std::move(guest.pidfd),
                                       .is_far = guest.is_far});
  }
  guest.socket.reset();
  return {};
}

Status Joiner::connect_to_leader() {
  for (;;) {
    Result<UniqueFd> socket = connect_abstract(leader_socket_);
    // It listened when it said hello; if it does no longer, then the rendezvous knows why.
    if (!socket.ok()) return hear_why(socket.status().with_context(fmt::format("cannot reach rank {}", leader())));
    if (socket->valid()) {
      TUTTI_TRY_ASSIGN(PeerCredentials who, peer_credentials(socket->get()));
      if (who.uid != geteuid()) {
        return {Code::invalid_usage,
                fmt::format("rank {} belongs to user {} and this rank to user {}", leader(), who.uid, geteuid()),
                leader()};
      }
      membership_.links.peers.push_back({.rank = leader(),
                                         .pid = who.pid,
                                         .socket = std::move(*socket),
                                         .pidfd = open_pidfd(who.pid),
                                         .is_parent = true});
      return {};
    }
    std::vector<pollfd> fds = {{server_.get(), POLLIN, 0}};
    TUTTI_TRY(wait(fds, Clock::now() + kRetryConnect));
    if (fds[0].revents != 0) TUTTI_TRY(hear_server());
  }
}

Status Joiner::fetch_region() {
  TUTTI_TRY(connect_to_leader());
  const int link = membership_.links.peers.front().socket.get();
  const std::vector<std::byte> fetch =
      wire::encode(wire::Fetch{membership_.generation, static_cast<std::uint32_t>(request_.rank)}, request_.id.token());
  // The first message of a new connection always has room.
  static_cast<void>(send_some(link, fetch));

  std::optional<Clock::time_point> until;
  bool listening = true;
  while (!membership_.region.valid()) {
    std::vector<pollfd> fds = {{server_.get(), POLLIN, 0}, {listening ? link : -1, POLLIN, 0}};
    TUTTI_TRY(wait(fds, until));
    if (fds[0].revents != 0) TUTTI_TRY(hear_server());
    if (fds[1].revents != 0) {
      std::array<std::byte, 1> greeting{};
      PassedFd passed;
      const SocketTransfer got = receive_with_fd(link, greeting, passed);
      membership_.region = std::move(passed.fd);
      if (got.outcome == SocketTransfer::Outcome::done && !membership_.region.valid()) {
        return passed.lost ? Status::from_errno("cannot receive the shared region", EMFILE)
                           : Status(Code::system, fmt::format("rank {} has sent no shared region", leader()));
      }
      if (got.outcome == SocketTransfer::Outcome::closed) {
        listening = false;
        until = Clock::now() + options_.explanation;
      }
    }
    if (until && Clock::now() >= *until) {
      return {Code::rank_lost, fmt::format("rank {} hung up before it had handed over the shared region", leader()),
              leader()};
    }
  }
  return check_region(membership_.region.get(), request_.region_bytes(membership_.host_of, request_.rank), leader());
}

}  // namespace tutti
