// SPDX-License-Identifier: Apache-2.0
#include "bench/axes/environment_axis.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace tutti::harness {
namespace {

using Point = std::vector<std::optional<std::string>>;
using Points = std::vector<Point>;
using Strings = std::vector<std::string>;
constexpr std::nullopt_t kUnset = std::nullopt;

EnvironmentAxis value_of(const Result<EnvironmentAxis>& axis) {
  EXPECT_TRUE(axis.ok()) << axis.status().to_string();
  return axis.ok() ? *axis : EnvironmentAxis{};
}

void expect_error(const Result<EnvironmentAxis>& axis, std::string_view words) {
  ASSERT_FALSE(axis.ok()) << words;
  EXPECT_EQ(axis.status().code(), Code::invalid_argument);
  EXPECT_NE(axis.status().to_string().find(words), std::string::npos) << axis.status().to_string();
}

Points points(std::string_view text) { return value_of(parse_env(text)).points; }

TEST(ParseEnv, NamesAndValues) {
  EXPECT_EQ(value_of(parse_env("NCCL_ALGO=Ring,Tree,unset")),
            (EnvironmentAxis{"", {"NCCL_ALGO"}, {{"Ring"}, {"Tree"}, {kUnset}}}));
  EXPECT_EQ(value_of(parse_env("openmpi:OMPI_MCA_x=1,2")),
            (EnvironmentAxis{"openmpi", {"OMPI_MCA_x"}, {{"1"}, {"2"}}}));
  EXPECT_EQ(value_of(parse_env(" nccl : A = 1 ")), (EnvironmentAxis{"nccl", {"A"}, {{"1"}}}));
}

TEST(ParseEnv, ValuesAreWhatIsWritten) {
  EXPECT_EQ(points("A=4M,0x10,007,a:b=c"), (Points{{"4M"}, {"0x10"}, {"007"}, {"a:b=c"}}));
  EXPECT_EQ(points(R"(A="a,b"," c ",d e)"), (Points{{"a,b"}, {" c "}, {"d e"}}));
}

TEST(ParseEnv, UnsetEmptyAndTheWordAreDifferentThings) {
  EXPECT_EQ(points(R"(A=unset,"unset","",,Unset,unsetx)"),
            (Points{{kUnset}, {"unset"}, {""}, {""}, {"Unset"}, {"unsetx"}}));
  EXPECT_EQ(points("A="), (Points{{""}}));
  EXPECT_EQ(points(R"(A=[unset, "unset", ""])"), (Points{{kUnset}, {"unset"}, {""}}));
}

TEST(ParseEnv, TomlArrays) {
  EXPECT_EQ(points(R"(A=["a,b", 'c', 8, 0.5, 1.0, 0x10, true, false])"),
            (Points{{"a,b"}, {"c"}, {"8"}, {"0.5"}, {"1.0"}, {"16"}, {"true"}, {"false"}}));
  expect_error(parse_env("A=[]"), "the array is empty");
  expect_error(parse_env("A=[1,[2]]"), "an array stands where a value is due");
  expect_error(parse_env("A=[a]"), "cannot read the values of A: '[a]'");
  expect_error(parse_env(R"(A=["x\u0000y"])"), "a zero byte");
}

TEST(ParseEnv, WhatIsWrongIsNamed) {
  expect_error(parse_env("A"), "'A': it has no =");
  expect_error(parse_env(""), "it has no =");
  expect_error(parse_env("=1"), "'' is not the name of a variable");
  expect_error(parse_env("1A=1"), "'1A' is not the name of a variable");
  expect_error(parse_env("A B=1"), "'A B' is not the name of a variable");
  expect_error(parse_env(":A=1"), "'' before the colon is not the name of a peer");
  expect_error(parse_env("a b:A=1"), "'a b' before the colon");
  expect_error(parse_env("p:q:A=1"), "'q:A' is not the name of a variable");
  expect_error(parse_env("A,B=1"), "--env-zip");
  expect_error(parse_env(R"(A="x)"), "is not closed");
  expect_error(parse_env(std::string_view("A=x\0y", 5)), "a zero byte");
  expect_error(parse_env("BENCH_PADDING=1"), "padding");
  expect_error(parse_env("BENCH_PADDING_3=1"), "padding");
  EXPECT_EQ(value_of(parse_env("BENCH_PADDING_X=1")).names, Strings{"BENCH_PADDING_X"});
}

TEST(ParseEnvZip, PairsUp) {
  EXPECT_EQ(value_of(parse_env_zip("NCCL_MIN_CTAS,NCCL_MAX_CTAS=[[32,32],[64,64]]")),
            (EnvironmentAxis{"", {"NCCL_MIN_CTAS", "NCCL_MAX_CTAS"}, {{"32", "32"}, {"64", "64"}}}));
  EXPECT_EQ(value_of(parse_env_zip(R"(nccl: A , B,C =[[unset, "unset", ''], ["a,b", true, 0.5]])")),
            (EnvironmentAxis{"nccl", {"A", "B", "C"}, {{kUnset, "unset", ""}, {"a,b", "true", "0.5"}}}));
  EXPECT_EQ(value_of(parse_env_zip("A=[[1],[2]]")), (EnvironmentAxis{"", {"A"}, {{"1"}, {"2"}}}));
}

TEST(ParseEnvZip, WhatIsWrongIsNamed) {
  expect_error(parse_env_zip("A,B"), "it has no =");
  expect_error(parse_env_zip("A,B=1,2"), "no [ follows the =");
  expect_error(parse_env_zip("A,B=[]"), "the array is empty");
  expect_error(parse_env_zip("A,B=[1,2]"), "element 1 of the array is not an array");
  expect_error(parse_env_zip("A,B=[[1,2],[3]]"), "element 2 of the array has 1 values for 2 names");
  expect_error(parse_env_zip("A,B=[[1,2,3]]"), "element 1 of the array has 3 values for 2 names");
  expect_error(parse_env_zip("A,B=[[1,[2]]]"), "an array stands where a value is due");
  expect_error(parse_env_zip("A,A=[[1,2]]"), "A is named twice");
  expect_error(parse_env_zip("A,=[[1,2]]"), "'' is not the name of a variable");
  expect_error(parse_env_zip("A,B=[[1,x]]"), "cannot read the values of A, B: '[[1,x]]'");
  expect_error(parse_env_zip("A,BENCH_PADDING=[[1,2]]"), "padding");
}

TEST(Shown, NothingCanBeMisread) {
  EXPECT_EQ(shown(kUnset), "unset");
  EXPECT_EQ(shown("4M"), "4M");
  EXPECT_EQ(shown(""), R"("")");
  EXPECT_EQ(shown("unset"), R"("unset")");
  EXPECT_EQ(shown(R"("unset")"), R"("\"unset\"")");
}

std::size_t bytes_of(const Strings& block) {
  std::size_t bytes = 0;
  for (const std::string& entry : block) bytes += entry.size() + 1;
  return bytes;
}

TEST(EnvironmentBlock, InheritedChangedAndInOrder) {
  const Strings inherited{"PATH=/bin", "B=old", "A=1", "A_B=2", "EMPTY="};
  const Strings block = environment_block(inherited, {{"B", "new"}, {"A", kUnset}, {"C", ""}}, 0);
  EXPECT_EQ(block, (Strings{"A_B=2", "B=new", "BENCH_PADDING=", "BENCH_PADDING_0=", "C=", "EMPTY=", "PATH=/bin"}));
}

TEST(EnvironmentBlock, WhatCountsOfSeveral) {
  EXPECT_EQ(environment_block({"A=1", "A=2", "B=x=y"}, {{"C", "1"}, {"C", "2"}}, 0),
            (Strings{"A=1", "B=x=y", "BENCH_PADDING=", "C=2"}));
  EXPECT_EQ(environment_block({}, {{"C", "1"}, {"C", kUnset}}, 0), (Strings{"BENCH_PADDING=", "BENCH_PADDING_0="}));
}

TEST(EnvironmentBlock, NoPaddingAndNoNonsenseIsPassedOn) {
  EXPECT_EQ(environment_block({"BENCH_PADDING=....", "BENCH_PADDING_7=", "BENCH_PADDING_X=1", "=C:=x", "word"},
                              {{"BENCH_PADDING", "1"}, {"BENCH_PADDING_2", kUnset}}, 0),
            (Strings{"BENCH_PADDING=", "BENCH_PADDING_X=1"}));
}

TEST(EnvironmentBlock, IsAsLongAsIsWanted) {
  const Strings inherited{"A=1", "HOME=/root"};
  const std::vector<Setting> settings{{"B", "22"}, {"A", kUnset}};
  const std::size_t least = size_of_block(inherited, settings);
  EXPECT_EQ(least, std::string_view("B=22 HOME=/root BENCH_PADDING= BENCH_PADDING_0= ").size());
  for (std::size_t size = least; size < least + 40; ++size) {
    EXPECT_EQ(bytes_of(environment_block(inherited, settings, size)), size);
  }
  EXPECT_EQ(bytes_of(environment_block(inherited, settings, least - 1)), least);
  EXPECT_EQ(bytes_of(environment_block(inherited, settings, 0)), least);
}

TEST(EnvironmentBlock, BytesAndEntriesAreConstantOverASweep) {
  const Strings inherited{"A=1", "HOME=/root", "D=inherited"};
  std::vector<std::vector<Setting>> sweep;
  for (const std::optional<std::string>& a : Point{kUnset, "", "longer"}) {
    for (const std::optional<std::string>& b : Point{kUnset, "unset", "x"}) sweep.push_back({{"A", a}, {"B", b}});
  }
  std::size_t size = 0;
  for (const std::vector<Setting>& settings : sweep) size = std::max(size, size_of_block(inherited, settings));
  std::set<std::size_t> bytes;
  std::set<std::size_t> entries;
  std::set<Strings> blocks;
  for (const std::vector<Setting>& settings : sweep) {
    const Strings block = environment_block(inherited, settings, size);
    bytes.insert(bytes_of(block));
    entries.insert(block.size());
    blocks.insert(block);
  }
  EXPECT_EQ(bytes, std::set<std::size_t>{size});
  EXPECT_EQ(entries, std::set<std::size_t>{5});  // A, B, D, HOME and the padding
  EXPECT_EQ(blocks.size(), sweep.size());
}

}  // namespace
}  // namespace tutti::harness
