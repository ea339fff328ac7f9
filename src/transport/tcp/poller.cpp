// SPDX-License-Identifier: Apache-2.0
#include "transport/tcp/poller.hpp"

#include <cerrno>

#include "base/system/socket.hpp"
#include "base/system/take_fd.hpp"

namespace tutti::transport::tcp {
namespace {

constexpr std::uint32_t kEndedEvents = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
constexpr std::uint32_t kWatchedEvents = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;

}  // namespace

Status Poller::open() {
  epoll_ = take_fd(epoll_create1(EPOLL_CLOEXEC));
  if (epoll_.valid()) trouble_ = take_fd(epoll_create1(EPOLL_CLOEXEC));
  if (!trouble_.valid()) return Status::from_errno("cannot watch sockets", errno);
  return {};
}

Status Poller::control(int operation, int socket, PollKey key) const {
  epoll_event event{};
  event.events = kWatchedEvents;
  event.data.u64 = static_cast<std::uint64_t>(key.kind) << 32 | key.index;
  if (epoll_ctl(epoll_.get(), operation, socket, &event) != 0)
    return Status::from_errno("cannot watch a socket", errno);
  return {};
}

Status Poller::add(int socket, PollKey key) {
  TUTTI_TRY(control(EPOLL_CTL_ADD, socket, key));
  epoll_event event{};
  event.events = key.kind == PollKey::Kind::listener ? std::uint32_t{EPOLLIN} : kEndedEvents;
  if (epoll_ctl(trouble_.get(), EPOLL_CTL_ADD, socket, &event) != 0)
    return Status::from_errno("cannot watch a socket", errno);
  return {};
}
Status Poller::change(int socket, PollKey key) { return control(EPOLL_CTL_MOD, socket, key); }
void Poller::remove(int socket) const {
  static_cast<void>(epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket, nullptr));
  static_cast<void>(epoll_ctl(trouble_.get(), EPOLL_CTL_DEL, socket, nullptr));
}

std::span<const PollEvent> Poller::look() {
  const int found = epoll_wait(epoll_.get(), raw_.data(), kMostEvents, 0);
  if (found <= 0) return {};
  const auto count = static_cast<std::size_t>(found);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits = raw_[i].events;
    const std::uint64_t whose = raw_[i].data.u64;
    const bool has_ended = (bits & kEndedEvents) != 0;
    events_[i] = {.key = {static_cast<PollKey::Kind>(whose >> 32), static_cast<std::uint32_t>(whose)},
                  .can_read = has_ended || (bits & EPOLLIN) != 0,
                  .can_write = (bits & EPOLLOUT) != 0,
                  .has_ended = has_ended};
  }
  return std::span(events_).first(count);
}

void Poller::wait(std::chrono::nanoseconds longest) const {
  // To poll the epoll descriptor leaves its events for look(), and takes nanoseconds.
  await_readable(epoll_.get(), longest);
}

}  // namespace tutti::transport::tcp
