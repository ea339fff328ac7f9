#include "runtime/slot_stores.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

#include "data/kernel.hpp"

namespace tutti {

namespace {

constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
// Bytes between two looks through the caches, which cost two readings of the clock.
constexpr std::uint64_t kCachedBetween = 64 << 10;
// The same where copies go past them and a look may take as long as several of those: of no more than a part of one,
// and each counts as so many bytes at least.
constexpr std::uint64_t kPastBetween = 2 << 20;
constexpr std::uint64_t kLeastCounted = 32 << 10;
constexpr std::uint64_t kMostLooked = 8 << 10;
constexpr std::uint64_t kLookedParts = 4;
// What takes longer than this through the caches takes longer than past them with what its reader loses: to begin with,
// and for each 64 bytes. Between cores that share a cache it is 2 to 10 for each, and up to 18 where slots are too many
// for a core's own; elsewhere 20 to 40, of which a short copy leaves some to the time after it.
constexpr std::uint64_t kSlowToBegin = 150;
constexpr std::uint64_t kSlowEachOfShort = 14;
constexpr std::uint64_t kSlowEach = 20;

// The lines of a source into this core's caches: how long they take to come is not what is asked.
void bring_near(const std::byte* from, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += 64)
    static_cast<void>(*static_cast<const volatile std::byte*>(from + at));
}

}  // namespace

std::uint64_t SlotStores::steady_clock() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

SlotStores::SlotStores(StoresChoice choice, std::uint32_t num_slots, Clock clock)
    : clock_(clock),
      fresh_(num_slots),
      least_(choice == StoresChoice::cached ? kNever : kLeast),
      is_past_(choice == StoresChoice::past),
      before_look_(choice == StoresChoice::past ? kNever : kCachedBetween) {}

void SlotStores::copy(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  if (!takes(bytes)) {
    if (bytes > 0) std::memcpy(to, from, bytes);  // of none there may be no address either
  } else if (const std::uint64_t counted = std::max(bytes, kLeastCounted); is_past_ && counted < before_look_) {
    before_look_ -= counted;
    tutti::copy(to, from, bytes, true);
  } else {
    look(to, from, bytes);
  }
}

void SlotStores::look(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  if (fresh_ > 0) {
    --fresh_;
    before_look_ = kCachedBetween;
    std::memcpy(to, from, bytes);
    return;
  }
  // Who reads a slot may read a part of it only, from near or far: so a little is looked at of each quarter.
  const std::uint64_t parts = bytes <= kMostLooked ? 1 : kLookedParts;
  const std::uint64_t part = std::min(bytes, kMostLooked) / parts;
  const std::uint64_t stride = bytes / parts / 64 * 64;
  for (std::uint64_t each = 0; each < parts; ++each) bring_near(from + each * stride, part);
  const std::uint64_t begin = clock_();
  for (std::uint64_t each = 0; each < parts; ++each) std::memcpy(to + each * stride, from + each * stride, part);
  const bool is_slow =
      clock_() - begin > kSlowToBegin + parts * part / 64 * (parts == 1 ? kSlowEachOfShort : kSlowEach);
  // It may have been the system, or somebody else on this core: once is no sign.
  const bool is_sure = !is_slow || was_slow_ || is_past_;
  was_slow_ = is_slow;
  if (is_sure) {
    is_past_ = is_slow;
    before_look_ = is_slow ? kPastBetween : kCachedBetween;
  }
  for (std::uint64_t each = 0; each < parts; ++each) {
    const std::uint64_t done = each * stride + part;
    const std::uint64_t end = each + 1 < parts ? (each + 1) * stride : bytes;
    tutti::copy(to + done, from + done, end - done, is_past_);
  }
}

}  // namespace tutti
