// SPDX-License-Identifier: Apache-2.0
// The log: lines about what Tutti does, for those who look for a cause. What is written follows from TUTTI_DEBUG,
// TUTTI_DEBUG_SUBSYS and TUTTI_DEBUG_FILE; every level works in every build.
//
// One object made at the start and passed by reference; it owns its file. All members but set_rank may be called from
// any thread at once. A line is one write of at most kGreatestLine bytes, so lines of several processes that share a
// file or a pipe do not mix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/status.hpp"
#include "base/units.hpp"
#include "base/variables/variables.hpp"

namespace tutti {

// In the order of TUTTI_DEBUG's choices; each includes those before it.
enum class LogLevel : std::uint8_t { none, version, warn, info, trace };

// In the order of TUTTI_DEBUG_SUBSYS's choices.
enum class LogSubsystem : std::uint8_t { init, coll, shm, net, env, prove, bench, launch };

// Who writes, for the front of each line and for %h and %p in the file's name.
struct LogWriter {
  std::string host;  // without its domain
  int process = 0;

  [[nodiscard]] static LogWriter of_this_process();
};

class Log {
 public:
  // PIPE_BUF of Linux: what a pipe takes whole.
  static constexpr std::size_t kGreatestLine = 4096;

  // Fails where TUTTI_DEBUG_FILE holds a % sequence that is not known, or names a file that cannot be opened.
  [[nodiscard]] static Result<std::unique_ptr<Log>> create(const Variables& variables, const LogWriter& writer);

  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log();

  // From here on each line names the rank. To be called before other threads write.
  void set_rank(Rank rank);

  // Subsystems select among info and trace; version and warnings concern everyone.
  [[nodiscard]] bool enabled(LogLevel level, LogSubsystem subsystem) const {
    return level <= level_ && (level <= LogLevel::warn || (subsystems_ >> static_cast<unsigned>(subsystem) & 1U) != 0);
  }

  template <typename... Args>
  void version(LogSubsystem subsystem, fmt::format_string<Args...> format, Args&&... args) {
    put(LogLevel::version, subsystem, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void warn(LogSubsystem subsystem, fmt::format_string<Args...> format, Args&&... args) {
    put(LogLevel::warn, subsystem, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void info(LogSubsystem subsystem, fmt::format_string<Args...> format, Args&&... args) {
    put(LogLevel::info, subsystem, format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void trace(LogSubsystem subsystem, fmt::format_string<Args...> format, Args&&... args) {
    put(LogLevel::trace, subsystem, format, std::forward<Args>(args)...);
  }

  // Warns the first time that this object hears the key, and is silent about it afterwards.
  template <typename... Args>
  void warn_once(LogSubsystem subsystem, std::string_view key, fmt::format_string<Args...> format, Args&&... args) {
    if (!enabled(LogLevel::warn, subsystem) || !is_first(key)) return;
    write(LogLevel::warn, subsystem, fmt::format(format, std::forward<Args>(args)...));
  }

  // The same for info.
  template <typename... Args>
  void info_once(LogSubsystem subsystem, std::string_view key, fmt::format_string<Args...> format, Args&&... args) {
    if (!enabled(LogLevel::info, subsystem) || !is_first(key)) return;
    write(LogLevel::info, subsystem, fmt::format(format, std::forward<Args>(args)...));
  }

  // The text as it is, each of its lines with the front of its own. Does not ask enabled().
  void write(LogLevel level, LogSubsystem subsystem, std::string_view text);

 private:
  Log(LogLevel level, std::uint32_t subsystems, LogWriter writer, int file);

  template <typename... Args>
  void put(LogLevel level, LogSubsystem subsystem, fmt::format_string<Args...> format, Args&&... args) {
    if (enabled(level, subsystem)) write(level, subsystem, fmt::format(format, std::forward<Args>(args)...));
  }

  // Whether the key is new.
  bool is_first(std::string_view key);

  const LogLevel level_;
  const std::uint32_t subsystems_;  // a bit for each LogSubsystem
  const LogWriter writer_;
  const int file_;  // owned, unless it is standard error
  std::string front_;
  std::mutex once_mutex_;
  std::set<std::string, std::less<>> once_;  // under once_mutex_
};

}  // namespace tutti
