// SPDX-License-Identifier: Apache-2.0
// The element types and operators that collectives know, as data. Pure functions; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti {

// The values are part of the C API (tuttiDataType_t) and of stored results: never renumber, only append.
enum class Type : std::uint8_t { i8 = 0, u8, i32, u32, i64, u64, f16, f32, f64, bf16, f8e4m3, f8e5m2, i16, u16 };
inline constexpr int kNumTypes = 14;

// The values are part of the C API (tuttiRedOp_t): never renumber, only append.
enum class Op : std::uint8_t {
  sum = 0,
  product,
  maximum,
  minimum,
  average,
  bit_and,
  bit_or,
  bit_xor,
  logical_and,
  logical_or,
  logical_xor,
  premultiplied_sum,  // each rank's input times that rank's own scalar, then the sum
  user,               // a function that the caller brings
};
inline constexpr int kNumOps = 13;

[[nodiscard]] std::size_t size_of(Type type);
[[nodiscard]] std::string_view name_of(Type type);
[[nodiscard]] std::string_view name_of(Op op);
// By Tutti's name, or by a name that NCCL, MPI or C has for it ("float", "ncclFloat", "MPI_FLOAT"); in either case.
[[nodiscard]] std::optional<Type> type_from_name(std::string_view name);
[[nodiscard]] std::optional<Op> op_from_name(std::string_view name);
// These other names, with blanks between: "float float32 fp32 ncclFloat ncclFloat32 MPI_FLOAT".
[[nodiscard]] std::string_view other_names_of(Type type);
[[nodiscard]] std::string_view other_names_of(Op op);
// "i8, u8, i32, …": Tutti's names of all types and of all operators, for messages.
[[nodiscard]] std::string all_type_names();
[[nodiscard]] std::string all_op_names();
[[nodiscard]] bool is_floating(Type type);

// Whether the operator means anything on the type: bitwise operators want integers.
[[nodiscard]] bool is_defined(Op op, Type type);

}  // namespace tutti
