// SPDX-License-Identifier: Apache-2.0
#include "launch/ending.hpp"

#include <csignal>
#include <cstring>
#include <ostream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "launch/process_group.hpp"
#include "runtime/bootstrap/gathering.hpp"

namespace tutti::launch {

namespace {

constexpr int kInterruptsToKill = 3;

std::string name_of_signal(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

}  // namespace

Ending::Ending(Times times, Ranks ranks, std::ostream& error) : times_(times), ranks_(std::move(ranks)), error_(error) {
  if (times_.timeout > Nanos()) next_step_ = Clock::now() + to_chrono(times_.timeout);
}

void Ending::obey(int signal) {
  // Who presses Ctrl-C a third time means it.
  ranks_.signal_all(++interrupts_ >= kInterruptsToKill ? SIGKILL : signal);
  if (signal != SIGINT) await_heed();
}

// Of a signal that is to end the ranks: those that are stopped, and those that do not mind it, end too.
void Ending::await_heed() {
  ranks_.signal_all(SIGCONT);
  if (is_ending()) return;
  state_ = State::terminated;
  begin_grace();
}

void Ending::begin_grace() { next_step_ = Clock::now() + to_chrono(times_.grace); }

void Ending::note_end(const RankEnd& end, std::string_view where) {
  if (end.is_well() || exit_code_ != 0) return;
  const std::string who = fmt::format("rank {} (process {}{})", end.rank, end.process, where);
  fail(end.exit_code(), end.was_killed ? fmt::format("{} was killed by {}", who, name_of_signal(end.status))
                                       : fmt::format("{} ended with exit code {}", who, end.status));
}

void Ending::fail(int exit_code, std::string_view what) {
  if (exit_code_ == 0) tell(exit_code, what);
}

void Ending::tell(int exit_code, std::string_view what) {
  const bool is_first = exit_code_ == 0;
  if (is_first) exit_code_ = exit_code;
  error_ << fmt::format("tutti launch: {}\n", what);
  error_.flush();
  if (!is_first || is_ending()) return;
  state_ = State::waiting;
  begin_grace();
}

void Ending::escalate() {
  const std::string left = rank_list(ranks_.running());
  begin_grace();
  switch (state_) {
    case State::none:
      exit_code_ = kTimedOut;
      error_ << fmt::format("tutti launch: {} still ran after {}; sent SIGTERM\n", left, to_text(times_.timeout));
      break;
    case State::waiting:
      error_ << fmt::format("tutti launch: {} still ran {} after that; sent SIGTERM\n", left, to_text(times_.grace));
      break;
    case State::terminated: error_ << fmt::format("tutti launch: {} did not heed it; killed\n", left); break;
    case State::killed: break;
  }
  error_.flush();
  const bool gently = !is_ending();
  state_ = gently ? State::terminated : State::killed;
  ranks_.signal_all(gently ? SIGTERM : SIGKILL);
}

// As a program that SIGPIPE ends, which the launcher would be.
void Ending::note_lost_reader() {
  if (exit_code_ != 0) return;
  exit_code_ = kSignalBase + SIGPIPE;
  state_ = State::terminated;
  begin_grace();
  ranks_.signal_all(SIGTERM);
}

}  // namespace tutti::launch
