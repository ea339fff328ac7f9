// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a launcher meet that gives them numbers and nothing to talk through: an abstract unix socket,
// whose name all of them can make from what the launcher calls this start. Rank 0 listens there and gives its id to
// each other rank, once; when all have it, the name is free again.
//
// Anybody on the host can make the name, so each side asks the system for the other's user: no other user learns the
// id, and none can pose as rank 0. That two starts of one user are told apart is up to their launcher's variables.
#pragma once

#include <string>
#include <string_view>

#include "runtime/bootstrap/start/numbers.hpp"
#include "runtime/bootstrap/start/way.hpp"

namespace tutti::start {

struct LocalMeeting {
  std::string_view by;
  Ranks ranks;
  std::string key;  // what tells this start from all others of the user on this host, in words
};

[[nodiscard]] Result<Started> meet_here(Process& process, const LocalMeeting& meeting);

// The name of the socket, without the zero in front.
[[nodiscard]] std::string socket_name(const LocalMeeting& meeting);

}  // namespace tutti::start
