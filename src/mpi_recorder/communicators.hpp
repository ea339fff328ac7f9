// SPDX-License-Identifier: Apache-2.0
// The recorder of each communicator that the program calls on, from its first call to its end. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "mpi_recorder/mpi.hpp"
#include "recording/recorder.hpp"

namespace tutti::mpi_recorder {

// Whether this process is recorded, and may call MPI still.
[[nodiscard]] bool is_recording();

// Of what is recorded, and where: a number that other communicators, and the end of MPI, make another.
extern std::atomic<std::uint64_t> changes;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

struct Member {
  Recorder* recorder = nullptr;  // null: its calls are not recorded
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
};
[[nodiscard]] Member member_of(const Mpi& mpi, Handle communicator);

// Writes what is recorded of it. `forget_all` is for MPI's own end.
void forget(Handle communicator);
void forget_all();

// Held while recorders change, where several threads may call: MPI lets one wait for what another has started.
[[nodiscard]] std::unique_lock<std::mutex> lock_recorders(const Mpi& mpi);

}  // namespace tutti::mpi_recorder
