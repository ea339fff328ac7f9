// SPDX-License-Identifier: Apache-2.0
// A connection to the rendezvous: what has come over it, and what is still to go. A value of the server's thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <sys/types.h>

#include "base/system/socket.hpp"
#include "base/system/unique_fd.hpp"
#include "runtime/bootstrap/wire.hpp"

namespace tutti {

struct RendezvousConnection {
  static constexpr std::chrono::seconds kClosingTime{5};  // for a rank to take its answer

  // Held: a failure is to be told to it, once others have heard of it.
  enum class Phase : std::uint8_t { stranger, member, held, closing, gone };

  UniqueFd socket;
  Phase phase = Phase::stranger;
  bool is_foreign = false;     // another user's
  Clock::time_point deadline;  // of all but members
  std::vector<std::byte> in;
  std::vector<std::byte> out;
  // The failure for a held connection. Shared, since there may be no memory for a copy.
  std::shared_ptr<const std::vector<std::byte>> last_words;
  bool half_closed = false;
  std::optional<wire::Prefix> prefix;
  std::uint64_t generation = 0;
  int rank = 0;
  pid_t pid = 0;
  // Of a member that was sent on, and has not come there yet: until when it holds up others.
  std::optional<Clock::time_point> on_its_way_until;

  void flush() {
    while (!out.empty()) {
      const SocketTransfer sent = send_some(socket.get(), out);
      if (sent.outcome == SocketTransfer::Outcome::would_block) return;
      if (sent.outcome == SocketTransfer::Outcome::closed) return out.clear();  // reading will tell
      out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(sent.bytes));
    }
    if (phase == Phase::closing && !std::exchange(half_closed, true)) shutdown(socket.get(), SHUT_WR);
  }
  // Data that fits into the socket needs no memory.
  void send(std::span<const std::byte> bytes) {
    if (out.empty()) {
      const SocketTransfer sent = send_some(socket.get(), bytes);
      bytes = sent.outcome == SocketTransfer::Outcome::closed ? bytes.last(0) : bytes.subspan(sent.bytes);
    }
    out.insert(out.end(), bytes.begin(), bytes.end());
    flush();
  }
  void close_after(std::span<const std::byte> last, Clock::time_point now) {
    phase = Phase::closing;
    deadline = now + kClosingTime;
    send(last);
  }
  void hold(std::shared_ptr<const std::vector<std::byte>> words, Clock::time_point until) {
    last_words = std::move(words);
    phase = Phase::held;
    deadline = until;
  }
  void release(Clock::time_point now) { close_after(*last_words, now); }
};

}  // namespace tutti
