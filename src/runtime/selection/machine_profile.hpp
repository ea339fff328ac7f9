// SPDX-License-Identifier: Apache-2.0
// What is fastest on a machine, as far as measurements say: which algorithm from which size on, and every other number
// of the runtime that depends on the machine. It is data: it ships (data/profiles), or a user brings it
// (docs/formats/profile.md). profile_fields.hpp has the name, range and meaning of each number.
//
// Values; thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/collective.hpp"

namespace tutti {

inline constexpr std::uint64_t kAnySize = ~std::uint64_t{0};
inline constexpr std::uint32_t kAnyRanks = ~std::uint32_t{0};

// The caches of the cores that ranks run on, in bytes.
struct CacheSizes {
  std::uint64_t first = 32 << 10;  // a core's first one, for data
  std::uint64_t core = 512 << 10;  // all that a core has to itself
  std::uint64_t last = 32 << 20;   // what cores share

  // As the system describes this machine; the values above where it does not.
  [[nodiscard]] static CacheSizes of_this_machine();
};

// A number of bytes, given as such or as a multiple of a cache: then it has a value once the profile is for_caches().
class Size {
 public:
  enum class Of : std::uint8_t { bytes, first_cache, core_cache, last_level_cache };

  constexpr Size() = default;
  constexpr Size(std::uint64_t bytes) : bytes_(bytes) {}  // NOLINT(google-explicit-constructor): it is a number
  constexpr Size(double times, Of of) : times_(times), of_(of) {}

  constexpr operator std::uint64_t() const { return bytes_; }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] constexpr bool is_relative() const { return of_ != Of::bytes; }
  [[nodiscard]] constexpr double times() const { return times_; }
  [[nodiscard]] constexpr Of of() const { return of_; }

  [[nodiscard]] Size for_caches(const CacheSizes& caches) const;

 private:
  std::uint64_t bytes_ = 0;
  double times_ = 0;
  Of of_ = Of::bytes;
};

// Which algorithm runs a call. Of the rules that fit the ranks and the call, the first that the call's size fits, and
// whose algorithm can do the call, is taken.
struct Rule {
  Collective collective = Collective::all_reduce;
  std::uint32_t most_ranks = kAnyRanks;
  Size most_bytes = kAnySize;                    // of the message, as nccl-tests counts
  std::uint64_t most_bytes_per_rank = kAnySize;  // of rules for hosts: and for each rank
  bool symmetric = false;                        // for buffers in symmetric memory alone
  bool attached = false;                         // where cross-memory attach pays, and each rank has a core
  bool crowded = false;                          // for more ranks than cores alone
  bool hosts = false;                            // for ranks on several hosts alone; and no other rule is for these
  std::string algorithm = {};  // behind it "(cores)": with that parameter; "(hosts, …)": with the ranks of each host

  // With as many in place of "(cores)"; without, where they are fewer than three, which is usual for that.
  [[nodiscard]] std::string algorithm_for(std::uint32_t num_cores) const;
  // With these ranks of each host in place of "hosts". Empty where it needs them and they are not told, or all one.
  [[nodiscard]] std::string algorithm_between(const std::vector<std::uint32_t>& ranks_of_hosts) const;
};
inline constexpr std::string_view kCoresParameter = "(cores)";
inline constexpr std::string_view kHostsParameter = "(hosts,";

// Message sizes at which one copy by cross-memory attach is faster than two through shared memory.
struct AttachRange {
  Collective collective = Collective::all_reduce;
  Size least_bytes = 0;
  Size most_bytes = kAnySize;
  std::uint32_t least_ranks = 2;
  std::uint32_t most_ranks = kAnyRanks;
  bool stores = false;   // only of algorithms that store to other ranks
  bool crowded = false;  // there are more ranks than cores; else each has a core
};

struct MachineProfile {
  std::string name;
  std::string place;         // the file; empty: it ships with Tutti
  std::string about;         // what it was measured on
  std::string processor;     // the vendor that it is for, as the processor says; empty: any
  std::uint64_t digest = 0;  // of the text

