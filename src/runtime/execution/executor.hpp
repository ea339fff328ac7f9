// SPDX-License-Identifier: Apache-2.0
// The executor: walks plans on shared memory. One belongs to one communicator of one rank, and is used by one thread
// at a time; it keeps what outlives a call: how far each connection, staging slot and flag has come.
//
// Two walkers and the small path, one contract (docs/design/executor.md): programs of direct steps alone run as a flat
// list (lowered.hpp), all others lane by lane through meaning.hpp, and small all-reduces without a call at all. Ranks
// may walk the same schedule with different walkers: what they say to each other is the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/execution/slot_stores.hpp"
#include "runtime/failure/history.hpp"
#include "runtime/plan/call.hpp"
#include "runtime/plan/lowered.hpp"
#include "transport/message.hpp"
#include "transport/shm/inline_payload.hpp"
#include "transport/shm/region.hpp"
#include "transport/shm/waiter.hpp"

namespace tutti {

class Machine;

enum class End : std::uint8_t {
  done,
  broken,  // the region says why
  timed_out,
  mismatched,  // mismatch() says with whom
  pending,     // there is nothing to be done for it at present
};

// Whose call is another than this rank's, and which. `theirs` is `ours` where the calls are alike and the buffers are
// not.
struct Mismatch {
  std::uint32_t rank = 0;
  std::uint64_t operation = 0;
  std::optional<std::uint64_t> ours;  // CallDescription, where it is still known
  std::optional<std::uint64_t> theirs;
};

// What the small path needs to know of an operator on a type.
struct SmallOperator {
  Operator operation;
  ReduceKernel kernel = nullptr;  // null where the operator is not defined on the type
  PairKernel pair = nullptr;      // null where there is none
  std::uint64_t element = 0;      // bytes
  std::uint64_t end = 0;          // the small path takes fewer bytes of this type, if it takes any
  std::uint64_t description = 0;  // CallDescription of the small path, but for the count
};

class Executor {
 public:
  // Over how many bytes of a rank's staging slots, and of a connection's, what is put there is spread (spread.hpp).
  struct Spreads {
    std::uint64_t staging = 0;
    shm::SpreadOver messages;
  };
  // The region, the waiter, the profile and the endpoint are borrowed and outlive the executor. The endpoint is null
  // where all ranks are on this host.
  Executor(const shm::Region& region, std::uint32_t rank, shm::Waiter& waiter, const MachineProfile& profile,
           StoresChoice stores, const Spreads& spreads, transport::Endpoint* endpoint);

  // Begins a call, after whose end the next may be begun: fills in where it begins in the counts of posts and rounds.
  // It goes by the list that lower() has flattened it to, or, where that is null, by its plan. Both stay where they are
  // until its end.
  void start(Call& call, const Lowered* list);
  // Goes on with what was started as far as nothing has to be waited for; End::pending where something has.
  [[nodiscard]] End advance() { return walk(false); }
  // The same of a blocking call, from its beginning to its end. On anything but End::done the communicator can no
  // longer be used.
  [[nodiscard]] End run(Call& call, const Lowered* list) {
    start(call, list);
    return walk(true);
  }
  // Grows with every step that advance() has done.
  [[nodiscard]] std::uint64_t progress() const { return progress_; }
  [[nodiscard]] End end_of(shm::WaitEnd end) const;

  // An exchange of one round whose bytes fit a staging slot, without a Call: the path on which nanoseconds count. Needs
  // a plan of Shape::exchange, given once.
  void set_small_plan(const Plan& plan, const shm::Spread& spread);
  [[nodiscard]] End run_small(const SmallOperator& op, const void* input, void* output, std::uint64_t count);

  // To be asked during long waits: whether no peer is seen to be in another call of the same number, in which case what
  // this rank waits for will never come.
  [[nodiscard]] bool persist();

  // While a call waits: a rank on another host whose message or credit one of its lanes needs.
  [[nodiscard]] std::optional<std::uint32_t> awaited_elsewhere();

