// SPDX-License-Identifier: Apache-2.0
// Errors of the C++ API: exceptions with the code that the C function returned and its error message.
#pragma once

#include <stdexcept>
#include <string>

#include <tutti/tutti.h>

// The inline namespace separates a program's copy of these headers from the library's internals, and from another
// version of the headers in the same program.
namespace tutti {
inline namespace v0_1 {

enum class Result {
  success = tuttiSuccess,
  system_error = tuttiSystemError,
  internal_error = tuttiInternalError,
  invalid_argument = tuttiInvalidArgument,
  invalid_usage = tuttiInvalidUsage,
  remote_error = tuttiRemoteError,
  timeout = tuttiTimeout,
  unsupported = tuttiUnsupported,
};

class Error : public std::runtime_error {
 public:
  Error(Result result, const std::string& words) : std::runtime_error(words), result_(result) {}
  [[nodiscard]] Result result() const noexcept { return result_; }

 private:
  Result result_;
};

// Another rank was lost, or has aborted; what() names it. Every later call on the communicator throws the same.
class RemoteError : public Error {
 public:
  explicit RemoteError(const std::string& words) : Error(Result::remote_error, words) {}
};

namespace detail {

[[noreturn]] inline void raise(tuttiResult_t result, const char* what) {
  const std::string words = std::string(what) + ": " + tuttiGetLastError(nullptr);
  if (result == tuttiRemoteError) throw RemoteError(words);
  throw Error(static_cast<Result>(result), words);
}

[[noreturn]] inline void refuse(const char* what, const std::string& words) {
  throw Error(Result::invalid_argument, std::string(what) + ": " + words);
}

inline void check(tuttiResult_t result, const char* what) {
  if (result != tuttiSuccess) raise(result, what);
}

}  // namespace detail

}  // namespace v0_1
}  // namespace tutti
