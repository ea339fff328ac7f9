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
  return on_fabric::VirtualTime::of(operation);
}

// Runs a collective, a send or a receive to its end, or only starts it if a group is open. Called within the
// communicator.
tuttiResult_t carry_out(tuttiComm_t comm, const Invocation& asked);
tuttiResult_t carry_out(tuttiComm_t comm, const Transfer& asked);
// A send and a receive at once, to their end; not in a group.
[[nodiscard]] Status carry_out(tuttiComm_t comm, const Transfer& sent, const Transfer& received);
// An operation for that transfer, in a group.
tuttiResult_t carry_out_in_group(tuttiComm_t comm, const Transfer& asked, Result<Operation*> operation);

// For requests: made, started, waited for, and tested.
[[nodiscard]] Result<Operation*> prepare(tuttiComm_t comm, const Invocation& asked, bool is_persistent);
[[nodiscard]] Result<Operation*> prepare(tuttiComm_t comm, const Transfer& asked, bool is_persistent);
[[nodiscard]] Status start(Operation& operation);
[[nodiscard]] Status wait(Operation& operation);
[[nodiscard]] Result<bool> test(Operation& operation);

}  // namespace tutti::api
