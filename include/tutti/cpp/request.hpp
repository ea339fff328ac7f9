// SPDX-License-Identifier: Apache-2.0
// Pending operations: requests, persistent requests, groups.
#pragma once

#include <cstddef>
#include <exception>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <tutti/cpp/error.hpp>
#include <tutti/cpp/unwinding.hpp>
#include <tutti/tutti.h>

namespace tutti {
inline namespace v0_1 {

namespace detail {

// During an exception's unwinding; an error of the request is dropped.
inline void abort_unless_done(tuttiRequest_t& request, tuttiComm_t comm) {
  int done = 0;
  tuttiTest(&request, &done);
  if (done == 0 && comm != nullptr) tuttiCommAbort(comm);
}

}  // namespace detail

// A pending collective or transfer. Leave its buffers alone until wait() has returned or test() has returned true. The
// destructor waits for the operation, as std::jthread does, so buffers that go out of scope later are no longer in use.
// Only wait() and test() report errors. If an exception destroys a request before its operation has ended, the request
// aborts the communicator instead: other ranks may be waiting for this one elsewhere. Destroy a request before its
// communicator.
class Request {
 public:
  Request() = default;
  // `comm` is the request's communicator. Without it, the destructor waits during unwinding too.
  explicit Request(tuttiRequest_t request, tuttiComm_t comm = nullptr) : request_(request), comm_(comm) {}
  Request(Request&& other) noexcept : request_(std::exchange(other.request_, nullptr)), comm_(other.comm_) {}
  Request& operator=(Request&& other) noexcept {
    if (this == &other) return *this;
    end();
    request_ = std::exchange(other.request_, nullptr);
    comm_ = other.comm_;
    return *this;
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  ~Request() { end(); }

  void wait() { detail::check(tuttiWait(&request_), "wait"); }
  // Advances it, and all other operations that this thread has started, as far as possible without waiting.
  [[nodiscard]] bool test() {
    int done = 0;
    detail::check(tuttiTest(&request_, &done), "test");
    return done != 0;
  }
  // The request of the C API; this object keeps it.
  [[nodiscard]] tuttiRequest_t raw() const { return request_; }
  // To be called once the request has ended through raw().
  void forget() { request_ = nullptr; }

 private:
  void end() {
    if (request_ == nullptr) return;
    if (unwinding_.is_now()) detail::abort_unless_done(request_, comm_);
    tuttiWait(&request_);
  }

  tuttiRequest_t request_ = nullptr;
  tuttiComm_t comm_ = nullptr;
  detail::Unwinding unwinding_;
};

// An operation that is made once and started any number of times with the same buffers. The destructor waits for a
// started one, or aborts like a Request.
class PersistentRequest {
 public:
  PersistentRequest() = default;
  explicit PersistentRequest(tuttiRequest_t request, tuttiComm_t comm = nullptr) : request_(request), comm_(comm) {}
  PersistentRequest(PersistentRequest&& other) noexcept
      : request_(std::exchange(other.request_, nullptr)), comm_(other.comm_) {}
  PersistentRequest& operator=(PersistentRequest&& other) noexcept {
    if (this == &other) return *this;
    free();
    request_ = std::exchange(other.request_, nullptr);
    comm_ = other.comm_;
    return *this;
  }
  PersistentRequest(const PersistentRequest&) = delete;
  PersistentRequest& operator=(const PersistentRequest&) = delete;
  ~PersistentRequest() { free(); }

  void start() { detail::check(tuttiStart(request_), "start"); }
  void wait() { detail::check(tuttiWait(&request_), "wait"); }
  [[nodiscard]] bool test() {
    int done = 0;
    detail::check(tuttiTest(&request_, &done), "test");
    return done != 0;
  }
  [[nodiscard]] tuttiRequest_t raw() const { return request_; }
  // To be called once the request has ended through raw().
  void forget() { request_ = nullptr; }

 private:
  void free() {
    if (request_ == nullptr) return;
    if (unwinding_.is_now()) detail::abort_unless_done(request_, comm_);
    tuttiWait(&request_);
    tuttiRequestFree(&request_);
  }

  tuttiRequest_t request_ = nullptr;
  tuttiComm_t comm_ = nullptr;
  detail::Unwinding unwinding_;
};

// Waits for each request of a range, even if others fail, and then throws the first error.
template <typename Requests>
void wait_all(Requests&& requests) {
  std::exception_ptr first;
  for (auto& request : requests) {
    try {
      request.wait();
    } catch (const Error&) {
      if (first == nullptr) first = std::current_exception();
    }
  }
  if (first != nullptr) std::rethrow_exception(first);
}

// Tests each request of a range and returns whether all are done. Throws the first error after the last test.
template <typename Requests>
[[nodiscard]] bool test_all(Requests&& requests) {
  bool are_done = true;
  std::exception_ptr first;
  for (auto& request : requests) {
    try {
      are_done = request.test() && are_done;
    } catch (const Error&) {
      if (first == nullptr) first = std::current_exception();
    }
  }
  if (first != nullptr) std::rethrow_exception(first);
  return are_done;
}

// Waits until one request of a range has ended and returns its index; that request is as after wait(). Returns nothing
// if none is active.
template <typename Requests>
[[nodiscard]] std::optional<std::size_t> wait_any(Requests&& requests) {
  std::vector<tuttiRequest_t> raw;
  for (const auto& request : requests) raw.push_back(request.raw());
  int index = -1;
  const tuttiResult_t waited = tuttiWaitAny(static_cast<int>(raw.size()), raw.data(), &index);
  if (index >= 0) {
    auto ended = std::begin(requests);
    std::advance(ended, index);
    if (raw[static_cast<std::size_t>(index)] == nullptr) ended->forget();
  }
  detail::check(waited, "wait_any");
  return index < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(index));
}

template <typename Requests>
void start_all(Requests&& requests) {
  for (auto& request : requests) request.start();
}

// Calls of this thread within a group's scope only start. The end of the outermost group waits for all of them: sends
// and receives all at once, collectives in their order. The end throws errors, also if it is the end of the scope. If
// another exception is in flight, the group instead aborts the communicators that have calls in it. Buffers belong to
// the group until its end.
class Group {
 public:
  Group() { detail::check(tuttiGroupStart(), "group"); }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() noexcept(false) {
    if (!is_open_) return;
    if (unwinding_.is_now()) {
      tuttiGroupAbort();
    } else {
      end();
    }
  }

  void end() {
    is_open_ = false;
    detail::check(tuttiGroupEnd(), "group");
  }

 private:
  detail::Unwinding unwinding_;
  bool is_open_ = true;
};

}  // namespace v0_1
}  // namespace tutti
