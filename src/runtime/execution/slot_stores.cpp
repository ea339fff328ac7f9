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
// Bytes between two looks through the caches. A look at a long copy costs five readings of the clock and as many waits
// for its stores: half a microsecond, and this many bytes some sixty.
constexpr std::uint64_t kShortBetween = 128 << 10;
constexpr std::uint64_t kLongBetween = 512 << 10;
// The same where copies go past them and a look may take as long as several of those: of no more than a part of one,
// and each counts as so many bytes at least.
constexpr std::uint64_t kPastBetween = 2 << 20;
constexpr std::uint64_t kLeastCounted = 32 << 10;
constexpr std::uint64_t kLookedOfPart = 2 << 10;
// What takes longer than this through the caches takes longer than past them with what its reader loses: to begin with,
// and for each 64 bytes. Between cores that share a cache it is 2 to 10 for each, and up to 18 where slots are too many
// for a core's own; elsewhere 20 to 40, of which a short copy leaves some to the time after it.
constexpr std::uint64_t kSlowToBegin = 150;
constexpr std::uint64_t kSlowEachOfShort = 14;
constexpr std::uint64_t kSlowEach = 20;

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

SlotStores::SlotStores(StoresChoice choice, std::uint32_t num_slots, Clock clock)
    : clock_(clock), least_(choice == StoresChoice::cached ? kNever : kLeast) {
  kinds_[0].between = kShortBetween;
  kinds_[1].between = kLongBetween;
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
  const std::uint64_t counted = std::max(bytes, kLeastCounted);
  if (kind.num_past == 0 || counted >= kind.before_look) {
    look(kind, to, from, bytes);
    return;
  }
  kind.before_look -= counted;
  if (bytes <= kMostShort || kind.num_past == kNumParts) {
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
  const bool is_short = bytes <= kMostShort;
  const std::size_t num_parts = is_short ? 1 : kNumParts;
  const std::uint64_t stride = bytes / num_parts / kCacheLine * kCacheLine;
  const std::uint64_t looked = is_short ? bytes : kLookedOfPart;
  const std::uint64_t slow = kSlowToBegin + looked / kCacheLine * (is_short ? kSlowEachOfShort : kSlowEach);
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
  if (kind.num_past != 0) kind.before_look = kPastBetween;
  for (std::size_t each = 0; each < num_parts; ++each) {
    const std::uint64_t done = each * stride + looked;
    const std::uint64_t end = each + 1 < num_parts ? (each + 1) * stride : bytes;
    tutti::copy(to + done, from + done, end - done, kind.parts[each].is_past);
  }
}

}  // namespace tutti
