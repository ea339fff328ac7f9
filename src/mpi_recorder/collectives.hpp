// SPDX-License-Identifier: Apache-2.0
// What a call of MPI is, from its arguments: where they stand is data, alike in C and in Fortran.
#pragma once

#include <cstdint>
#include <span>

#include "data/collective.hpp"
#include "mpi_recorder/communicators.hpp"
#include "mpi_recorder/mpi.hpp"
#include "recording/recorder.hpp"

namespace tutti::mpi_recorder {

constexpr int kNone = -1;

// Where a collective's arguments stand, from 0. Of a send and a receive buffer, the one that MPI_IN_PLACE does not
// replace is described.
struct Shape {
  Collective collective = Collective::barrier;
  int communicator = 0;
  int count = kNone;  // if blocks differ in size and there is no count_at_root, a list: one of each rank
  int type = kNone;
  int root = kNone;
  int count_at_root = kNone;
  int type_at_root = kNone;
  bool varies = false;  // blocks differ in size
  bool has_type_list = false;
};

struct Arguments {
  std::span<const Word> words;
  bool is_fortran = false;        // then each is a pointer
  bool has_large_counts = false;  // else counts are of type int
  [[nodiscard]] int integer(int at) const;
  [[nodiscard]] Handle handle(const Mpi& mpi, Mpi::HandleKind kind, int at) const;
  [[nodiscard]] std::uint64_t count(int at) const;
  [[nodiscard]] std::uint64_t count_in_list(int at, std::size_t number) const;
};

struct CallKey {
  Recorder::Key key;
  bool lasts = true;  // whether the same arguments stand for the same call for ever: its type is none of the program's
};
[[nodiscard]] CallKey key_of(const Mpi& mpi, const Shape& shape, const Arguments& arguments, const Member& member,
                             const void* site);

}  // namespace tutti::mpi_recorder
