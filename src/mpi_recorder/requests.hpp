// SPDX-License-Identifier: Apache-2.0
// Collectives that are in progress and whose time is taken: the wait for one is part of it. Thread-safe.
#pragma once

#include <vector>

#include "mpi_recorder/mpi.hpp"
#include "recording/recorder.hpp"

namespace tutti::mpi_recorder {

// Whether there may be any.
[[nodiscard]] bool has_open_requests();
void note_request(Handle request, Recorder::Cell& cell);
// Of these the ones that are in progress; where a handle is, null is where none is.
[[nodiscard]] std::vector<Recorder::Cell*> find_requests(const std::vector<Handle>& requests);
void forget_request(Handle request);
void forget_requests_of(const Recorder& recorder);
void forget_all_requests();

}  // namespace tutti::mpi_recorder
