// SPDX-License-Identifier: Apache-2.0
// Pending collectives that are clocked: the wait for one is part of its time. Thread-safe.
#pragma once

#include "mpi_recorder/mpi.hpp"
#include "recording/recorder.hpp"

namespace tutti::mpi_recorder {

// Whether any may be pending.
[[nodiscard]] bool has_pending_requests();
void note_request(Handle request, Recorder::Cell& cell);
// Null where nothing clocked is pending.
[[nodiscard]] Recorder::Cell* find_request(Handle request);
void forget_request(Handle request);
void forget_requests_of(const Recorder& recorder);
void forget_all_requests();

}  // namespace tutti::mpi_recorder
