// SPDX-License-Identifier: Apache-2.0
// A communicator: one rank's handle on a group of ranks that do collectives together. It wires the parts: the shared
// region, the executor, the plans, the choice of algorithm, symmetric memory and the watch over the other ranks.
//
// Owns all of them. One thread at a time calls it, and what is pending goes over to the one that calls next; different
// communicators are independent. It may be destroyed by any thread while none is in a call of it. Once something has
// broken it (a lost rank, an abort, a mismatch, a timeout), every later call returns that same error, and what was
// pending is left alone.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.hpp"
#include "base/status.hpp"
#include "base/unique_id.hpp"
#include "data/kernel.hpp"
#include "runtime/bootstrap/hosts.hpp"
#include "runtime/communicator/invocation.hpp"
#include "runtime/communicator/settings.hpp"
#include "runtime/communicator/statistics.hpp"
#include "runtime/communicator/symmetric.hpp"
#include "runtime/communicator/varying_call.hpp"
#include "runtime/execution/executor.hpp"
#include "runtime/failure/failure_watch.hpp"
#include "runtime/failure/fork_notice.hpp"
#include "runtime/failure/lateness.hpp"
#include "runtime/plan/bound_call.hpp"
#include "runtime/progress/caretaker.hpp"
#include "runtime/progress/operations.hpp"
#include "runtime/progress/pairs.hpp"
#include "runtime/progress/polling.hpp"
#include "runtime/progress/thread_work.hpp"
#include "runtime/selection/portfolio.hpp"
#include "runtime/selection/selector.hpp"
#include "transport/endpoint.hpp"
#include "transport/ofi/endpoint.hpp"
#include "transport/shm/region.hpp"
#include "transport/shm/waiter.hpp"

namespace tutti {

class Communicator final : private Work {
 public:
  // What does an all-reduce on the small path.
  static constexpr std::string_view kSmallAlgorithm = "one_shot";

  // Meets the other ranks at the id. Returns when all have arrived and agree. `log` is borrowed. For `attempt` and
  // `turn` see JoinRequest, for `in_vain` JoinOptions.
  [[nodiscard]] static Result<std::unique_ptr<Communicator>> join(const UniqueId& id, int num_ranks, int rank,
                                                                  Attempt* attempt, const Variables& variables,
                                                                  Log& log, std::function<Status()> in_vain = {},
                                                                  std::optional<std::uint32_t> turn = {});

  // A rank over a region that several ranks of this process share; nobody watches over them. With an endpoint, ranks
  // of other hosts are reached by that.
  [[nodiscard]] static std::unique_ptr<Communicator> over(std::shared_ptr<const shm::Region> region, int rank,
                                                          const Settings& settings, Log& log, Hosts hosts = {},
                                                          std::unique_ptr<transport::Endpoint> endpoint = nullptr);

  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  // Leaves: operations that other ranks still wait in become errors that say so. In a forked child: nothing of that.
  ~Communicator() override;

  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  [[nodiscard]] std::uint32_t num_ranks() const { return num_ranks_; }
  // Whether this rank itself has found that it cannot reach that one. Others hear of it.
  [[nodiscard]] bool cannot_reach(std::uint32_t rank) const;
  [[nodiscard]] const Hosts& hosts() const { return hosts_; }
  // False in a child that the rank has forked: it has a copy of everything but is no rank. It can destroy that; every
  // call is an error.
  [[nodiscard]] bool is_of_this_process() const { return !is_copy_; }
  // In a forked child: whether a thread was in a call at the fork, so that what it was changing may be half changed.
  [[nodiscard]] bool is_torn() const { return is_torn_; }

  // One thread at a time is in a call, and another that comes is told so: false, and it is not in. That is seen nearly
  // always, not always. Relaxed: programs that hand a communicator to another thread order this as well.
  [[nodiscard]] bool enter() {
    if (is_entered_.load(std::memory_order_relaxed)) return false;
    is_entered_.store(true, std::memory_order_relaxed);
    return true;
  }
  void leave() { is_entered_.store(false, std::memory_order_relaxed); }

