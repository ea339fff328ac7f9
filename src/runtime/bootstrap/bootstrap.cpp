// SPDX-License-Identifier: Apache-2.0
#include "runtime/bootstrap/bootstrap.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/counted.hpp"
#include "base/system/process_state.hpp"
#include "base/system/socket.hpp"
#include "runtime/bootstrap/descriptors.hpp"
#include "runtime/bootstrap/joiner.hpp"
#include "runtime/bootstrap/rendezvous.hpp"
#include "runtime/bootstrap/wire.hpp"

namespace tutti {
namespace {

constexpr int kBusyPollMs = 1;                              // where there is something else to go on with
constexpr std::chrono::milliseconds kBetweenQuestions{20};  // whether it is in vain

Status check(const JoinRequest& request) {
  const int most = request.id.address().family == Address::Family::local ? kMostRanksOnHost : kMostRanks;
  if (request.num_ranks < 1 || request.num_ranks > most) {
    return {Code::invalid_argument, fmt::format("the number of ranks is {}; 1 to {} can be", request.num_ranks, most)};
  }
  if (request.rank < 0 || request.rank >= request.num_ranks) {
    return {Code::invalid_argument, fmt::format("the rank is {}; of {} it can be 0 to {}", request.rank,
                                                counted(request.num_ranks, "rank"), request.num_ranks - 1)};
  }
  if (request.configuration.size() > wire::kMostConfigurationBytes) {
    return {Code::invalid_argument, fmt::format("the configuration has {} bytes; {} is the most",
                                                request.configuration.size(), wire::kMostConfigurationBytes)};
  }
  return {};
}

}  // namespace

Status Joiner::join_all() {
  TUTTI_TRY(meet_all());
  if (leaders_.size() == 1) membership_.listeners.clear();
  reached(JoinStage::table_received);
  TUTTI_TRY(leader() == request_.rank ? hand_out_region() : fetch_region());
  reached(JoinStage::region_received);
  if (request_.prepare) TUTTI_TRY(request_.prepare(membership_));
  say(wire::encode(wire::FrameType::ready));
  while (!complete_) TUTTI_TRY(wait_for_server());
  reached(JoinStage::complete);
  return {};
}

// Among many connections, the rendezvous may take a rank for a stranger and hang up.
Status Joiner::meet_all() {
  std::chrono::milliseconds time = kFirstPause;
  for (int visits = 1;; ++visits) {
    const Status met = visit_server();
    if (met.ok() || heard_ || server_.valid() || !has_said_hello_) return met;
    has_said_hello_ = false;
    if (visits == kMostVisits) return unheard();
    TUTTI_TRY(pause(time));
    time *= 2;
    if (Status connected = connect_to_server(); !connected.ok()) return is_unreachable_ ? met : connected;
  }
}

// Somebody listens there, or the connection would have failed.
Status Joiner::unheard() const {
  return {Code::system,
          fmt::format("the rendezvous at {} hung up {} times before it answered; it has more connections than it can "
                      "keep, or the id is not of this rendezvous",
                      to_text(request_.id.address()), kMostVisits),
          request_.rank};
}

Status Joiner::visit_server() {
  if (!server_.valid()) TUTTI_TRY(connect_to_server());
  reached(JoinStage::connected);
  TUTTI_TRY(say_hello());
  reached(JoinStage::hello_sent);
  while (!has_table_ && !place_) TUTTI_TRY(wait_for_server());
  if (place_ && !place_->addresses.empty()) TUTTI_TRY(attach());
  while (!has_table_) TUTTI_TRY(wait_for_server());
  return {};
}

Status Joiner::unreachable(const Status& why) {
  is_unreachable_ = true;
  TUTTI_TRY(ask_whether_in_vain());
  const bool is_local = request_.id.address().family == Address::Family::local;
  return why.with_context(fmt::format(
      "nobody answers at {}, the rendezvous of the id; the process that made the id has ended, or all its "
      "communicators were made{}",
      to_text(request_.id.address()), is_local ? ", or this rank is in another network namespace (container)" : ""));
}

Status Joiner::connect_to_server() {
  const Address& address = request_.id.address();
  for (;;) {
    Result<UniqueFd> socket = make_socket_for(address);
    if (!socket.ok()) return socket.status().with_context("cannot meet the other ranks");
    const Result<bool> begun = begin_connect(socket->get(), address);
    if (!begun.ok()) return unreachable(begun.status());
    if (*begun) {
      server_ = std::move(*socket);
      break;
    }
    TUTTI_TRY(pause(kRetryConnect));
  }
  in_.clear();
  std::vector<pollfd> fds = {{server_.get(), POLLOUT, 0}};
  TUTTI_TRY(wait(fds));
  const Status outcome = connect_outcome(server_.get());
  if (!outcome.ok()) {
    server_.reset();
    return unreachable(outcome);
  }
  watch_silence(server_.get());
  return {};
}

Status Joiner::say_hello() {
  wire::Hello hello = this->hello(request_.refusal);
  if (request_.refusal.ok()) TUTTI_TRY(complete(hello));
  const std::vector<std::byte> bytes = wire::encode(hello, request_.id.token());
  has_said_hello_ = true;
  return send_all(bytes);
}

// What also a rank can say that has come to nothing.
wire::Hello Joiner::hello(const Status& refusal) const {
  wire::Hello hello;
  hello.generation = generation();
  hello.is_unsure = attempt_.is_unsure && !place_;
  hello.rank = request_.rank;
  hello.num_ranks = request_.num_ranks;
  hello.pid = getpid();
  hello.refusal = refusal;
  return hello;
}

Status Joiner::complete(wire::Hello& hello) {
  TUTTI_TRY_ASSIGN(hello.host, this_host(request_.host_id));
  hello.configuration = request_.configuration;
  const bool may_have_hosts = request_.id.address().family != Address::Family::local && request_.num_ranks > 1;
  if (may_have_hosts) {
    TUTTI_TRY(listen());
    for (const Listener& each : membership_.listeners) hello.addresses.push_back(each.address);
    TUTTI_TRY(open_transport());
    hello.endpoint_name = endpoint_name_;
    hello.turn = request_.turn;
    hello.interfaces = interfaces_;
  }
  // Any rank may turn out to be the first of its host.
  if ((request_.rank == 0 || may_have_hosts) && leader_name_.empty()) {
    // A name that nobody can guess, and so nobody can have taken.
    TUTTI_TRY_ASSIGN(Token random, make_token());
    leader_name_ = "tutti-";
    for (std::size_t i = 0; i < 16; ++i) leader_name_ += fmt::format("{:02x}", std::to_integer<unsigned>(random[i]));
    TUTTI_TRY_ASSIGN(leader_listener_, listen_abstract(leader_name_, SOMAXCONN));
  }
  hello.leader_socket = leader_name_;
  return {};
}

Status Joiner::send_all(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const SocketTransfer sent = send_some(server_.get(), bytes);
    // Its last words are still there to be read.
    if (sent.outcome == SocketTransfer::Outcome::closed) return hear_server();
    bytes = bytes.subspan(sent.bytes);
    if (sent.outcome == SocketTransfer::Outcome::would_block) {
      std::vector<pollfd> fds = {{server_.get(), POLLOUT, 0}};
      TUTTI_TRY(wait(fds));
    }
  }
  return {};
}