  // Of all kinds, that have been begun.
  [[nodiscard]] std::uint64_t operations() const { return operations_; }
  // What this rank called as that operation, where that is still known.
  [[nodiscard]] std::optional<std::uint64_t> own_call(std::uint64_t operation) const {
    const bool is_kept = operation <= operations_ && operation + kRecent > operations_;
    return is_kept ? std::optional(recent_[operation % kRecent]) : std::nullopt;
  }

  [[nodiscard]] const Mismatch& mismatch() const { return mismatch_; }

 private:
  friend class Machine;

  struct LaneState {
    std::uint64_t round = 0;
    std::uint32_t index = 0;
    std::int64_t passed = -1;  // number of the last step passed in this round
  };

  // How far the walk of a list has come.
  struct ListState {
    std::uint64_t round = 0;
    std::uint64_t posted = 0;   // rounds
    std::size_t next_post = 0;  // the step of the round that is being posted
    std::size_t next = 0;       // and of `round`
  };
  struct Started {
    const Call* call = nullptr;  // null: it has ended
    const Lowered* list = nullptr;
    ListState state;
    bool walks = false;  // without a list: the walk has begun
  };
  // What a step cannot be done without.
  struct Missing {
    enum class Kind : std::uint8_t {
      post,      // of that rank and number
      finished,  // everyone's end of so many rounds
    };
    Kind kind = Kind::post;
    std::uint32_t rank = 0;
    std::uint64_t number = 0;
  };

  // Until that is so, or End::pending.
  template <typename Ready>
  [[nodiscard]] End await(const Ready& ready, bool may_wait) {
    if (may_wait) return end_of(waiter_.until(ready));
    return endpoint_ != nullptr && endpoint_->step() && ready() ? End::done : End::pending;
  }
  // Waits for that step, or, if it is null, for the next step of any lane. Long messages of other hosts meanwhile come
  // straight to their destination where they can.
  template <typename Ready>
  [[nodiscard]] End await_step(const Ready& ready, bool may_wait, const Call& call, Machine& machine,
                               const Step* step) {
    if (endpoint_ == nullptr || !may_wait || !call.plan->has_messages) return await(ready, may_wait);
    const Expectations during_the_wait(expected_);
    expect_messages(call, machine, step);
    return await(ready, true);
  }
  // Withdraws all places that were offered when the wait ends, after an error too: the memory is the caller's.
  class Expectations {
   public:
    explicit Expectations(std::vector<MessageReceiver*>& all) : all_(all) {}
    Expectations(const Expectations&) = delete;
    Expectations& operator=(const Expectations&) = delete;
    ~Expectations() {
      for (MessageReceiver* each : all_) each->withdraw();
      all_.clear();
    }

   private:
    std::vector<MessageReceiver*>& all_;
  };
  void expect_messages(const Call& call, Machine& machine, const Step* step);
  // Until what a call has sent to other hosts is on its way, so that it arrives although this rank goes on with
  // something else.
  [[nodiscard]] End await_sent(const Call& call, bool may_wait) {
    if (endpoint_ == nullptr || !call.plan->has_messages || endpoint_->has_sent_all()) return End::done;
    return await([&] { return endpoint_->has_sent_all(); }, may_wait);
  }
  void get_spread();
  // Fills in where the call stands in the counts, and what it says to others.
  void begin_call(Call& call);
  void end_call(const Call& call);
  // To the end of what was started; if it may not wait, to where something is missing.
  [[nodiscard]] End walk(bool may_wait);
  [[nodiscard]] End wait_for_missing();

  [[nodiscard]] End walk_general(const Call& call, bool may_wait);
  [[nodiscard]] End walk_lane(const Call& call, bool may_wait);
  void begin_general(const Call& call);
  [[nodiscard]] bool all_lines_are_free();
  [[nodiscard]] bool can_go(const Call& call, Machine& machine, std::size_t lane);
  [[nodiscard]] bool find_lane(const Call& call, Machine& machine);
  [[nodiscard]] End go(const Call& call, Machine& machine);
  [[nodiscard]] std::uint64_t rounds_passed(const Call& call) const;
  [[nodiscard]] std::optional<std::uint32_t> awaited_elsewhere(const Step& step, Machine& machine) const;

