// SPDX-License-Identifier: Apache-2.0
// Virtual time of a communicator: this host carries out its calls, with their data, and each takes the time that the
// simulator gives for it on a fabric. The communicator's ranks are ranks of the fabric.
//
// Each rank has a clock. A collective begins when the last of its ranks has started it, and not before the previous one
// has ended. From there each rank takes its own time in the simulation. Clocks travel on a communicator of their own,
// in an all-gather that is started after each collective. So pending operations stay pending, and a rank that waits for
// a collective waits until all ranks have started it. Every process then simulates the same. With each send goes the
// sender's clock, to the receiver alone. The two communicators break together, and threads take them over together.
//
// For the communicator's thread only, but abort() and the clock are for any thread. The communicator must outlive this.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "base/log.hpp"
#include "base/status.hpp"
#include "base/variables/variables.hpp"
#include "fabric/fabric.hpp"
#include "on_fabric/call.hpp"
#include "on_fabric/known_times.hpp"
#include "on_fabric/named_fabric.hpp"
#include "on_fabric/way.hpp"
#include "runtime/communicator/communicator.hpp"
#include "table/decision_table.hpp"

namespace tutti::on_fabric {

// Of one rank, in nanoseconds. A communicator and those split from it share it, whichever threads call them.
class VirtualClock {
 public:
  [[nodiscard]] double now() const { return now_.load(std::memory_order_relaxed); }
  void advance(double nanoseconds) { now_.fetch_add(nanoseconds, std::memory_order_relaxed); }
  // To that time, if it is earlier.
  void reach(double time) {
    double before = now();
    while (before < time && !now_.compare_exchange_weak(before, time, std::memory_order_relaxed)) {
    }
  }

 private:
  std::atomic<double> now_ = 0;
};

class VirtualTime {
 public:
  struct Options {
    std::shared_ptr<const NamedFabric> fabric;
    std::shared_ptr<VirtualClock> clock;  // null: a new one
    std::uint32_t place = 0;              // this rank's on the fabric
    const Variables& variables;           // of the communicator
    Log& log;
  };
  // Collective: makes a communicator of the same ranks. If it fails on a rank, `communicator` is broken.
  [[nodiscard]] static Result<std::unique_ptr<VirtualTime>> make(Communicator& communicator, Options options);

  VirtualTime(const VirtualTime&) = delete;
  VirtualTime& operator=(const VirtualTime&) = delete;

  // Of an operation that this has remembered; null: it takes real time.
  [[nodiscard]] static VirtualTime* of(const Operation& operation) {
    return operation.timed == nullptr ? nullptr : static_cast<const Made*>(operation.timed)->owner;
  }

  [[nodiscard]] double now() const { return clock_->now(); }
  [[nodiscard]] double last_call() const { return last_; }
  [[nodiscard]] const std::shared_ptr<VirtualClock>& clock() const { return clock_; }
  [[nodiscard]] const std::shared_ptr<const NamedFabric>& named_fabric() const { return named_; }
  // The program computes for so many nanoseconds, at least 0.
  void advance(double nanoseconds) { clock_->advance(nanoseconds); }

  // A collective has been carried out to its end.
  [[nodiscard]] Status run(const Invocation& asked);
  // It has been started in a group.
  [[nodiscard]] Status begin_in_group(const Invocation& asked);
  [[nodiscard]] Status begin_in_group(const Transfer& asked);
  // An operation has been made for it; then that operation has been started.
  [[nodiscard]] Status remember(const Invocation& asked, Operation& operation);
  [[nodiscard]] Status remember(const Transfer& asked, Operation& operation);
  [[nodiscard]] Status begin(const Operation& operation);
  // Whether end() would return without waiting for another rank, also for a broken communicator. The first progresses
  // pending operations, the second only looks.
  [[nodiscard]] bool is_ready(const Operation& operation);
  [[nodiscard]] bool looks_ready(const Operation& operation) const;
  // The operation has been waited for: moves this rank's clock to its end. The same for the group's calls, of which
  // some may have failed.
  [[nodiscard]] Status end(const Operation& operation);
  [[nodiscard]] Status end_group();
  // Waits until the other ranks have what they need of this one.
  void settle();
  void abort(std::string_view reason) { clocks_->abort(reason); }

 private:
  // What a rank tells the others: its clock, and how it calls; then the elements of its blocks, where they may differ.
  static constexpr std::size_t kWords = 2;