  // What is pending here, from the thread that called last, which may be going on with it in a wait for something else.
  // So before everything but the small path, for which there is nothing pending: whatever a call reads, going on
  // writes.
  void take_over() {
    place_.come();
    if (companion_ != nullptr) companion_->place_.come();
  }
  // A thread that takes over this communicator also takes over its companion; null: none.
  void set_companion(Communicator* companion) { companion_ = companion; }

  // Does this rank's part of a collective; returns when its output is complete, and its input may be changed.
  [[nodiscard]] Status run(const Invocation& asked);

  // The small path of all-reduce by itself, in two steps that stand here so that nothing is between the API and it.
  // Where the call is for it, and right, this thread enters, and is to go on with run_small(); null: run() is to be
  // called.
  [[nodiscard]] const SmallOperator* enter_small(const void* input, const void* output, std::uint64_t count, Type type,
                                                 OperatorHandle op) {
    if (op.value >= kNumOps || static_cast<std::size_t>(type) >= kNumTypes || count >= small_end_ ||
        region_->is_broken() || !thread_work.is_none()) [[unlikely]]
      return nullptr;
    const SmallOperator& entry = prepared_[op.value][static_cast<std::size_t>(type)].small;
    const std::uint64_t bytes = count * entry.element;
    const auto from = reinterpret_cast<std::uintptr_t>(input);
    const auto to = reinterpret_cast<std::uintptr_t>(output);
    const bool apart = from == to || from + bytes <= to || to + bytes <= from;
    const bool fits = bytes < entry.end && entry.kernel != nullptr && apart && ((from != 0 && to != 0) || count == 0);
    if (!fits || (bytes >= symmetric_end_ && are_symmetric(input, output, bytes))) [[unlikely]]
      return nullptr;
    return enter() ? &entry : nullptr;
  }
  // All-reduces of fewer bytes take it, while nothing is pending.
  [[nodiscard]] std::uint64_t small_end() const { return traces_ ? 0 : settled_small_end_; }
  [[nodiscard]] End run_small(const SmallOperator& entry, const void* input, void* output, std::uint64_t count) {
    const End end = executor_->run_small(entry, input, output, count);
    leave();
    return end;
  }

  // The same for what was called before alike, and is walked as a list: nothing is looked at but whether it is the same
  // call again. run_bound() leaves.
  [[nodiscard]] BoundCall* enter_bound(const Invocation& asked) {
    if (asked.root >= num_ranks_ || asked.op.value >= kNumOps || has_begun_ || is_over() || !thread_work.is_none())
      return nullptr;
    const std::uint64_t key = BoundCall::key_of(asked);
    BoundCall& bound = bound_[BoundCall::place_of(key, asked.count)];
    if (!bound.is_quick || !bound.suits(asked, key) || !enter()) return nullptr;
    // Bound in symmetric memory, it may be called in other memory since.
    if ((!heap_.is_used() && !bound.symmetric) || finds_places(bound, asked)) return &bound;
    leave();
    return nullptr;
  }
  [[nodiscard]] Status run_bound(BoundCall& bound, const Invocation& asked);

  // The small path, and where it is not for the call, run().
  [[nodiscard]] Status all_reduce(const void* input, void* output, std::uint64_t count, Type type, OperatorHandle op);

  // The same in two halves. Prepared, an operation can be started; then its end is waited for, or asked for, and not
  // before may its buffers be touched, or what they hold be counted on. All ranks start their collectives in the same
  // order, blocking ones among them. It is to be released once it has ended, and may be started again before; if it is
  // persistent, whoever has the handle is to keep it until then.
  [[nodiscard]] Result<Operation*> prepare(const Invocation& asked, bool is_persistent);
  [[nodiscard]] Result<Operation*> prepare(const Transfer& transfer, bool is_persistent);
  [[nodiscard]] Status start(Operation& operation);
  [[nodiscard]] Result<bool> test(Operation& operation);
  [[nodiscard]] Status wait(Operation& operation);
  // Until `is_enough`, which looks at what wait() would wait for; this communicator is the one of `watched`, which is.
  [[nodiscard]] Status wait_for_any(Operation& watched, const std::function<bool()>& is_enough);
  void release(Operation& operation) { operations_.release(operation); }
  // Until everything has ended that has been started. In a forked child: nothing of that.
  [[nodiscard]] Status settle();
  // The same, and no operation can start afterwards. Operations that have failed report it as before.
  [[nodiscard]] Status finalize();
  [[nodiscard]] Status check_not_finalized() const;

