// SPDX-License-Identifier: Apache-2.0
// What a rank does in a trial: it makes its communicators, calls everything the API has in an order that all ranks
// share, and says what it saw when that ended. Only the C API is used.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "loss/trial.hpp"
#include "loss/turn.hpp"

namespace tutti::test {

namespace {

constexpr std::size_t kMostCount = 1 << 20;  // elements of a buffer: 4 MB

struct Member {
  tuttiComm_t comm = nullptr;
  std::vector<int> ranks;  // of the trial, by their number here
  std::vector<std::int32_t> ordinary;
  std::int32_t* symmetric = nullptr;
};

void wait_for(const std::atomic<int>& flag) {
  while (flag.load() == 0) std::this_thread::sleep_for(Microseconds(50));
}

class Life {
 public:
  Life(Shared& shared, const Trial& trial, int rank)
      : shared_(shared), trial_(trial), rank_(rank), told_(shared.told[static_cast<std::size_t>(rank)]) {}

  void live() {
    wait_for(rank_ == trial_.last ? shared_.last_goes : shared_.go);
    told_.in_init = !join_all();
    if (!told_.in_init) {
      std::thread aborting;
      if (trial_.fault == Fault::abort && rank_ == trial_.victim)
        aborting = std::thread([this] { abort_when_asked(); });
      if (call_all() && trial_.turns > 0) free_all();
      if (aborting.joinable()) aborting.join();
      shared_.ended.fetch_add(1);
      wait_for_others();
      if (told_.failed.result != tuttiSuccess) look_around();
    }
    for (Member& member : members_) tuttiCommDestroy(member.comm);
    told_.gone = Clock::now();
    told_.finished.store(1);
  }

 private:
  Member& at(Group group) { return members_[static_cast<std::size_t>(group)]; }

  // Keeps what a call has said; true where it is done.
  static bool keep(Failed& failed, Group group, tuttiResult_t result) {
    if (result == tuttiSuccess) return true;
    failed.when = Clock::now();
    failed.result = result;
    failed.group = group;
    std::string(tuttiGetLastError(nullptr)).copy(failed.words.data(), kMostWords - 1);
    return false;
  }

  bool join_all() {
    for (const Group group : {Group::all, Group::reversed, Group::survivors}) {
      if (group != Group::all && trial_.is_of_joining()) break;
      Member& member = at(group);
      for (int rank = 0; rank < kRanks; ++rank)
        if (group != Group::survivors || rank != trial_.victim) member.ranks.push_back(rank);
      if (group == Group::reversed) std::reverse(member.ranks.begin(), member.ranks.end());
      const auto number = std::find(member.ranks.begin(), member.ranks.end(), rank_);
      if (number == member.ranks.end()) continue;
      tuttiUniqueId id;
      const auto& raw = shared_.ids[static_cast<std::size_t>(group)];
      std::copy(raw.begin(), raw.end(), id.internal);
      if (!keep(told_.failed, group,
                tuttiCommInitRank(&member.comm, static_cast<int>(member.ranks.size()), id,
                                  static_cast<int>(number - member.ranks.begin()))))
        return false;
    }
    return true;
  }

  bool call_all() {
    for (const Group group : {Group::all, Group::reversed}) {
      if (at(group).comm == nullptr) continue;
      void* memory = nullptr;
      const std::size_t bytes = 2 * kMostCount * sizeof(std::int32_t);
      if (!keep(told_.failed, group, tuttiMemAlloc(&memory, bytes, at(group).comm))) return false;
      at(group).symmetric = static_cast<std::int32_t*>(memory);
      at(group).ordinary.resize(2 * kMostCount);
    }
    std::minstd_rand random(trial_.seed);  // the same on all ranks
    for (int turns = 1; trial_.turns == 0 || turns <= trial_.turns; ++turns) {
      const Turn turn = make_turn(random, kRanks, kMostCount);
      const bool is_reversed = random() % 3 == 0 && !trial_.is_of_joining();
      if (!do_turn(turn, is_reversed ? Group::reversed : Group::all, turns)) return false;
      told_.turns.store(turns);
    }
    return true;
  }

  bool do_turn(const Turn& turn, Group group, int turns) {
    Member& member = at(group);
    const Caller caller{.num_ranks = kRanks, .rank = number_in(group, rank_), .turn = turns};
    std::int32_t* in = turn.symmetric ? member.symmetric : member.ordinary.data();
    std::int32_t* out = turn.in_place && turn.can_be_in_place() ? in : in + kMostCount;
    fill(turn, caller, in);
    if (!keep(told_.failed, group, call(turn, in, out, member.comm))) return false;
    if (!is_right(turn, caller, out) && told_.wrong_turn < 0) told_.wrong_turn = turns;
    return true;
  }

