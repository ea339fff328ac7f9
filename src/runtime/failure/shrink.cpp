// SPDX-License-Identifier: Apache-2.0
#include "runtime/failure/shrink.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
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

// Of Region::shrink_decision(): members are proposed by that rank, or it refuses.
constexpr std::uint32_t kProposed = 1;
constexpr std::uint32_t kRefused = 2;
// Of Region::shrink_outcome(). Late: that rank has waited too long for others.
constexpr std::uint32_t kMade = static_cast<std::uint32_t>(ShrinkOutcome::made);
constexpr std::uint32_t kAgain = static_cast<std::uint32_t>(ShrinkOutcome::again);
constexpr std::uint32_t kFailed = 3;
constexpr std::uint32_t kLate = 4;

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

std::string have_not(const std::vector<int>& ranks, std::string_view done) {
  return fmt::format("{} {} not {}", rank_list(ranks), ranks.size() == 1 ? "has" : "have", done);
}

}  // namespace

struct ShrinkMeeting::Arrivals {
  std::vector<int> missing;
  std::optional<std::uint32_t> refusing;
  std::uint32_t leader = 0;  // the first that is there
};

ShrinkMeeting::ShrinkMeeting(const Communicator& communicator, Now now)
    : communicator_(communicator),
      region_(communicator.region()),
      own_(region_.shrink(communicator.rank())),
      now_(std::move(now)),
      begun_(now_()) {
  // Equal on all ranks: none starts the next attempt before all have arrived at this one, or one has refused it.
  attempt_ = own_.arrived.load(std::memory_order_relaxed) + 1;
  group_.number = attempt_;
}

ShrinkMeeting::~ShrinkMeeting() {
  if (!has_lost_patience_) tell_no_wait(region_, communicator_.rank());
}

void ShrinkMeeting::tell_wait() const { tell_wait_in(region_, communicator_.rank(), OuterCall::shrink); }

bool ShrinkMeeting::is_gone(std::uint32_t rank) const {
  return rank != communicator_.rank() && (has_left(region_, rank) || region_.life(rank).is_lost());
}

// Acquire: what it says beside that is there.
bool ShrinkMeeting::is_missing(std::uint32_t rank) const {
  return region_.shrink(rank).arrived.load(std::memory_order_acquire) < attempt_ && !is_gone(rank);
}

bool ShrinkMeeting::have_all_arrived() const {
  for (std::uint32_t rank = 0; rank < communicator_.num_ranks(); ++rank)
    if (is_missing(rank)) return false;
  return true;
}

// Refusals last: of a rank that refuses while another is missing, everyone who sees that other arrive sees the refusal.
// So either somebody proposes, or somebody returns a refusal without having decided it, and never both.
ShrinkMeeting::Arrivals ShrinkMeeting::look_at_arrivals() const {
  Arrivals seen;
  seen.leader = communicator_.rank();
  for (std::uint32_t rank = 0; rank < communicator_.num_ranks(); ++rank) {
    if (is_missing(rank))
      seen.missing.push_back(static_cast<int>(rank));
    else if (!is_gone(rank))
      seen.leader = std::min(seen.leader, rank);
  }
  // Partner of object() and give_up().
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::uint32_t rank = communicator_.num_ranks(); rank-- > 0;)
    if (region_.shrink(rank).refused.load(std::memory_order_acquire) >= attempt_) seen.refusing = rank;
  return seen;
}

