// SPDX-License-Identifier: Apache-2.0
#include "data/type.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.hpp"

namespace tutti {
namespace {

struct TypeRow {
  std::string_view name;
  std::size_t size;
  bool floating;
  std::string_view others;  // names, with blanks between
};

// In the order of the enumerators.
constexpr std::array<TypeRow, kNumTypes> kTypes = {{
    {"i8", 1, false, "int8 int8_t char ncclInt8 ncclChar MPI_INT8_T MPI_SIGNED_CHAR"},
    {"u8", 1, false, "uint8 uint8_t byte ncclUint8 MPI_UINT8_T MPI_UNSIGNED_CHAR MPI_BYTE"},
    {"i32", 4, false, "int32 int32_t int ncclInt32 ncclInt MPI_INT32_T MPI_INT"},
    {"u32", 4, false, "uint32 uint32_t unsigned ncclUint32 MPI_UINT32_T MPI_UNSIGNED"},
    {"i64", 8, false, "int64 int64_t long ncclInt64 MPI_INT64_T MPI_LONG MPI_LONG_LONG MPI_LONG_LONG_INT"},
    {"u64", 8, false, "uint64 uint64_t ncclUint64 MPI_UINT64_T MPI_UNSIGNED_LONG MPI_UNSIGNED_LONG_LONG"},
    {"f16", 2, true, "float16 half fp16 ncclFloat16 ncclHalf"},
    {"f32", 4, true, "float float32 fp32 ncclFloat ncclFloat32 MPI_FLOAT"},
    {"f64", 8, true, "double float64 fp64 ncclDouble ncclFloat64 MPI_DOUBLE"},
    {"bf16", 2, true, "bfloat16 ncclBfloat16"},
    {"f8e4m3", 1, true, "float8_e4m3 float8_e4m3fn ncclFloat8e4m3"},
    {"f8e5m2", 1, true, "float8_e5m2 ncclFloat8e5m2"},
    {"i16", 2, false, "int16 int16_t short MPI_INT16_T MPI_SHORT"},
    {"u16", 2, false, "uint16 uint16_t MPI_UINT16_T MPI_UNSIGNED_SHORT"},
}};

struct OpRow {
  std::string_view name;
  std::string_view others;  // names, with blanks between
};

constexpr std::array<OpRow, kNumOps> kOps = {{
    {"sum", "ncclSum MPI_SUM"},
    {"product", "prod ncclProd MPI_PROD"},
    {"maximum", "max ncclMax MPI_MAX"},
    {"minimum", "min ncclMin MPI_MIN"},
    {"average", "avg mean ncclAvg"},
    {"bit_and", "band MPI_BAND"},
    {"bit_or", "bor MPI_BOR"},
    {"bit_xor", "bxor MPI_BXOR"},
    {"logical_and", "land MPI_LAND"},
    {"logical_or", "lor MPI_LOR"},
    {"logical_xor", "lxor MPI_LXOR"},
    {"premultiplied_sum", "mulsum ncclPreMulSum"},
    {"user", ""},
}};

template <typename Row>
bool is_called(const Row& row, std::string_view name) {
  if (name.empty()) return false;
  if (same_name(row.name, name)) return true;
  const std::vector<std::string_view> others = split(row.others, ' ');
  return std::any_of(others.begin(), others.end(), [&](std::string_view other) { return same_name(other, name); });
}

template <typename Named, typename Rows>
std::optional<Named> from_name(const Rows& rows, std::string_view name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return is_called(row, name); });
  return found == rows.end() ? std::nullopt : std::optional(static_cast<Named>(found - rows.begin()));
}

template <typename Rows>
std::string all_names(const Rows& rows) {
  std::string names;
  for (const auto& row : rows) names.append(names.empty() ? "" : ", ").append(row.name);
  return names;
}

const TypeRow& row_of(Type type) { return kTypes[static_cast<std::size_t>(type)]; }

}  // namespace

std::size_t size_of(Type type) { return row_of(type).size; }

std::string_view name_of(Type type) { return row_of(type).name; }

std::string_view name_of(Op op) { return kOps[static_cast<std::size_t>(op)].name; }

std::optional<Type> type_from_name(std::string_view name) { return from_name<Type>(kTypes, name); }
std::optional<Op> op_from_name(std::string_view name) { return from_name<Op>(kOps, name); }

std::string_view other_names_of(Type type) { return row_of(type).others; }
std::string_view other_names_of(Op op) { return kOps[static_cast<std::size_t>(op)].others; }

std::string all_type_names() { return all_names(kTypes); }
std::string all_op_names() { return all_names(kOps); }

bool is_floating(Type type) { return row_of(type).floating; }

bool is_defined(Op op, Type type) {
  const bool bitwise = op == Op::bit_and || op == Op::bit_or || op == Op::bit_xor;
  return !bitwise || !is_floating(type);
}

}  // namespace tutti
