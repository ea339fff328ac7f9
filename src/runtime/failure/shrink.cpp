#include "runtime/failure/shrink.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "runtime/bootstrap/gathering.hpp"
#include "runtime/failure/lateness.hpp"
#include "runtime/progress/thread_work.hpp"

namespace tutti {

namespace {

// A decision of the ranks: of which attempt, what, and about or by which rank.
struct Verdict {
  std::uint64_t attempt = 0;
  std::uint32_t what = 0;
  std::uint32_t rank = 0;

  [[nodiscard]] std::uint64_t pack() const { return attempt << 16 | std::uint64_t{what} << 12 | rank; }
  [[nodiscard]] static Verdict unpack(std::uint64_t word) {
    return {word >> 16, static_cast<std::uint32_t>(word >> 12 & 15), static_cast<std::uint32_t>(word & 4095)};
  }
};

constexpr std::uint32_t kProposed = 1;
constexpr std::uint32_t kMade = static_cast<std::uint32_t>(ShrinkOutcome::made);
constexpr std::uint32_t kAgain = static_cast<std::uint32_t>(ShrinkOutcome::again);
constexpr std::uint32_t kFailed = 3;

constexpr std::chrono::microseconds kFirstNap{20};
constexpr std::chrono::microseconds kLongestNap{2'000};

// Stays as it is where the attempt has a decision already. Release: what it is about is written.
void decide(std::atomic<std::uint64_t>& word, std::uint64_t decision) {
  std::uint64_t present = word.load(std::memory_order_acquire);
  while (Verdict::unpack(present).attempt < Verdict::unpack(decision).attempt &&
         !word.compare_exchange_weak(present, decision, std::memory_order_acq_rel)) {
  }
}

std::optional<Verdict> decided(const std::atomic<std::uint64_t>& word, std::uint64_t attempt) {
  const Verdict decision = Verdict::unpack(word.load(std::memory_order_acquire));
  return decision.attempt == attempt ? std::optional(decision) : std::nullopt;
}

}  // namespace

ShrinkMeeting::ShrinkMeeting(const Communicator& communicator)
    : communicator_(communicator), region_(communicator.region()), own_(region_.shrink(communicator.rank())) {
  // Equal on all ranks: none starts the next attempt before all have arrived at this one, or one has refused it.
  attempt_ = own_.arrived.load(std::memory_order_relaxed) + 1;
}

bool ShrinkMeeting::is_gone(std::uint32_t rank) const {
  return rank != communicator_.rank() && (has_left(region_, rank) || region_.life(rank).is_lost());
}

Status ShrinkMeeting::refusal_of(std::uint32_t rank) const {
  return {
      Code::invalid_usage,
      fmt::format("rank {} cannot take part in shrinking the communicator: {}", rank, communicator_.reason_of(rank)),
      static_cast<int>(rank)};
}

void ShrinkMeeting::refuse(std::string_view why) {
  communicator_.say_why_not(why);
  own_.refused.store(attempt_, std::memory_order_release);
  own_.arrived.store(attempt_, std::memory_order_release);
}

void ShrinkMeeting::give_up(std::string_view why) {
  communicator_.say_why_not(why);
  own_.failed.store(attempt_, std::memory_order_release);
  own_.refused.store(attempt_, std::memory_order_release);
}

template <typename Missing>
Status ShrinkMeeting::pause(const Missing& missing) {
  const auto waited = Clock::now() - begun_;
  const Settings& settings = communicator_.settings();
  const bool is_late = settings.timeout.count() > 0 && waited >= settings.timeout;
  const bool warns = !has_warned_ && settings.late_warning.count() > 0 && waited >= settings.late_warning;
  if (is_late || warns) {
    const std::string words = missing();
    if (is_late)
      return {Code::timeout, fmt::format("{}; rank {} has waited {} (TUTTI_TIMEOUT)", words, communicator_.rank(),
                                         to_text(Nanos(settings.timeout.count())))};
    has_warned_ = true;
    communicator_.log().warn(LogSubsystem::init, "shrinking the communicator for {:.1f} s: {}",
                             std::chrono::duration<double>(waited).count(), words);
  }
  if (go_on_with_thread() || nap_.count() == 0) {
    nap_ = kFirstNap;
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(nap_);
    nap_ = std::min(2 * nap_, kLongestNap);
  }
  return {};
}

Result<SplitGroup> ShrinkMeeting::meet() {
  SplitGroup group;
  group.number = attempt_;
  own_.arrived.store(attempt_, std::memory_order_release);
  while (true) {
    if (const auto decision = decided(region_.shrink_decision(), attempt_))
      return follow(std::move(group), decision->rank);
    std::vector<int> missing;
    std::uint32_t leader = communicator_.rank();
    for (std::uint32_t rank = 0; rank < communicator_.num_ranks(); ++rank) {
      const shm::ShrinkLines& line = region_.shrink(rank);
      // Acquire: what it says beside that is there.
      if (line.arrived.load(std::memory_order_acquire) < attempt_) {
        if (!is_gone(rank)) missing.push_back(static_cast<int>(rank));
        continue;
      }
      if (line.refused.load(std::memory_order_acquire) >= attempt_) return refusal_of(rank);
      if (!is_gone(rank)) leader = std::min(leader, rank);
    }
    if (missing.empty() && leader == communicator_.rank()) {
      if (Status status = propose(group); !status.ok()) {
        refuse(status.message());
        return status;
      }
      continue;
    }
    const Status status = pause([&] {
      if (missing.empty()) return fmt::format("rank {} does not go on", leader);
      return fmt::format("{} {} not called tuttiCommShrink", rank_list(missing), missing.size() == 1 ? "has" : "have");
    });
    if (!status.ok()) {
      refuse(status.message());
      return status;
    }
  }
}

Status ShrinkMeeting::propose(SplitGroup& group) {
  Result<std::unique_ptr<RendezvousServer>> server = RendezvousServer::start({.most_generations = 1});
  if (!server.ok()) return server.status();
  group.server = std::move(*server);
  own_.members.fill(0);
  for (std::uint32_t rank = 0; rank < communicator_.num_ranks(); ++rank)
    if (region_.shrink(rank).arrived.load(std::memory_order_acquire) >= attempt_ && !is_gone(rank))
      own_.members[rank / 64] |= std::uint64_t{1} << rank % 64;
  own_.id = group.server->id().to_bytes();
  decide(region_.shrink_decision(), Verdict{attempt_, kProposed, communicator_.rank()}.pack());
  return {};
}

Result<SplitGroup> ShrinkMeeting::follow(SplitGroup group, std::uint32_t leader) const {
  const shm::ShrinkLines& line = region_.shrink(leader);
  for (std::uint32_t rank = 0; rank < communicator_.num_ranks(); ++rank) {
    if ((line.members[rank / 64] >> rank % 64 & 1) == 0) continue;
    if (rank == communicator_.rank()) group.rank = static_cast<int>(group.members.size());
    group.members.push_back(rank);
  }
  if (std::find(group.members.begin(), group.members.end(), communicator_.rank()) == group.members.end())
    return Status(Code::internal, fmt::format("rank {} has left this rank out of the new communicator", leader));
  group.num_ranks = static_cast<int>(group.members.size());
  Result<UniqueId> id = UniqueId::from_bytes(line.id);
  if (!id.ok()) return id.status();
  group.id = *id;
  return group;
}

Status ShrinkMeeting::why_in_vain(const SplitGroup& group) const {
  for (const std::uint32_t rank : group.members) {
    if (is_gone(rank))
      return {Code::rank_lost, fmt::format("rank {} was lost: its process ended", rank), static_cast<int>(rank)};
    if (rank != communicator_.rank() && region_.shrink(rank).failed.load(std::memory_order_acquire) >= attempt_)
      return {Code::system,
              fmt::format("rank {} could not join the new communicator: {}", rank, communicator_.reason_of(rank)),
              static_cast<int>(rank)};
  }
  return {};
}

std::uint64_t ShrinkMeeting::outcome_of(const SplitGroup& group) const {
  std::optional<std::uint32_t> gone;
  std::optional<std::uint32_t> failed;
  bool have_all_joined = true;
  for (const std::uint32_t rank : group.members) {
    const shm::ShrinkLines& line = region_.shrink(rank);
    have_all_joined = have_all_joined && line.joined.load(std::memory_order_acquire) >= attempt_;
    if (line.failed.load(std::memory_order_acquire) >= attempt_) failed = failed.value_or(rank);
    if (is_gone(rank)) gone = rank;
  }
  if (have_all_joined) return Verdict{attempt_, kMade, 0}.pack();
  // The failure may be a consequence of that loss.
  if (gone) return Verdict{attempt_, kAgain, *gone}.pack();
  return failed ? Verdict{attempt_, kFailed, *failed}.pack() : 0;
}

Result<ShrinkOutcome> ShrinkMeeting::settle(const SplitGroup& group, const Status& joined) {
  std::atomic<std::uint64_t>& outcome = region_.shrink_outcome();
  if (joined.ok()) {
    own_.joined.store(attempt_, std::memory_order_release);
  } else {
    communicator_.say_why_not(joined.message());
    own_.failed.store(attempt_, std::memory_order_release);
  }
  while (true) {
    if (const auto decision = decided(outcome, attempt_)) {
      if (decision->what != kFailed) return static_cast<ShrinkOutcome>(decision->what);
      if (!joined.ok()) return joined;
      return Status(Code::system,
                    fmt::format("rank {} could not join the new communicator: {}", decision->rank,
                                communicator_.reason_of(decision->rank)),
                    static_cast<int>(decision->rank));
    }
    if (const std::uint64_t word = outcome_of(group); word != 0) {
      decide(outcome, word);
      continue;
    }
    const Status status = pause([] { return "not all have joined the new communicator"; });
    if (status.ok()) continue;
    communicator_.say_why_not(status.message());
    own_.failed.store(attempt_, std::memory_order_release);
    decide(outcome, Verdict{attempt_, kFailed, communicator_.rank()}.pack());
  }
}

}  // namespace tutti
