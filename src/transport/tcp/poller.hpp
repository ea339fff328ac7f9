// SPDX-License-Identifier: Apache-2.0
// The sockets of an endpoint and what has happened to them (epoll, edge-triggered: an event is told once). A socket
// leaves by being closed. One thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <span>

#include <sys/epoll.h>

#include "base/status.hpp"
#include "base/system/unique_fd.hpp"

namespace tutti::transport::tcp {

// Whose event it is. An event may be about a socket that the same owner has had before.
struct PollKey {
  enum class Kind : std::uint8_t { listener, stranger, link };
  Kind kind{};
  std::uint32_t index = 0;  // a listener, a place among strangers, or a rank
};

struct PollEvent {
  PollKey key{};
  bool can_read = false;  // also where the other end has closed, or the connection is broken
  bool can_write = false;
  bool has_ended = false;
};

class Poller {
 public:
  [[nodiscard]] Status open();
  void close() noexcept {
    epoll_.reset();
    trouble_.reset();
  }
  // Readable while there are events that look() has not told.
  [[nodiscard]] int descriptor() const { return epoll_.get(); }
  // Readable while a connection has ended or somebody waits at a listener.
  [[nodiscard]] int trouble_descriptor() const { return trouble_.get(); }
  [[nodiscard]] Status add(int socket, PollKey key);
  // Hands the socket to another owner, who is told again what can be done.
  [[nodiscard]] Status change(int socket, PollKey key);
  void remove(int socket) const;
  // What has happened since the last call, at most some of it; does not wait. Valid until the next call.
  [[nodiscard]] std::span<const PollEvent> look();
  // Until look() has something to tell, or for so long.
  void wait(std::chrono::nanoseconds longest) const;

 private:
  static constexpr int kMostEvents = 32;
  [[nodiscard]] Status control(int operation, int socket, PollKey key) const;

  UniqueFd epoll_;
  UniqueFd trouble_;
  std::array<epoll_event, kMostEvents> raw_{};
  std::array<PollEvent, kMostEvents> events_{};
};

}  // namespace tutti::transport::tcp
