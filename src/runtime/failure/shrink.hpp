// SPDX-License-Identifier: Apache-2.0
// How the surviving ranks of a communicator agree on a new one, whatever has broken the old one. They use the memory
// that they still share, no call of the old communicator, and no particular rank.
//
// An attempt has two parts. meet(): every surviving rank arrives; the first of them opens a rendezvous and proposes its
// members, or a rank refuses. settle(): they agree on the outcome. Each decision is one word, stored once, so that all
// ranks read the same, even if one is lost in between. Then the survivors make another attempt.
//
// One for each call of one rank. Borrows the communicator.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/status.hpp"
#include "runtime/bootstrap/split.hpp"
#include "runtime/communicator/communicator.hpp"

namespace tutti {

enum class ShrinkOutcome : std::uint8_t {
  made = 1,   // all members have the new communicator
  again = 2,  // a member was lost before: nobody has it
};

class ShrinkMeeting {
 public:
  using Clock = std::chrono::steady_clock;
  using Now = std::function<Clock::time_point()>;

  explicit ShrinkMeeting(const Communicator& communicator, Now now = Clock::now);
  ShrinkMeeting(const ShrinkMeeting&) = delete;
  ShrinkMeeting& operator=(const ShrinkMeeting&) = delete;
  ~ShrinkMeeting();

  // Waits for every rank that has neither left nor been lost. Where one of them refuses, all return why.
  [[nodiscard]] Result<SplitGroup> meet();
  // Replaces meet() if this rank does not take part. Needs no memory.
  void refuse(std::string_view why);

  // Ends the attempt for all where this rank cannot go on in meet(), whether or not members are proposed by then. Needs
  // no memory.
  void give_up(std::string_view why);

  // While the members join: what keeps one of them from it.
  [[nodiscard]] Status why_in_vain(const SplitGroup& group) const;

  // After meet(), with the result of joining here. An error is final: no further attempt would help, and all return it.
  [[nodiscard]] Result<ShrinkOutcome> settle(const SplitGroup& group, const Status& joined);

  // meet() and settle() without their naps, in steps, so that tests can interleave the ranks' steps. A step looks or
  // stores one word of its own; a decision is stored in the step after the look that it is based on. Nothing: go on.
  [[nodiscard]] std::optional<Result<SplitGroup>> step_to_meet();
  [[nodiscard]] std::optional<Result<ShrinkOutcome>> step_to_settle(const SplitGroup& group, const Status& joined);

 private:
  struct Arrivals;

  [[nodiscard]] bool is_gone(std::uint32_t rank) const;
  [[nodiscard]] bool is_missing(std::uint32_t rank) const;
  [[nodiscard]] bool have_all_arrived() const;
  [[nodiscard]] Arrivals look_at_arrivals() const;
  [[nodiscard]] Status refusal_of(std::uint32_t rank) const;
  [[nodiscard]] Status could_not_join(std::uint32_t rank) const;
  void object(Status why);
  // The members, and the rendezvous where this rank leads them.
  [[nodiscard]] Status propose();
  [[nodiscard]] Result<SplitGroup> follow(std::uint32_t leader);
  // The word for shrink_outcome(), once the members' state decides it.
  [[nodiscard]] std::uint64_t outcome_of(const SplitGroup& group) const;
  void say_what_joining_gave(const Status& joined);
  // An error after the communicator's timeout. `missing` names the late ranks for a warning.
  template <typename Missing>
  [[nodiscard]] Status check_patience(const Missing& missing);
  void nap();
  void tell_wait() const;

  const Communicator& communicator_;
  const shm::Region& region_;
  shm::ShrinkLines& own_;
  const Now now_;
  std::uint64_t attempt_ = 0;
  Clock::time_point begun_;  // of the part that this rank is in
  std::chrono::microseconds nap_{0};
  bool has_arrived_ = false;
  bool has_said_joined_ = false;
  bool has_warned_ = false;
  bool has_lost_patience_ = false;
  std::uint64_t ripe_ = 0;  // the decision to store; 0: none
  Status objection_;        // why this rank refuses
  SplitGroup group_;
};

}  // namespace tutti