void Joiner::give_up(const Status& why) {
  if (has_said_hello_) {
    const int rank = why.rank() == Status::kNoRank ? request_.rank : why.rank();
    // Whose patience ended first is not who is to blame.
    const Status words(why.code(),
                       why.code() == Code::timeout ? fmt::format("{} (rank {} gave up)", why.to_string(), request_.rank)
                                                   : fmt::format("rank {} gave up: {}", request_.rank, why.to_string()),
                       rank);
    // Who waits here hears it too. Where nobody is there any more to be told, that is what has happened to them as
    // well.
    const bool is_cut_off = !server_.valid() || has_lost_parent_;
    pass_down({wire::FrameType::failed, wire::encode_body(is_cut_off ? why : words)});
    if (is_cut_off) return;
    say(wire::encode(wire::FrameType::give_up, words));
    wait_for_own_server();
    return;
  }
  // What a rank was refused for before comes first.
  const std::vector<std::byte> last =
      wire::encode(hello(request_.refusal.ok() ? why : request_.refusal), request_.id.token());
  if (server_.valid()) {
    static_cast<void>(send_some(server_.get(), last));
    wait_for_own_server();
    return;
  }
  // No descriptor or memory was left to connect with, or the rendezvous has hung up, and may again.
  for (int visits = 0; !is_unreachable_ && visits < kMostVisits; ++visits)
    if (say_without_descriptors(request_.id.address(), last)) return;
}

