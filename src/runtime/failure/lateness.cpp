// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure/lateness.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/system/process_state.hpp"
#include "data/elements.hpp"
#include "runtime/bootstrap/gathering.hpp"

namespace tutti {

namespace {

// Who waits looks several times a second, and more often where others wait less.
constexpr std::chrono::nanoseconds kLongSilence{2'000'000'000};

// What a rank looks at in an outer call comes less often.
constexpr std::chrono::nanoseconds kSilenceInOuterCall{250'000'000};

struct Suspect {
  int rank = 0;
  bool has_come = false;
  pid_t process = 0;
};

// DoorbellLine::awaited: what others tell of it.
struct Awaited {
  std::optional<Transfer> transfer = {};
  std::optional<OuterCall> call = {};

  static std::uint64_t pack(OuterCall call) {
    return std::uint64_t{1} << kIsOuterAt | static_cast<std::uint64_t>(call);
  }
  static std::uint64_t pack(const Transfer& transfer) {
    const bool sends = transfer.direction == Transfer::Direction::send;
    return std::min(transfer.count, kMostCount) | std::uint64_t{static_cast<std::uint8_t>(transfer.type)} << kTypeAt |
           std::uint64_t{transfer.peer} << kPeerAt | std::uint64_t{sends ? 1U : 0U} << kIsSendAt |
           std::uint64_t{1} << kIsTransferAt;
  }
  static Awaited of(const shm::Region& region, std::uint32_t rank) {
    const std::uint64_t word = region.doorbell(rank).awaited.load(std::memory_order_relaxed);
    if (word >> kIsOuterAt == 1) return {.call = static_cast<OuterCall>(word & 3)};
    if (word >> kIsTransferAt == 0) return {};
    Transfer transfer;
    transfer.direction = (word >> kIsSendAt & 1) != 0 ? Transfer::Direction::send : Transfer::Direction::receive;
    transfer.peer = static_cast<std::uint32_t>(word >> kPeerAt & kMostPeer);
    transfer.count = word & kMostCount;
    transfer.type = static_cast<Type>(word >> kTypeAt & 15);
    return {.transfer = transfer};
  }

 private:
  static constexpr int kTypeAt = 40;
  static constexpr int kPeerAt = 44;
  static constexpr int kIsSendAt = 61;
  static constexpr int kIsOuterAt = 62;
  static constexpr int kIsTransferAt = 63;
  static constexpr std::uint64_t kMostCount = (std::uint64_t{1} << kTypeAt) - 1;
  static constexpr std::uint64_t kMostPeer = (std::uint64_t{1} << (kIsSendAt - kPeerAt)) - 1;
};

// As far as is known, which of ranks on other hosts is nothing.
bool is_waiting(const shm::Region& region, std::uint32_t rank, std::chrono::nanoseconds silence) {
  if (!region.is_here(rank)) return false;
  const std::int64_t looked = region.doorbell(rank).looked.load(std::memory_order_relaxed);
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  if (Awaited::of(region, rank).call) silence = std::max(silence, kSilenceInOuterCall);
  return looked != 0 && now - std::chrono::nanoseconds(looked) < silence;
}

// Who has begun a later operation than this rank's is done with it, and a rank that waits itself is not to blame.
std::vector<Suspect> find_suspects(const shm::Region& region, std::uint32_t self, std::chrono::nanoseconds silence) {
  const std::uint64_t operation = region.call(self).operation.load(std::memory_order_acquire);
  std::vector<Suspect> suspects;
  for (std::uint32_t peer = 0; peer < region.shape().num_ranks; ++peer) {
    if (!region.is_here(peer)) continue;
    const shm::CallLine& line = region.call(peer);
    const shm::Presence presence = line.presence.load(std::memory_order_acquire);
    const std::uint64_t its = line.operation.load(std::memory_order_acquire);
    const bool is_done = operation == 0 ? presence != shm::Presence::none : its > operation;
    if (peer == self || is_done || presence == shm::Presence::left || is_waiting(region, peer, silence)) continue;
    suspects.push_back({static_cast<int>(peer), operation > 0 && its == operation, line.process.load()});
  }
  return suspects;
}

// "rank 1 waits in a receive of 3 i32 elements from rank 0"
std::string words_of_wait(std::uint32_t rank, const Awaited& awaited) {
  std::string where = awaited.transfer ? "a " + describe(*awaited.transfer) : "another call";
  if (awaited.call) where = *awaited.call == OuterCall::shrink ? "tuttiCommShrink" : "a split of the communicator";
  return fmt::format("rank {} waits in {}", rank, where);
}

// The ranks of other hosts that waiting ranks here have named.
std::vector<int> find_awaited_elsewhere(const shm::Region& region, std::uint32_t self) {
  const std::uint64_t operation = region.call(self).operation.load(std::memory_order_acquire);
  std::vector<int> ranks;
  for (std::uint32_t peer = 0; peer < region.shape().num_ranks; ++peer) {
    // Who has gone on waits for something else.
    if (!region.is_here(peer) || region.call(peer).operation.load(std::memory_order_acquire) != operation) continue;
    if (peer != self && !is_waiting(region, peer, kLongSilence)) continue;
    const std::uint32_t awaited = region.doorbell(peer).awaited_elsewhere.load(std::memory_order_relaxed);
    if (awaited != 0) ranks.push_back(static_cast<int>(awaited - 1));
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

// Where nobody is to blame: ranks that have not come, and wait themselves, do so in a send or a receive, or outside of
// this communicator's operations.
std::string words_of_waiting(const shm::Region& region, std::uint32_t self) {
  const std::uint64_t operation = region.call(self).operation.load(std::memory_order_acquire);
  std::string words;
  for (std::uint32_t peer = 0; peer < region.shape().num_ranks; ++peer)
    if (peer != self && region.is_here(peer) &&
        region.call(peer).operation.load(std::memory_order_acquire) < operation &&
        is_waiting(region, peer, kLongSilence))
      words += (words.empty() ? "" : ", ") + words_of_wait(peer, Awaited::of(region, peer));
  if (!words.empty()) return words;
  if (!region.shape().has_hosts()) return "all ranks have come to it";
  const std::vector<int> elsewhere = find_awaited_elsewhere(region, self);
  const std::string which = elsewhere.size() == 1 ? "which may be waiting itself" : "which may be waiting themselves";
  return fmt::format(
      "all ranks of rank {}'s host have come to it, and {}", self,
      elsewhere.empty() ? "some of another host is late" : fmt::format("wait for {}, {}", rank_list(elsewhere), which));
}

// From the rank that is waited for to the one that it waits for, and so on. Where that comes back to `self`, no rank
// can go on.
std::string words_of_chain(const shm::Region& region, std::uint32_t self, std::uint32_t partner) {
  std::string words;
  std::uint32_t rank = partner;
  for (std::uint32_t each = 0; each < region.shape().num_ranks && rank < region.shape().num_ranks; ++each) {
    if (rank == self) return words + ": they wait for each other";
    if (!is_waiting(region, rank, kLongSilence)) return words;
    const Awaited awaited = Awaited::of(region, rank);
    words += (words.empty() ? "" : ", ") + words_of_wait(rank, awaited);
    if (!awaited.transfer) return words;
    rank = awaited.transfer->peer;
  }
  return words;
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

Lateness find_late_partner(const shm::Region& region, std::uint32_t self, std::uint32_t partner, bool knows_processes) {
  const std::string who = fmt::format("rank {} is late", partner);
  const pid_t process = knows_processes && region.is_here(partner) ? region.call(partner).process.load() : 0;
  if (process != 0 && is_stopped(process))
    return {{static_cast<int>(partner)}, fmt::format("{}: process {} is stopped", who, process)};
  if (is_waiting(region, partner, kLongSilence))
    return {{static_cast<int>(partner)}, words_of_chain(region, self, partner)};
  return {{static_cast<int>(partner)}, fmt::format("{}: not there yet", who)};
}

void tell_awaited_transfer(const shm::Region& region, std::uint32_t rank, const Transfer* transfer) {
  region.doorbell(rank).awaited.store(transfer == nullptr ? 0 : Awaited::pack(*transfer), std::memory_order_relaxed);
}

void tell_awaited_elsewhere(const shm::Region& region, std::uint32_t rank, std::optional<std::uint32_t> awaited) {
  region.doorbell(rank).awaited_elsewhere.store(awaited ? *awaited + 1 : 0, std::memory_order_relaxed);
}

void tell_wait_in(const shm::Region& region, std::uint32_t rank, OuterCall call) {
  const std::chrono::nanoseconds now = std::chrono::steady_clock::now().time_since_epoch();
  region.doorbell(rank).awaited.store(Awaited::pack(call), std::memory_order_relaxed);
  region.doorbell(rank).awaited_elsewhere.store(0, std::memory_order_relaxed);
  region.doorbell(rank).looked.store(now.count(), std::memory_order_relaxed);
}

void tell_no_wait(const shm::Region& region, std::uint32_t rank) {
  region.doorbell(rank).looked.store(0, std::memory_order_relaxed);
  region.doorbell(rank).awaited.store(0, std::memory_order_relaxed);
}

std::string describe(const Transfer& transfer) {
  const bool sends = transfer.direction == Transfer::Direction::send;
  return fmt::format("{} of {} {} rank {}", sends ? "send" : "receive",
                     elements_in_words(transfer.count, transfer.type), sends ? "to" : "from", transfer.peer);
}

bool has_left(const shm::Region& region, std::uint32_t rank) { return region.has_left(rank); }

std::optional<int> find_lost(const shm::Region& region, std::uint32_t self) {
  for (std::uint32_t peer = 0; peer < region.shape().num_ranks; ++peer)
    if (peer != self && region.is_here(peer) && region.life(peer).is_lost() && !has_left(region, peer))
      return static_cast<int>(peer);
  return std::nullopt;
}

}  // namespace tutti
