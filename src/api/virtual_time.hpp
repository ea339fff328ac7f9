// SPDX-License-Identifier: Apache-2.0
// Calls of the C API where TUTTI_FABRIC says that they take virtual time.
#pragma once

#include "api/handle.hpp"
#include "runtime/communicator/invocation.hpp"

namespace tutti::api {

// Null: its calls take the time that they take.
[[nodiscard]] inline on_fabric::VirtualTime* virtual_time_of(const tuttiComm* comm) {
  return comm->surroundings->virtual_time.get();
}
[[nodiscard]] inline on_fabric::VirtualTime* virtual_time_of(const Operation& operation) {
  return static_cast<on_fabric::VirtualTime*>(operation.timed);
}

// A collective, within the communicator: to its end, or, where a group is open, begun.
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
