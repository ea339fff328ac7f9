// SPDX-License-Identifier: Apache-2.0
// A connection of a browser, with an end to patience: a request that is too long or too slow ends, and so does a reply
// that nobody fetches. Reads and writes return how many bytes, 0 where the other side has ended, and -1 where it is
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
  static constexpr std::chrono::seconds kReadingPatience{5};  // in which a reader takes nothing
  static constexpr std::chrono::seconds kReplyPatience{60};   // until the reply has gone
  static constexpr std::chrono::milliseconds kGlances{100};   // at `is_over` while it waits

  WebConnection(UniqueFd socket, const std::atomic<bool>& is_over);
  // Says that nothing more comes, and waits a moment for who still writes, so that the reply is not lost.
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
  // What came and is not read yet: a request is read letter by letter.
  std::array<std::byte, 4096> buffer_{};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace tutti::cli
