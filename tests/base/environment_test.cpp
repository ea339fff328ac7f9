// SPDX-License-Identifier: Apache-2.0
#include "base/variables/environment.hpp"

#include <cstdlib>

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Environment, LooksUpWhatItWasMadeOf) {
  const Environment environment{{"A", "1"}, {"EMPTY", ""}};
  EXPECT_EQ(environment.lookup("A"), "1");
  EXPECT_EQ(environment.lookup("EMPTY"), "");
  EXPECT_EQ(environment.lookup("B"), std::nullopt);
}

TEST(Environment, FirstOfTwoCountsAndSetReplaces) {
  Environment environment({{"A", "first"}, {"A", "second"}});
  EXPECT_EQ(environment.lookup("A"), "first");
  environment.set("A", "third");
  EXPECT_EQ(environment.lookup("A"), "third");
}

TEST(Environment, NamesAreInOrder) {
  const Environment environment(std::vector<Environment::Pair>{{"C", ""}, {"A", ""}, {"B", ""}});
  EXPECT_EQ(environment.names(), (std::vector<std::string>{"A", "B", "C"}));
}

TEST(Environment, OfThisProcessIsACopy) {
  ASSERT_EQ(::setenv("TUTTI_TEST_ONLY", "a=b", 1), 0);
  const Environment environment = Environment::of_this_process();
  ASSERT_EQ(::unsetenv("TUTTI_TEST_ONLY"), 0);
  EXPECT_EQ(environment.lookup("TUTTI_TEST_ONLY"), "a=b");
  EXPECT_EQ(Environment::of_this_process().lookup("TUTTI_TEST_ONLY"), std::nullopt);
}

TEST(Environment, KnowsWhereWhatWasSetLaterIsFrom) {
  Environment environment{{"A", "1"}, {"B", "2"}};
  environment.set("B", "3", "a file");
  environment.set("C", "4", "a file");
  EXPECT_EQ(environment.place_of("A"), "environment");
  EXPECT_EQ(environment.place_of("B"), "a file");
  EXPECT_EQ(environment.place_of("C"), "a file");
  environment.set("B", "5");
  EXPECT_EQ(environment.place_of("B"), "environment");
}

}  // namespace
}  // namespace tutti
