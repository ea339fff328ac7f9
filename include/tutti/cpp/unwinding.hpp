// SPDX-License-Identifier: Apache-2.0
// Whether a destructor runs because of an exception.
#pragma once

#include <exception>

namespace tutti {
inline namespace v0_1 {
namespace detail {

// A member of the object that asks. True if more exceptions are in flight than when that object was made. A moved-to
// object has its own.
class Unwinding {
 public:
  [[nodiscard]] bool is_now() const noexcept { return std::uncaught_exceptions() > at_making_; }

 private:
  int at_making_ = std::uncaught_exceptions();
};

}  // namespace detail
}  // namespace v0_1
}  // namespace tutti
