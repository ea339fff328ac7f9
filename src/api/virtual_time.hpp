// SPDX-License-Identifier: Apache-2.0
// Calls of the C API, in virtual time if TUTTI_FABRIC is set and else in real time.
#pragma once

#include "api/handle.hpp"
#include "runtime/communicator/invocation.hpp"

namespace tutti::api {

// Null: its calls take real time.
[[nodiscard]] inline on_fabric::VirtualTime* virtual_time_of(const tuttiComm* comm) {
  return comm->surroundings->virtual_time.get();
}
[[nodiscard]] inline on_fabric::VirtualTime* virtual_time_of(const Operation& operation) {
  return static_cast<on_fabric::VirtualTime*>(operation.timed);
}

// Runs a collective to its end, or only starts it if a group is open. Called within the communicator.
tuttiResult_t carry_out(tuttiComm_t comm, const Invocation& asked);

// Before a send or a receive.
[[nodiscard]] inline Status check_transfer(const tuttiComm* comm) {
  return virtual_time_of(comm) == nullptr ? Status() : on_fabric::VirtualTime::no_transfers();
}

// For requests: made, started, waited for, and tested.
[[nodiscard]] Result<Operation*> prepare(tuttiComm_t comm, const Invocation& asked, bool is_persistent);
[[nodiscard]] Result<Operation*> prepare(tuttiComm_t comm, const Transfer& asked, bool is_persistent);
[[nodiscard]] Status start(Operation& operation);
[[nodiscard]] Status wait(Operation& operation);
[[nodiscard]] Result<bool> test(Operation& operation);

}  // namespace tutti::api
