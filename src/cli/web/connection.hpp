// SPDX-License-Identifier: Apache-2.0
// A browser's connection, with limits: a request that is too long or too slow is ended, and so is a reply that nobody
// fetches. Reads and writes return the number of bytes, 0 if the other side has closed, and -1 if the connection is
// over. One thread at a time.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>

#include <sys/types.h>

#include "base/system/socket.hpp"
#include "base/system/unique_fd.hpp"

namespace tutti::cli {

class WebConnection {
 public:
  static constexpr std::size_t kMostRequestBytes = 64U << 10U;
  static constexpr std::chrono::seconds kRequestPatience{2};  // until the request has come
  static constexpr std::chrono::seconds kReadingPatience{5};  // while the reader takes nothing
  static constexpr std::chrono::seconds kReplyPatience{60};   // until the reply has gone
  static constexpr std::chrono::milliseconds kGlances{100};   // how often it looks at `is_over` while it waits

  WebConnection(UniqueFd socket, const std::atomic<bool>& is_over);
  // Ends its sending side, and waits a moment for a client that still writes, so that the reply is not lost.
  ~WebConnection();
  WebConnection(const WebConnection&) = delete;
  WebConnection& operator=(const WebConnection&) = delete;

  // The reply of a stream of events has no end.
  void reply_without_end() { reply_end_ = Clock::time_point::max(); }

  [[nodiscard]] bool is_readable() const;
  // Also whether the other side is still there.
  [[nodiscard]] bool is_writable() const;
  ssize_t read(char* to, std::size_t size);
  ssize_t write(const char* from, std::size_t size);
  [[nodiscard]] int socket() const { return socket_.get(); }

 private:
  [[nodiscard]] bool wait_for(short events, Clock::time_point end) const;

  UniqueFd socket_;
  const std::atomic<bool>& is_over_;
  Clock::time_point request_end_;
  Clock::time_point reply_end_;
  std::size_t num_read_ = 0;
  // Received and not read yet: requests are read byte by byte.
  std::array<std::byte, 4096> buffer_{};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace tutti::cli
