#include "data/type.hpp"

#include <array>

#include "base/text.hpp"

namespace tutti {
namespace {

struct TypeRow {
  std::string_view name;
  std::size_t size;
  bool floating;
};

// In the order of the enumerators.
constexpr std::array<TypeRow, kNumTypes> kTypes = {{
    {"i8", 1, false},
    {"u8", 1, false},
    {"i32", 4, false},
    {"u32", 4, false},
    {"i64", 8, false},
    {"u64", 8, false},
    {"f16", 2, true},
    {"f32", 4, true},
    {"f64", 8, true},
    {"bf16", 2, true},
    {"f8e4m3", 1, true},
    {"f8e5m2", 1, true},
    {"i16", 2, false},
    {"u16", 2, false},
}};

constexpr std::array<std::string_view, kNumOps> kOps = {
    "sum",     "product",     "maximum",    "minimum",     "average",           "bit_and", "bit_or",
    "bit_xor", "logical_and", "logical_or", "logical_xor", "premultiplied_sum", "user",
};

const TypeRow& row_of(Type type) { return kTypes[static_cast<std::size_t>(type)]; }

}  // namespace

std::size_t size_of(Type type) { return row_of(type).size; }

std::string_view name_of(Type type) { return row_of(type).name; }

std::string_view name_of(Op op) { return kOps[static_cast<std::size_t>(op)]; }

std::optional<Type> type_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kTypes.size(); ++i) {
    if (same_name(kTypes[i].name, name)) return static_cast<Type>(i);
  }
  return std::nullopt;
}

std::optional<Op> op_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kOps.size(); ++i) {
    if (kOps[i] == name) return static_cast<Op>(i);
  }
  return std::nullopt;
}

bool is_floating(Type type) { return row_of(type).floating; }

bool is_defined(Op op, Type type) {
  const bool bitwise = op == Op::bit_and || op == Op::bit_or || op == Op::bit_xor;
  return !bitwise || !is_floating(type);
}

}  // namespace tutti
