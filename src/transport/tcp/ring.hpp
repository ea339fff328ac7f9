// SPDX-License-Identifier: Apache-2.0
// The slots of one queue: where messages lie until they are taken, with what stands in their headers. Its memory is
// asked for at first use and touched only where messages come to lie. One owner, one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "transport/endpoint.hpp"

namespace tutti::transport::tcp {

class Ring {
 public:
  struct Entry {
    std::uint64_t description = 0;
    std::uint32_t bytes = 0;
    bool is_kept = true;  // of one to be sent: all of it is in the slot
  };

  explicit Ring(const EndpointShape& shape)
      : depth_(shape.depth), stride_((shape.slot + kAlignment - 1) / kAlignment * kAlignment) {}

  void reserve() {
    if (memory_ != nullptr) return;
    entries_.resize(depth_);
    // Not zeroed, so that the system gives pages only to slots that are used.
    memory_.reset(static_cast<std::byte*>(::operator new(depth_* stride_, std::align_val_t(kPage))));
  }
  [[nodiscard]] bool is_reserved() const { return memory_ != nullptr; }
  [[nodiscard]] std::byte* slot(std::uint64_t number) const { return memory_.get() + number % depth_ * stride_; }
  [[nodiscard]] Entry& entry(std::uint64_t number) { return entries_[number % depth_]; }
  [[nodiscard]] const Entry& entry(std::uint64_t number) const { return entries_[number % depth_]; }

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kAlignment = 64;
  struct Release {
    void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t(kPage)); }
  };

  std::uint64_t depth_;
  std::uint64_t stride_;
  std::vector<Entry> entries_;
  std::unique_ptr<std::byte, Release> memory_;
};

}  // namespace tutti::transport::tcp
