// SPDX-License-Identifier: Apache-2.0
// Where ranks of several hosts meet if their launcher gives them only numbers: at a TCP port of the host that a
// variable names. Rank 0 listens there and gives its id to each other rank that knows what the launcher calls this
// start. When all have it, the port is free again.
//
// What a launcher calls a start is no secret. So unlike at a local socket, anybody who reaches the port and knows those
// variables gets the id, and who listens there first is taken for rank 0: the network is trusted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/bootstrap/start/local_meeting.hpp"

namespace tutti::start {

struct MeetingHost {
  std::string_view variable;  // that names it
  std::string name;           // or an address
};

[[nodiscard]] Result<Started> meet_on_network(Process& process, const LocalMeeting& meeting, const MeetingHost& host);

// The host of MASTER_ADDR. It must be set, and not to a name of each host for itself. `why`, for messages: "there are
// several hosts".
[[nodiscard]] Result<MeetingHost> master_host(const Environment& environment, std::string_view why);

// Whether it names each host for itself.
[[nodiscard]] bool is_name_of_loopback(std::string_view host);

// The port that follows from the meeting, where TUTTI_START_PORT names none.
[[nodiscard]] std::uint16_t port_of(const LocalMeeting& meeting);

// What a rank says in front of its number.
[[nodiscard]] std::string greeting_of(const LocalMeeting& meeting);

}  // namespace tutti::start
