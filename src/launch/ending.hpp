// SPDX-License-Identifier: Apache-2.0
// How the ranks of a launcher come to an end: whose failure counts, what it says, and which signals follow after which
// time. It knows no processes: it is told what happened, and asks for signals. Main thread only.
#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string_view>
#include <vector>

#include "base/system/socket.hpp"
#include "base/units.hpp"

namespace tutti::launch {

inline constexpr int kSignalBase = 128;  // of exit codes, as shells have it

// How a rank has ended.
struct RankEnd {
  int rank = 0;
  int process = 0;
  bool was_killed = false;
  int status = 0;  // the exit code, or the signal that killed it

  [[nodiscard]] bool is_well() const { return !was_killed && status == 0; }
  [[nodiscard]] int exit_code() const { return was_killed ? kSignalBase + status : status; }
};

class Ending {
 public:
  struct Times {
    Nanos timeout{};  // 0: none
    Nanos grace{};
  };
  struct Ranks {
    std::function<void(int signal)> signal_all;
    std::function<std::vector<int>()> running;  // ascending
  };
  // The timeout begins.
  Ending(Times times, Ranks ranks, std::ostream& error);

  // A signal that came for the launcher.
  void obey(int signal);
  // Only the first failure is told; `where` stands behind the rank, such as " on host b".
  void note_end(const RankEnd& end, std::string_view where = "");
  // Any other failure of what is to run, in a whole sentence.
  void fail(int exit_code, std::string_view what);
  // The same, but told even if it is not the first.
  void tell(int exit_code, std::string_view what);
  // Nobody reads the output any more.
  void note_lost_reader();
  // To be called when next_step() has come.
  void escalate();

  // Nothing where nothing is to be done by itself.
  [[nodiscard]] std::optional<Clock::time_point> next_step() const { return next_step_; }
  [[nodiscard]] int exit_code() const { return exit_code_; }
  // Nothing stronger is left to try.
  [[nodiscard]] bool has_killed() const { return state_ == State::killed; }

 private:
  enum class State { none, waiting, terminated, killed };  // one after the other

  void await_heed();
  void begin_grace();
  [[nodiscard]] bool is_ending() const { return state_ == State::terminated || state_ == State::killed; }

  Times times_;
  Ranks ranks_;
  std::ostream& error_;
  State state_ = State::none;
  int exit_code_ = 0;
  int interrupts_ = 0;
  std::optional<Clock::time_point> next_step_;  // of the ending, or the timeout
};

}  // namespace tutti::launch
