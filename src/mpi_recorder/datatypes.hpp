// SPDX-License-Identifier: Apache-2.0
// MPI's types as Tutti's. Thread-safe.
#pragma once

#include <cstdint>

#include "data/type.hpp"
#include "mpi_recorder/mpi.hpp"

namespace tutti::mpi_recorder {

// An element of MPI is `each` of these. Of a type that the program has made, these are bytes.
struct Elements {
  Type type = Type::u8;
  std::uint64_t each = 1;
  bool is_of_mpi = true;  // no program can free the type
};
[[nodiscard]] Elements elements_of(const Mpi& mpi, Handle type);

}  // namespace tutti::mpi_recorder
