// SPDX-License-Identifier: Apache-2.0
#include "runtime/execution/executor.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>

#include <sys/mman.h>
#include <unistd.h>

namespace tutti {

namespace {

// Between two stores of a peer, which may lose its core there.
constexpr std::chrono::milliseconds kPatienceWithPosts{500};
// So many operations further on a rank may be for its description of this one to be there still.
constexpr std::uint64_t kAhead = shm::kKeptDescriptions - 2;

}  // namespace

Executor::Executor(const shm::Region& region, std::uint32_t rank, shm::Waiter& waiter, const MachineProfile& profile,
                   StoresChoice stores, const Spreads& spreads, transport::Endpoint* endpoint)
    : region_(region),
      profile_(profile),
      rank_(rank),
      waiter_(waiter),
      endpoint_(endpoint),
      messages_(region, rank, endpoint, transport::Traffic::schedules, spreads.messages),
      history_(region.history(rank)),
      slot_busy_(region.shape().num_slots(), 0),
      slot_room_(region.shape().staging_room()),
      spread_(spreads.staging),
      stores_(stores, profile, region.shape().num_slots()),
      spins_(waiter.policy().crowded ? 0 : waiter.policy().eager) {
  const std::uint32_t ranks = region.shape().num_ranks;
  own_call_ = &region.call(rank);
  own_finished_ = &region.finished(rank);
  for (std::uint64_t line = 0; line < shm::kPostLines; ++line) own_lines_[line] = &region.post_line(rank, line);
  seen_posts_.resize(ranks, 0);
  // Steps with more ends are rare, and make room for themselves. Of thousands of ranks most are on other hosts.
  sources_.resize(region.shape().num_local());
  destinations_.resize(region.shape().num_local());
}

bool Executor::everyone_finished(std::uint64_t count) {
  if (known_finished_ >= count) return true;
  std::uint64_t least = ~std::uint64_t{0};
  const bool has_hosts = region_.shape().has_hosts();
  for (std::uint32_t peer = 0; peer < region_.shape().num_ranks; ++peer) {
    if (peer == rank_ || (has_hosts && !region_.is_here(peer))) continue;
    // Acquire: partner of finish_rounds().
    least = std::min(least, region_.finished(peer).value.load(std::memory_order_acquire));
  }
  known_finished_ = std::max(known_finished_, least);
  return known_finished_ >= count;
}

std::optional<std::uint64_t> Executor::differing_post(std::uint32_t rank, std::uint64_t value,
                                                      std::uint64_t description) const {
  const shm::FlagLine& line = region_.post_line(rank, value);
  // Acquire: the sequence is looked at after the description.
  const std::uint64_t theirs = line.description.load(std::memory_order_acquire);
  if (theirs == description) return std::nullopt;
  // The peer's call tells, unless it is further on than that is kept.
  const auto differing_call = [&]() -> std::optional<std::uint64_t> {
    const auto called = call_of(rank, operations_);
    return called && travelling(*called) != description ? std::optional(travelling(*called)) : std::nullopt;
  };
  if (const auto called = differing_call()) return called;
  if (earlier_difference(rank)) return theirs;
  // The peer may be about to use the line for its next post, whose description is stored before its number. Then the
  // number moves on soon; if it stays, the calls do differ, or those before them.
  const auto patience = std::chrono::steady_clock::now() + kPatienceWithPosts;
  while (line.sequence.load(std::memory_order_acquire) == value) {
    if (region_.is_broken() || std::chrono::steady_clock::now() >= patience) return theirs;
    std::this_thread::yield();
  }
  return differing_call();
}

End Executor::end_of(shm::WaitEnd end) const {
  switch (end) {
    case shm::WaitEnd::ready: return End::done;
    case shm::WaitEnd::broken: return End::broken;
    case shm::WaitEnd::timed_out: return End::timed_out;
    case shm::WaitEnd::given_up: return End::mismatched;
  }
  return End::broken;
}

// A description of the present call as it travels, and back.
std::uint64_t Executor::travelling(std::uint64_t description) const {
  return history_.noted_operation() == operations_ ? history_.changed_when_noted(description)
                                                   : history_.changed(description);
}

std::optional<std::uint64_t> Executor::call_of(std::uint32_t rank, std::uint64_t operation) const {
  if (rank == rank_) return own_call(operation);
  if (!region_.is_here(rank)) return std::nullopt;
  const shm::CallLine& line = region_.call(rank);
  const auto is_near = [&] {
    // Acquire: partner of begin().
    const std::uint64_t number = line.operation.load(std::memory_order_acquire);
    return number >= operation && number <= operation + kAhead;
  };
  if (!is_near()) return std::nullopt;
  const std::uint64_t description =
      line.description[operation % shm::kKeptDescriptions].load(std::memory_order_acquire);
  return is_near() ? std::optional(description) : std::nullopt;
}

End Executor::mismatch_with(std::uint32_t rank, std::uint64_t theirs) {
  mismatch_ = {rank, operations_, call_of(rank_, operations_), travelling(theirs)};
  // Of ranks on other hosts no more is known.
  if (!region_.is_here(rank)) return End::mismatched;
  // Where earlier calls differed, that word is none.
  if (call_of(rank, operations_) == mismatch_.theirs) return End::mismatched;
  if (const auto earlier = find_difference(region_.history(rank_), region_.history(rank))) {
    const std::uint64_t operation = earlier->operation;
    mismatch_ = {rank, operation, earlier->ours ? earlier->ours : call_of(rank_, operation),
                 earlier->theirs ? earlier->theirs : call_of(rank, operation)};
  }
  return End::mismatched;
}

// The other rank's call is looked at as long as its description is kept, and this rank's own where the other is behind.
bool Executor::persist() {
  for (std::uint32_t peer = 0; peer < region_.shape().num_ranks; ++peer) {
    if (!region_.is_here(peer)) continue;
    const std::uint64_t number = region_.call(peer).operation.load(std::memory_order_acquire);
    const std::uint64_t compared = std::min(number, operations_);
    const auto ours = call_of(rank_, compared);
    const auto theirs = call_of(peer, compared);
    if (compared == 0 || !ours || !theirs) continue;
    if (ours != theirs) {
      mismatch_ = {peer, compared, ours, theirs};
      return false;
    }
    if (const auto earlier = earlier_difference(peer)) {
      mismatch_ = {peer, earlier->operation, earlier->ours, earlier->theirs};
      return false;
    }
  }
  return true;
}

// Of two that are in the same call, which wait for each other for ever where they have come to it differently. Who is
// in a call notes nothing of those before it.
std::optional<HistoryDifference> Executor::earlier_difference(std::uint32_t rank) const {
  const auto is_here = [&] { return region_.call(rank).operation.load(std::memory_order_acquire) == operations_; };
  if (!is_here()) return std::nullopt;
  const auto earlier = find_difference(region_.history(rank_), region_.history(rank));
  return is_here() && earlier && earlier->operation < operations_ ? earlier : std::nullopt;
}

// The pages of what is spread over most slots, at once: otherwise each of the first calls would wait for some.
void Executor::get_spread() {
  has_spread_ = true;
#ifdef MADV_POPULATE_WRITE
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uint32_t depth = region_.shape().staging_depth;
  for (std::uint64_t slot = 0; slot < depth; ++slot) {
    const auto begin = reinterpret_cast<std::uintptr_t>(staging_slot(rank_, slot));
    // Where it fails, as on older systems, they come one by one.
    madvise(reinterpret_cast<void*>(begin / page * page), begin % page + std::min(spread_ / depth, slot_room_),
            MADV_POPULATE_WRITE);
  }
#endif
}

void Executor::begin_call(Call& call) {
  begin(call.described);
  call.description = history_.changed(call.described);
  if (call.may_go_unheard) history_.note(operations_, call.described);
  call.post_base = posts_;
  call.round_base = rounds_;
  call.expose_base = exposes_;
  if (!has_spread_ && call.places.number > 1) [[unlikely]]
    get_spread();
  waiter_.expect_near_posts(call.is_brief);
}

void Executor::end_call(const Call& call) {
  posts_ += call.rounds * call.num_posts();
  rounds_ += call.rounds;
  exposes_ += call.rounds * call.num_exposes();
}

// The general walker posts without asking for each line, so payloads of earlier operations must have been read.
bool Executor::all_lines_are_free() {
  return everyone_finished(*std::max_element(std::begin(line_busy_), std::end(line_busy_)));
}

End Executor::wait_for_missing() {
  const Missing missing = missing_;
  switch (missing.kind) {
    case Missing::Kind::post: {
      // Acquire: partner of publish_post() and store_flag(). What is near costs no more than a loop of few
      // instructions.
      const shm::FlagLine& line = region_.post_line(missing.rank, missing.number);
      for (std::uint32_t look = 0; look < spins_; ++look) {
        if (line.sequence.load(std::memory_order_acquire) >= missing.number) return End::done;
        relax();
      }
      return end_of(waiter_.until_posted(missing.rank, missing.number));
    }
    case Missing::Kind::finished: return end_of(waiter_.until([&] { return everyone_finished(missing.number); }));
  }
  return End::done;
}

void Executor::start(Call& call, const Lowered* list) {
  begin_call(call);
  started_ = {.call = &call, .list = list, .state = {}, .walks = false};
  if (list != nullptr) started_.state.next = list->num_posts;
}

End Executor::walk(bool may_wait) {
  const Call& call = *started_.call;
  if (started_.list != nullptr) return walk_list(call, *started_.list, may_wait);
  const End end = call.plan->num_lanes() == 1 ? walk_lane(call, may_wait) : walk_general(call, may_wait);
  if (end != End::pending) started_.call = nullptr;
  return end;
}

}  // namespace tutti
