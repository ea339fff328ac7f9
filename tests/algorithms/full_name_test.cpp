// SPDX-License-Identifier: Apache-2.0
// Full names are read back as what they were written from, for every case of every algorithm; what is left out of them
// is the usual; and what is wrong with one is said.
#include "algorithms/full_name.hpp"

#include <gtest/gtest.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"

namespace tutti {
namespace {

TEST(FullName, IsReadBackAsWhatItWasWrittenFrom) {
  for (const Algorithm* algorithm : all_algorithms())
    for (std::uint32_t ranks = 1; ranks <= 9; ++ranks) {
      const bool rooted = facts_of(algorithm->collective).has_root;
      const std::vector<Request> cases =
          cases_of(*algorithm, ranks, {.root = rooted ? std::optional(0U) : std::nullopt});
      for (const Request& request : cases) {
        const std::string name = full_name(*algorithm, request);
        SCOPED_TRACE(testing::Message() << name_of(algorithm->collective) << " " << name << ", " << ranks << " ranks");
        const Result<NamedAlgorithm> read = find_by_full_name(algorithm->collective, name, ranks);
        ASSERT_TRUE(read.ok()) << read.status().to_string();
        EXPECT_EQ(read->algorithm, algorithm);
        EXPECT_EQ(full_name(*algorithm, read->request), name);
      }
      const Result<NamedAlgorithm> bare = find_by_full_name(algorithm->collective, algorithm->name, ranks);
      SCOPED_TRACE(testing::Message() << name_of(algorithm->collective) << " " << algorithm->name << ", " << ranks
                                      << " ranks");
      if (cases.empty()) {
        EXPECT_EQ(bare.status().code(), Code::unsupported) << bare.status().to_string();
      } else {
        ASSERT_TRUE(bare.ok()) << bare.status().to_string();
        EXPECT_EQ(full_name(*algorithm, bare->request), full_name(*algorithm, cases.front())) << "is not the usual";
      }
    }
}

TEST(FullName, TakesSpacesHyphensAndSomeOfTheParameters) {
  const auto read = [](std::string_view text, std::uint32_t ranks) {
    const Result<NamedAlgorithm> named = find_by_full_name(Collective::all_reduce, text, ranks);
    return named.ok() ? full_name(*named->algorithm, named->request) : named.status().to_string();
  };
  EXPECT_EQ(read(" recursive-multiplying ( 3 ) ", 9), "recursive_multiplying(3)");
  EXPECT_EQ(read("hierarchical(2+3)", 5), "hierarchical(2+3, ring)");
  EXPECT_EQ(read("hierarchical(rabenseifner)", 9), "hierarchical(3+3+3, rabenseifner)");
  EXPECT_EQ(read("bucket_3d(4x1x3)", 12), "bucket_3d(4x1x3)");
  EXPECT_EQ(read("bucket_3d(4x3)", 12), "bucket_3d(4x3x1)");
  EXPECT_EQ(read("hierarchical(1+1+1+1, bucket_3d(1x2x2))", 4), "hierarchical(1+1+1+1, bucket_3d(1x2x2))");
  EXPECT_EQ(read("hierarchical(1+1+1+1, bucket_2d(4x1))", 4), "hierarchical(1+1+1+1, bucket_2d(4x1))");
}

TEST(FullName, ThatIsWrongSaysWhatIsWrong) {
  struct Wrong {
    std::string_view text;
    Code code;
    std::string_view words;
  };
  constexpr Wrong kWrong[] = {
      {"rings", Code::invalid_argument, "no algorithm for all_reduce is called 'rings'; there are one_shot, "},
      {"ring(4)", Code::invalid_argument, "'4' is no parameter of ring"},
      {"recursive_multiplying(3", Code::invalid_argument, "has no closing parenthesis"},
      {"recursive_multiplying(three)", Code::invalid_argument, "'three' is no parameter of recursive_multiplying"},
      {"recursive_multiplying(1)", Code::unsupported, "the radix is 1; it must be at least 2"},
      {"bucket_2d(3x2x1)", Code::invalid_argument, "'3x2x1' is no parameter of bucket_2d"},
      {"bucket_2d(2x2)", Code::unsupported, "a grid of 2x2 does not have 6 ranks"},
      {"hierarchical(2+3)", Code::unsupported, "groups of 2+3 ranks do not add up to 6"},
      {"hierarchical(3+3, one_shot)", Code::unsupported, "one_shot is for the staged channel"},
      {"hierarchical(3+3, rings)", Code::invalid_argument, "no algorithm for all_reduce is called 'rings'"},
  };
  for (const Wrong& wrong : kWrong) {
    const Result<NamedAlgorithm> read = find_by_full_name(Collective::all_reduce, wrong.text, 6);
    ASSERT_FALSE(read.ok()) << wrong.text;
    EXPECT_EQ(read.status().code(), wrong.code) << wrong.text;
    EXPECT_NE(read.status().to_string().find(wrong.words), std::string::npos) << read.status().to_string();
  }
}

}  // namespace
}  // namespace tutti