  // A send or a receive, to its end.
  [[nodiscard]] Status transfer(const Transfer& asked);
  // A send and a receive at once; returns when both have ended.
  [[nodiscard]] Status exchange(const Transfer& sent, const Transfer& received);

  // Of a group: started now, waited for and released by end_group().
  [[nodiscard]] Status begin_in_group(Result<Operation*> operation);
  [[nodiscard]] Status end_group();
  [[nodiscard]] bool has_open_group() const { return !grouped_.empty(); }

  // Of a split: each rank's words to every rank.
  [[nodiscard]] Status exchange_for_split(const void* mine, std::uint64_t words, void* all);

  // How run() does such a call. Its words live as long as the communicator and end with a zero.
  [[nodiscard]] Result<Choice> choice_for(const Invocation& asked);

  // Whether all that this rank has of such a call is in symmetric memory.
  [[nodiscard]] bool is_in_symmetric_memory(const Invocation& asked, const Buffers& buffers) const {
    return has_symmetric(asked, buffers);
  }

  // What has been done here so far. Its words live as long as the communicator.
  [[nodiscard]] std::vector<Statistic> statistics() const;

  // What an end other than done means, in words; breaks the communicator for all ranks where it is not broken yet.
  [[nodiscard]] Status fail(End end);

  // run() by a given schedule; for tests and benches. All ranks pass the same. The plan is kept under `number`, which
  // must be of this schedule alone.
  [[nodiscard]] Status run_by(const Schedule& schedule, std::uint32_t number, const Invocation& asked,
                              WalkerChoice walker);

  [[nodiscard]] Result<void*> allocate(std::uint64_t bytes);
  [[nodiscard]] Status free(void* memory);

  [[nodiscard]] Result<OperatorHandle> create_operator(const Operator& custom);
  [[nodiscard]] Status destroy_operator(OperatorHandle handle);

  // Splits (split.hpp) are counted alike on all ranks, from 1. A rank that cannot go on with one says so to the others.
  [[nodiscard]] std::uint64_t begin_split() { return ++splits_; }
  // Where this rank is to serve the rendezvous of a part: nothing where all are on one host.
  [[nodiscard]] std::optional<Address> address_of_split() const { return address_; }
  void give_up_split(std::uint64_t number) const;
  // Publishes why this rank cannot take part in a call that the others wait in. Comes before the refusal itself.
  void say_why_not(std::string_view why) const { region_->reason(rank_).set(why); }
  [[nodiscard]] std::string reason_of(std::uint32_t rank) const {
    return region_->is_here(rank) ? region_->reason(rank).get() : "that rank's own error says why";
  }
  [[nodiscard]] bool has_given_up_split(std::uint32_t rank, std::uint64_t number) const;
  // For agreement outside of its calls (shrink.hpp).
  [[nodiscard]] const shm::Region& region() const { return *region_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] Log& log() const { return log_; }

  // This rank had no memory to go on with in a call that the others are in.
  [[nodiscard]] Status break_for_memory(std::string_view in_what);
  // Breaks the communicator for all ranks; may be called from any thread, also while another is in a call.
  void abort(std::string_view reason);
  // What has broken the communicator, if anything; from any thread.
  [[nodiscard]] Code async_error() const;
  // The same in words.
  [[nodiscard]] Status failure() const;

 private:
  class Watched;

  Communicator(std::shared_ptr<const shm::Region> region, std::uint32_t rank, const Settings& settings, Log& log,
               Hosts hosts = {}, std::unique_ptr<transport::Endpoint> endpoint = nullptr,
               std::optional<Address> address = {});
  // From what a rank has joined with (communicator_hosts.cpp).
  [[nodiscard]] static Result<std::unique_ptr<Communicator>> of_membership(Membership& membership, const UniqueId& id,
                                                                           const Settings& settings, Log& log,
                                                                           std::unique_ptr<transport::ofi::Door> door);

  struct Prepared {
    SmallOperator small;
    ReduceKernel streaming = nullptr;
  };

