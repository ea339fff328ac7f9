// How the surviving ranks of a communicator agree on a new one, whatever has broken the old one. They use the memory
// that they still share, no call of the old communicator, and no particular rank.
//
// An attempt has two parts. meet(): every surviving rank arrives; the first of them opens a rendezvous and proposes its
// members. settle(): they agree on the outcome. Each decision is one word, stored once, so that all ranks read the
// same, even if one is lost in between. Then the survivors make another attempt.
//
// One for each call of one rank. Borrows the communicator.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

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
  explicit ShrinkMeeting(const Communicator& communicator);

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

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool is_gone(std::uint32_t rank) const;
  [[nodiscard]] Status refusal_of(std::uint32_t rank) const;
  // The members, and the rendezvous where this rank leads them.
  [[nodiscard]] Status propose(SplitGroup& group);
  [[nodiscard]] Result<SplitGroup> follow(SplitGroup group, std::uint32_t leader) const;
  // The word for shrink_outcome(), once the members' state decides it.
  [[nodiscard]] std::uint64_t outcome_of(const SplitGroup& group) const;
  // Waits a little; an error after the communicator's timeout. `missing` names the late ranks for a warning.
  template <typename Missing>
  [[nodiscard]] Status pause(const Missing& missing);

  const Communicator& communicator_;
  const shm::Region& region_;
  shm::ShrinkLines& own_;
  std::uint64_t attempt_ = 0;
  Clock::time_point begun_ = Clock::now();
  std::chrono::microseconds nap_{0};
  bool has_warned_ = false;
};

}  // namespace tutti
