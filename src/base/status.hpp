// SPDX-License-Identifier: Apache-2.0
// How Tutti reports that something went wrong: Status (done, or why not) and Result<T> (a value, or why there is none).
//
// A Status is one pointer: null means done, so returning success costs a register. An error owns its details.
// Values; movable and copyable (copies share the immutable details); no synchronisation of its own is needed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/assert.hpp"

namespace tutti {

enum class Code : std::uint8_t {
  ok = 0,
  invalid_argument,  // an argument is wrong by itself: the message says which value and what would be right
  invalid_usage,     // the call is wrong where it stands: order of calls, a mismatch between ranks
  unsupported,       // right, but this build or this machine cannot do it
  rank_lost,         // another rank's process ended; rank() names it
  aborted,           // someone called abort
  timeout,           // TUTTI_TIMEOUT passed
  system,            // the operating system refused; the message has its words
  internal,          // a bug in Tutti
};

[[nodiscard]] std::string_view name_of(Code code);

class [[nodiscard]] Status {
 public:
  static constexpr int kNoRank = -1;

  Status() = default;
  Status(Code code, std::string message, int rank = kNoRank);

  // The words of errno behind what was being done: "cannot open /x: No such file or directory".
  static Status from_errno(std::string what, int error_number);

  [[nodiscard]] bool ok() const { return details_ == nullptr; }
  [[nodiscard]] Code code() const { return details_ ? details_->code : Code::ok; }
  // The rank that the error is about, or kNoRank.
  [[nodiscard]] int rank() const { return details_ ? details_->rank : kNoRank; }
  [[nodiscard]] std::string_view message() const { return details_ ? std::string_view(details_->message) : ""; }
  [[nodiscard]] const Status* cause() const { return details_ ? details_->cause.get() : nullptr; }

  // The same error seen from further out: `what` in front, this status as its cause.
  [[nodiscard]] Status with_context(std::string what) const;

  // One line with the whole chain: "cannot start: cannot open /x: No such file or directory".
  [[nodiscard]] std::string to_string() const;

 private:
  struct Details {
    Code code;
    int rank;
    std::string message;
    std::unique_ptr<Status> cause;
  };
  // Shared because a communicator hands the one error that broke it to every later call.
  std::shared_ptr<const Details> details_;
};

[[nodiscard]] inline Status wrong_argument(std::string words) { return {Code::invalid_argument, std::move(words)}; }

// Not a std::variant: its hundreds of instantiations took a twelfth of the compile time.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Status error) : error_(std::move(error)) {  // NOLINT(google-explicit-constructor)
    TUTTI_ASSERT(!error_.ok(), "a Result made from a Status needs an error");
  }
  Result(const Result& other) requires std::is_copy_constructible_v<T> : error_(other.error_) {
    if (ok()) std::construct_at(&value_, other.value_);
  }
  // The source keeps its error, or a value that was moved from.
  Result(Result&& other) noexcept(std::is_nothrow_move_constructible_v<T>) : error_(other.error_) {
    if (ok()) std::construct_at(&value_, std::move(other.value_));
  }
  Result& operator=(const Result& other) requires std::is_copy_constructible_v<T> { return *this = Result(other); }
  Result& operator=(Result&& other) noexcept(
      std::is_nothrow_move_constructible_v<T>&& std::is_nothrow_move_assignable_v<T>) {
    if (ok() && other.ok()) {
      value_ = std::move(other.value_);
    } else if (other.ok()) {
      std::construct_at(&value_, std::move(other.value_));
      error_ = Status();
    } else {
      // It may be part of the value.
      Status error = other.error_;
      if (ok()) std::destroy_at(&value_);
      error_ = std::move(error);
    }
    return *this;
  }
  ~Result() {
    if (ok()) std::destroy_at(&value_);
  }

  [[nodiscard]] bool ok() const { return error_.ok(); }
  [[nodiscard]] Status status() const { return error_; }

  [[nodiscard]] T& value() & {
    TUTTI_ASSERT(ok(), "value() of a Result that holds an error");
    return value_;
  }
  [[nodiscard]] const T& value() const& {
    TUTTI_ASSERT(ok(), "value() of a Result that holds an error");
    return value_;
  }
  [[nodiscard]] T&& value() && {
    TUTTI_ASSERT(ok(), "value() of a Result that holds an error");
    return std::move(value_);
  }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }

 private:
  Status error_;  // an error where there is no value
  union {
    T value_;
  };
};

}  // namespace tutti

// Returns early with the error of an expression that yields a Status.
#define TUTTI_TRY(expression)                                                                             \
  do {                                                                                                    \
    if (::tutti::Status tutti_try_status = (expression); !tutti_try_status.ok()) return tutti_try_status; \
  } while (false)

// The value of an expression that yields a Result, moved into what is declared or assigned to; or returns early with
// its error: TUTTI_TRY_ASSIGN(const Fabric fabric, load_fabric(words)). Two statements, so braces go around it where a
// statement is wanted. What is declared has no comma: `const auto` stands for such a type.
#define TUTTI_TRY_ASSIGN(target, ...) TUTTI_TRY_ASSIGN_AT(target, __LINE__, __VA_ARGS__)
#define TUTTI_TRY_ASSIGN_AT(target, line, ...) TUTTI_TRY_ASSIGN_BY(target, tutti_try_result, line, __VA_ARGS__)
#define TUTTI_TRY_ASSIGN_BY(target, result, line, ...)      \
  auto result##line = __VA_ARGS__;                          \
  if (!(result##line).ok()) return (result##line).status(); \
  target = std::move(result##line).value()
