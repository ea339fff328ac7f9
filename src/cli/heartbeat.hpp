// SPDX-License-Identifier: Apache-2.0
// Writes a line at intervals during long work, so that standard error shows progress. Its own thread, which takes no
// signals, writes them; nobody else writes to the stream while it lives.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <string>
#include <thread>

namespace tutti::cli {

class Heartbeat {
 public:
  // `line`: what is to be said, without the end of the line; called in the thread.
  Heartbeat(std::ostream& stream, std::chrono::milliseconds period, std::function<std::string()> line);
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;
  // Nothing is written any more.
  ~Heartbeat();

 private:
  void beat();

  std::ostream& stream_;
  const std::chrono::milliseconds period_;
  const std::function<std::string()> line_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool is_ended_ = false;  // under the mutex
  std::thread thread_;
};

// "120 of 900 cases, about 3 min left": by what the ones that are done have taken.
[[nodiscard]] std::string how_far(std::size_t num_done, std::size_t num_all, const char* what,
                                  std::chrono::steady_clock::time_point begin);

}  // namespace tutti::cli
