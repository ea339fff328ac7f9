// SPDX-License-Identifier: Apache-2.0
// A message connection over shared memory: what each end keeps for itself, over the slots that both see (region.hpp).
//
// The sender writes a slot and announces it in the slot's head; the receiver polls the head of the slot that comes
// next and counts up `taken` on its own line when it is done with it. Messages up to kInlineBytes travel in the head.
// Each role belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/shm/region.hpp"
#include "transport/shm/spread.hpp"

namespace tutti::shm {

class MessageSender {
 public:
  // Both ends spread messages over as many bytes (spread.hpp).
  MessageSender(const Connection& connection, const SpreadOver& spread) noexcept
      : connection_(connection), spread_(spread, connection.depth, connection.room()) {}

  [[nodiscard]] bool has_credit() noexcept {
    if (sent_ - known_taken_ < connection_.depth) return true;
    look_at_taken();
    return sent_ - known_taken_ < connection_.depth;
  }

  // Where to write the next message of that many bytes. Needs a credit.
  [[nodiscard]] std::byte* slot(std::uint64_t bytes) noexcept {
    FlagLine& head = connection_.message(sent_);
    if (bytes <= kInlineBytes) return head.payload;
    return reinterpret_cast<std::byte*>(&head) + kPair + spread_.places(bytes).begin(sent_, connection_.depth);
  }

  void publish(std::uint64_t description) noexcept {
    FlagLine& head = connection_.message(sent_);
    head.description.store(description, std::memory_order_relaxed);
    ++sent_;
    // Release: partner of has_message().
    head.sequence.store(sent_, std::memory_order_release);
  }

  // Whether all that was published has been taken.
  [[nodiscard]] bool is_drained() noexcept {
    if (known_taken_ != sent_) look_at_taken();
    return known_taken_ == sent_;
  }

 private:
  // Acquire: partner of take(); the slot may be written once its reader is done with it.
  void look_at_taken() noexcept { known_taken_ = connection_.taken->value.load(std::memory_order_acquire); }

  Connection connection_;
  Spread spread_;
  std::uint64_t sent_ = 0;
  std::uint64_t known_taken_ = 0;
};

class MessageReceiver {
 public:
  MessageReceiver(const Connection& connection, const SpreadOver& spread) noexcept
      : connection_(connection), spread_(spread, connection.depth, connection.room()) {}

  [[nodiscard]] bool has_message() const noexcept {
    // Acquire: partner of publish().
    return head().sequence.load(std::memory_order_acquire) == taken_ + 1;
  }

  // Of the message that has_message() has seen.
  [[nodiscard]] std::uint64_t description() const noexcept {
    return head().description.load(std::memory_order_relaxed);
  }
  [[nodiscard]] const std::byte* data(std::uint64_t bytes) const noexcept {
    FlagLine& line = head();
    if (bytes <= kInlineBytes) return line.payload;
    return reinterpret_cast<const std::byte*>(&line) + kPair + spread_.places(bytes).begin(taken_, connection_.depth);
  }

  void take() noexcept {
    ++taken_;
    // Release: partner of has_credit().
    connection_.taken->value.store(taken_, std::memory_order_release);
  }

 private:
  [[nodiscard]] FlagLine& head() const noexcept { return connection_.message(taken_); }

  Connection connection_;
  Spread spread_;
  std::uint64_t taken_ = 0;
};

}  // namespace tutti::shm
