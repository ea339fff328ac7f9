// SPDX-License-Identifier: Apache-2.0
// Operators: the built-in ones as an enum, and the caller's own.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include <tutti/cpp/elements.hpp>
#include <tutti/cpp/error.hpp>
#include <tutti/tutti.h>

namespace tutti {
inline namespace v0_1 {

enum class Op {
  sum = tuttiSum,
  product = tuttiProd,
  maximum = tuttiMax,
  minimum = tuttiMin,
  average = tuttiAvg,
  bit_and = tuttiBitAnd,  // the bitwise ones take integers
  bit_or = tuttiBitOr,
  bit_xor = tuttiBitXor,
  logical_and = tuttiLogicalAnd,  // the logical ones give 0 or 1 of the type
  logical_or = tuttiLogicalOr,
  logical_xor = tuttiLogicalXor,
};

// Contributions to an operator that does not commute are folded in the order of the ranks.
enum class Commutes { no, yes };

// An operator of one communicator on elements of type T (Communicator::make_operator). It owns the function. Destroy it
// before the communicator, and after all requests that use it.
template <typename T>
class Operator {
 public:
  // `function(a, b)` returns a T. It is called for one pair of elements after another, from any call of the
  // communicator.
  template <typename Function>
  Operator(tuttiComm_t comm, Function function, Commutes commutes)
      : comm_(comm), function_(new Function(std::move(function)), destroy<Function>) {
    static_assert(std::is_invocable_r_v<T, Function&, const T&, const T&>,
                  "an operator is called with two elements and gives one");
    detail::check(tuttiRedOpCreate(&op_, apply<Function>, function_.get(), commutes == Commutes::yes ? 1 : 0,
                                   detail::data_type<T>(), comm),
                  "make_operator");
  }
  struct Premultiplied {
    T scalar;
  };
  // Each rank's input is multiplied by that rank's scalar before the sum.
  Operator(tuttiComm_t comm, Premultiplied by) : comm_(comm), function_(nullptr, destroy<char>) {
    detail::check(tuttiRedOpCreatePreMulSum(&op_, &by.scalar, detail::data_type<T>(), comm), "make_premultiplied_sum");
  }
  Operator(Operator&& other) noexcept
      : comm_(std::exchange(other.comm_, nullptr)), op_(other.op_), function_(std::move(other.function_)) {}
  Operator& operator=(Operator&& other) noexcept {
    std::swap(comm_, other.comm_);
    std::swap(op_, other.op_);
    std::swap(function_, other.function_);
    return *this;
  }
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;
  ~Operator() {
    if (comm_ != nullptr) tuttiRedOpDestroy(op_, comm_);
  }

  [[nodiscard]] tuttiRedOp_t raw() const { return op_; }

 private:
  template <typename Function>
  static void apply(void* accumulator, const void* next, std::size_t count, void* context) {
    Function& function = *static_cast<Function*>(context);
    auto* into = static_cast<T*>(accumulator);
    const auto* from = static_cast<const T*>(next);
    for (std::size_t i = 0; i < count; ++i) into[i] = function(std::as_const(into[i]), from[i]);
  }
  template <typename Function>
  static void destroy(void* function) {
    delete static_cast<Function*>(function);
  }

  tuttiComm_t comm_;
  tuttiRedOp_t op_ = tuttiSum;
  std::unique_ptr<void, void (*)(void*)> function_;
};

namespace detail {

template <typename T>
tuttiRedOp_t operator_on(Op op) {
  return static_cast<tuttiRedOp_t>(op);
}
template <typename T, typename U>
tuttiRedOp_t operator_on(const Operator<U>& op) {
  static_assert(std::is_same_v<T, U>, "the operator was made for elements of another type");
  return op.raw();
}

}  // namespace detail

}  // namespace v0_1
}  // namespace tutti
