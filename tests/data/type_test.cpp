#include "data/type.hpp"

#include <set>
#include <string_view>

#include <gtest/gtest.h>

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
