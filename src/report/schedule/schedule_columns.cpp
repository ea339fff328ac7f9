// SPDX-License-Identifier: Apache-2.0
#include "report/schedule/schedule_columns.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/digest.hpp"

namespace tutti::report {

namespace {

constexpr std::uint32_t kLongestPeriod = 6;
// Of a repetition: periods that are shown before those that are left out, and behind them.
constexpr std::uint32_t kPeriodsBefore = 2;
constexpr std::uint32_t kPeriodsBehind = 1;

struct Repetition {
  std::uint32_t period = 0;
  std::uint32_t count = 0;  // whole periods
  [[nodiscard]] std::uint32_t num_left_out() const {
    return count > kPeriodsBefore + kPeriodsBehind ? (count - kPeriodsBefore - kPeriodsBehind) * period : 0;
  }
};

// The one from `begin` of which most can be left out.
Repetition repetition_at(const std::vector<std::uint64_t>& signatures, std::size_t begin) {
  Repetition best;
  for (std::uint32_t period = 1; period <= kLongestPeriod; ++period) {
    std::size_t same = 0;
    while (begin + same + period < signatures.size() && signatures[begin + same] == signatures[begin + same + period])
      ++same;
    const Repetition repetition{period, static_cast<std::uint32_t>(same / period + 1)};
    if (repetition.num_left_out() > best.num_left_out()) best = repetition;
  }
  return best;
}

std::vector<ShownColumns> without_repetitions(const std::vector<std::uint64_t>& signatures) {
  const auto length = static_cast<std::uint32_t>(signatures.size());
  std::vector<ShownColumns> shown = {{}};
  std::uint32_t at = 0;
  while (at < length) {
    const Repetition repetition = repetition_at(signatures, at);
    if (repetition.num_left_out() == 0) {
      shown.back().end = ++at;
      continue;
    }
    shown.back().end = at + kPeriodsBefore * repetition.period;
    shown.back().num_left_out = repetition.num_left_out();
    shown.back().is_repeated = true;
    at = shown.back().end + repetition.num_left_out();
    shown.push_back({.begin = at, .end = at + kPeriodsBehind * repetition.period});
    at = shown.back().end;
  }
  return shown;
}

}  // namespace

std::vector<ShownColumns> columns_to_show(const std::vector<std::uint64_t>& signatures, std::uint32_t most) {
  const auto length = static_cast<std::uint32_t>(signatures.size());
  if (length <= most) return {{.begin = 0, .end = length}};
  std::vector<ShownColumns> shown = without_repetitions(signatures);
  std::uint32_t num_shown = 0;
  // What is left out takes the room of two.
  for (const ShownColumns& part : shown) num_shown += part.end - part.begin + (part.num_left_out > 0 ? 2 : 0);
  if (num_shown <= most) return shown;
  const std::uint32_t behind = most / 4;
  const std::uint32_t before = std::max(most, behind + 3) - behind - 2;
  return {{.begin = 0, .end = before, .num_left_out = length - before - behind},
          {.begin = length - behind, .end = length}};
}

std::vector<std::uint64_t> signatures_of(const Programs& programs, const Timeline& timeline) {
  std::vector<std::uint64_t> signatures(timeline.length, kDigestOfNothing);
  for (std::uint32_t rank = 0; rank < programs.num_ranks(); ++rank)
    for (const TimedStep& timed : timeline.ranks[rank]) {
      if (timed.begin >= timeline.length) continue;
      const Step& step = programs.steps(rank, timed.lane)[timed.index];
      std::string text = fmt::format("{} {} {} {}", rank, timed.lane, name_of(step), step.completes);
      for (const auto* ends : {&step.sources, &step.destinations})
        for (const Endpoint& end : *ends)
          if (end.place != Place::local) text += fmt::format(" {} {}", static_cast<int>(end.place), end.rank);
      for (const std::uint32_t peer : step.peers) text += fmt::format(" {}", peer);
      signatures[timed.begin] = digest(text, signatures[timed.begin]);
    }
  return signatures;
}

}  // namespace tutti::report