Status ShrinkMeeting::refusal_of(std::uint32_t rank) const {
  if (rank == communicator_.rank()) return objection_;
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

// Of a rank that has arrived. It still follows if members are proposed first.
void ShrinkMeeting::object(Status why) {
  communicator_.say_why_not(why.message());
  objection_ = std::move(why);
  own_.refused.store(attempt_, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void ShrinkMeeting::give_up(std::string_view why) {
  communicator_.say_why_not(why);
  own_.failed.store(attempt_, std::memory_order_release);
  own_.refused.store(attempt_, std::memory_order_seq_cst);
  own_.arrived.store(attempt_, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  // While a rank is missing, a slow rank may still have to read the decision of the attempt before. Nobody proposes.
  if (!have_all_arrived()) return;
  decide(region_.shrink_decision(), Verdict{attempt_, kRefused, communicator_.rank()}.pack());
  const auto decision = decided(region_.shrink_decision(), attempt_);
  if (decision && decision->what == kProposed)
    decide(region_.shrink_outcome(), Verdict{attempt_, kFailed, communicator_.rank()}.pack());
}

template <typename Missing>
Status ShrinkMeeting::check_patience(const Missing& missing) {
  const auto waited = now_() - begun_;
  const Settings& settings = communicator_.settings();
  const bool is_late = settings.timeout.count() > 0 && waited >= settings.timeout;
  const bool warns = !has_warned_ && settings.late_warning.count() > 0 && waited >= settings.late_warning;
  if (!is_late && !warns) return {};
  const std::string words = missing();
  has_lost_patience_ = is_late;
  if (is_late)
    return {Code::timeout, fmt::format("{}; rank {} has waited {} (TUTTI_TIMEOUT)", words, communicator_.rank(),
                                       to_text(Nanos(settings.timeout.count())))};
  has_warned_ = true;
  communicator_.log().warn(LogSubsystem::init, "shrinking the communicator for {:.1f} s: {}",
                           std::chrono::duration<double>(waited).count(), words);
  return {};
}

void ShrinkMeeting::nap() {
  if (go_on_with_thread() || nap_.count() == 0) {
    nap_ = kFirstNap;
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(nap_);
    nap_ = std::min(2 * nap_, kLongestNap);
  }
}

Result<SplitGroup> ShrinkMeeting::meet() {
  while (true) {
    if (std::optional<Result<SplitGroup>> met = step_to_meet()) return std::move(*met);
    if (ripe_ == 0) nap();
  }
}

std::optional<Result<SplitGroup>> ShrinkMeeting::step_to_meet() {
  tell_wait();
  if (!std::exchange(has_arrived_, true)) {
    own_.arrived.store(attempt_, std::memory_order_release);
    return std::nullopt;
  }
  if (ripe_ != 0) decide(region_.shrink_decision(), std::exchange(ripe_, 0));
  if (const auto decision = decided(region_.shrink_decision(), attempt_))
    return decision->what == kProposed ? follow(decision->rank) : refusal_of(decision->rank);
  const Arrivals seen = look_at_arrivals();
  if (seen.refusing) {
    if (!seen.missing.empty()) return refusal_of(*seen.refusing);
    ripe_ = Verdict{attempt_, kRefused, *seen.refusing}.pack();
    return std::nullopt;
  }
  Status status;
  if (seen.missing.empty() && seen.leader == communicator_.rank()) {
    status = propose();
  } else {
    status = check_patience([&] {
      if (seen.missing.empty()) return fmt::format("rank {} does not go on", seen.leader);
      return have_not(seen.missing, "called tuttiCommShrink");
    });
  }
  if (!status.ok()) object(std::move(status));
  return std::nullopt;
}

Status ShrinkMeeting::propose() {
  TUTTI_TRY_ASSIGN(group_.server, RendezvousServer::start({.most_generations = 1}));
  own_.members.fill(0);
  for (std::uint32_t rank = 0; rank < communicator_.num_ranks(); ++rank)
    if (region_.shrink(rank).arrived.load(std::memory_order_acquire) >= attempt_ && !is_gone(rank))
      own_.members[rank / 64] |= std::uint64_t{1} << rank % 64;
  own_.id = group_.server->id().to_bytes();
  ripe_ = Verdict{attempt_, kProposed, communicator_.rank()}.pack();
  return {};
}

Result<SplitGroup> ShrinkMeeting::follow(std::uint32_t leader) {
  SplitGroup group = std::move(group_);
  const shm::ShrinkLines& line = region_.shrink(leader);
  for (std::uint32_t rank = 0; rank < communicator_.num_ranks(); ++rank) {
    if ((line.members[rank / 64] >> rank % 64 & 1) == 0) continue;
    if (rank == communicator_.rank()) group.rank = static_cast<int>(group.members.size());
    group.members.push_back(rank);
  }
  if (std::find(group.members.begin(), group.members.end(), communicator_.rank()) == group.members.end())
    return Status(Code::internal, fmt::format("rank {} has left this rank out of the new communicator", leader));
  group.num_ranks = static_cast<int>(group.members.size());
  TUTTI_TRY_ASSIGN(group.id, UniqueId::from_bytes(line.id));
  return group;
}

Status ShrinkMeeting::could_not_join(std::uint32_t rank) const {
  return {Code::system,
          fmt::format("rank {} could not join the new communicator: {}", rank, communicator_.reason_of(rank)),
          static_cast<int>(rank)};
}

// What is decided says more than a failure that may be its consequence, and a failure more than that its rank has left.
Status ShrinkMeeting::why_in_vain(const SplitGroup& group) const {
  tell_wait();
  const auto decision = decided(region_.shrink_outcome(), attempt_);
  if (decision && decision->what == kLate) return {Code::timeout, communicator_.reason_of(decision->rank)};
  if (decision && decision->what == kFailed) return could_not_join(decision->rank);
  for (const std::uint32_t rank : group.members)
    if (rank != communicator_.rank() && region_.shrink(rank).failed.load(std::memory_order_acquire) >= attempt_)
      return could_not_join(rank);
  for (const std::uint32_t rank : group.members)
    if (is_gone(rank))
      return {Code::rank_lost,
              has_left(region_, rank) ? fmt::format("rank {} has left the communicator", rank)
                                      : fmt::format("rank {} was lost: its process ended", rank),
              static_cast<int>(rank)};
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

void ShrinkMeeting::say_what_joining_gave(const Status& joined) {
  begun_ = now_();  // the members that were late to meet() may take their time now
  if (joined.ok()) {
    own_.joined.store(attempt_, std::memory_order_release);
  } else {
    has_lost_patience_ = joined.code() == Code::timeout;
    communicator_.say_why_not(joined.message());
    own_.failed.store(attempt_, std::memory_order_release);
  }
}

Result<ShrinkOutcome> ShrinkMeeting::settle(const SplitGroup& group, const Status& joined) {
  while (true) {
    if (std::optional<Result<ShrinkOutcome>> settled = step_to_settle(group, joined)) return std::move(*settled);
    if (ripe_ == 0) nap();
  }
}

std::optional<Result<ShrinkOutcome>> ShrinkMeeting::step_to_settle(const SplitGroup& group, const Status& joined) {
  tell_wait();
  std::atomic<std::uint64_t>& outcome = region_.shrink_outcome();
  if (!std::exchange(has_said_joined_, true)) {
    say_what_joining_gave(joined);
    return std::nullopt;
  }
  if (ripe_ != 0) decide(outcome, std::exchange(ripe_, 0));
  if (const auto decision = decided(outcome, attempt_)) {
    if (decision->what == kLate) return Status(Code::timeout, communicator_.reason_of(decision->rank));
    if (decision->what != kFailed) return static_cast<ShrinkOutcome>(decision->what);
    if (!joined.ok()) return joined;
    return could_not_join(decision->rank);
  }
  ripe_ = outcome_of(group);
  if (ripe_ != 0) return std::nullopt;
  const Status status = check_patience([&] {
    std::vector<int> missing;
    for (const std::uint32_t rank : group.members)
      if (region_.shrink(rank).joined.load(std::memory_order_acquire) < attempt_)
        missing.push_back(static_cast<int>(rank));
    return have_not(missing, "joined the new communicator");
  });
  if (!status.ok()) {
    communicator_.say_why_not(status.message());
    ripe_ = Verdict{attempt_, kLate, communicator_.rank()}.pack();
  }
  return std::nullopt;
}

}  // namespace tutti
