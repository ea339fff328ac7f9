// SPDX-License-Identifier: Apache-2.0
#include "data/type.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "data/elements.hpp"

namespace tutti {
namespace {

TEST(Type, NamesAreDistinctAndComeBack) {
  std::set<std::string_view> names;
  for (int i = 0; i < kNumTypes; ++i) {
    const auto type = static_cast<Type>(i);
    EXPECT_TRUE(names.insert(name_of(type)).second) << name_of(type);
    EXPECT_EQ(type_from_name(name_of(type)), type);
  }
  EXPECT_EQ(type_from_name("f31"), std::nullopt);
  EXPECT_EQ(type_from_name(""), std::nullopt);
}

TEST(Type, SizesFollowFromTheNames) {
  for (int i = 0; i < kNumTypes; ++i) {
    const auto type = static_cast<Type>(i);
    const std::string_view name = name_of(type);
    std::size_t expected = 1;
    if (name.ends_with("16")) expected = 2;
    if (name.ends_with("32")) expected = 4;
    if (name.ends_with("64")) expected = 8;
    EXPECT_EQ(size_of(type), expected) << name;
    EXPECT_EQ(is_floating(type), name.find('f') != std::string_view::npos) << name;
  }
}

TEST(Type, OneElementIsNoPlural) {
  EXPECT_EQ(elements_in_words(0, Type::f32), "0 f32 elements");
  EXPECT_EQ(elements_in_words(1, Type::f32), "1 f32 element");
  EXPECT_EQ(elements_in_words(2, Type::i8), "2 i8 elements");
}

TEST(Type, ValuesThatTheCApiPromises) {
  EXPECT_EQ(static_cast<int>(Type::f32), 7);
  EXPECT_EQ(static_cast<int>(Type::bf16), 9);
  EXPECT_EQ(static_cast<int>(Type::u16), 13);
  EXPECT_EQ(static_cast<int>(Op::average), 4);
  EXPECT_EQ(static_cast<int>(Op::user), 12);
}

TEST(Op, NamesAreDistinctAndComeBack) {
  std::set<std::string_view> names;
  for (int i = 0; i < kNumOps; ++i) {
    const auto op = static_cast<Op>(i);
    EXPECT_TRUE(names.insert(name_of(op)).second) << name_of(op);
    EXPECT_EQ(op_from_name(name_of(op)), op);
  }
  EXPECT_EQ(op_from_name("add"), std::nullopt);
}

// The names in nccl-tests, MPI and C.
TEST(Type, NamesOfOtherLibrariesAreAccepted) {
  for (const char* name : {"float", "float32", "FLOAT", "ncclFloat", "ncclFloat32", "MPI_FLOAT", "fp32"})
    EXPECT_EQ(type_from_name(name), Type::f32) << name;
  for (const char* name : {"double", "ncclDouble", "MPI_DOUBLE"}) EXPECT_EQ(type_from_name(name), Type::f64) << name;
  for (const char* name : {"half", "float16", "ncclHalf"}) EXPECT_EQ(type_from_name(name), Type::f16) << name;
  EXPECT_EQ(type_from_name("bfloat16"), Type::bf16);
  for (const char* name : {"int", "int32", "ncclInt", "MPI_INT"}) EXPECT_EQ(type_from_name(name), Type::i32) << name;
  for (const char* name : {"uint8", "ncclUint8", "MPI_BYTE"}) EXPECT_EQ(type_from_name(name), Type::u8) << name;
  EXPECT_EQ(type_from_name("MPI_LONG_LONG"), Type::i64);
  EXPECT_EQ(type_from_name("nccl"), std::nullopt);
  EXPECT_EQ(type_from_name("float float32"), std::nullopt) << "a name, not a list of names";
}

TEST(Op, NamesOfOtherLibrariesAreAccepted) {
  for (const char* name : {"prod", "ncclProd", "MPI_PROD", "PROD"}) EXPECT_EQ(op_from_name(name), Op::product) << name;
  for (const char* name : {"max", "ncclMax", "MPI_MAX"}) EXPECT_EQ(op_from_name(name), Op::maximum) << name;
  for (const char* name : {"min", "ncclMin", "MPI_MIN"}) EXPECT_EQ(op_from_name(name), Op::minimum) << name;
  for (const char* name : {"avg", "ncclAvg"}) EXPECT_EQ(op_from_name(name), Op::average) << name;
  EXPECT_EQ(op_from_name("MPI_SUM"), Op::sum);
  EXPECT_EQ(op_from_name("MPI_BXOR"), Op::bit_xor);
  EXPECT_EQ(op_from_name(""), std::nullopt);
}

// No name has two meanings.
template <typename Named>
void expect_distinct(int count) {
  std::set<std::string> names;
  for (int i = 0; i < count; ++i) {
    const auto named = static_cast<Named>(i);
    std::vector<std::string_view> all = split(other_names_of(named), ' ');
    all.push_back(name_of(named));
    for (const std::string_view each : all) {
      if (each.empty()) continue;
      std::string folded(each);
      std::transform(folded.begin(), folded.end(), folded.begin(), [](unsigned char c) { return std::tolower(c); });
      EXPECT_TRUE(names.insert(folded).second) << each;
    }
  }
}

TEST(Type, OtherNamesAreDistinct) { expect_distinct<Type>(kNumTypes); }
TEST(Op, OtherNamesAreDistinct) { expect_distinct<Op>(kNumOps); }

TEST(Op, BitwiseOperatorsWantIntegers) {
  for (int i = 0; i < kNumTypes; ++i) {
    const auto type = static_cast<Type>(i);
    for (const Op op : {Op::bit_and, Op::bit_or, Op::bit_xor}) EXPECT_EQ(is_defined(op, type), !is_floating(type));
    for (const Op op : {Op::sum, Op::average, Op::logical_xor, Op::premultiplied_sum, Op::user}) {
      EXPECT_TRUE(is_defined(op, type));
    }
  }
}

}  // namespace
}  // namespace tutti