void Joiner::wait_for_own_server() {
  const bool is_local = request_.id.address().family == Address::Family::local;
  const Result<PeerCredentials> server = is_local ? peer_credentials(server_.get()) : PeerCredentials();
  if (!server.ok() || server->pid != getpid()) return;
  const auto until = Clock::now() + options_.explanation;
  std::array<std::byte, 4096> bytes{};
  for (;;) {
    // It hangs up after its answer.
    if (receive_some(server_.get(), bytes).outcome == SocketTransfer::Outcome::closed) return;
    const auto now = Clock::now();
    if (now >= until) return;
    pollfd fd{server_.get(), POLLIN, 0};
    poll(&fd, 1, poll_timeout(until, now));
  }
}

Status Joiner::wait(std::vector<pollfd>& fds, std::optional<Clock::time_point> wake) {
  const std::size_t own = fds.size();
  for (;;) {
    const auto now = Clock::now();
    warn_if_late(now);
    if (deadline_ && now >= *deadline_) return late();
    std::optional<Clock::time_point> next = wake;
    if (options_.in_vain) {
      // What has come by then may say more.
      const Status in_vain = ask_whether_in_vain();
      if (!in_vain.ok()) return poll(fds.data(), fds.size(), 0) > 0 ? Status() : in_vain;
      next = next ? std::min(*next, now + kBetweenQuestions) : now + kBetweenQuestions;
    }
    for (const auto& other : {deadline_, warn_at_}) {
      if (other) next = next ? std::min(*next, *other) : *other;
    }
    const bool is_busy = options_.meanwhile && options_.meanwhile();
    poll_tree(fds);
    int ready = poll(fds.data(), fds.size(), is_busy ? kBusyPollMs : poll_timeout(next, now));
    if (ready < 0 && errno != EINTR) return Status::from_errno("cannot wait for the other ranks", errno);
    if (ready > 0) {
      TUTTI_TRY_ASSIGN(const int of_tree, serve_tree(std::span(fds).subspan(own)));
      ready -= of_tree;
    }
    fds.resize(own);
    if (ready > 0) return {};
    if (wake && Clock::now() >= *wake) {
      for (pollfd& fd : fds) fd.revents = 0;
      return {};
    }
  }
}

// Of those who wait for each other, the one that is stopped is who all wait for.
std::string Joiner::stopped_rank() const {
  for (const auto& [rank, pid] : near_)
    if (is_stopped(pid)) return fmt::format("rank {} is late: process {} is stopped; ", rank, pid);
  return "";
}

// As the rendezvous told it last; empty where it has told nothing.
std::string Joiner::progress() const {
  if (!progress_.empty() || !has_table_) return progress_;
  return "all ranks have arrived but not all are connected yet";
}

