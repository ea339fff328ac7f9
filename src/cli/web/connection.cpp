// SPDX-License-Identifier: Apache-2.0
#include "cli/web/connection.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

namespace tutti::cli {

WebConnection::WebConnection(UniqueFd socket, const std::atomic<bool>& is_over)
    : socket_(std::move(socket)),
      is_over_(is_over),
      request_end_(Clock::now() + kRequestPatience),
      reply_end_(Clock::now() + kRequestPatience + kReplyPatience) {}

// A socket that is closed with something unread in it takes back what it has sent.
WebConnection::~WebConnection() {
  constexpr std::chrono::milliseconds kLingering{200};
  constexpr std::size_t kMostUnread = 1U << 20U;
  ::shutdown(socket_.get(), SHUT_WR);
  const Clock::time_point end = Clock::now() + kLingering;
  for (std::size_t unread = 0; unread < kMostUnread && wait_for(POLLIN, end);) {
    const SocketTransfer got = receive_some(socket_.get(), buffer_);
    if (got.outcome != SocketTransfer::Outcome::done) break;
    unread += got.bytes;
  }
}

bool WebConnection::wait_for(short events, Clock::time_point end) const {
  while (!is_over_) {
    const Clock::time_point now = Clock::now();
    if (now >= end) return false;
    pollfd entry{.fd = socket_.get(), .events = events, .revents = 0};
    const int found = ::poll(&entry, 1, poll_timeout(std::min(end, now + kGlances), now));
    if (found > 0) return (entry.revents & POLLNVAL) == 0;
    if (found < 0 && errno != EINTR) return false;
  }
  return false;
}

bool WebConnection::is_readable() const { return begin_ < end_ || wait_for(POLLIN, request_end_); }

bool WebConnection::is_writable() const {
  pollfd entry{.fd = socket_.get(), .events = POLLOUT | POLLRDHUP, .revents = 0};
  if (is_over_ || ::poll(&entry, 1, 0) < 0) return false;
  return (entry.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) == 0;
}

ssize_t WebConnection::read(char* to, std::size_t size) {
  if (begin_ == end_) {
    if (num_read_ >= kMostRequestBytes || !wait_for(POLLIN, request_end_)) return -1;
    const SocketTransfer got = receive_some(socket_.get(), buffer_);
    if (got.outcome == SocketTransfer::Outcome::closed) return 0;
    begin_ = 0;
    end_ = got.bytes;
    num_read_ += got.bytes;
    if (end_ == 0) return -1;
  }
  const std::size_t count = std::min(size, end_ - begin_);
  std::memcpy(to, buffer_.data() + begin_, count);
  begin_ += count;
  return static_cast<ssize_t>(count);
}

ssize_t WebConnection::write(const char* from, std::size_t size) {
  const Clock::time_point end = std::min(reply_end_, Clock::now() + kReadingPatience);
  while (wait_for(POLLOUT, end)) {
    const SocketTransfer sent = send_some(socket_.get(), std::as_bytes(std::span(from, size)));
    if (sent.outcome == SocketTransfer::Outcome::closed) return -1;
    if (sent.bytes > 0) return static_cast<ssize_t>(sent.bytes);
  }
  return -1;
}

}  // namespace tutti::cli
