// SPDX-License-Identifier: Apache-2.0
// One trial of a loss: what happens to which rank and when, and what the ranks tell the test.
//
// The ranks are processes, forked before the test has any thread. What they tell lies in memory that all share, so that
// telling takes no time and outlives them.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>

#include "base/unique_id.hpp"
#include <tutti/tutti.h>

namespace tutti::test {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::microseconds;
using Milliseconds = std::chrono::milliseconds;

inline constexpr int kRanks = 4;
inline constexpr std::size_t kMostWords = 600;

enum class Fault : std::uint8_t {
  kill,   // SIGKILL
  stop,   // SIGSTOP, and the others have a TUTTI_TIMEOUT
  pause,  // SIGSTOP, and they have none: they warn, and go on with the rank when it does; then it is killed
  abort,  // tuttiCommAbort from another thread of the rank
};

// When it happens: while the others wait for the last rank, about when that arrives, in the midst of calls, or about
// when all free their memory and leave.
enum class Moment : std::uint8_t { meeting, joining, calling, leaving };

struct Trial {
  Fault fault = Fault::kill;
  Moment moment = Moment::calling;
  int victim = 0;
  int last = 0;  // joins after the others; not the victim
  Microseconds delay{};
  unsigned seed = 0;         // of the calls
  int turns = 0;             // of calls before all leave; 0: they go on
  bool attached = false;     // what is larger than a few bytes is read from the other process
  bool pushed = false;       // and of broadcasts and reduces a part is written there
  bool spans_hosts = false;  // ranks are in turn on one host and another, and talk over the loopback interface
  bool asks_other = false;   // whether the ranks then look into the second communicator too
  Milliseconds timeout{0};
  Milliseconds late_warning{0};

  // Then there is one communicator only: who dies before it has said to the next that it is there was never there, and
  // that the others wait for it is right.
  [[nodiscard]] bool is_of_joining() const { return moment == Moment::meeting || moment == Moment::joining; }

  // Brief ones wait once for a timeout, and for nothing longer.
  [[nodiscard]] static Trial make(std::mt19937& random, Milliseconds timeout, bool is_brief);
  // The same on two hosts, with what is told alike on both: a kill, or an abort.
  [[nodiscard]] Trial over_hosts() const;
  [[nodiscard]] std::string to_string() const;
};

// The communicators of a trial, in the order in which they are made. The last is without the victim.
enum class Group : std::uint8_t { all, reversed, survivors };
inline constexpr int kGroups = 3;
// The victim's number in it.
[[nodiscard]] int number_in(Group group, int rank);

// What has come of a call that failed.
struct Failed {
  tuttiResult_t result = tuttiSuccess;
  Clock::time_point when;
  Group group = Group::all;
  std::array<char, kMostWords> words{};
};

struct Told {
  std::atomic<int> turns = 0;     // of calls that it has done
  std::atomic<int> finished = 0;  // 1 once all below is written
  Failed failed;
  Failed other;  // in the other communicator, where it was asked
  bool has_asked_other = false;
  bool in_init = false;
  bool stays_the_same = false;
  bool survivors_are_right = false;
  int wrong_turn = -1;  // whose results were wrong
  Clock::time_point gone;
};

struct Shared {
  std::atomic<int> go = 0;         // the ranks but for the last may join
  std::atomic<int> last_goes = 0;  // and the last one too
  std::atomic<int> abort_now = 0;
  std::atomic<int> ended = 0;  // how many ranks have come to the end of their calls, in an error or as planned
  std::array<std::array<char, UniqueId::kBytes>, kGroups> ids{};  // valid once `go` is set
  std::array<Told, kRanks> told;
};

// The life of a rank. Its log goes to the descriptor.
[[noreturn]] void be_rank(Shared& shared, const Trial& trial, int rank, int log);

}  // namespace tutti::test
