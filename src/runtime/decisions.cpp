// The table of decisions that stands in until there is a tuner.
#include <algorithm>
#include <array>

#include "runtime/selector.hpp"

namespace tutti {

namespace {

constexpr std::uint64_t operator""_K(unsigned long long number) { return number << 10; }
constexpr std::uint64_t operator""_M(unsigned long long number) { return number << 20; }

using enum Collective;

// Two ranks move the same bytes by a flat exchange and by the ring, and read a third less in the ring; its result is
// read again by the peer, so it keeps to the caches, and beyond them the exchange is back. Of more than two ranks a
// flat exchange reads more bytes than the ring moves.
constexpr std::array kDecisions = {
    Decision{.collective = all_reduce, .most_bytes = kAlwaysOneShot - 1, .way = "one_shot"},
    Decision{.collective = all_reduce, .symmetric = true, .way = "two_shot"},
    Decision{.collective = all_reduce, .most_bytes = 128_K - 1, .way = "one_shot"},
    Decision{.collective = all_reduce, .most_ranks = 2, .most_bytes = 2_M, .way = "ring"},
    Decision{.collective = all_reduce, .most_ranks = 2, .way = "one_shot"},
    Decision{.collective = all_reduce, .way = "ring"},
    Decision{.collective = all_gather_v, .way = "direct"},
    Decision{.collective = reduce_scatter_v, .way = "direct"},
    Decision{.collective = all_to_all_v, .way = "direct"},
    Decision{.collective = gather_v, .way = "linear"},
    Decision{.collective = scatter_v, .way = "linear"},
};

// A copy by the system costs half a microsecond to ask for, and its data cross between the caches once instead of
// twice; beyond the caches, stores that stream past them make up for the second copy. What is folded has to be copied
// in any case, so of a reduce nothing is saved.
constexpr std::array kAttach = {
    AttachRange{broadcast, 16_K, 2_M},
    AttachRange{all_gather, 16_K, 8_M},
    AttachRange{all_to_all, 16_K, 8_M},
    AttachRange{reduce_scatter, 128_K, 2_M},
};

}  // namespace

bool pays_to_attach(Collective collective, std::uint64_t bytes) {
  return std::any_of(kAttach.begin(), kAttach.end(), [&](const AttachRange& range) {
    return range.collective == collective && bytes >= range.least_bytes && bytes <= range.most_bytes;
  });
}

std::span<const Decision> decisions() { return kDecisions; }

}  // namespace tutti
