// SPDX-License-Identifier: Apache-2.0
// The variables that force algorithms against the catalogue.
#include "runtime/communicator/settings.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "algorithms/registry.hpp"

namespace tutti {
namespace {

TEST(ForcingVariables, EachOffersTheAlgorithmsOfItsCollective) {
  for (int number = 0; number < kNumCollectives; ++number) {
    const auto collective = static_cast<Collective>(number);
    SCOPED_TRACE(name_of(collective));
    const std::string_view name = forcing_variable(collective);
    const auto row =
        std::find_if(kVariables.begin(), kVariables.end(), [&](const VariableRow& each) { return each.name == name; });
    ASSERT_NE(row, kVariables.end()) << name;
    std::multiset<std::string_view> names = {"auto"};
    for (const Algorithm* algorithm : algorithms_of(collective)) names.insert(algorithm->name);
    EXPECT_EQ(std::multiset<std::string_view>(row->choices.begin(), row->choices.end()), names);
  }
}

}  // namespace
}  // namespace tutti
