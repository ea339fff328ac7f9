// SPDX-License-Identifier: Apache-2.0
// How the shared region comes from rank 0, which makes it, to all others, over sockets that then stay open.
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

Status check_region(int region, Bytes bytes) {
  struct stat found {};
  if (fstat(region, &found) != 0) return Status::from_errno("cannot look at the shared region", errno);
  if (static_cast<std::uint64_t>(found.st_size) != bytes.value()) {
    return {Code::internal,
            fmt::format("rank 0 made a shared region of {}, and this rank needs {}",
                        to_text(Bytes(static_cast<std::uint64_t>(found.st_size))), to_text(bytes)),
            0};
  }
  if ((fcntl(region, F_GET_SEALS) & F_SEAL_SHRINK) == 0) return {Code::internal, "the shared region is not sealed", 0};
  return {};
}

}  // namespace

// Rank 0: everyone else fetches the region, in any order. Who does not know the token or is another user is sent away.
Status Joiner::hand_out_region() {
  TUTTI_TRY_ASSIGN(membership_.region, shm::make_memory(request_.region_bytes(request_.num_ranks).value()));
  const auto others = static_cast<std::size_t>(request_.num_ranks - 1);
  while (membership_.links.peers.size() < others) {
    std::vector<pollfd> fds = {{server_.get(), POLLIN, 0}, {leader_listener_.get(), POLLIN, 0}};
    for (const Guest& guest : guests_) fds.push_back({guest.socket.get(), POLLIN, 0});
    TUTTI_TRY(wait(fds));
    if (fds[0].revents != 0) TUTTI_TRY(hear_server());
    for (std::size_t i = 0; i + 2 < fds.size(); ++i) {
      if (fds[i + 2].revents != 0) TUTTI_TRY(serve_guest(guests_[i]));
    }
    std::erase_if(guests_, [](const Guest& guest) { return !guest.socket.valid(); });
    if (fds[1].revents != 0) TUTTI_TRY(admit_guests());
  }
  std::sort(membership_.links.peers.begin(), membership_.links.peers.end(),
            [](const RankLink& a, const RankLink& b) { return a.rank < b.rank; });
  leader_listener_.reset();
  guests_.clear();
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
  const SocketTransfer got = receive_some(guest.socket.get(), bytes);
  if (got.outcome == SocketTransfer::Outcome::would_block) return {};
  const auto fetch = wire::parse_fetch(std::span(bytes).first(got.bytes), request_.id.token());
  const auto& peers = membership_.links.peers;
  const bool welcome = fetch && fetch->generation == table_->generation && fetch->rank > 0 &&
                       fetch->rank < static_cast<std::uint32_t>(request_.num_ranks) &&
                       std::none_of(peers.begin(), peers.end(), [&fetch](const RankLink& link) {
                         return link.rank == static_cast<int>(fetch->rank);
                       });
  if (!welcome) {
    guest.socket.reset();
    return {};
  }
  const std::array<std::byte, 1> greeting{};
  const SocketTransfer sent = send_with_fd(guest.socket.get(), greeting, membership_.region.get());
  if (sent.outcome == SocketTransfer::Outcome::would_block) {
    return {Code::system, "cannot hand over the shared region: too many descriptors are in flight"};
  }
  // Where the guest is gone the rendezvous will say so.
  if (sent.outcome == SocketTransfer::Outcome::done) {
    membership_.links.peers.push_back(
        {static_cast<int>(fetch->rank), guest.pid, std::move(guest.socket), std::move(guest.pidfd)});
  }
  guest.socket.reset();
  return {};
}

Status Joiner::connect_to_leader() {
  for (;;) {
    Result<UniqueFd> socket = connect_abstract(table_->leader_socket);
    // Rank 0 listened when it said hello; if it does no longer, then the rendezvous knows why.
    if (!socket.ok()) {
      const auto until = Clock::now() + kExplanationTime;
      std::vector<pollfd> fds = {{server_.get(), POLLIN, 0}};
      while (Clock::now() < until) {
        TUTTI_TRY(wait(fds, until));
        if (fds[0].revents != 0) TUTTI_TRY(hear_server());
      }
      return socket.status().with_context("cannot reach rank 0");
    }
    if (socket->valid()) {
      TUTTI_TRY_ASSIGN(PeerCredentials who, peer_credentials(socket->get()));
      if (who.uid != geteuid()) {
        return {Code::invalid_usage,
                fmt::format("rank 0 belongs to user {} and this rank to user {}", who.uid, geteuid()), 0};
      }
      membership_.links.peers.push_back({0, who.pid, std::move(*socket), open_pidfd(who.pid)});
      return {};
    }
    std::vector<pollfd> fds = {{server_.get(), POLLIN, 0}};
    TUTTI_TRY(wait(fds, Clock::now() + kRetryConnect));
    if (fds[0].revents != 0) TUTTI_TRY(hear_server());
  }
}

Status Joiner::fetch_region() {
  TUTTI_TRY(connect_to_leader());
  const int leader = membership_.links.peers.front().socket.get();
  const std::vector<std::byte> fetch =
      wire::encode(wire::Fetch{table_->generation, static_cast<std::uint32_t>(request_.rank)}, request_.id.token());
  // The first message of a new connection always has room.
  static_cast<void>(send_some(leader, fetch));

  std::optional<Clock::time_point> until;
  bool listening = true;
  while (!membership_.region.valid()) {
    std::vector<pollfd> fds = {{server_.get(), POLLIN, 0}, {listening ? leader : -1, POLLIN, 0}};
    TUTTI_TRY(wait(fds, until));
    if (fds[0].revents != 0) TUTTI_TRY(hear_server());
    if (fds[1].revents != 0) {
      std::array<std::byte, 1> greeting{};
      PassedFd passed;
      const SocketTransfer got = receive_with_fd(leader, greeting, passed);
      membership_.region = std::move(passed.fd);
      if (got.outcome == SocketTransfer::Outcome::done && !membership_.region.valid()) {
        return passed.lost ? Status::from_errno("cannot receive the shared region from rank 0", EMFILE)
                           : Status(Code::system, "rank 0 has sent no shared region");
      }
      if (got.outcome == SocketTransfer::Outcome::closed) {
        listening = false;
        until = Clock::now() + kExplanationTime;
      }
    }
    if (until && Clock::now() >= *until) {
      return {Code::rank_lost, "rank 0 hung up before it had handed over the shared region", 0};
    }
  }
  return check_region(membership_.region.get(), request_.region_bytes(request_.num_ranks));
}

}  // namespace tutti