  [[nodiscard]] End walk_list(const Call& call, const Lowered& list, bool may_wait);
  [[nodiscard]] End walk_steps(const Call& call, const Lowered& list, std::size_t& next, std::size_t end,
                               std::uint64_t round, bool may_wait);
  // Each does a step, or says in missing_ what it needs before: End::pending.
  [[nodiscard]] End try_step(const Call& call, const Lowered& list, const Lowered::Step& step, std::uint64_t round);
  [[nodiscard]] End try_post(const Call& call, const Lowered::Step& step, std::uint64_t round);
  [[nodiscard]] End try_expose(const Call& call, const Lowered::Step& step, std::uint64_t round);
  [[nodiscard]] End try_await(const Call& call, std::uint32_t rank, std::uint32_t post, std::uint64_t round);
  [[nodiscard]] End try_combine(const Call& call, const Lowered& list, const Lowered::Step& step, std::uint64_t round);
  [[nodiscard]] End try_move(const Call& call, const Lowered& list, const Lowered::Step& step);
  [[nodiscard]] End try_finished(std::uint64_t count);
  [[nodiscard]] std::byte* address_of(const Call& call, const Lowered::End& end, std::uint64_t round) const;
  [[nodiscard]] static std::uint64_t exposed_bytes(const Call& call, const Lowered::End& end, std::uint64_t round);
  [[nodiscard]] ReduceCall reduce_call(const Lowered::Step& step, std::uint64_t length) const;
  // Of steps that reach the memory of other processes.
  [[nodiscard]] End combine_attached(const Call& call, const Lowered& list, const Lowered::Step& step);
  [[nodiscard]] End fetch_attached(const Lowered& list, const Lowered::Step& step, std::uint32_t source,
                                   std::uint64_t offset, void* to, std::uint64_t bytes);
  [[nodiscard]] End store_attached(const Lowered& list, const Lowered::Step& step, const std::byte* from,
                                   std::uint64_t offset, std::uint64_t bytes);
  [[nodiscard]] bool fetches_to_result(const Lowered& list, const Lowered::Step& step) const;
  [[nodiscard]] pid_t process_of(std::uint32_t rank) const;

