// SPDX-License-Identifier: Apache-2.0
// The server at which the ranks of a communicator meet (client: bootstrap.hpp). One thread gathers one hello per rank,
// compares them, answers all ranks with the table or all with the same error, and watches them until the last is
// connected: a rank that ends before that is named to the others.
//
// It serves one id and, one after another or at once, any number of its generations (bootstrap.hpp). Who does not know
// the token gets no answer. A client that is slow, talks garbage or says nothing is dropped after a time, and a crowd
// of such holds up others for a fifth of a second. What is kept for clients is bounded, but for ranks on their way to
// others that are stopped. So a rank may be dropped before its hello, and reconnects. Other users' connections never
// displace this user's. Of many ranks most wait at other ranks instead (waiting_tree.hpp). The object owns the thread:
// the destructor ends it and hangs up on all who still wait. All members are thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/status.hpp"
#include "base/unique_id.hpp"
#include "base/units.hpp"

namespace tutti {

// More ranks than this on one host are a mistake.
inline constexpr int kMostRanksOnHost = 1024;
// On several hosts. What each rank keeps for every other one is then some 10 MB (docs/design/hosts.md).
inline constexpr int kMostRanks = 65536;

struct RendezvousOptions {
  // Where to listen; port 0 takes a free one. Nothing: at a local address of its own.
  std::optional<Address> address{};
  Nanos hello_deadline{5'000'000'000};  // a client that has not said who it is by then is dropped
  // The thread ends, and the port closes, after this many generations have come to an end, well or not; 0: never.
  std::uint64_t most_generations = 0;
};

class RendezvousServer {
 public:
  [[nodiscard]] static Result<std::unique_ptr<RendezvousServer>> start(const RendezvousOptions& options = {});
  RendezvousServer(const RendezvousServer&) = delete;
  RendezvousServer& operator=(const RendezvousServer&) = delete;
  ~RendezvousServer();

  [[nodiscard]] const UniqueId& id() const;
  // How many ranks have said hello.
  [[nodiscard]] std::uint64_t arrived() const;
  // How many generations have come to an end, well or not.
  [[nodiscard]] std::uint64_t finished() const;

 private:
  struct State;
  explicit RendezvousServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tutti
