// SPDX-License-Identifier: Apache-2.0
// A communicator of the surviving ranks of another one.
#include "runtime/failure/shrink.hpp"

#include <new>
#include <utility>

#include "api/handle.hpp"
#include "api/init.hpp"

namespace {

using tutti::Result;
using tutti::Status;
using tutti::api::Reading;
using tutti::api::report;

// This rank cannot take part, and the others would wait for it.
Status why_not(const Result<Reading>& reading) {
  Status grouped = tutti::api::check_no_group();
  return grouped.ok() ? reading.status() : grouped;
}

// One attempt. It succeeds only if all ranks have the new communicator.
Result<tutti::ShrinkOutcome> attempt(tuttiComm_t comm, const tuttiConfig_t* config, tuttiComm_t* newcomm) {
  tutti::ShrinkMeeting meeting(*comm->communicator);
  Result<Reading> reading = tutti::api::read_as_of(*comm, config);
  if (const Status status = why_not(reading); !status.ok()) {
    meeting.refuse(status.message());
    return status;
  }
  Result<tutti::SplitGroup> group = Status(tutti::Code::internal, "");
  try {
    group = meeting.meet();
  } catch (const std::bad_alloc&) {
    meeting.give_up("it has no memory left");
    return tutti::api::no_memory();
  }
  if (!group.ok()) return group.status();
  Status joined;
  try {
    joined =
        init(newcomm, std::move(*reading),
             {.id = group->id, .num_ranks = group->num_ranks, .rank = group->rank, .parent = comm->surroundings.get()},
             [&] { return meeting.why_in_vain(*group); });
  } catch (const std::bad_alloc&) {
    joined = tutti::api::no_memory();
  }
  return meeting.settle(*group, joined);
}

}  // namespace

extern "C" tuttiResult_t tuttiCommShrink(tuttiComm_t comm, tuttiComm_t* newcomm, const tuttiConfig_t* config) {
  return tutti::api::within(comm, [&]() -> tuttiResult_t {
    if (newcomm == nullptr) return tutti::api::refuse("newcomm is null");
    if (comm->communicator->hosts().are_several())
      return report(
          {tutti::Code::unsupported,
           "a communicator over several hosts cannot be shrunk yet: its ranks agree on it in memory that they "
           "share on one host; make a new one with tuttiGetUniqueId"});
    while (true) {
      *newcomm = nullptr;
      const Result<tutti::ShrinkOutcome> outcome = [&]() -> Result<tutti::ShrinkOutcome> {
        try {
          return attempt(comm, config, newcomm);
        } catch (const std::bad_alloc&) {
          return tutti::api::no_memory();
        }
      }();
      if (outcome.ok() && *outcome == tutti::ShrinkOutcome::made) return tuttiSuccess;
      tuttiCommDestroy(std::exchange(*newcomm, nullptr));
      if (!outcome.ok()) return report(outcome.status());
    }
  });
}
