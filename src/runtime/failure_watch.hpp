// Notices that a rank has ended, however it ended, and tells every other rank within milliseconds.
//
// One thread (tutti-watch) sleeps in poll on the links of a Membership and costs nothing while nothing happens. A
// process that dies is seen by its pidfd, also where children of it still hold the socket, or by the hang-up. Rank 0
// sees all others and passes on what it sees; the others see rank 0. Ranks that leave in order say so first and are
// not taken for lost.
//
// After rank 0 has left, the others no longer hear of each other: it should be the last to go, and stop(linger) waits
// for that. on_left(0) tells the others that nothing more can be done together.
//
// Owns its thread and the links. stop() and abort() may be called from any thread but the watch's own.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "base/units.hpp"
#include "runtime/bootstrap.hpp"

namespace tutti {

// Called on the watch's thread, each at most once for a rank; they must not block and not call the watch. Any may be
// empty.
struct FailureEvents {
  std::function<void(int rank, std::string_view why)> on_lost;
  std::function<void(int rank)> on_left;
  // Rank `rank`, which is another than this one, called abort().
  std::function<void(int rank, std::string_view reason)> on_abort;
};

class FailureWatch {
 public:
  [[nodiscard]] static Result<std::unique_ptr<FailureWatch>> start(Links links, FailureEvents events);
  FailureWatch(const FailureWatch&) = delete;
  FailureWatch& operator=(const FailureWatch&) = delete;
  ~FailureWatch();  // stop()

  // Tells every other rank that this one gives up, and why (the first 256 bytes of it). Only the first call does.
  void abort(std::string_view reason);

  // Tells the others that this rank leaves, and ends the thread; no event comes after it. Rank 0 first goes on for at
  // most `linger`, until all others have left or are lost. Calling it again does nothing.
  void stop(Nanos linger = Nanos{});

 private:
  struct State;
  explicit FailureWatch(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tutti