Status Joiner::late() const {
  const std::string waited = to_text(options_.timeout);
  const std::string known = progress();
  if (known.empty())
    return {Code::timeout,
            fmt::format("the rendezvous at {} did not answer within {}", to_text(request_.id.address()), waited)};
  return {Code::timeout, fmt::format("{}{} after {}", stopped_rank(), known, waited)};
}

void Joiner::warn_if_late(Clock::time_point now) {
  if (!warn_at_ || now < *warn_at_) return;
  const auto waited = *warn_at_ - begun_;
  warn_at_ = begun_ + 2 * waited;
  if (!options_.warn) return;
  const std::string time = to_text(Nanos(waited.count()));
  const std::string known = progress();
  options_.warn(known.empty() ? fmt::format("rank {} has waited {} for an answer of the rendezvous at {}",
                                            request_.rank, time, to_text(request_.id.address()))
                              : fmt::format("rank {} has waited {} for the others: {}{}", request_.rank, time,
                                            stopped_rank(), known));
}

Status Joiner::hear_why(const Status& error) {
  const auto until = Clock::now() + options_.explanation;
  std::vector<pollfd> fds = {{server_.get(), POLLIN, 0}};
  while (Clock::now() < until) {
    TUTTI_TRY(wait(fds, until));
    if (fds[0].revents != 0) TUTTI_TRY(hear_server());
    // The rank to wait at had taken this one, and what follows is for attach() to find out.
    if (is_going_ && is_attached_) return {};
  }
  return error;
}

Status Joiner::wait_for_server() {
  std::vector<pollfd> fds = {{server_.get(), POLLIN, 0}};
  TUTTI_TRY(wait(fds));
  return hear_server();
}

Status Joiner::hear_server() {
  std::array<std::byte, 4096> bytes{};
  for (;;) {
    const SocketTransfer got = receive_some(server_.get(), bytes);
    if (got.outcome == SocketTransfer::Outcome::would_block) return {};
    if (got.outcome == SocketTransfer::Outcome::closed) {
      if (complete_ || (is_going_ && is_attached_)) return {};
      if (is_attached_) return lost_parent();
      server_.reset();
      // It may have ended for what this rank can see too.
      TUTTI_TRY(ask_whether_in_vain());
      return {Code::system, fmt::format("the rendezvous at {} hung up before all ranks were there; the process that "
                                        "made the id has ended, or the id is not of this rendezvous",
                                        to_text(request_.id.address()))};
    }
    in_.insert(in_.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(got.bytes));
    for (;;) {
      TUTTI_TRY_ASSIGN(std::optional<wire::Frame> frame, wire::take_frame(in_));
      if (!frame.has_value()) break;
      TUTTI_TRY(obey(*frame));
    }
  }
}

Status Joiner::obey(const wire::Frame& frame) {
  heard_ = true;
  const bool is_for_all = frame.type != wire::FrameType::go_to && frame.type != wire::FrameType::attached;
  if (is_for_all) pass_down(frame);
  switch (frame.type) {
    case wire::FrameType::progress: progress_ = wire::parse_words(frame); return {};
    case wire::FrameType::complete: complete_ = true; return {};
    case wire::FrameType::failed: told_ = true; return wire::parse_error(frame);
    case wire::FrameType::table:
      if (has_table_) break;
      progress_.clear();  // it was of who had not arrived
      return take_table(frame);
    case wire::FrameType::go_to: {
      TUTTI_TRY_ASSIGN(place_, wire::parse_place(frame));
      return {};
    }
    case wire::FrameType::attached:
      if (!is_going_) break;
      is_attached_ = true;
      return {};
    case wire::FrameType::ready:
    case wire::FrameType::give_up:
    case wire::FrameType::ready_below:
    case wire::FrameType::gone: break;
  }
  return {Code::internal, "the rendezvous spoke out of turn"};
}

Result<Membership> join(const JoinRequest& request, const JoinOptions& options) {
  TUTTI_TRY(check(request));
  return Joiner(request, options).run();
}

}  // namespace tutti
