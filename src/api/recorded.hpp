// SPDX-License-Identifier: Apache-2.0
// Calls of the C API as a recorder counts them.
#pragma once

#include <cstdint>

#include "api/handle.hpp"
#include "runtime/communicator/invocation.hpp"

// Where the function of the C API that it stands in was called from.
#define TUTTI_CALL_SITE __builtin_return_address(0)

namespace tutti::api {

// Elements of a block; where blocks differ in size, of all of them together, as this rank knows them: of a root that it
// is not, all blocks are as large as its own.
[[nodiscard]] std::uint64_t recorded_count(const Invocation& asked, const Communicator& communicator);

[[nodiscard]] inline Recorder::Key recorded_key(const Invocation& asked, const Communicator& communicator,
                                                const void* site) {
  const std::uint64_t count = asked.varying == nullptr ? asked.count : recorded_count(asked, communicator);
  return Recorder::key_of(site, asked.collective, asked.type, count, asked.root);
}

// `body` is the call, within the communicator. Those in a group share the time of its end.
template <typename Body>
tuttiResult_t recorded(Recorder* recorder, const Invocation& asked, const Communicator& communicator, const void* site,
                       const Body& body) {
  if (recorder == nullptr) return body();
  const Recorder::Call call = recorder->begin(recorded_key(asked, communicator, site));
  const tuttiResult_t result = body();
  recorder->end(call, result == tuttiSuccess);
  if (thread_work.open_groups > 0 && result == tuttiSuccess) recorder->note_grouped(call);
  return result;
}

// The same of a send or a receive.
template <typename Body>
tuttiResult_t recorded_transfer(Recorder* recorder, const Body& body) {
  if (recorder == nullptr) return body();
  const Recorder::Call call = recorder->begin(recorder->transfers());
  const tuttiResult_t result = body();
  recorder->end(call, result == tuttiSuccess);
  return result;
}

}  // namespace tutti::api
