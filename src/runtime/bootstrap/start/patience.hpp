// SPDX-License-Identifier: Apache-2.0
// How long one waits: a warning when it is late, again each time the wait has doubled, and an error at the end, as
// join() has them. One owner; not thread-safe.
#pragma once

#include <optional>
#include <string_view>

#include "base/system/socket.hpp"
#include "runtime/bootstrap/start/start.hpp"

namespace tutti::start {

class Patience {
 public:
  explicit Patience(const StartOptions& options);

  // Code::timeout once the time is over. `what`, for both: "rank 1 waits for rank 0's id".
  [[nodiscard]] Status check(std::string_view what);
  // Waits until the descriptor can be read, or has hung up.
  [[nodiscard]] Status until_readable(int fd, std::string_view what);
  // Until a connection that was begun is made, or has failed.
  [[nodiscard]] Status until_connected(int fd, std::string_view what);
  // Waits before another try: a little at first, a tenth of a second in the end.
  [[nodiscard]] Status pause(std::string_view what);

 private:
  [[nodiscard]] std::optional<Clock::time_point> next() const;
  [[nodiscard]] Status until(int fd, short events, std::string_view what);

  const StartOptions& options_;
  const Clock::time_point begun_;
  std::optional<Clock::time_point> deadline_;
  std::optional<Clock::time_point> warn_at_;
  std::chrono::milliseconds pause_{1};
};

}  // namespace tutti::start
