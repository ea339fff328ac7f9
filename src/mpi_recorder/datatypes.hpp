// SPDX-License-Identifier: Apache-2.0
// MPI's types as Tutti's. Thread-safe.
#pragma once

#include <cstdint>

#include "data/type.hpp"
#include "mpi_recorder/mpi.hpp"

namespace tutti::mpi_recorder {

// One element is so many of these: of what the program has made, its bytes.
struct Elements {
  Type type = Type::u8;
  std::uint64_t each = 1;
};
[[nodiscard]] Elements elements_of(const Mpi& mpi, Handle type);

}  // namespace tutti::mpi_recorder
