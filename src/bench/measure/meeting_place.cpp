// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/meeting_place.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <sched.h>

#include "bench/measure/clock.hpp"

namespace tutti::harness {

MeetingPlace::MeetingPlace(SyncPage& page, std::optional<HostLinks>& links, Seat seat)
    : page_(page), links_(links), seat_(std::move(seat)) {
  spans_hosts_ = std::any_of(seat_.host_of.begin(), seat_.host_of.end(), [](int host) { return host > 0; });
}

template <typename Decide>
std::optional<std::int64_t> MeetingPlace::agree(Decide decide) {
  const std::uint64_t number = ++number_;
  page_.arrive(seat_.place, number);
  if (!is_first_here()) return page_.await_announcement(number, seat_.shares_cores);
  if (!page_.await_all(seat_.num_here, number, seat_.shares_cores)) return std::nullopt;
  const std::optional<std::int64_t> agreed = spans_hosts_ ? links_->meet(number, decide) : decide();
  if (agreed) page_.announce(number, *agreed);
  return agreed;
}

MeetingPlace::Start MeetingPlace::start_together(std::int64_t margin) {
  const std::optional<std::int64_t> common =
      agree([&] { return now() + margin + (spans_hosts_ ? links_->longest_round_trip() : 0); });
  if (!common) return {.is_over = true};
  const std::int64_t agreed = page_.clock().local(*common);
  std::int64_t time = now();
  if (time > agreed) return {.time = time, .is_late = true};
  while (time < agreed) {
    // The last stretch is spun through, so that all begin together.
    if (seat_.shares_cores && agreed - time > 5'000) ::sched_yield();
    time = now();
  }
  // Whoever lost its processor on the way comes late all the same, however early the instant was agreed upon. Ranks
  // that share cores lose theirs all the time.
  constexpr std::int64_t kTolerance = 250;
  const std::int64_t tolerance = seat_.shares_cores ? std::max(kTolerance, margin / 4) : kTolerance;
  return {.time = time, .is_late = time - agreed > tolerance};
}

bool MeetingPlace::meet() {
  if (spans_hosts_) return agree([] { return std::int64_t{0}; }).has_value();
  // Nobody waits for an announcement, which would be one way more.
  page_.arrive(seat_.place, ++number_);
  return page_.await_all(seat_.num_here, number_, seat_.shares_cores);
}

// The board takes a part at a time, behind the size of the whole.
std::optional<std::string> MeetingPlace::broadcast(std::string_view bytes, int root) {
  const std::span<char, SyncPage::kBoardBytes> board = page_.board();
  std::uint64_t size = bytes.size();
  constexpr std::size_t kPart = SyncPage::kBoardBytes - sizeof size;
  std::string all;
  do {
    if (!meet()) return std::nullopt;
    if (seat_.rank == root) {
      std::memcpy(board.data(), &size, sizeof size);
      const std::string_view part = bytes.substr(all.size(), kPart);
      std::memcpy(board.data() + sizeof size, part.data(), part.size());
    }
    if (!meet()) return std::nullopt;
    if (spans_hosts_) {
      if (is_first_here() && !links_->broadcast(board, seat_.host_of[static_cast<std::size_t>(root)]))
        return std::nullopt;
      if (!meet()) return std::nullopt;
    }
    std::memcpy(&size, board.data(), sizeof size);
    all.append(board.data() + sizeof size, std::min<std::size_t>(kPart, size - all.size()));
  } while (all.size() < size);
  return all;
}

bool MeetingPlace::compare_clocks(bool is_behind) {
  // Once, for the round trip.
  if (seat_.has_common_clock && links_->longest_round_trip() > 0) return true;
  const std::optional<ClockOffset> offset = links_->compare_clocks();
  if (!offset) return false;
  if (seat_.has_common_clock) return true;
  clock_error_ = std::max(is_behind ? clock_error_ : 0, offset->error);
  if (is_behind) {
    page_.clock().end(*offset);
  } else {
    page_.clock().begin(*offset);
  }
  return true;
}

bool MeetingPlace::begin_round() {
  if (!spans_hosts_) return true;
  // Nobody still reads the last round's clock.
  if (!meet()) return false;
  return !is_first_here() || compare_clocks(false);
}

bool MeetingPlace::end_round(std::span<std::int64_t> starts, std::span<std::int64_t> ends) {
  if (!spans_hosts_ || seat_.has_common_clock) return true;
  if (is_first_here() && !compare_clocks(true)) return false;
  if (!meet()) return false;
  for (const std::span<std::int64_t> times : {starts, ends})
    for (std::int64_t& time : times) time = page_.clock().common(time);
  return true;
}

}  // namespace tutti::harness
