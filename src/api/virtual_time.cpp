// SPDX-License-Identifier: Apache-2.0
#include "api/virtual_time.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

namespace tutti::api {

namespace {

// Starts all, then waits for each, so that clocks travel while this rank waits for the data. If one is refused, none is
// started.
template <typename Asked>
Status run_pending(tuttiComm_t comm, std::span<const Asked> asked) {
  std::array<Operation*, 2> operations{};
  Status status;
  std::size_t number = 0;
  for (const Asked& each : asked) {
    const Result<Operation*> operation = prepare(comm, each, false);
    status = operation.status();
    if (!status.ok()) break;
    operations[number++] = *operation;
  }
  const std::span<Operation*> all = std::span(operations).first(number);
  for (Operation* const each : all)
    if (status.ok()) status = start(*each);
  for (Operation* const each : all) {
    if (each->is_active)
      if (Status ended = wait(*each); status.ok()) status = std::move(ended);
    comm->communicator->release(*each);
  }
  return status;
}

}  // namespace

tuttiResult_t carry_out(tuttiComm_t comm, const Invocation& asked) {
  Communicator& communicator = *comm->communicator;
  on_fabric::VirtualTime* const time = virtual_time_of(comm);
  const bool is_grouped = thread_work.open_groups > 0;
  if (time == nullptr)
    return is_grouped ? begin_in_group(comm, communicator.prepare(asked, false)) : report(communicator.run(asked));
  // One that fails has told its clock by then, as other ranks have whose own calls are pending.
  if (!is_grouped && asked.varying != nullptr) return report(run_pending<Invocation>(comm, std::array{asked}));
  if (!is_grouped) {
    const Status status = communicator.run(asked);
    return report(status.ok() ? time->run(asked) : status);
  }
  const tuttiResult_t result = begin_in_group(comm, communicator.prepare(asked, false));
  return result == tuttiSuccess ? report(time->begin_in_group(asked)) : result;
}

tuttiResult_t carry_out_in_group(tuttiComm_t comm, const Transfer& asked, Result<Operation*> operation) {
  on_fabric::VirtualTime* const time = virtual_time_of(comm);
  const tuttiResult_t result = begin_in_group(comm, std::move(operation));
  return result == tuttiSuccess && time != nullptr ? report(time->begin_in_group(asked)) : result;
}

tuttiResult_t carry_out(tuttiComm_t comm, const Transfer& asked) {
  Communicator& communicator = *comm->communicator;
  if (thread_work.open_groups > 0) return carry_out_in_group(comm, asked, communicator.prepare(asked, false));
  // A message to the rank itself takes no time. It is refused unless its other half is pending.
  if (virtual_time_of(comm) == nullptr || asked.peer == communicator.rank())
    return report(communicator.transfer(asked));
  return report(run_pending<Transfer>(comm, std::array{asked}));
}

Status carry_out(tuttiComm_t comm, const Transfer& sent, const Transfer& received) {
  if (virtual_time_of(comm) == nullptr) return comm->communicator->exchange(sent, received);
  return run_pending<Transfer>(comm, std::array{sent, received});
}

namespace {

template <typename Asked>
Result<Operation*> prepare_timed(tuttiComm_t comm, const Asked& asked, bool is_persistent) {
  on_fabric::VirtualTime* const time = virtual_time_of(comm);
  TUTTI_TRY_ASSIGN(Operation* const operation, comm->communicator->prepare(asked, is_persistent));
  if (time == nullptr) return operation;
  if (const Status status = time->remember(asked, *operation); !status.ok()) {
    comm->communicator->release(*operation);
    return status;
  }
  return operation;
}

}  // namespace

Result<Operation*> prepare(tuttiComm_t comm, const Invocation& asked, bool is_persistent) {
  return prepare_timed(comm, asked, is_persistent);
}

Result<Operation*> prepare(tuttiComm_t comm, const Transfer& asked, bool is_persistent) {
  return prepare_timed(comm, asked, is_persistent);
}

Status start(Operation& operation) {
  TUTTI_TRY(operation.owner->start(operation));
  on_fabric::VirtualTime* const time = virtual_time_of(operation);
  return time == nullptr ? Status() : time->begin(operation);
}

Status wait(Operation& operation) {
  TUTTI_TRY(operation.owner->wait(operation));
  on_fabric::VirtualTime* const time = virtual_time_of(operation);
  return time == nullptr ? Status() : time->end(operation);
}

Result<bool> test(Operation& operation) {
  const bool is_active = operation.is_active;
  TUTTI_TRY_ASSIGN(const bool is_done, operation.owner->test(operation));
  on_fabric::VirtualTime* const time = virtual_time_of(operation);
  if (time == nullptr || !is_done) return is_done;
  if (!time->is_ready(operation)) {
    // Its data has arrived and the clocks have not: it stays active.
    operation.is_active = is_active;
    return false;
  }
  TUTTI_TRY(time->end(operation));
  return true;
}

}  // namespace tutti::api

namespace {

using tutti::api::refuse;
using tutti::api::report;
using tutti::api::virtual_time_of;
using tutti::api::within_finalized;

}  // namespace

extern "C" {

tuttiResult_t tuttiGetVirtualTime(tuttiComm_t comm, double* now, double* last_call) {
  return within_finalized(comm, [&]() -> tuttiResult_t {
    if (now == nullptr && last_call == nullptr) return refuse("now and last_call are null");
    const tutti::on_fabric::VirtualTime* const time = virtual_time_of(comm);
    if (time == nullptr)
      return report({tutti::Code::unsupported, "this communicator's calls take real time: TUTTI_FABRIC is not set"});
    if (now != nullptr) *now = time->now();
    if (last_call != nullptr) *last_call = time->last_call();
    return tuttiSuccess;
  });
}

tuttiResult_t tuttiAdvanceVirtualTime(tuttiComm_t comm, double nanoseconds) {
  return within_finalized(comm, [&]() -> tuttiResult_t {
    if (!std::isfinite(nanoseconds) || nanoseconds < 0) return refuse("nanoseconds are negative, or no number");
    if (tutti::on_fabric::VirtualTime* const time = virtual_time_of(comm)) time->advance(nanoseconds);
    return tuttiSuccess;
  });
}

}  // extern "C"
