// SPDX-License-Identifier: Apache-2.0
// Groups of the C API: what is called between their ends is only begun, and all of it waited for at the outer end.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "api/handle.hpp"
#include "api/virtual_time.hpp"

namespace tutti::api {

namespace {

// The communicators that this thread's open group has called something on.
std::vector<tuttiComm_t>& grouped() {
  thread_local std::vector<tuttiComm_t> communicators;
  return communicators;
}

}  // namespace

tuttiResult_t begin_in_group(tuttiComm_t comm, Result<Operation*> operation) {
  std::vector<tuttiComm_t>& communicators = grouped();
  if (std::find(communicators.begin(), communicators.end(), comm) == communicators.end()) communicators.push_back(comm);
  return report(comm->communicator->begin_in_group(std::move(operation)));
}

}  // namespace tutti::api

extern "C" {

tuttiResult_t tuttiGroupStart() {
  ++tutti::thread_work.open_groups;
  return tuttiSuccess;
}

tuttiResult_t tuttiGroupEnd() {
  using tutti::Recorder;
  using tutti::Status;
  using tutti::api::recorder_of;
  using tutti::api::report;
  return tutti::api::guarded([]() -> tuttiResult_t {
    if (tutti::thread_work.open_groups == 0)
      return report({tutti::Code::invalid_usage, "tuttiGroupEnd without a tuttiGroupStart"});
    if (tutti::thread_work.open_groups > 1) {
      --tutti::thread_work.open_groups;
      return tuttiSuccess;
    }
    // A communicator that was destroyed since has waited for its calls.
    std::erase_if(tutti::api::grouped(), [](const tuttiComm* each) { return !tutti::api::is_live(each); });
    // Into all, or the group stays open, and can be ended later.
    std::deque<tutti::api::Entry> entries;
    for (const tuttiComm* each : tutti::api::grouped())
      if (const Status status = entries.emplace_back(*each->communicator).status(); !status.ok()) return report(status);
    for (const tuttiComm* each : tutti::api::grouped()) each->communicator->take_over();
    tutti::thread_work.open_groups = 0;
    Status first;
    for (const tuttiComm* each : tutti::api::grouped()) {
      Recorder* const recorder = recorder_of(each);
      const std::int64_t start = recorder == nullptr ? 0 : recorder->begin_group_end();
      Status status = each->communicator->end_group();
      if (tutti::on_fabric::VirtualTime* const time = tutti::api::virtual_time_of(each))
        if (Status timed = time->end_group(); status.ok()) status = std::move(timed);
      if (recorder != nullptr) recorder->end_group(start);
      if (first.ok()) first = std::move(status);
    }
    tutti::api::grouped().clear();
    return report(first);
  });
}

tuttiResult_t tuttiGroupAbort() {
  return tutti::api::guarded([]() -> tuttiResult_t {
    if (tutti::thread_work.open_groups == 0)
      return tutti::api::report({tutti::Code::invalid_usage, "tuttiGroupAbort without a tuttiGroupStart"});
    for (const tuttiComm* each : tutti::api::grouped())
      if (tutti::api::is_live(each) && each->communicator->has_open_group())
        each->communicator->abort("tuttiGroupAbort was called");
    // A failed operation is not waited for; the next call of its communicator says why.
    const std::uint32_t open_groups = tutti::thread_work.open_groups;
    const tuttiResult_t result = tuttiGroupEnd();
    return tutti::thread_work.open_groups < open_groups ? tuttiSuccess : result;
  });
}

}  // extern "C"
