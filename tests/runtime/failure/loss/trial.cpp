// SPDX-License-Identifier: Apache-2.0
#include "loss/trial.hpp"

#include <fmt/format.h>

namespace tutti::test {

Trial Trial::make(std::mt19937& random, Milliseconds timeout, bool is_brief) {
  const auto below = [&random](unsigned end) { return static_cast<int>(random() % end); };
  constexpr std::array kFaults = {Fault::kill, Fault::kill, Fault::kill,  Fault::kill, Fault::stop,
                                  Fault::stop, Fault::stop, Fault::pause, Fault::abort};
  Trial trial;
  trial.fault = kFaults[random() % kFaults.size()];
  constexpr std::array kMoments = {Moment::meeting, Moment::joining, Moment::calling,
                                   Moment::calling, Moment::calling, Moment::leaving};
  trial.moment = kMoments[random() % kMoments.size()];
  // Of a meeting that is not complete the rest cannot tell who is stopped in it.
  if (trial.fault == Fault::stop && trial.moment == Moment::meeting) trial.moment = Moment::joining;
  if (is_brief && trial.fault == Fault::stop && trial.moment == Moment::leaving) trial.moment = Moment::calling;
  if (trial.fault == Fault::pause || trial.fault == Fault::abort) trial.moment = Moment::calling;
  trial.victim = below(kRanks);
  trial.last = (trial.victim + 1 + below(kRanks - 1)) % kRanks;
  trial.delay = Microseconds(below(trial.moment == Moment::joining ? 8'000 : 50'000));
  trial.seed = static_cast<unsigned>(random());
  if (trial.moment == Moment::leaving) trial.turns = 10 + below(40);
  trial.attached = below(3) == 0;
  trial.pushed = trial.attached && trial.seed % 2 == 0;
  trial.asks_other = trial.moment == Moment::calling && (trial.fault != Fault::stop || (!is_brief && below(4) == 0));
  if (trial.fault == Fault::stop) trial.timeout = timeout;
  if (trial.fault == Fault::pause) trial.late_warning = Milliseconds(300);
  return trial;
}

Trial Trial::over_hosts() const {
  Trial trial = *this;
  trial.spans_hosts = true;
  trial.attached = trial.pushed = false;
  if (trial.fault == Fault::stop || trial.fault == Fault::pause) trial.fault = Fault::kill;
  trial.timeout = trial.late_warning = Milliseconds(0);
  return trial;
}

std::string Trial::to_string() const {
  constexpr std::array kFaults = {"killed", "stopped", "paused", "aborting"};
  constexpr std::array kMoments = {"meeting", "joining", "calling", "leaving"};
  return fmt::format("rank {} {} after {} us of {}{}{}, rank {} last, seed {}, {} turns", victim,
                     kFaults[static_cast<std::size_t>(fault)], delay.count(),
                     kMoments[static_cast<std::size_t>(moment)],
                     pushed     ? " with attached reads and stores"
                     : attached ? " with attached reads"
                                : "",
                     spans_hosts ? " over hosts" : "", last, seed, turns);
}

int number_in(Group group, int rank) { return group == Group::reversed ? kRanks - 1 - rank : rank; }

}  // namespace tutti::test
