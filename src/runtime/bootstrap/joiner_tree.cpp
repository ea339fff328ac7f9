// SPDX-License-Identifier: Apache-2.0
// Ranks that wait at this one instead of at the rendezvous: it passes on what they say, and what the rendezvous says to
// them. And how this rank comes to wait at another.
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/system/socket.hpp"
#include "runtime/bootstrap/joiner.hpp"
#include "runtime/bootstrap/waiting_tree.hpp"
#include "runtime/bootstrap/wire.hpp"

namespace tutti {

void Joiner::Child::send(const std::shared_ptr<const std::vector<std::byte>>& words) {
  out.push_back(words);
  flush();
}

void Joiner::Child::flush() {
  while (!out.empty()) {
    const SocketTransfer part = send_some(socket.get(), std::span(*out.front()).subspan(sent));
    if (part.outcome == SocketTransfer::Outcome::would_block) return;
    if (part.outcome == SocketTransfer::Outcome::closed) return out.clear();  // reading will tell
    sent += part.bytes;
    if (sent < out.front()->size()) continue;
    out.erase(out.begin());
    sent = 0;
  }
}

// Once this rank is where it waits: until then it could pass on nothing, and those who come stay unread.
bool Joiner::is_open_to_children() const { return place_ && !is_going_ && !has_lost_parent_ && !has_table_; }

// Behind what the caller waits for: the connection upward where something has yet to go there, listeners, children and
// those who have not said who they are.
void Joiner::poll_tree(std::vector<pollfd>& fds) const {
  fds.push_back({up_.empty() ? -1 : server_.get(), POLLOUT, 0});
  for (const Child& child : children_)
    fds.push_back({child.socket.get(), static_cast<short>(child.out.empty() ? POLLIN : POLLIN | POLLOUT), 0});
  if (!is_open_to_children()) return;
  for (const Guest& guest : guests_)
    fds.push_back({guest.in.size() < wire::kFetchBytes ? guest.socket.get() : -1, POLLIN, 0});
  for (const Listener& each : membership_.listeners) fds.push_back({each.socket.get(), POLLIN, 0});
}

// How many of `fds`, which poll_tree() has added, were ready.
Result<int> Joiner::serve_tree(std::span<const pollfd> fds) {
  int ready = 0;
  for (const pollfd& fd : fds) ready += fd.revents != 0 ? 1 : 0;
  if (ready == 0) return 0;
  std::size_t next = 0;
  if (fds[next++].revents != 0) flush_up();
  for (Child& child : children_) {
    const short events = fds[next++].revents;
    if ((events & POLLOUT) != 0) child.flush();
    if ((events & ~POLLOUT) != 0) TUTTI_TRY(hear_child(child));
  }
  std::erase_if(children_, [](const Child& child) { return !child.socket.valid(); });
  if (next == fds.size()) return ready;
  for (Guest& guest : guests_)
    if (fds[next++].revents != 0) hear_guest(guest);
  std::erase_if(guests_, [](const Guest& guest) { return !guest.socket.valid(); });
  for (; next < fds.size(); ++next)
    if (fds[next].revents != 0) {
      TUTTI_TRY(admit_far_guests());
      break;
    }
  return ready;
}

// One that is to wait here becomes a child; a leader that comes for its link, sooner than this rank knows that it is to
// have one, goes on being a guest.
void Joiner::hear_guest(Guest& guest) {
  std::array<std::byte, wire::kFetchBytes> bytes{};
  const SocketTransfer got = receive_some(guest.socket.get(), std::span(bytes).first(bytes.size() - guest.in.size()));
  if (got.outcome == SocketTransfer::Outcome::would_block) return;
  guest.in.insert(guest.in.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(got.bytes));
  if (got.outcome == SocketTransfer::Outcome::done && guest.in.size() < wire::kFetchBytes) return;
  const auto fetch = wire::parse_fetch(guest.in, request_.id.token());
  if (!fetch || got.outcome == SocketTransfer::Outcome::closed) return guest.socket.reset();
  if (!fetch->attaches) return;
  const bool is_of_these = fetch->generation == generation() && fetch->rank < std::uint32_t(request_.num_ranks) &&
                           children_.size() < kFanOut;
  if (!is_of_these) return guest.socket.reset();
  Child& child = children_.emplace_back();
  child.rank = static_cast<int>(fetch->rank);
  child.socket = std::move(guest.socket);
  guest.socket.reset();
  if (!progress_.empty())
    child.send(std::make_shared<const std::vector<std::byte>>(wire::encode(wire::FrameType::progress, progress_)));
  say(wire::encode_rank(wire::FrameType::attached, static_cast<int>(fetch->rank)));
}

Status Joiner::hear_child(Child& child) {
  std::array<std::byte, 4096> bytes{};
  const SocketTransfer got = receive_some(child.socket.get(), bytes);
  if (got.outcome == SocketTransfer::Outcome::would_block) return {};
  child.in.insert(child.in.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(got.bytes));
  for (;;) {
    const Result<std::optional<wire::Frame>> frame = wire::take_frame(child.in);
    if (!frame.ok()) return frame.status();
    if (!frame->has_value()) break;
    switch ((*frame)->type) {
      case wire::FrameType::ready: say(wire::encode_rank(wire::FrameType::ready_below, child.rank)); break;
      case wire::FrameType::ready_below:
      case wire::FrameType::attached:
      case wire::FrameType::gone:
      case wire::FrameType::give_up: say(wire::encode(**frame)); break;
      default: return {Code::internal, fmt::format("rank {} spoke out of turn during the rendezvous", child.rank)};
    }
  }
  if (got.outcome != SocketTransfer::Outcome::closed) return {};
  child.socket.reset();
  if (!complete_) say(wire::encode_rank(wire::FrameType::gone, child.rank));
  return {};
}

// To the rendezvous, or the rank that this one waits at; what finds no room follows while this rank waits. Once that
// rank is lost, all is over, and nobody needs to hear more.
void Joiner::say(std::span<const std::byte> words) {
  if (has_lost_parent_) return;
  up_.insert(up_.end(), words.begin(), words.end());
  flush_up();
}

void Joiner::flush_up() {
  if (!server_.valid()) return;
  while (!up_.empty()) {
    const SocketTransfer part = send_some(server_.get(), up_);
    if (part.outcome == SocketTransfer::Outcome::would_block) return;
    if (part.outcome == SocketTransfer::Outcome::closed) return up_.clear();  // reading will tell
    up_.erase(up_.begin(), up_.begin() + static_cast<std::ptrdiff_t>(part.bytes));
  }
}

void Joiner::pass_down(const wire::Frame& frame) {
  if (children_.empty()) return;
  const auto words = std::make_shared<const std::vector<std::byte>>(wire::encode(frame));
  for (Child& child : children_) child.send(words);
}

void Joiner::flush_down() {
  const auto until = Clock::now() + options_.explanation;
  for (;;) {
    std::vector<pollfd> fds;
    for (Child& child : children_) {
      child.flush();
      if (!child.out.empty()) fds.push_back({child.socket.get(), POLLOUT, 0});
    }
    const auto now = Clock::now();
    if (fds.empty() || now >= until) return;
    poll(fds.data(), fds.size(), poll_timeout(until, now));
  }
}

// To wait at the rank that the rendezvous has named. The connection to the rendezvous stays until that rank has said
// there that this one has come: so each hears why the other ends, and how far this one has come.
Status Joiner::attach() {
  is_going_ = true;
  std::chrono::milliseconds time = kFirstPause;
  for (int visits = 1;; ++visits) {
    TUTTI_TRY(connect_to_rank(parent_, place_->rank, place_->addresses));
    if (is_attached_) parent_.reset();  // it had taken this rank for its own before it hung up
    if (is_attached_) break;
    // The first message of a new connection always has room.
    static_cast<void>(send_some(
        parent_.get(),
        wire::encode(wire::Fetch{generation(), static_cast<std::uint32_t>(request_.rank), true}, request_.id.token())));
    TUTTI_TRY_ASSIGN(const bool has_come, await_parent());
    if (has_come) break;
    // Among many connections it may have taken this rank for a stranger.
    if (visits == kMostVisits) {
      TUTTI_TRY(hear_why({Code::system, fmt::format("rank {} hung up {} times before this rank could wait there",
                                                    place_->rank, kMostVisits)}));
      parent_.reset();
      break;
    }
    TUTTI_TRY(pause(time));
    time *= 2;
  }
  server_ = std::move(parent_);
  in_.clear();
  is_going_ = false;
  return server_.valid() ? Status() : lost_parent();
}

// What that rank says is read later.
Result<bool> Joiner::await_parent() {
  bool has_spoken = false;
  while (!is_attached_) {
    std::vector<pollfd> fds = {{server_.get(), POLLIN, 0}, {has_spoken ? -1 : parent_.get(), POLLIN, 0}};
    TUTTI_TRY(wait(fds));
    if (fds[0].revents != 0) TUTTI_TRY(hear_server());
    if (fds[1].revents == 0) continue;
    std::byte first{};
    const ssize_t got = recv(parent_.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got > 0) has_spoken = true;
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return is_attached_;
  }
  return true;
}

// What ended it has reached the rendezvous too, or does so now that this rank comes back.
Status Joiner::lost_parent() {
  has_lost_parent_ = true;
  is_attached_ = false;
  const Status ended(
      Code::rank_lost,
      fmt::format("rank {} (process {}) ended before the communicator was complete", place_->rank, place_->pid),
      place_->rank);
  up_.clear();
  server_.reset();
  Status heard = connect_to_server();
  if (heard.ok()) heard = say_hello();
  if (heard.ok()) heard = hear_why(ended);
  return told_ ? heard : ended;
}

}  // namespace tutti
