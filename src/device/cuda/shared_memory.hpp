// SPDX-License-Identifier: Apache-2.0
// Device memory that several ranks reach (CUDA's virtual memory management). It is shared by descriptor, so the system
// frees it however a process ends. Movable; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "base/status.hpp"
#include "base/system/unique_fd.hpp"

namespace tutti::device {

// Memory, wherever it is mapped. It lives as long as this object, or as long as it is mapped anywhere.
class SharedMemory {
 public:
  // Of `device`, at least so many bytes.
  [[nodiscard]] static Result<SharedMemory> make(int device, std::uint64_t bytes);
  // Of another rank. The descriptor stays the caller's.
  [[nodiscard]] static Result<SharedMemory> open(int descriptor, std::uint64_t bytes);
  // The allocation that holds these bytes of the program. Code::unsupported if it is none of virtual memory management,
  // such as one of cudaMalloc (lent_memory.hpp).
  [[nodiscard]] static Result<SharedMemory> around(const void* buffer, std::uint64_t bytes);

  SharedMemory() = default;  // none
  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept { *this = std::move(other); }
  SharedMemory& operator=(SharedMemory&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(bytes_, other.bytes_);
    std::swap(skipped_, other.skipped_);
    std::swap(has_handle_, other.has_handle_);
    return *this;
  }

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  // Bytes from its beginning to the buffer that around() was given.
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }
  // For another rank.
  [[nodiscard]] Result<UniqueFd> descriptor() const;

 private:
  friend class AddressRange;

  std::uint64_t handle_ = 0;  // a CUmemGenericAllocationHandle
  std::uint64_t bytes_ = 0;
  std::uint64_t skipped_ = 0;
  bool has_handle_ = false;
};

// Addresses of this process, into which memory is mapped. The destructor unmaps, once nothing on the device uses it.
class AddressRange {
 public:
  [[nodiscard]] static Result<AddressRange> reserve(int device, std::uint64_t bytes);

  AddressRange() = default;  // none
  ~AddressRange();
  AddressRange(AddressRange&& other) noexcept { *this = std::move(other); }
  AddressRange& operator=(AddressRange&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    std::swap(mapped_, other.mapped_);
    return *this;
  }

  [[nodiscard]] std::byte* base() const {
    return reinterpret_cast<std::byte*>(address_);  // NOLINT(performance-no-int-to-ptr)
  }
  // All of the memory, at such an offset.
  [[nodiscard]] Status map(std::uint64_t offset, const SharedMemory& memory);
  // What was mapped there; nothing where nothing was.
  void unmap(std::uint64_t offset);

 private:
  int device_ = 0;
  std::uint64_t address_ = 0;
  std::uint64_t bytes_ = 0;
  std::map<std::uint64_t, std::uint64_t> mapped_;  // sizes by offset
};

// The allocation that holds these bytes of the program. An error where some lie beyond its end.
struct Allocation {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  std::uint64_t skipped = 0;  // from `base` to the buffer
};
[[nodiscard]] Result<Allocation> allocation_around(const void* buffer, std::uint64_t bytes);

// In what sizes memory of the device is shared.
[[nodiscard]] Result<std::uint64_t> granularity_of(int device);

}  // namespace tutti::device
