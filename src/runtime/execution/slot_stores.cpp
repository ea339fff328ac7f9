// SPDX-License-Identifier: Apache-2.0
#include "runtime/execution/slot_stores.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>

#include "data/kernel.hpp"

namespace tutti {

namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kCacheLine = 64;

// The lines of a source into this core's caches: how long they take to come is not what is asked.
void bring_near(const std::byte* from, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += kCacheLine)
    static_cast<void>(*static_cast<const volatile std::byte*>(from + at));
  static_cast<void>(*static_cast<const volatile std::byte*>(from + bytes - 1));
}

}  // namespace

std::uint64_t SlotStores::steady_clock() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

// A look at a long copy costs five readings of the clock and as many waits for its stores: half a microsecond. Where
// copies go past the caches, a look may take as long as several of those.
SlotStores::SlotStores(StoresChoice choice, const MachineProfile& profile, std::uint32_t num_slots, Clock clock)
    : clock_(clock),
      limits_{.short_most = profile.past_short_most,
              .between_past = profile.past_look_every_past,
              .counted_least = profile.past_counted_least,
              .looked = profile.past_looked,
              .slow = profile.past_slow_ns,
              .slow_line_short = profile.past_slow_line_short_ns,
              .slow_line = profile.past_slow_line_ns},
      least_(choice == StoresChoice::cached ? kNever : std::uint64_t{profile.past_least}) {
  kinds_[0].between = profile.past_look_every_short;
  kinds_[1].between = profile.past_look_every_long;
  for (Kind& kind : kinds_) {
    kind.fresh = num_slots;
    kind.before_look = choice == StoresChoice::past ? kNever : kind.between;
    if (choice != StoresChoice::past) continue;
    for (Part& part : kind.parts) part.is_past = true;
    kind.num_past = kNumParts;
  }
}

void SlotStores::copy(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  if (!takes(bytes)) {
    if (bytes > 0) std::memcpy(to, from, bytes);  // of none there may be no address either
    return;
  }
  Kind& kind = kind_of(bytes);
  const std::uint64_t counted = std::max(bytes, limits_.counted_least);
  if (kind.num_past == 0 || counted >= kind.before_look) {
    look(kind, to, from, bytes);
    return;
  }
  kind.before_look -= counted;
  if (bytes <= limits_.short_most || kind.num_past == kNumParts) {
    tutti::copy(to, from, bytes, true);
    return;
  }
  const std::uint64_t stride = bytes / kNumParts / kCacheLine * kCacheLine;
  for (std::size_t each = 0; each < kNumParts; ++each) {
    const std::uint64_t end = each + 1 < kNumParts ? (each + 1) * stride : bytes;
    tutti::copy(to + each * stride, from + each * stride, end - each * stride, kind.parts[each].is_past);
  }
}

void SlotStores::look(Kind& kind, std::byte* to, const std::byte* from, std::uint64_t bytes) {
  kind.before_look = kind.between;
  if (kind.fresh > 0) {
    --kind.fresh;
    std::memcpy(to, from, bytes);
    return;
  }
  const bool is_short = bytes <= limits_.short_most;
  const std::size_t num_parts = is_short ? 1 : kNumParts;
  const std::uint64_t stride = bytes / num_parts / kCacheLine * kCacheLine;
  const std::uint64_t looked = is_short ? bytes : std::min(limits_.looked, stride);
  const std::uint64_t slow =
      limits_.slow + looked / kCacheLine * (is_short ? limits_.slow_line_short : limits_.slow_line);
  for (std::size_t each = 0; each < num_parts; ++each) bring_near(from + each * stride, looked);
  kind.num_past = 0;
  // Each part's time has its own stores, and none of those before.
  if (!is_short) std::atomic_thread_fence(std::memory_order_seq_cst);
  std::uint64_t begin = clock_();
  for (std::size_t each = 0; each < num_parts; ++each) {
    std::memcpy(to + each * stride, from + each * stride, looked);
    if (!is_short) std::atomic_thread_fence(std::memory_order_seq_cst);
    const std::uint64_t end = clock_();
    Part& part = kind.parts[each];
    const bool is_slow = end - begin > slow;
    // It may have been the system, or somebody else on this core: once is no sign.
    if (!is_slow || part.was_slow) part.is_past = is_slow;
    part.was_slow = is_slow;
    if (part.is_past) ++kind.num_past;
    begin = end;
  }
  if (is_short && kind.num_past != 0) kind.num_past = kNumParts;
  if (kind.num_past != 0) kind.before_look = limits_.between_past;
  for (std::size_t each = 0; each < num_parts; ++each) {
    const std::uint64_t done = each * stride + looked;
    const std::uint64_t end = each + 1 < num_parts ? (each + 1) * stride : bytes;
    tutti::copy(to + done, from + done, end - done, kind.parts[each].is_past);
  }
}

}  // namespace tutti
