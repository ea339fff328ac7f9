// A message connection over shared memory: what each end keeps for itself, over the slots that both see (region.hpp).
//
// The sender writes a slot and announces it in the slot's head; the receiver polls the head of the slot that comes
// next and counts up `taken` on its own line when it is done with it. Messages up to kInlineBytes travel in the head.
// Each role belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/shm/region.hpp"

namespace tutti::shm {

class MessageSender {
 public:
  MessageSender(const Region& region, std::uint32_t self, std::uint32_t to) noexcept
      : region_(&region), self_(self), to_(to) {}

  [[nodiscard]] bool has_credit() noexcept {
    const std::uint32_t depth = region_->shape().message_depth;
    if (sent_ - known_taken_ < depth) return true;
    // Acquire: partner of take(); the slot may be written once its reader is done with it.
    known_taken_ = region_->taken(self_, to_).value.load(std::memory_order_acquire);
    return sent_ - known_taken_ < depth;
  }

  // Where to write the next message of that many bytes. Needs a credit.
  [[nodiscard]] std::byte* slot(std::uint64_t bytes) noexcept {
    FlagLine& head = region_->message(self_, to_, sent_);
    return bytes <= kInlineBytes ? head.payload : reinterpret_cast<std::byte*>(&head) + kLine;
  }

  void publish(std::uint64_t description) noexcept {
    FlagLine& head = region_->message(self_, to_, sent_);
    head.description.store(description, std::memory_order_relaxed);
    ++sent_;
    // Release: partner of has_message().
    head.sequence.store(sent_, std::memory_order_release);
  }

 private:
  const Region* region_;
  std::uint32_t self_;
  std::uint32_t to_;
  std::uint64_t sent_ = 0;
  std::uint64_t known_taken_ = 0;
};

class MessageReceiver {
 public:
  MessageReceiver(const Region& region, std::uint32_t self, std::uint32_t from) noexcept
      : region_(&region), self_(self), from_(from) {}

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
    return bytes <= kInlineBytes ? line.payload : reinterpret_cast<const std::byte*>(&line) + kLine;
  }

  void take() noexcept {
    ++taken_;
    // Release: partner of has_credit().
    region_->taken(from_, self_).value.store(taken_, std::memory_order_release);
  }

 private:
  [[nodiscard]] FlagLine& head() const noexcept { return region_->message(from_, self_, taken_); }

  const Region* region_;
  std::uint32_t self_;
  std::uint32_t from_;
  std::uint64_t taken_ = 0;
};

}  // namespace tutti::shm