  void begin(std::uint64_t description) {
    ++operations_;
    recent_[operations_ % kRecent] = description;
    // Release, both: who sees the number sees its description, and who sees a later description in the same place sees
    // that the number has moved on. Partner: call_of().
    own_call_->description[operations_ % shm::kKeptDescriptions].store(description, std::memory_order_release);
    own_call_->operation.store(operations_, std::memory_order_release);
  }
  // This rank is done with all direct reads and writes before round number `count` of the communicator.
  void finish_rounds(std::uint64_t count) {
    // Release: partner of everyone_finished(); slots and lines read in these rounds may be written again.
    own_finished_->value.store(count, std::memory_order_release);
    waiter_.wake_others();
  }
  // Whether every rank has finished `count` rounds.
  [[nodiscard]] bool everyone_finished(std::uint64_t count);
  [[nodiscard]] std::byte* staging_slot(std::uint32_t rank, std::uint64_t slot) const {
    return region_.staging(rank) + slot * slot_room_;
  }
  // Where expose number `expose` of a round lies.
  [[nodiscard]] std::byte* staged(const Call& call, std::uint32_t rank, std::uint64_t round,
                                  std::uint32_t expose) const {
    return staging_slot(rank, call.slot(round, expose)) + call.begin_in_slot(round, expose);
  }
  // A block's elements on their way to a slot.
  void store_exposed(const Call& call, std::byte* slot, const std::byte* from, std::uint64_t length, bool first_touch) {
    if (first_touch) {
      first_touch_copy(*call.operation, slot, from, length, false);
    } else {
      stores_.copy(slot, from, length * call.element);
    }
  }
  // Whether the line and the slot of a post may be written again.
  [[nodiscard]] bool line_is_free(std::uint64_t value) {
    return everyone_finished(line_busy_[value % shm::kPostLines]);
  }
  [[nodiscard]] bool slot_is_free(std::uint64_t slot) { return everyone_finished(slot_busy_[slot]); }
  // Makes a post without payload known; its line must be free.
  void publish_post(std::uint64_t value, std::uint64_t description) {
    shm::FlagLine& line = *own_lines_[value % shm::kPostLines];
    describe_post(value % shm::kPostLines, description);
    // Release: partner of every load of a post's sequence.
    line.sequence.store(value, std::memory_order_release);
    waiter_.wake_others();
  }
  // The same with at most kInlineBytes of payload.
  void publish_inline(std::uint64_t value, std::uint64_t description, const void* data, std::uint64_t bytes) {
    shm::FlagLine& line = *own_lines_[value % shm::kPostLines];
    describe_post(value % shm::kPostLines, description);
    shm::store_inline(line, value, data, bytes, has_wide_store_);
    waiter_.wake_others();
  }
  // Stores the description where it is another than the line has. This rank's own lines are never read: with the first
  // look of a peer they have gone to its cache, and reading one fetches it back only to lose it again.
  void describe_post(std::uint64_t line, std::uint64_t description) {
    if (own_descriptions_[line] == description) return;
    own_descriptions_[line] = description;
    own_lines_[line]->description.store(description, std::memory_order_relaxed);
  }
  // Where a buffer lies, for those who see the post that follows. As with describe_post(), only what is new is stored.
  void say_place(std::uint32_t post, std::uint64_t place) {
    if (own_places_[post] == place) return;
    own_places_[post] = place;
    region_.place(rank_, post).store(place, std::memory_order_relaxed);
  }
  [[nodiscard]] End run_inline(const SmallOperator& op, const void* input, void* output, std::uint64_t count);
  [[nodiscard]] End run_slotted(const SmallOperator& op, const void* input, void* output, std::uint64_t count);
  [[nodiscard]] End await_finished(std::uint64_t count);
  void prepare_small(const void* own, void* output, std::uint64_t count, std::uint64_t value);
  void fold_small(const SmallOperator& op);
  // Waits for the post in that line of the peer and looks whether it is of this call.
  [[nodiscard]] End await_post_longer(const shm::FlagLine& line, std::uint32_t peer, std::uint64_t value,
                                      std::uint64_t description);
  [[nodiscard]] End await_post(const shm::FlagLine& line, std::uint32_t peer, std::uint64_t value,
                               std::uint64_t description) {
    // Acquire: partner of publish_post() and store_flag(). The first looks stand here, so that what is near costs no
    // more than a loop of two instructions.
    for (std::uint32_t look = 0; line.sequence.load(std::memory_order_acquire) < value; ++look) {
      if (look >= spins_) return await_post_longer(line, peer, value, description);
      relax();
    }
    if (line.description.load(std::memory_order_relaxed) != description) [[unlikely]]
      return mismatch_with(peer, line.description.load(std::memory_order_relaxed));
    return End::done;
  }
  // Whether the rank has made the post of that number.
  [[nodiscard]] bool has_posted(std::uint32_t rank, std::uint64_t value) {
    std::uint64_t& seen = seen_posts_[rank];
    if (seen >= value) return true;
    // Acquire: partner of publish_post().
    const std::uint64_t posted = region_.post_line(rank, value).sequence.load(std::memory_order_acquire);
    if (posted < value) return false;
    seen = posted;
    return true;
  }
  // What the post that carries this number was about, where that is not `description`.
  [[nodiscard]] std::optional<std::uint64_t> differing_post(std::uint32_t rank, std::uint64_t value,
                                                            std::uint64_t description) const;
  // The same of the rank's posts of that round, of which the one of that number is known to have been made: any tells,
  // and the one that was looked at last lies in this core's cache.
  [[nodiscard]] std::optional<std::uint64_t> differing_round(const Call& call, std::uint32_t rank, std::uint64_t round,
                                                             std::uint64_t value) const {
    const std::uint64_t last = call.post_value(round, call.num_posts() - 1);
    return differing_post(rank, std::max(value, std::min(last, seen_posts_[rank])), call.description);
  }
  [[nodiscard]] std::optional<HistoryDifference> earlier_difference(std::uint32_t rank) const;
  [[nodiscard]] std::uint64_t travelling(std::uint64_t description) const;
  // What the rank called as that operation, where that is known.
  [[nodiscard]] std::optional<std::uint64_t> call_of(std::uint32_t rank, std::uint64_t operation) const;
  // `theirs` as it travels.
  [[nodiscard]] End mismatch_with(std::uint32_t rank, std::uint64_t theirs);