  struct Asked {
    Call call;
    std::uint64_t how = 0;
    std::vector<std::uint64_t> blocks = {};  // of the input, then of the output; none: all are alike
  };
  struct Made;
  struct Started {
    std::uint64_t number = 0;  // from 1, in order
    Made* made = nullptr;      // null: for no operation
    Call call;
    std::vector<std::uint64_t> mine;
    std::vector<std::uint64_t> all;  // of each rank
    Operation* telling = nullptr;
  };
  // A send or a receive that has been started (virtual_transfers.cpp). Stays where it is while `telling` is pending.
  struct Moving {
    bool is_send = false;
    std::uint32_t peer = 0;
    std::uint64_t bytes = 0;
    double begin = 0;              // when this rank started it
    std::uint64_t stamp = 0;       // when the sender did
    Operation* telling = nullptr;  // null: to or from itself, or it has ended
  };
  // The call that an operation was last made for, and its state.
  struct Made {
    VirtualTime* owner = nullptr;
    std::variant<Transfer, Asked> asked = {};
    const Started* started = nullptr;  // a collective whose end nobody has asked for
    std::optional<Moving> moving = {};
    Status ended_in = {};  // a collective that has ended in an error before it was waited for
  };
  struct MessageTimes {
    Status status;
    double sender = 0;    // from its start, as if the receiver were there
    double receiver = 0;  // from when both have started
  };
  VirtualTime(Communicator& communicator, Options options);

  [[nodiscard]] Status meet(const Variables& variables);
  [[nodiscard]] Status compare();
  [[nodiscard]] Result<Asked> asked_of(const Invocation& asked) const;
  [[nodiscard]] Asked asked_of_varying(const Invocation& asked) const;
  [[nodiscard]] Status start(const Asked& asked, Made* made);
  // Everything up to that one, in order; says how that one ended.
  [[nodiscard]] Status end_up_to(std::uint64_t number);
  [[nodiscard]] Status await(Operation& telling);
  [[nodiscard]] Status take_time_of(const Started& first);
  [[nodiscard]] static Made& made_of(const Operation& operation) { return *static_cast<Made*>(operation.timed); }
  [[nodiscard]] Status remember_as(std::variant<Transfer, Asked> asked, Operation& operation);
  [[nodiscard]] Status start(const Transfer& asked, Moving& moving);
  [[nodiscard]] Status end(Moving& moving);
  [[nodiscard]] bool is_told(Operation& telling);
  [[nodiscard]] const MessageTimes& message_times(std::uint32_t from, std::uint32_t to, std::uint64_t bytes);
  [[nodiscard]] MessageTimes simulated(std::uint32_t from, std::uint32_t to, std::uint64_t bytes);
  [[nodiscard]] const Timed& timed(const Call& call);
  [[nodiscard]] Timed simulated(const Call& call);
  [[nodiscard]] Result<ChosenWay> choose(const Call& call, std::string& warning);
  // What breaks one of the two breaks the other.
  [[nodiscard]] bool is_broken() const { return communicator_.async_error() != Code::ok; }
  [[nodiscard]] Status break_both(const Status& why);
  // The others wait for this rank, and must not do so in vain.
  template <typename Body>
  [[nodiscard]] Status within_memory(const Body& body) {
    try {
      return body();
    } catch (const std::bad_alloc&) {
      return communicator_.break_for_memory("virtual time");
    }
  }

  Communicator& communicator_;
  std::shared_ptr<const NamedFabric> named_;
  std::shared_ptr<const fabric::Fabric> fabric_;  // of these ranks
  std::shared_ptr<VirtualClock> clock_;
  std::uint32_t place_;
  Log& log_;
  Result<Settings> settings_;
  WayChooser chooser_;
  std::deque<std::unique_ptr<Started>> started_;  // in order; whose end nobody has asked for
  std::map<const Operation*, Made> made_;
  std::deque<Moving> grouped_;  // sends and receives of the open group
  Status group_ended_in_;
  std::shared_ptr<KnownTimes> times_;
  std::map<Call, std::shared_ptr<const Timed>> known_;  // those of them that this rank has asked for
  std::optional<fabric::Fabric> two_;                   // the same fabric with two ranks, once there is a message
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, MessageTimes> known_messages_;  // from, to, bytes
  std::uint64_t last_number_ = 0;
  std::uint64_t last_grouped_ = 0;
  double ended_ = 0;  // when the last rank was done with the one before
  double last_ = 0;   // what that took
  // Last, since it may still be written to what is above until it is gone.
  std::unique_ptr<Communicator> clocks_;
};

}  // namespace tutti::on_fabric
