// SPDX-License-Identifier: Apache-2.0
#include "mpi_recorder/datatypes.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace tutti::mpi_recorder {

namespace {

constexpr std::size_t kMostName = 256;  // MPI_MAX_OBJECT_NAME is 64 in Open MPI and 128 in MPICH

struct OtherName {
  std::string_view name;
  Type type;
  std::uint64_t each = 1;
};
// Names that Tutti's own table lacks, mostly Fortran's. Compilers can change sizes: a type of another size is bytes.
constexpr auto kOtherNames = std::to_array<OtherName>({{"MPI_CHAR", Type::i8},
                                                       {"MPI_CHARACTER", Type::i8},
                                                       {"MPI_INTEGER", Type::i32},
                                                       {"MPI_INTEGER1", Type::i8},
                                                       {"MPI_INTEGER2", Type::i16},
                                                       {"MPI_INTEGER4", Type::i32},
                                                       {"MPI_INTEGER8", Type::i64},
                                                       {"MPI_AINT", Type::i64},
                                                       {"MPI_COUNT", Type::i64},
                                                       {"MPI_OFFSET", Type::i64},
                                                       {"MPI_REAL", Type::f32},
                                                       {"MPI_REAL4", Type::f32},
                                                       {"MPI_REAL8", Type::f64},
                                                       {"MPI_DOUBLE_PRECISION", Type::f64},
                                                       {"MPI_COMPLEX", Type::f32, 2},
                                                       {"MPI_COMPLEX8", Type::f32, 2},
                                                       {"MPI_COMPLEX16", Type::f64, 2},
                                                       {"MPI_DOUBLE_COMPLEX", Type::f64, 2},
                                                       {"MPI_C_COMPLEX", Type::f32, 2},
                                                       {"MPI_C_FLOAT_COMPLEX", Type::f32, 2},
                                                       {"MPI_C_DOUBLE_COMPLEX", Type::f64, 2},
                                                       {"MPI_CXX_FLOAT_COMPLEX", Type::f32, 2},
                                                       {"MPI_CXX_DOUBLE_COMPLEX", Type::f64, 2}});

std::optional<Elements> find_by_name(std::string_view name) {
  if (!name.starts_with("MPI_")) return std::nullopt;
  for (const OtherName& each : kOtherNames)
    if (each.name == name) return Elements{each.type, each.each, true};
  if (const std::optional<Type> type = type_from_name(name)) return Elements{*type, 1, true};
  return std::nullopt;
}

// The last of MPI's own types that this thread has called with.
struct Last {
  Handle type = 0;
  bool is_known = false;
  Elements elements;
};
thread_local Last last;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): a thread's own

}  // namespace

Elements elements_of(const Mpi& mpi, Handle type) {
  if (last.is_known && last.type == type) return last.elements;
  const std::uint64_t bytes = mpi.size_of_type(type);
  std::array<char, kMostName> room{};
  const std::optional<Elements> found = find_by_name(mpi.name_of_type(type, room));
  if (!found || size_of(found->type) * found->each != bytes) return {Type::u8, bytes, false};
  last = {.type = type, .is_known = true, .elements = *found};
  return *found;
}

}  // namespace tutti::mpi_recorder
