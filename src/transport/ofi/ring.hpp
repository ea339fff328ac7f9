// SPDX-License-Identifier: Apache-2.0
// The slots of one queue: each has room for a header and, behind it, a payload that is aligned for every type, and the
// operation by which the provider sends or fills it. Memory is asked for, and made known to the provider, at first use.
// One owner, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "transport/endpoint.hpp"
#include "transport/ofi/fabric.hpp"
#include "transport/ofi/wire.hpp"

namespace tutti::transport::ofi {

class Ring {
 public:
  struct Entry {
    Operation operation{};
    std::uint64_t number = 0;  // of the message that it holds, or is to hold
    std::uint64_t description = 0;
    std::uint32_t bytes = 0;
    bool is_with_provider = false;
    bool has_arrived = false;
  };

  explicit Ring(const EndpointShape& shape)
      : depth_(shape.depth), slot_(shape.slot), stride_((kRoom + shape.slot + kRoom - 1) / kRoom * kRoom) {}

  // An error: the slots are there, but the provider cannot use them.
  Status reserve(Fabric& fabric, Owner& owner, std::uint32_t traffic) {
    if (memory_ != nullptr) return {};
    entries_ = std::make_unique<Entry[]>(depth_);
    for (std::uint32_t slot = 0; slot < depth_; ++slot) {
      entries_[slot].operation.owner = &owner;
      entries_[slot].operation.traffic = traffic;
      entries_[slot].operation.slot = slot;
    }
    // Not zeroed, so that the system gives pages only to slots that are used.
    memory_.reset(static_cast<std::byte*>(::operator new(depth_* stride_, std::align_val_t(kPage))));
    Result<Registration> registered = fabric.register_memory({memory_.get(), depth_ * stride_});
    if (!registered.ok()) return registered.status();
    registration_ = std::move(*registered);
    return {};
  }
  [[nodiscard]] bool is_reserved() const { return memory_ != nullptr; }
  [[nodiscard]] std::byte* slot(std::uint64_t number) const {
    return memory_.get() + number % depth_ * stride_ + kRoom;
  }
  // With the header in front.
  [[nodiscard]] std::span<std::byte> message(std::uint64_t number, std::uint64_t bytes) const {
    return {slot(number) - kHeaderBytes, kHeaderBytes + bytes};
  }
  [[nodiscard]] std::span<std::byte> whole(std::uint64_t number) const { return message(number, slot_); }
  [[nodiscard]] Entry& entry(std::uint64_t number) { return entries_[number % depth_]; }
  [[nodiscard]] const Entry& entry(std::uint64_t number) const { return entries_[number % depth_]; }
  [[nodiscard]] void* descriptor() const { return Fabric::descriptor_of(registration_); }

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kRoom = 64;  // of a header, too
  static_assert(kHeaderBytes <= kRoom);
  struct Release {
    void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t(kPage)); }
  };

  std::uint64_t depth_;
  std::uint64_t slot_;
  std::uint64_t stride_;
  std::unique_ptr<Entry[]> entries_{};
  std::unique_ptr<std::byte, Release> memory_{};
  Registration registration_{};  // closed before its memory goes
};

}  // namespace tutti::transport::ofi
