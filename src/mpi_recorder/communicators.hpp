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

// The version of what is known of communicators: it grows when one is freed, and when MPI ends.
extern std::atomic<std::uint64_t> changes;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

struct Member {
  Recorder* recorder = nullptr;  // null: its calls are not recorded
  std::uint32_t ranks = 1;
  std::uint32_t rank = 0;
};
[[nodiscard]] Member member_of(const Mpi& mpi, Handle communicator);

// A communicator is no more; others alike go on with its recorder. `forget_all`, at the end of MPI, writes all.
void forget(const Mpi& mpi, Handle communicator);
void forget_all(const Mpi& mpi);

// If several threads may call at once: one may wait for what another has started.
[[nodiscard]] std::unique_lock<std::mutex> lock_recorders(const Mpi& mpi);

}  // namespace tutti::mpi_recorder