  // The log of calls (communicator_log.cpp). At info, once for each collective, range of sizes, algorithm and reason;
  // at trace, each call. The fast paths bypass the log, so traced calls take the general path (traces_).
  void log_choice(const Choice& choice, std::uint64_t bytes, Type type, Reach reach);
  void log_small_path();
  // `word` is its description, `why` is empty where its algorithm is not chosen yet, and `how` it is waited for.
  void trace_collective(std::uint64_t word, std::string_view why, const void* input, const void* output,
                        std::string_view how);
  void trace_operation(const Operation& operation, std::string_view how);

  // Finds what the settings force, which all ranks do alike.
  [[nodiscard]] Status take_forced();
  [[nodiscard]] Status open_small_path();
  void settle_symmetric_end() { symmetric_end_ = heap_.is_used() ? symmetric_small_end_ : ~std::uint64_t{0}; }
  [[nodiscard]] bool are_symmetric(const void* input, const void* output, std::uint64_t bytes) const {
    return heap_.find(input, bytes).segment != nullptr && heap_.find(output, bytes).segment != nullptr;
  }
  // Whether every rank can read the memory of the others' processes.
  [[nodiscard]] Status find_attach();
  [[nodiscard]] shm::Spread spread_of(std::uint64_t slots) const;
  [[nodiscard]] std::uint64_t spread_over(std::uint32_t num_groups) const;
  [[nodiscard]] shm::WaitPolicy wait_policy() const;
  void await_stores() const;
  void watch_core();
  // In a forked child.
  void become_copy() noexcept;
  // Of the ranks on this host.
  [[nodiscard]] bool is_first_here() const;
  [[nodiscard]] Status watch_over(Links links);
  [[nodiscard]] Status drive_endpoint();
  // For whatever uses the endpoint, as long as it does.
  [[nodiscard]] Caretaker::Relief relieve() const {
    return Caretaker::Relief(endpoint_ == nullptr || is_copy_ ? nullptr : caretaker_.get());
  }
  // Of several hosts: what all ranks must have alike, though machines differ, and the rules by which they choose.
  [[nodiscard]] Status agree_between_hosts();
  // Marks the communicator as broken for every rank, wherever it is.
  void break_all(const shm::Breakage& why);
  void pass_on_breakage() const noexcept;
  // With a rank that has not been reached for too long.
  void notice_unreachable();
  // Until what this rank has sent has arrived, so that its process may end.
  void await_delivery();
  [[nodiscard]] Status arrive();
  [[nodiscard]] Status find_least(OwnCall why, std::span<const std::uint64_t> mine, std::span<std::uint64_t> least);
  [[nodiscard]] Result<void*> allocate_with_others(std::uint64_t bytes);
  [[nodiscard]] Status free_with_others(void* memory);
  [[nodiscard]] Status meet(OwnCall why);
  [[nodiscard]] Result<std::uint32_t> agree(OwnCall why, std::uint64_t mine, bool objects, std::string_view on_what);
  [[nodiscard]] static std::uint64_t own_description(Collective collective, OwnCall why) {
    return CallDescription{
        .count = 1, .collective = collective, .subject = static_cast<std::uint32_t>(why), .is_own = true}
        .pack();
  }
  [[nodiscard]] Result<const Prepared*> prepared(const Invocation& asked) const;
  [[nodiscard]] Result<Choice> choose(const Invocation& asked, BoundCall& bound, const Prepared*& entry);
  [[nodiscard]] CallFacts facts_of_call(const Invocation& asked, const BoundCall& bound, const Prepared& entry) const;
  [[nodiscard]] bool has_symmetric(const Invocation& asked, const Buffers& buffers) const;
  [[nodiscard]] bool is_symmetric(const Invocation& asked, const Buffers& buffers) const;
  [[nodiscard]] Status refuse(const Invocation& asked) const;
  void warn_of_fallback(const Choice& choice, const Buffers& buffers);
  // Of blocks that differ in size (communicator_varying.cpp).
  [[nodiscard]] Status run_varying(const Invocation& asked);
  [[nodiscard]] Status bind_varying(const Invocation& asked, VaryingCall& call);
  [[nodiscard]] Result<BoundCall*> next_step(VaryingCall& call);
  [[nodiscard]] Status bind_telling(const void* mine, std::uint64_t words, void* all, std::uint64_t about,
                                    BoundCall& bound);
  [[nodiscard]] Status bind_moving(const Agreed& agreed, VaryingCall& call);
  // What is asked, bound to the way of doing it, the rounds and the steps.
  [[nodiscard]] Status bind(const Invocation& asked, BoundCall& bound);
  [[nodiscard]] Reach reach_of(const Plan& plan, bool name_safe, const CallFacts& facts, const BoundCall& bound,
                               const CallTuning* tuning) const;
  [[nodiscard]] Status make_call(const Plan& plan, std::uint32_t number, Reach reach, const Prepared& entry,
                                 const Invocation& asked, BoundCall& bound);
  [[nodiscard]] Result<BoundCall*> bound_for(const Invocation& asked);
  [[nodiscard]] bool find_symmetric(BoundCall& bound, const Invocation& asked) const;
  // Whether the buffers lie in symmetric memory if and only if those that the call was bound with did; then the call
  // has their places.
  [[nodiscard]] bool finds_places(BoundCall& bound, const Invocation& asked) const;
  [[nodiscard]] Status find_places(BoundCall& bound, const Invocation& asked) const;
  void find_scratch(Call& call);
  [[nodiscard]] Status walk(BoundCall& bound, const Invocation& asked, WalkerChoice walker);
  [[nodiscard]] Status walk_placed(BoundCall& bound, WalkerChoice walker);
  // An exception becomes a status, and breaks the communicator.
  template <typename Body>
  [[nodiscard]] Status guarded(std::string_view in_what, const Body& body) {
    try {
      return body();
    } catch (const std::bad_alloc&) {
      return break_for_memory(in_what);
    } catch (const std::exception& error) {
      return break_for_exception(error.what());
    } catch (...) {
      return break_for_exception("something was thrown that is no std::exception");
    }
  }
  [[nodiscard]] Status break_for_exception(std::string_view words);

