#include "runtime/selector.hpp"

namespace tutti {

namespace {

// Below it one latency decides; above it symmetric memory saves the copy into staging slots.
constexpr std::uint64_t kTwoShotMin = kAlwaysOneShot;
// Above it a flat exchange among more than two ranks reads more bytes than the ring moves. Two ranks move the same
// bytes either way, and read a third less in the ring; its result is read again by the peer, so it keeps to the caches.
constexpr std::uint64_t kRingMin = 128 << 10;
constexpr std::uint64_t kRingOfTwoMost = 2 << 20;

// What keeps an algorithm from doing a call; empty if nothing does.
std::string_view objection(std::string_view algorithm, const Situation& situation) {
  if (algorithm == "two_shot") {
    if (!situation.symmetric) return "two_shot needs both buffers in symmetric memory";
    if (situation.op == Op::premultiplied_sum)
      return "two_shot reads inputs by name, where a pre-multiplied sum has not scaled them";
  }
  if (algorithm == "ring" && !situation.commutative) return "ring does not keep the order of the ranks";
  return "";
}

std::string_view objection(const OwnFacts& own, const Situation& situation) {
  if (own.needs_symmetric && !situation.symmetric) return "the schedule needs both buffers in symmetric memory";
  if (own.needs_symmetric && situation.op == Op::premultiplied_sum)
    return "the schedule reads inputs by name, where a pre-multiplied sum has not scaled them";
  if (!own.keeps_rank_order && !situation.commutative) return "the schedule does not keep the order of the ranks";
  if (!own.allows_in_place && situation.in_place) return "the schedule is not for calls in place";
  if (!own.allows_out_of_place && !situation.in_place) return "the schedule is for calls in place only";
  return "";
}

Choice by_size(const Situation& situation) {
  if (situation.bytes >= kTwoShotMin && objection("two_shot", situation).empty())
    return {.algorithm = "two_shot", .why = "large, in symmetric memory"};
  const bool ring_pays = situation.bytes >= kRingMin && (situation.num_ranks > 2 || situation.bytes <= kRingOfTwoMost);
  if (ring_pays && objection("ring", situation).empty())
    return {.algorithm = "ring", .why = situation.num_ranks > 2 ? "large, more than two ranks" : "beyond small"};
  return {.algorithm = "one_shot", .why = situation.num_ranks > 2 ? "small" : "two ranks"};
}

}  // namespace

Choice choose_all_reduce(const Situation& situation) {
  if (situation.forced.empty()) return by_size(situation);
  const std::string_view against =
      situation.own != nullptr ? objection(*situation.own, situation) : objection(situation.forced, situation);
  if (against.empty()) return {.algorithm = situation.forced, .why = "forced"};
  Choice choice = by_size(situation);
  choice.why = against;
  choice.is_fallback = true;
  return choice;
}

}  // namespace tutti
