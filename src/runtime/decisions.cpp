// The table of decisions that stands in until there is a tuner.
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
};

}  // namespace

std::span<const Decision> decisions() { return kDecisions; }

}  // namespace tutti
