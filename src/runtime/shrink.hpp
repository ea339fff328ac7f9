// How the ranks that are left of a communicator agree on a new one, whatever has broken the old one: over the memory
// that they still share, without a call of the old communicator, and without any particular rank.
//
// An attempt has two parts. meet(): every rank that is left arrives; the first of them opens a rendezvous and proposes
// its members. settle(): with the new communicator, or without it, they agree on what has come of it. Both decisions
// are one word each, stored once, so that all ranks take the same, also where one of them is lost in between: then
// there is another attempt, of those who are left of it.
//
// One for each call of one rank. Borrows the communicator.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/status.hpp"
#include "runtime/communicator.hpp"
#include "runtime/split.hpp"

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
  // In place of meet(): this rank does not take part. Needs no memory.
  void refuse(std::string_view why);

  // While the members join: what keeps one of them from it.
  [[nodiscard]] Status why_in_vain(const SplitGroup& group) const;

  // After meet(), with what came of joining here. An error is one that no further attempt would mend; all return it.
  [[nodiscard]] Result<ShrinkOutcome> settle(const SplitGroup& group, const Status& joined);

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] bool is_gone(std::uint32_t rank) const;
  [[nodiscard]] Status refusal_of(std::uint32_t rank) const;
  // The members, and the rendezvous where this rank leads them.
  [[nodiscard]] Status propose(SplitGroup& group);
  [[nodiscard]] Result<SplitGroup> follow(SplitGroup group, std::uint32_t leader) const;
  // What can be said by now of the members, if anything: the word for shrink_outcome().
  [[nodiscard]] std::uint64_t outcome_of(const SplitGroup& group) const;
  // Lets some time pass; an error once the communicator's timeout has. `missing` says who is waited for, for a warning.
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
