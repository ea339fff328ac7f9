// SPDX-License-Identifier: Apache-2.0
#include "api/virtual_time.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace tutti::api {

tuttiResult_t carry_out(tuttiComm_t comm, const Invocation& asked) {
  Communicator& communicator = *comm->communicator;
  on_fabric::VirtualTime* const time = virtual_time_of(comm);
  const bool is_grouped = thread_work.open_groups > 0;
  if (time == nullptr)
    return is_grouped ? begin_in_group(comm, communicator.prepare(asked, false)) : report(communicator.run(asked));
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
  const Status status = communicator.transfer(asked);
  on_fabric::VirtualTime* const time = virtual_time_of(comm);
  return report(status.ok() && time != nullptr ? time->run({&asked, 1}) : status);
}

Status carry_out(tuttiComm_t comm, const Transfer& sent, const Transfer& received) {
  TUTTI_TRY(comm->communicator->exchange(sent, received));
  on_fabric::VirtualTime* const time = virtual_time_of(comm);
  return time == nullptr ? Status() : time->run(std::array{sent, received});
}

namespace {

template <typename Asked>
Result<Operation*> prepare_timed(tuttiComm_t comm, const Asked& asked, bool is_persistent) {
  on_fabric::VirtualTime* const time = virtual_time_of(comm);
  TUTTI_TRY_ASSIGN(Operation* const operation, comm->communicator->prepare(asked, is_persistent));
  if (time == nullptr) return operation;
  operation->timed = time;
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
  on_fabric::VirtualTime* const time = virtual_time_of(operation);
  if (time != nullptr && !time->is_ready(operation)) return false;
  TUTTI_TRY_ASSIGN(const bool is_done, operation.owner->test(operation));
  if (time != nullptr && is_done) TUTTI_TRY(time->end(operation));
  return is_done;
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
