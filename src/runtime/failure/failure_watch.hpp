// SPDX-License-Identifier: Apache-2.0
// Notices that a rank has ended, however it ended, and tells every other rank within milliseconds.
//
// One thread (tutti-watch) sleeps in poll on the links of a Membership and costs nothing while nothing happens. A
// process that dies is seen by its pidfd, also where children of it still hold the socket, or by the hang-up. The
// leader of a host sees the others there, and rank 0 the leaders; each passes on what it sees and hears to all its
// other links. Ranks that leave in order say so first and are not taken for lost.
//
// After its leader has left nobody tells a rank of the others: then it looks itself, ten times a second, where it has
// been given signs of life to look at. Nobody has to wait for the others to leave.
//
// Owns its thread and the links. stop() and abort() may be called from any thread but the watch's own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "runtime/bootstrap/bootstrap.hpp"

namespace tutti {

// Called on the watch's thread, each at most once for a rank; they must not block and not call the watch. Any may be
// empty.
struct FailureEvents {
  std::function<void(int rank, std::string_view why)> on_lost;
  // After so many operations.
  std::function<void(int rank, std::uint64_t operations)> on_left;
  // Rank `rank`, which is another than this one, called abort().
  std::function<void(int rank, std::string_view reason)> on_abort;
  // Some rank has found that all are to end, for a reason that it has words for; `rank` is who is to blame.
  std::function<void(int rank, Code code, std::string_view words)> on_broken;
};

// How ranks see each other's end by themselves; called on the watch's thread. All or none may be empty.
struct LifeSigns {
  std::function<void()> give;  // before start() returns
  std::function<void()> take_back;
  // A rank that is gone and had not taken back its sign.
  std::function<std::optional<int>()> find_lost;
};

class FailureWatch {
 public:
  [[nodiscard]] static Result<std::unique_ptr<FailureWatch>> start(Links links, FailureEvents events,
                                                                   LifeSigns signs = {});
  FailureWatch(const FailureWatch&) = delete;
  FailureWatch& operator=(const FailureWatch&) = delete;
  ~FailureWatch();  // stop()

  // Tells every other rank that this one gives up, and why (the first 256 bytes of it). Only the first call does.
  void abort(std::string_view reason);

  // Tells every other rank that all are to end, and why (the first 256 bytes of the words). Only the first call does.
  void tell_broken(int rank, Code code, std::string_view words);

  // In a forked child: closes its copies of the links to other hosts, which see the end of this rank by these alone.
  void forsake() noexcept;

  // Tells the others that this rank leaves, after so many operations, and ends the thread; no event comes after it.
  // Calling it again does nothing.
  void stop(std::uint64_t operations = 0);

 private:
  struct State;
  explicit FailureWatch(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tutti
