// SPDX-License-Identifier: Apache-2.0
// Symmetric memory, in which peers load and store without a copy.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#if __cplusplus >= 202002L
#include <span>
#endif

#include <tutti/cpp/error.hpp>
#include <tutti/cpp/unwinding.hpp>
#include <tutti/tutti.h>

namespace tutti {
inline namespace v0_1 {

// Elements in symmetric memory, zeroed (Communicator::allocate). Construction and destruction are collective: all ranks
// perform them with equal counts, in the same order, before they destroy the communicator. During an exception's
// unwinding the destructor aborts the communicator first: the other ranks may be elsewhere and never free their part.
template <typename T>
class SymmetricMemory {
 public:
  static_assert(std::is_trivially_copyable_v<T>, "symmetric memory holds what can be copied as bytes");

  SymmetricMemory() = default;
  SymmetricMemory(tuttiComm_t comm, std::size_t count) : comm_(comm), size_(count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) detail::refuse("allocate", "so many bytes cannot be counted");
    void* memory = nullptr;
    detail::check(tuttiMemAlloc(&memory, count * sizeof(T), comm), "allocate");
    data_ = static_cast<T*>(memory);
  }
  SymmetricMemory(SymmetricMemory&& other) noexcept
      : comm_(std::exchange(other.comm_, nullptr)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  SymmetricMemory& operator=(SymmetricMemory&& other) noexcept {
    std::swap(comm_, other.comm_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  SymmetricMemory(const SymmetricMemory&) = delete;
  SymmetricMemory& operator=(const SymmetricMemory&) = delete;
  ~SymmetricMemory() {
    if (comm_ == nullptr) return;
    if (unwinding_.is_now()) tuttiCommAbort(comm_);
    tuttiMemFree(data_, comm_);
  }

  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T* begin() { return data_; }
  [[nodiscard]] T* end() { return data_ + size_; }
  [[nodiscard]] const T* begin() const { return data_; }
  [[nodiscard]] const T* end() const { return data_ + size_; }
  [[nodiscard]] T& operator[](std::size_t index) { return data_[index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const { return data_[index]; }
#if __cplusplus >= 202002L
  [[nodiscard]] std::span<T> span() { return {data_, size_}; }
  [[nodiscard]] std::span<const T> span() const { return {data_, size_}; }
#endif

 private:
  tuttiComm_t comm_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
  detail::Unwinding unwinding_;
};

}  // namespace v0_1
}  // namespace tutti