  [[nodiscard]] Status check(const Transfer& transfer) const;
  // Goes on with what is pending here as far as nothing has to be waited for.
  [[nodiscard]] End advance();
  void begin_step(BoundCall& step);
  // Of what is done in several steps; whether there is one.
  [[nodiscard]] bool begin_next_step(Operation& operation);
  Went go_on() override;
  [[nodiscard]] bool is_idle() const { return operations_.first() == nullptr && pairs_->is_idle(); }
  [[nodiscard]] std::uint64_t progress() const { return executor_->progress() + pairs_->progress(); }
  // Until it is done. An error breaks the communicator, or has broken it.
  [[nodiscard]] Status await(Operation& operation);
  template <typename Enough>
  [[nodiscard]] Status await_until(Operation& watched, const Enough& is_enough);
  [[nodiscard]] Status finish(Operation& operation);
  [[nodiscard]] Status begin(Operation& operation);
  // Nothing that is pending is touched any more.
  void abandon();
  // The end of a wait that was in vain.
  [[nodiscard]] Status give_up(End end);
  // Where nothing is pending any more, calls go straight again.
  void rest();
  void rest_small_path() { small_end_ = traces_ ? 0 : settled_small_end_; }
  // Staging slots that the plan exposes through in turn: enough to be a round ahead.
  [[nodiscard]] std::uint32_t staging_depth_of(const Plan& plan) const;
  [[nodiscard]] std::uint64_t longest_round(const Plan& plan, std::uint64_t depth, std::uint64_t bytes) const;
  // The window of a plan's round for elements of that size, and what follows from it.
  [[nodiscard]] Status set_layout(Call& call, std::uint64_t count) const;
  // Broken, or but a copy of another process's.
  [[nodiscard]] bool is_over() const { return is_copy_ || region_->is_broken(); }
  [[nodiscard]] Status status_of(const shm::Breakage& breakage) const;
  // Who keeps this rank waiting, which has waited that long.
  [[nodiscard]] Lateness late(std::chrono::nanoseconds waited) const;
  [[nodiscard]] shm::Breakage lateness() const;
  [[nodiscard]] shm::Breakage difference() const;
  void count(const BoundCall& bound) {
    bound.counted->add(bound.buffers.message_bytes);
    inner_operations_ += bound.is_inner ? 1 : 0;
  }
  // Whether an operation is the communicator's own, or a further step of a call that has begun with another.
  [[nodiscard]] static bool is_inner(std::uint64_t word);
  // Which of its program's collectives an operation is, from 1, or comes before; where that is still known.
  [[nodiscard]] std::optional<std::uint64_t> number_of(std::uint64_t operation) const;
  [[nodiscard]] std::string present_call() const;
  [[nodiscard]] std::string present_place() const;
  [[nodiscard]] std::string waited_call() const;
  // Whether to go on waiting. Nothing thrown ends a wait in the middle of an operation.
  [[nodiscard]] bool persist(std::chrono::nanoseconds waited) noexcept;
  void tell_awaited_elsewhere();
  void warn_of_wait(std::chrono::nanoseconds waited);
  // A rank that has left, and will not take part in what this one is in.
  [[nodiscard]] std::optional<std::uint32_t> deserter() const;
  [[nodiscard]] std::string describe(std::uint64_t word) const;
  [[nodiscard]] std::string describe(const Operation& operation) const;

