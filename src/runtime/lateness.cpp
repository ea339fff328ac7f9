#include "runtime/lateness.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/process_state.hpp"
#include "runtime/gathering.hpp"

namespace tutti {

namespace {

// Who waits looks several times a second, and more often where others wait less.
constexpr std::chrono::nanoseconds kLongSilence{2'000'000'000};

struct Suspect {
  int rank = 0;
  bool has_come = false;
  pid_t process = 0;
};

bool is_waiting(const shm::Region& region, std::uint32_t rank, std::chrono::nanoseconds silence) {
  const std::int64_t looked = region.doorbell(rank).looked.load(std::memory_order_relaxed);
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return looked != 0 && now - std::chrono::nanoseconds(looked) < silence;
}

// Who has begun a later operation than this rank's is done with it, and a rank that waits itself is not to blame.
std::vector<Suspect> find_suspects(const shm::Region& region, std::uint32_t self, std::chrono::nanoseconds silence) {
  const std::uint64_t operation = region.call(self).operation.load(std::memory_order_acquire);
  std::vector<Suspect> suspects;
  for (std::uint32_t peer = 0; peer < region.shape().num_ranks; ++peer) {
    const shm::CallLine& line = region.call(peer);
    const shm::Presence presence = line.presence.load(std::memory_order_acquire);
    const std::uint64_t its = line.operation.load(std::memory_order_acquire);
    const bool is_done = operation == 0 ? presence != shm::Presence::none : its > operation;
    if (peer == self || is_done || presence == shm::Presence::left || is_waiting(region, peer, silence)) continue;
    suspects.push_back({static_cast<int>(peer), operation > 0 && its == operation, line.process.load()});
  }
  return suspects;
}

// Where nobody is to blame: ranks that have not come, and wait themselves, do so in a send or a receive, or in a call
// of another communicator.
std::string words_of_waiting(const shm::Region& region, std::uint32_t self) {
  const std::uint64_t operation = region.call(self).operation.load(std::memory_order_acquire);
  std::vector<int> elsewhere;
  for (std::uint32_t peer = 0; peer < region.shape().num_ranks; ++peer)
    if (peer != self && region.call(peer).operation.load(std::memory_order_acquire) < operation &&
        is_waiting(region, peer, kLongSilence))
      elsewhere.push_back(static_cast<int>(peer));
  if (elsewhere.empty()) return "all ranks have come to it";
  return fmt::format("{} {} in another call, such as a send or a receive", rank_list(elsewhere),
                     elsewhere.size() == 1 ? "waits" : "wait");
}

template <typename Condition>
void keep_if_any(std::vector<Suspect>& suspects, const Condition& condition) {
  if (std::any_of(suspects.begin(), suspects.end(), condition))
    std::erase_if(suspects, [&](const Suspect& each) { return !condition(each); });
}

}  // namespace

Lateness find_late(const shm::Region& region, std::uint32_t self, std::chrono::nanoseconds waited,
                   bool knows_processes) {
  std::vector<Suspect> suspects = find_suspects(region, self, std::min(waited / 2, kLongSilence));
  const auto is_halted = [&](const Suspect& each) { return knows_processes && is_stopped(each.process); };
  // The plainer the evidence, the better: a process that is stopped; a rank that has not come at all; one that came and
  // does not go on.
  keep_if_any(suspects, is_halted);
  keep_if_any(suspects, [](const Suspect& each) { return !each.has_come; });
  if (suspects.empty()) return {{}, words_of_waiting(region, self)};
  Lateness late;
  for (const Suspect& each : suspects) late.ranks.push_back(each.rank);
  const Suspect& first = suspects.front();
  const std::string who = fmt::format("{} {} late", rank_list(late.ranks), suspects.size() == 1 ? "is" : "are");
  late.words = is_halted(first) ? fmt::format("{}: process {} is stopped", who, first.process)
               : first.has_come ? fmt::format("{}: begun, but does not go on", who)
                                : fmt::format("{}: not there yet", who);
  return late;
}

Lateness find_late_partner(const shm::Region& region, std::uint32_t partner, bool knows_processes) {
  const pid_t process = region.call(partner).process.load();
  const std::string who = fmt::format("rank {} is late", partner);
  if (knows_processes && is_stopped(process))
    return {{static_cast<int>(partner)}, fmt::format("{}: process {} is stopped", who, process)};
  if (is_waiting(region, partner, kLongSilence))
    return {{static_cast<int>(partner)},
            fmt::format("rank {} is not at the other end of it, but waits in another call", partner)};
  return {{static_cast<int>(partner)}, fmt::format("{}: not there yet", who)};
}

bool has_left(const shm::Region& region, std::uint32_t rank) {
  return region.call(rank).presence.load(std::memory_order_acquire) == shm::Presence::left;
}

std::optional<int> find_lost(const shm::Region& region, std::uint32_t self) {
  for (std::uint32_t peer = 0; peer < region.shape().num_ranks; ++peer)
    if (peer != self && region.life(peer).is_lost() && !has_left(region, peer)) return static_cast<int>(peer);
  return std::nullopt;
}

}  // namespace tutti