  std::vector<Rule> rules;
  std::vector<AttachRange> attach;

  // The small path of all-reduce.
  Size small_below = 0;
  Size small_brief_most = 0;
  Size small_ask_most = 0;
  Size small_ask_below = 0;
  Size small_ask_from = 0;

  // Calls that run as lists of steps.
  Size lists_ask_most = 0;
  Size lists_move_most = 0;
  Size lists_gather_most = 0;
  Size lists_gather_most_crowded = 0;
  Size lists_fetch_part = 0;
  Size lists_store_part = 0;
  Size lists_by_name_from = 0;

  // How long rounds are.
  Size rounds_usual = 0;
  Size rounds_widest = 0;
  Size rounds_long_from = 0;
  Size rounds_shortest = 0;
  Size rounds_shortest_of_root = 0;
  Size rounds_last_level_most = 0;

  // From rank to rank.
  Size transfers_by_address_from = 0;
  Size transfers_message_most = 0;

  // Rotating staging slots. 0: not counted.
  double spread_of_core_cache = 0;
  double spread_of_core_cache_shared = 0;
  double spread_of_last_level_cache = 0;
  Size spread_least = 0;
  Size spread_most = 0;
  Size spread_least_crowded = 0;
  Size spread_most_crowded = 0;
  std::uint32_t spread_most_ranks_a_core = 0;
  Size spread_payload_least = 0;

  // Streaming outputs past the caches. 0: not counted.
  double stream_of_last_level_cache = 0;
  double stream_of_core_cache = 0;
  double stream_of_core_cache_pushed = 0;
  double stream_of_core_cache_passed_on = 0;
  Size stream_core_cache_least = 0;
  Size stream_most = 0;

  // Storing to staging slots past the caches.
  Size past_least = 0;
  Size past_short_most = 0;
  Size past_look_every_short = 0;
  Size past_look_every_long = 0;
  Size past_look_every_past = 0;
  Size past_counted_least = 0;
  Size past_looked = 0;
  std::uint32_t past_slow_ns = 0;
  std::uint32_t past_slow_line_short_ns = 0;
  std::uint32_t past_slow_line_ns = 0;

  // Waiting.
  std::uint32_t wait_looks = 0;
  std::uint32_t wait_looks_crowded = 0;
  std::uint32_t wait_spin_ns = 0;
  std::uint32_t wait_yield_ns = 0;
  std::uint32_t wait_turn_ns = 0;

  // Memory of a communicator.
  Size memory_slots = 0;
  Size memory_connections = 0;

  // The same with a number of bytes for every size.
  [[nodiscard]] MachineProfile for_caches(const CacheSizes& caches) const;

  // "intel_xeon", "my.toml": how messages call it.
  [[nodiscard]] std::string title() const { return place.empty() ? name : place; }

  // Whether cross-memory attach pays. Stores: of algorithms that store to other ranks, or of those that only read.
  [[nodiscard]] bool pays_to_attach(Collective collective, std::uint64_t bytes, std::uint32_t num_ranks, bool crowded,
                                    bool is_storing) const;
};

// What spread() and stream_min() go by.
struct RanksOnCores {
  std::uint32_t num_cores = 1;
  std::uint32_t num_ranks = 1;
  bool crowded = false;  // there are more ranks than cores
};

// The bytes over which the payload of staging slots rotates, with so many groups of slots that may be in use at a time.
// Half of the shared cache at most; a core's own caches are filled by the ranks on it together.
[[nodiscard]] std::uint64_t spread_of(const MachineProfile& profile, const CacheSizes& caches,
                                      const RanksOnCores& ranks, std::uint32_t num_groups);

// The size from which outputs go past the caches: of half of all ranks' outputs together, or, if each rank stores its
// result to all outputs (pushed), of all. Passed on is what is read again, to be exposed.
enum class OutputUse : std::uint8_t { kept, pushed, passed_on };
[[nodiscard]] std::uint64_t stream_min_of(const MachineProfile& profile, const CacheSizes& caches,
                                          const RanksOnCores& ranks, OutputUse use);

}  // namespace tutti
