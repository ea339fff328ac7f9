// SPDX-License-Identifier: Apache-2.0
// The numbers of a machine profile by their names in files: what each means, its range, and whether tuning may change
// it. One row a number: reading, writing and showing profiles follow from it. Constants.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>

#include "runtime/selection/machine_profile.hpp"

namespace tutti {

struct ProfileField {
  std::string_view section;
  std::string_view key;
  std::variant<Size MachineProfile::*, std::uint32_t MachineProfile::*, double MachineProfile::*> member;
  double least = 0;
  double most = 0;
  bool is_tuned = false;  // tuning may change it
  std::string_view about;
  bool is_plain = false;  // a size that is no multiple of a cache: the shape of the shared region follows from it
};

namespace profile_limits {
inline constexpr double kUnbounded = 1.8446744073709552e19;  // bytes: "unlimited" is allowed
inline constexpr double kSlot = 64 << 20;                    // bytes of what is staged at a time
inline constexpr double kMostNanos = 4e9;                    // ns, nearly
}  // namespace profile_limits

inline constexpr auto kProfileFields = [] {
  using P = MachineProfile;
  using namespace profile_limits;
  return std::to_array<ProfileField>({
      {"small", "below", &P::small_below, 0, kUnbounded, true,
       "all-reduces shorter than this, where the rules say one_shot, take the small path"},
      {"small", "brief_most", &P::small_brief_most, 0, kUnbounded, true,
       "a message that takes less than a change of processes: an oversubscribed rank keeps its core for a moment"},
      {"small", "ask_most", &P::small_ask_most, 0, kUnbounded, true,
       "at most so much of the next call's slot is prefetched for writing"},
      {"small", "ask_below", &P::small_ask_below, 0, kUnbounded, true, "prefetched for calls shorter than this"},
      {"small", "ask_from", &P::small_ask_from, 0, kUnbounded, true, "and for calls from this size on"},
      {"lists", "ask_most", &P::lists_ask_most, 0, kUnbounded, true,
       "at most so much of the next slot is prefetched for writing"},
      {"lists", "move_most", &P::lists_move_most, 0, 1 << 20, true,
       "a block of up to this size is copied by memcpy, not by the kernels"},
      {"lists", "gather_most", &P::lists_gather_most, 0, kSlot, true,
       "blocks for all other ranks share one slot and one post, up to this size together"},
      {"lists", "gather_most_crowded", &P::lists_gather_most_crowded, 0, kSlot, true, "the same, oversubscribed"},
      {"lists", "fetch_part", &P::lists_fetch_part, 4096, kSlot, true,
       "cross-memory attach fetches parts of this size to reduce them"},
      {"lists", "store_part", &P::lists_store_part, 4096, kSlot, true, "and stores parts of this size"},
      {"lists", "by_name_from", &P::lists_by_name_from, 0, kUnbounded, true,
       "peers read symmetric memory where it lies, from this size on"},
      {"rounds", "usual", &P::rounds_usual, 4096, kSlot, true, "bytes of a staging slot that a round uses", true},
      {"rounds", "widest", &P::rounds_widest, 4096, kSlot, true, "the most that it uses where ranks share cores", true},
      {"rounds", "long_from", &P::rounds_long_from, 0, kUnbounded, true,
       "from this size on all slots together take half of a core's own caches"},
      {"rounds", "shortest", &P::rounds_shortest, 4096, kSlot, true, "but a round is at least this long"},
      {"rounds", "shortest_of_root", &P::rounds_shortest_of_root, 4096, kSlot, true,
       "the shortest round of a rooted collective, which uses quarters of the message"},
      {"rounds", "last_level_most", &P::rounds_last_level_most, 0, kUnbounded, true,
       "no more of the last-level cache is counted on: a virtual machine is told the size of its host's"},
      {"transfers", "by_address_from", &P::transfers_by_address_from, 0, kUnbounded, true,
       "a receive copies from the sender's buffer, from this size on"},
      {"transfers", "message_most", &P::transfers_message_most, 64, kSlot, true,
       "the longest message of a shorter one"},
      {"spread", "of_core_cache", &P::spread_of_core_cache, 0, 64, true,
       "a rank's payloads rotate over so many times its core's own caches; 0: these do not count"},
      {"spread", "of_core_cache_shared", &P::spread_of_core_cache_shared, 0, 64, true,
       "and all ranks' payloads together over so many times one core's own caches; 0: these do not count"},
      {"spread", "of_last_level_cache", &P::spread_of_last_level_cache, 0, 1, true,
       "all ranks' together over no more of the last-level cache"},
      {"spread", "least", &P::spread_least, 0, kUnbounded, true, "not at all if that is less than this"},
      {"spread", "most", &P::spread_most, 0, kUnbounded, true, "and over no more than this"},
      {"spread", "least_crowded", &P::spread_least_crowded, 0, kUnbounded, true, "the same, oversubscribed"},
      {"spread", "most_crowded", &P::spread_most_crowded, 0, kUnbounded, true, "the same, oversubscribed"},
      {"spread", "most_ranks_a_core", &P::spread_most_ranks_a_core, 0, 1 << 20, true,
       "not at all with more ranks on a core"},
      {"spread", "payload_least", &P::spread_payload_least, 0, kUnbounded, true, "shorter payloads do not rotate"},
      {"stream", "of_last_level_cache", &P::stream_of_last_level_cache, 0, 64, true,
       "outputs go past the caches from so much of the last-level cache on"},
      {"stream", "of_core_cache", &P::stream_of_core_cache, 0, 64, true,
       "or from so many times the own caches of the cores in use; 0: these do not count"},
      {"stream", "of_core_cache_pushed", &P::stream_of_core_cache_pushed, 0, 64, true,
       "the same where each rank stores to all outputs"},
      {"stream", "of_core_cache_passed_on", &P::stream_of_core_cache_passed_on, 0, 64, true,
       "the same where the output is read again to be exposed"},
      {"stream", "core_cache_least", &P::stream_core_cache_least, 0, kUnbounded, true,
       "a core's own caches count for at least this"},
      {"stream", "most", &P::stream_most, 0, kUnbounded, true,
       "outputs go past the caches from this size on at the latest"},
      {"past", "least", &P::past_least, 64, kUnbounded, true, "shorter copies to slots always go through the caches"},
      {"past", "short_most", &P::past_short_most, 4096, kSlot, true,
       "a copy of up to this size goes as a whole; each quarter of a longer one by itself"},
      {"past", "look_every_short", &P::past_look_every_short, 64, kUnbounded, true,
       "bytes between two timed copies, of short ones"},
      {"past", "look_every_long", &P::past_look_every_long, 64, kUnbounded, true, "of long ones"},
      {"past", "look_every_past", &P::past_look_every_past, 64, kUnbounded, true, "of copies that go past the caches"},
      {"past", "counted_least", &P::past_counted_least, 0, kUnbounded, true,
       "each of which counts as at least so much"},
      {"past", "looked", &P::past_looked, 64, kSlot, true, "of each quarter of a long copy, so much is timed"},
      {"past", "slow_ns", &P::past_slow_ns, 0, kMostNanos, true,
       "a timed copy through the caches that takes longer than this"},
      {"past", "slow_line_short_ns", &P::past_slow_line_short_ns, 0, kMostNanos, true,
       "and this for each 64 bytes, of a short copy, sends copies past them"},
      {"past", "slow_line_ns", &P::past_slow_line_ns, 0, kMostNanos, true, "and this, of a long copy"},
      {"wait", "looks", &P::wait_looks, 0, 1 << 24, true, "looks at a flag before the clock is asked"},
      {"wait", "looks_crowded", &P::wait_looks_crowded, 0, 1 << 24, true,
       "the same, oversubscribed, with a yield each"},
      {"wait", "spin_ns", &P::wait_spin_ns, 0, kMostNanos, true, "a rank with a core of its own spins for this long"},
      {"wait", "yield_ns", &P::wait_yield_ns, 0, kMostNanos, true, "then yields for this long, then sleeps"},
      {"wait", "turn_ns", &P::wait_turn_ns, 0, kMostNanos, true, "what giving the core away and having it again takes"},
      {"memory", "slots", &P::memory_slots, 1 << 16, 1 << 30, false,
       "memory of a rank's staging slots, or of a connection's, to rotate in", true},
      {"memory", "connections", &P::memory_connections, 1 << 20, 17179869184.0, false,
       "the same of all connections from a rank", true},
  });
}();

}  // namespace tutti