  void free_all() {
    for (const Group group : {Group::all, Group::reversed})
      if (!keep(told_.failed, group, tuttiMemFree(at(group).symmetric, at(group).comm))) return;
  }

  // Who has an error in one communicator leaves the others too, which is an error to those who are still at work there.
  void wait_for_others() const {
    const int others = trial_.fault == Fault::abort ? kRanks : kRanks - 1;
    const auto until = Clock::now() + std::chrono::seconds(5);
    while (shared_.ended.load() < others && Clock::now() < until) std::this_thread::sleep_for(Microseconds(50));
  }

  // Once the first error is there: it stays, the other communicator has lost the same rank, and one without it works.
  void look_around() {
    told_.stays_the_same = stays_the_same();
    const Group other = told_.failed.group == Group::all ? Group::reversed : Group::all;
    told_.has_asked_other = trial_.asks_other && (trial_.fault != Fault::stop || all_are_as_far());
    if (told_.has_asked_other) {
      if (!all_are_as_far()) wait_for_error(at(other));
      static_cast<void>(keep(told_.other, other, tuttiBarrier(at(other).comm)));
    }
    // Who leaves may be further than others, and then there is nothing that all of them would still call.
    told_.survivors_are_right = rank_ == trial_.victim || trial_.moment != Moment::calling || survivors_are_right();
  }

  // Of a rank that is stopped, ranks hear only as they wait for it, and wait together only in the same call: one that
  // has waited for it earlier than others has done fewer.
  [[nodiscard]] bool all_are_as_far() const {
    for (int rank = 0; rank < kRanks; ++rank)
      if (rank != trial_.victim && shared_.told[static_cast<std::size_t>(rank)].turns.load() != told_.turns.load())
        return false;
    return true;
  }

  // Where ranks have done unlike numbers of calls, what they ask there next are unlike calls, which may be seen sooner
  // than the loss. It is told without being asked.
  static void wait_for_error(const Member& member) {
    const auto until = Clock::now() + std::chrono::seconds(1);
    tuttiResult_t result = tuttiSuccess;
    while (tuttiCommGetAsyncError(member.comm, &result) == tuttiSuccess && result == tuttiSuccess &&
           Clock::now() < until)
      std::this_thread::sleep_for(Microseconds(50));
  }

  bool stays_the_same() {
    const Member& member = at(told_.failed.group);
    const auto same = [&](tuttiResult_t result) {
      return result == told_.failed.result &&
             std::string(tuttiGetLastError(member.comm)).substr(0, kMostWords - 1) == told_.failed.words.data();
    };
    for (int repeat = 0; repeat < 3; ++repeat) {
      std::array<float, 2> value{};
      void* memory = nullptr;
      tuttiResult_t async_error = tuttiSuccess;
      if (!same(tuttiAllReduce(value.data(), value.data(), 2, tuttiFloat32, tuttiMax, member.comm))) return false;
      if (!same(tuttiMemAlloc(&memory, 4096, member.comm))) return false;
      if (tuttiCommGetAsyncError(member.comm, &async_error) != tuttiSuccess || async_error != told_.failed.result)
        return false;
    }
    return true;
  }

  bool survivors_are_right() {
    const Member& member = at(Group::survivors);
    for (int repeat = 0; repeat < 5; ++repeat) {
      int value = rank_;
      if (tuttiAllReduce(&value, &value, 1, tuttiInt32, tuttiSum, member.comm) != tuttiSuccess) return false;
      if (value != kRanks * (kRanks - 1) / 2 - trial_.victim) return false;
      if (tuttiBarrier(member.comm) != tuttiSuccess) return false;
    }
    return true;
  }

  void abort_when_asked() {
    wait_for(shared_.abort_now);
    for (const Group group : {Group::all, Group::reversed}) static_cast<void>(tuttiCommAbort(at(group).comm));
  }

  Shared& shared_;
  const Trial& trial_;
  int rank_;
  Told& told_;
  std::array<Member, kGroups> members_;
};

}  // namespace

void be_rank(Shared& shared, const Trial& trial, int rank, int log) {
  const auto set = [](const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); };
  if (trial.timeout.count() > 0) set("TUTTI_TIMEOUT", std::to_string(trial.timeout.count()) + "ms");
  if (trial.late_warning.count() > 0) set("TUTTI_LATE_WARNING", std::to_string(trial.late_warning.count()) + "ms");
  if (trial.attached) set("TUTTI_ATTACH_MIN", "1K");
  if (trial.pushed) {
    set("TUTTI_BROADCAST_ALGORITHM", "push_pull");
    set("TUTTI_REDUCE_ALGORITHM", "push_pull");
  }
  if (trial.spans_hosts) set("TUTTI_HOST_ID", rank % 2 == 0 ? "even" : "odd");
  dup2(log, STDERR_FILENO);
  Life(shared, trial, rank).live();
  _exit(0);
}

}  // namespace tutti::test
