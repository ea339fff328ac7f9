// The executor: walks plans on shared memory. One belongs to one communicator of one rank, and is used by one thread
// at a time; it keeps what outlives a call: how far each connection, staging slot and flag has come.
//
// Three walkers, one contract (docs/design/executor.md): general programs are scheduled lane by lane through
// meaning.hpp; straight ones run through the same machine without a scheduler; exchanges have a walker written for
// them. Ranks may walk the same schedule with different walkers: what they say to each other is the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/call.hpp"
#include "transport/shm/message.hpp"
#include "transport/shm/region.hpp"
#include "transport/shm/waiter.hpp"

namespace tutti {

enum class WalkerChoice : std::uint8_t { automatic, generic, specialised };

enum class End : std::uint8_t {
  done,
  broken,  // the region says why
  timed_out,
  mismatched,  // mismatch() says with whom
};

struct Mismatch {
  std::uint32_t rank = 0;
  std::uint64_t theirs = 0;  // CallDescription
};

class Executor {
 public:
  // The region and the waiter are borrowed and outlive the executor.
  Executor(const shm::Region& region, std::uint32_t rank, shm::Waiter& waiter);

  // Walks the plan of the call from its first to its last round. Fills in where the call begins in the counts of posts
  // and rounds. On anything but End::done the communicator can no longer be used.
  [[nodiscard]] End run(Call& call, WalkerChoice choice);

  // An exchange of one round whose bytes fit a staging slot, without a Call: the path on which nanoseconds count.
  struct Small {
    const Plan* plan;
    const void* input;
    void* output;
    std::uint64_t count;
    std::uint64_t bytes;
    std::uint64_t description;
    const Operator* operation;
    ReduceKernel kernel;
  };
  [[nodiscard]] End run_small(const Small& call);

  // To be asked during long waits: whether no peer is seen to be in another call of the same number, in which case what
  // this rank waits for will never come.
  [[nodiscard]] bool persist();

  [[nodiscard]] const Mismatch& mismatch() const { return mismatch_; }
  [[nodiscard]] std::uint64_t operations() const { return operations_; }

 private:
  friend class Machine;

  struct LaneState {
    std::uint64_t round = 0;
    std::uint32_t index = 0;
    std::int64_t passed = -1;  // number of the last step passed in this round
  };

  [[nodiscard]] End walk_general(const Call& call);
  [[nodiscard]] End walk_straight(const Call& call);
  [[nodiscard]] End walk_exchange(const Call& call);

  void begin(std::uint64_t description);
  // This rank is done with all direct reads and writes before round number `count` of the communicator.
  void finish_rounds(std::uint64_t count);
  // Whether every rank has finished `count` rounds.
  [[nodiscard]] bool everyone_finished(std::uint64_t count);
  // The staging slot that exposure number `number` of the communicator goes to.
  [[nodiscard]] std::uint64_t slot_of(std::uint64_t number) const { return number % region_.shape().staging_depth; }
  [[nodiscard]] std::byte* staging_slot(std::uint32_t rank, std::uint64_t number) const {
    return region_.staging(rank) + slot_of(number) * region_.shape().staging_slot;
  }
  // Whether the line and the slot of a post may be written again.
  [[nodiscard]] bool line_is_free(std::uint64_t value) { return everyone_finished(line_busy_[value & 1]); }
  [[nodiscard]] bool slot_is_free(std::uint64_t number) { return everyone_finished(slot_busy_[slot_of(number)]); }
  // Makes a post known; its line must be free, and its payload written.
  void publish_post(std::uint64_t value, std::uint64_t description);
  // What the post that carries this number was about, where that is not `description`.
  [[nodiscard]] std::optional<std::uint64_t> differing_post(std::uint32_t rank, std::uint64_t value,
                                                            std::uint64_t description) const;
  [[nodiscard]] End end_of(shm::WaitEnd end) const;
  [[nodiscard]] End mismatch_with(std::uint32_t rank, std::uint64_t theirs);

  const shm::Region& region_;
  std::uint32_t rank_;
  shm::Waiter& waiter_;
  std::vector<shm::MessageSender> senders_;      // by rank
  std::vector<shm::MessageReceiver> receivers_;  // by rank
  // Counted alike on every rank: what all operations before this one have used.
  std::uint64_t operations_ = 0;
  std::uint64_t posts_ = 0;
  std::uint64_t rounds_ = 0;
  std::uint64_t exposes_ = 0;
  // Every rank is known to have finished this many rounds.
  std::uint64_t known_finished_ = 0;
  // How many rounds everyone must have finished before a line's payload, or a slot, may be overwritten.
  std::uint64_t line_busy_[2] = {0, 0};
  std::vector<std::uint64_t> slot_busy_;
  std::vector<LaneState> lanes_;
  std::vector<const void*> sources_;
  std::vector<void*> destinations_;
  Mismatch mismatch_;
  Mismatch suspect_;
  int suspicions_ = 0;
  static constexpr int kSuspicions = 3;
};

}  // namespace tutti