  std::shared_ptr<const shm::Region> region_;
  Hosts hosts_;
  std::unique_ptr<transport::Endpoint> endpoint_;  // null: all ranks are on one host
  std::optional<Address> address_;                 // of this one for others, with port 0
  std::uint32_t rank_;
  std::uint32_t num_ranks_;
  Settings settings_;
  Log& log_;
  Communicator* companion_ = nullptr;
  int process_;                         // that joined
  std::uint64_t operation_warned_ = 0;  // the last that a warning of lateness was about, plus 1
  MachineProfile profile_;              // for the caches of its host's leader
  std::vector<Rule> host_rules_;        // of several hosts
  RanksOnCores ranks_on_cores_;
  std::optional<shm::Waiter> waiter_;
  std::optional<Executor> executor_;
  std::optional<Pairs> pairs_;
  SymmetricHeap heap_;
  std::uint64_t spread_ = 0;  // bytes that what is put into slots lies in, in turn (spread.hpp)
  // The small path takes fewer bytes than this, of some types fewer yet (SmallOperator). 0: it is closed, as always
  // with pending operations or traced calls.
  std::uint64_t small_end_ = 0;
  // Of buffers in symmetric memory it takes fewer; without any such memory nobody asks.
  std::uint64_t symmetric_end_ = ~std::uint64_t{0};
  std::atomic<bool> is_entered_ = false;   // a thread is in a call
  std::uint64_t settled_small_end_ = 0;    // while nothing is pending
  std::uint64_t symmetric_small_end_ = 0;  // while there is symmetric memory; of any type
  Portfolio portfolio_;
  Selector selector_;
  struct Given {
    std::unique_ptr<const Plan> plan;
    BoundCall bound;  // the last call by it
  };
  std::vector<Given> given_;  // by run_by()'s number
  CallCounts counts_;
  std::uint64_t inner_operations_ = 0;  // of the executor's: what is_inner() is true of
  std::vector<BoundCall> bound_;        // by BoundCall::place_of
  VaryingCall varying_;
  std::uint64_t splits_ = 0;
  std::uint64_t probe_ = 0;          // for others to read, and to write what is there
  bool knows_processes_ = false;     // the numbers of the others' processes are right here
  bool can_attach_ = false;          // all ranks can read each other's memory,
  bool can_store_attached_ = false;  // and write it
  bool is_finalized_ = false;
  bool is_copy_ = false;  // in a child that was forked
  bool is_torn_ = false;
  const bool traces_;  // the log has each call, so all take the general path
  std::array<std::array<Prepared, kNumTypes>, kNumOps> prepared_;
  std::deque<std::optional<Prepared>> custom_;  // pending operations point into it
  Operations operations_;
  std::vector<Operation*> grouped_;
  bool has_begun_ = false;           // something, and has not found since that nothing is pending
  Operation* waited_for_ = nullptr;  // or asked about, by the call that is under way
  Status fault_;                     // of what was pending, for the call that hears of it first
  Polling polling_;
  std::uint64_t traced_calls_ = 0;  // collectives, as errors count them
  std::uint64_t traced_transfers_ = 0;
  ThreadPlace place_{*this};
  std::vector<std::byte> scratch_;
  ForkNotice fork_notice_;
  std::unique_ptr<Caretaker> caretaker_;  // null: all ranks are on one host
  std::unique_ptr<FailureWatch> watch_;   // last: it is to stop first
};

}  // namespace tutti
