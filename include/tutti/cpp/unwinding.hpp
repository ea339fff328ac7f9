// Whether a destructor runs because an exception is on its way.
#pragma once

#include <exception>

namespace tutti {
inline namespace v0_1 {
namespace detail {

// A member of what it is asked for: more exceptions are on their way than when that was made. Each object has its own,
// also where it is moved.
class Unwinding {
 public:
  [[nodiscard]] bool is_now() const noexcept { return std::uncaught_exceptions() > at_making_; }

 private:
  int at_making_ = std::uncaught_exceptions();
};

}  // namespace detail
}  // namespace v0_1
}  // namespace tutti
