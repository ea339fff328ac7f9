// The table of decisions that stands in until there is a tuner.
#include <algorithm>
#include <array>

#include "runtime/selection/selector.hpp"

namespace tutti {

namespace {

constexpr std::uint64_t operator""_K(unsigned long long number) { return number << 10; }
constexpr std::uint64_t operator""_M(unsigned long long number) { return number << 20; }

using enum Collective;

// Two ranks move the same bytes by a flat exchange and by the ring, and read a third less in the ring; its result is
// read again by the peer, so it keeps to the caches, and beyond them the exchange is back. Of more than two ranks a
// flat exchange reads more bytes than two shots, and a ring has them wait for each other more often; where they share
// cores, as few as there are cores do the folding, so that the others wait once and not twice (decision 0035). In
// symmetric memory two shots move the least, and wait twice: soon worth it for two ranks, and later for those who wait
// for a core as well.
constexpr std::array kDecisions = {
    Decision{.collective = all_reduce, .most_bytes = always_one_shot_symmetric(2) - 1, .way = "one_shot"},
    Decision{.collective = all_reduce, .most_ranks = 2, .symmetric = true, .way = "two_shot"},
    Decision{.collective = all_reduce, .most_bytes = always_one_shot_symmetric(kAnyRanks) - 1, .way = "one_shot"},
    Decision{.collective = all_reduce, .symmetric = true, .way = "two_shot"},
    Decision{.collective = all_reduce, .most_bytes = kAlwaysOneShot - 1, .way = "one_shot"},
    Decision{.collective = all_reduce, .most_ranks = 2, .most_bytes = 64_K, .way = "one_shot"},
    Decision{.collective = all_reduce,
             .most_ranks = 2,
             .most_bytes = 128_K - 1,
             .way = "one_shot",
             .processor = Processor::other},
    Decision{
        .collective = all_reduce, .most_ranks = 2, .most_bytes = 1_M - 1, .way = "ring", .processor = Processor::other},
    Decision{
        .collective = all_reduce, .most_ranks = 2, .most_bytes = 128_K, .way = "one_shot", .processor = Processor::amd},
    Decision{.collective = all_reduce, .most_ranks = 2, .most_bytes = 4_M, .way = "ring", .processor = Processor::amd},
    Decision{.collective = all_reduce, .most_ranks = 2, .way = "one_shot"},
    Decision{.collective = all_reduce, .most_ranks = 5, .most_bytes = 64_K - 1, .way = "one_shot"},
    Decision{.collective = all_reduce, .way = "two_shot_few", .crowded = true},
    // More than two ranks with a core each have not been measured: what was best where they shared two.
    Decision{.collective = all_reduce, .most_bytes = 64_K, .way = "one_shot", .processor = Processor::other},
    Decision{.collective = all_reduce,
             .most_ranks = 4,
             .most_bytes = 128_K,
             .way = "one_shot",
             .processor = Processor::other},
    Decision{.collective = all_reduce, .most_bytes = 40_K, .way = "one_shot"},
    Decision{.collective = all_reduce, .way = "two_shot_pull"},
    // More ranks than two had to share two cores, which their readers keep busy by themselves.
    Decision{.collective = broadcast, .most_ranks = 2, .attached = true, .way = "push_pull"},
    Decision{.collective = reduce, .most_bytes = 48_K, .way = "direct"},
    Decision{.collective = reduce, .most_ranks = 2, .attached = true, .way = "push_pull"},
    Decision{.collective = reduce, .way = "direct"},
};

// A copy by the system costs half a microsecond to ask for, and its data cross between the caches once instead of
// twice; beyond the caches, stores that stream past them make up for the second copy.
constexpr std::array kAttach = {
    AttachRange{.collective = broadcast, .least_bytes = 16_K, .most_bytes = 32_M},
    AttachRange{.collective = all_gather, .least_bytes = 20_K, .most_bytes = 16_M},
    AttachRange{.collective = all_to_all, .least_bytes = 16_K, .most_bytes = 16_M},
    AttachRange{.collective = reduce_scatter, .least_bytes = 20_K, .most_bytes = 8_M},
    AttachRange{.collective = reduce, .least_bytes = 16_K, .most_bytes = 48_K},
    AttachRange{.collective = reduce, .least_bytes = 16_K, .most_bytes = 1_M, .most_ranks = 2, .stores = true},
};

// Where ranks take turns on a core, those who fold or gather ask the system once for each other rank, one after the
// other, while nobody else runs there. A broadcast asks once; and blocks of an all-to-all are read by one rank only, so
// that no cache has them when a second copy begins.
constexpr std::array kAttachCrowded = {
    AttachRange{.collective = broadcast, .least_bytes = 8_K, .most_bytes = 32_K},
    AttachRange{.collective = broadcast, .least_bytes = 8_K, .most_bytes = 64_K, .least_ranks = 4},
    AttachRange{.collective = all_to_all, .least_bytes = 256_K, .most_bytes = 4_M, .most_ranks = 6},
};

}  // namespace

bool pays_to_attach(Collective collective, std::uint64_t bytes, int num_ranks, bool crowded, Processor processor,
                    bool stores) {
  // Two copies are faster there throughout, with slots that are spread (docs/decisions/0036).
  if (processor == Processor::amd) return false;
  const std::span<const AttachRange> ranges = crowded ? std::span<const AttachRange>(kAttachCrowded) : kAttach;
  return std::any_of(ranges.begin(), ranges.end(), [&](const AttachRange& range) {
    return range.collective == collective && (stores || !range.stores) && bytes >= range.least_bytes &&
           bytes <= range.most_bytes && num_ranks >= range.least_ranks && num_ranks <= range.most_ranks;
  });
}

// On AMD's processors, whose cores hand each other lines more slowly than the cache that they share does: as much as is
// in neither of two cores' own caches any more when its turn comes again, if all groups' together stay in the shared
// one. Less where two ranks share a core, and nothing where more do, who find near there what was written on it.
// Elsewhere what one has written and the other read is written again faster once 256 KB lie between, or half of that
// where two ranks share a core: if all that a core has written and read so stays in its own cache.
std::uint64_t usual_spread(const CacheFacts& facts, std::uint32_t num_groups) {
  if (num_groups == 0) return 0;
  const std::uint64_t shared = facts.last_level_cache / 2 / num_groups;
  if (facts.processor != Processor::amd) {
    if (facts.crowded && facts.num_ranks > 2 * facts.num_cores) return 0;
    const std::uint64_t most = std::min(shared, facts.core_cache / 2 / facts.num_ranks);
    if (facts.crowded) return most < 128_K ? 0 : 128_K;
    // 512 KB have more lengths of rounds fit.
    return most < 256_K ? 0 : std::min(most, 512_K);
  }
  const std::uint64_t own = 2 * facts.core_cache * std::min(facts.num_cores, facts.num_ranks) / facts.num_ranks;
  const std::uint64_t spread = std::min(own, shared);
  return spread < facts.core_cache ? 0 : spread;
}

// Lines of what is past a cache's share would be evicted before anyone reads them, and an ordinary store reads every
// line that it overwrites. On AMD's processors that share is a quarter of the cache that the cores have together;
// elsewhere the cores' own caches are all that is counted on: a virtual machine is told the size of its host's last
// one, and what leaves a core's own for there comes back as slowly as from memory. Measured with 2 MB a core; less is
// not taken for it.
std::uint64_t usual_stream_min(const CacheFacts& facts, bool is_pushed, bool is_passed_on) {
  constexpr std::uint64_t kMostCountedOn = 16_M;
  constexpr std::uint64_t kLeastOwn = 2_M;
  if (facts.processor == Processor::amd) return std::min(facts.last_level_cache / 4, kMostCountedOn);
  const std::uint64_t own = std::max(facts.core_cache, kLeastOwn);
  const std::uint64_t of_two = is_pushed ? 2 * own : is_passed_on ? 3 * own : own / 2;
  const std::uint64_t cores = std::max<std::uint64_t>(2, std::min(facts.num_cores, facts.num_ranks));
  return std::min(facts.last_level_cache / 4, of_two * cores / 2);
}

std::span<const Decision> decisions() { return kDecisions; }

}  // namespace tutti