  const shm::Region& region_;
  const MachineProfile& profile_;
  std::uint32_t rank_;
  shm::Waiter& waiter_;
  transport::Endpoint* endpoint_;  // null: all ranks are on this host
  Messages messages_;
  // Counted alike on every rank: what all operations before this one have used.
  std::uint64_t operations_ = 0;
  // The descriptions of the last of them, by number: for a late rank to be compared with.
  static constexpr std::uint64_t kRecent = 16;
  std::uint64_t recent_[kRecent] = {};
  History history_;
  std::uint64_t posts_ = 0;
  std::uint64_t rounds_ = 0;
  std::uint64_t exposes_ = 0;
  // Every rank is known to have finished this many rounds.
  std::uint64_t known_finished_ = 0;
  // How many rounds everyone must have finished before a line's payload, or a slot, may be overwritten.
  std::uint64_t line_busy_[shm::kPostLines] = {};
  std::vector<std::uint64_t> slot_busy_;
  std::uint64_t slot_room_;
  std::uint64_t spread_;     // bytes that what is staged lies in, in turn
  bool has_spread_ = false;  // the pages for it
  SlotStores stores_;
  bool has_wide_store_ = shm::has_wide_store();
  std::uint32_t spins_;  // looks at a peer's line before the waiter is asked; 0 where ranks share cores
  // Of the general walker: its lanes, how many of them have steps left, which is looked at next, and the rounds that it
  // has said to be finished.
  std::vector<LaneState> lanes_;
  std::size_t lanes_left_ = 0;
  std::size_t next_lane_ = 0;
  std::uint64_t published_ = 0;
  std::vector<MessageReceiver*> expected_;  // during a wait: those that have been told a place
  Started started_;
  Missing missing_;
  std::uint64_t progress_ = 0;
  // The small path's plan: whom this rank waits for, and the kernel's call, in which the count and what this rank gives
  // and gets change from operation to operation.
  struct SmallPeer {
    std::uint32_t rank = 0;
    const void** source = nullptr;  // its place among the sources
    const std::byte* slots = nullptr;
    const shm::FlagLine* lines[shm::kPostLines] = {};
  };
  struct SmallPlan {
    std::vector<SmallPeer> peers;
    const void** own_source = nullptr;
    std::byte* own_slots = nullptr;
    std::uint64_t turns = 2;
    shm::Spread spread;
    // The section `small` of the profile.
    std::uint64_t brief_most = 0;
    std::uint64_t ask_most = 0;
    std::uint64_t ask_below = 0;
    std::uint64_t ask_from = 0;
    std::vector<const void*> sources;
    void* output = nullptr;
    ReduceCall reduce;
  };
  SmallPlan small_;
  shm::FlagLine* own_lines_[shm::kPostLines] = {};
  std::uint64_t own_descriptions_[shm::kPostLines] = {};  // what own_lines_ say
  std::uint64_t own_places_[shm::kMaxPlaces] = {};        // and what this rank's places do
  // By rank: the number of a post that it is known to have made, and so all before it, for ranks post in order: all
  // posts of a rank stand in one lane (posts_of() in plan.cpp), and rounds and operations follow each other.
  std::vector<std::uint64_t> seen_posts_;
  shm::CallLine* own_call_ = nullptr;
  shm::CounterLine* own_finished_ = nullptr;
  std::vector<const void*> sources_;
  std::vector<void*> destinations_;
  // What goes with one post in its line, so far: Call::gathered.
  std::byte gathered_[shm::kInlineBytes] = {};
  // Of attached reads: what has been fetched of each source, and the ends of a part.
  std::vector<std::byte> fetched_;
  std::vector<const void*> part_sources_;
  std::vector<void*> part_destinations_;
  Mismatch mismatch_;
};

}  // namespace tutti
