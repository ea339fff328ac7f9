// SPDX-License-Identifier: Apache-2.0
// Tables as machine profiles: what the profile chooses is what the table chooses.
#include "cli/tune/export/profile_export.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "runtime/selection/portfolio.hpp"
#include "runtime/selection/profile_file.hpp"
#include "runtime/selection/selector.hpp"
#include "table/table_file.hpp"

namespace tutti::cli {
namespace {

constexpr const char* kTableText = R"toml(version = 1
name = "t"
[profile]
based_on = "generic"

[machine]
fingerprint = "any"
cores = 2

[[section]]
collective = "all_reduce"
ranks = 2
memory = "symmetric"
  [[section.range]]
  algorithm = "two_shot"

[[section]]
collective = "all_reduce"
ranks = 2
  [[section.range]]
  most_bytes = "16K"
  [[section.range]]
  most_bytes = "1M"
  algorithm = "ring"
  [[section.range]]
  algorithm = "two_shot_pull"
  round = "64K"

[[section]]
collective = "all_reduce"
ranks = 4
  [[section.range]]
  most_bytes = "2K"
  algorithm = "recursive_doubling"
  [[section.range]]
  algorithm = "two_shot_few"

[[section]]
collective = "all_gather"
ranks = 2
types = "narrow"
  [[section.range]]
  algorithm = "ring"
)toml";

class Chosen {
 public:
  Chosen(std::uint32_t ranks, const MachineProfile& profile, const DecisionTable* table, bool crowded)
      : shape_{.num_ranks = ranks}, profile_(profile.for_caches(CacheSizes())), selector_(portfolio_, ranks) {
    selector_.decide_by(profile_.rules, crowded ? 2 : 0);
    if (table != nullptr) selector_.obey(table, crowded);
  }
  std::string at(std::uint64_t bytes, bool symmetric = false) {
    const Result<Choice> choice = selector_.choose(Collective::all_reduce, bytes, {.symmetric = symmetric});
    return choice.ok() ? choice->way->name : choice.status().to_string();
  }

 private:
  shm::RegionShape shape_;
  MachineProfile profile_;
  Portfolio portfolio_{0, shape_};
  Selector selector_;
};

// Rules do not say for how many hosts they are.
TEST(ProfileExport, NothingOfSeveralHostsBecomesARuleOfOne) {
  const DecisionTable table = *read_table(R"toml(version = 1
[machine]
fingerprint = "any"
[[section]]
collective = "all_reduce"
ranks = 4
hosts = 2
  [[section.range]]
  algorithm = "hierarchical(2+2, ring)"
[[section]]
collective = "all_reduce"
ranks = 4
  [[section.range]]
)toml",
                                          "t.toml");
  const MachineProfile base = *find_shipped_profile("generic");
  const Result<ExportedProfile> made = export_to_profile(table, base, "mine");
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  ASSERT_FALSE(made->left_out.empty());
  EXPECT_NE(made->left_out[0].find("it is for 2 hosts"), std::string::npos) << made->left_out[0];
  const std::size_t own = made->profile.rules.size() - base.rules.size();
  ASSERT_GT(own, 0U);
  for (std::size_t each = 0; each < own; ++each) {
    const Rule& rule = made->profile.rules[each];
    EXPECT_EQ(rule.collective, Collective::all_reduce);
    // What the base does on one host, not between hosts.
    const bool is_of_one_host = std::any_of(base.rules.begin(), base.rules.end(), [&](const Rule& of_base) {
      return !of_base.hosts && of_base.collective == rule.collective && of_base.algorithm == rule.algorithm;
    });
    EXPECT_TRUE(is_of_one_host) << rule.algorithm;
  }
}

TEST(ProfileExport, ChoosesWhatTheTableChooses) {
  const DecisionTable table = *read_table(kTableText, "t.toml");
  const MachineProfile base = *find_shipped_profile("generic");
  const Result<ExportedProfile> made = export_to_profile(table, base, "mine");
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  const Result<MachineProfile> read = read_profile(write_profile(made->profile), "mine.toml");
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->name, "mine");
  for (const std::uint32_t ranks : {2U, 4U}) {
    Chosen by_table(ranks, base, &table, ranks > 2);
    Chosen by_profile(ranks, *read, nullptr, ranks > 2);
    for (std::uint64_t bytes = 8; bytes <= 64 << 20; bytes *= 2) {
      EXPECT_EQ(by_profile.at(bytes), by_table.at(bytes)) << ranks << " ranks, " << bytes;
      EXPECT_EQ(by_profile.at(bytes + 4), by_table.at(bytes + 4)) << ranks << " ranks, " << bytes + 4;
    }
  }
  Chosen symmetric(2, *read, nullptr, false);
  EXPECT_EQ(symmetric.at(1024, true), "two_shot");
  // Of as many ranks as nothing says anything of, the base's rules are what they were.
  Chosen many(64, *read, nullptr, false);
  Chosen many_before(64, base, nullptr, false);
  for (std::uint64_t bytes = 8; bytes <= 64 << 20; bytes *= 8) EXPECT_EQ(many.at(bytes), many_before.at(bytes));
  ASSERT_EQ(made->left_out.size(), 2U);
  EXPECT_NE(made->left_out[0].find("do not tell types apart"), std::string::npos) << made->left_out[0];
  EXPECT_NE(made->left_out[1].find("rules do not say round=64K"), std::string::npos) << made->left_out[1];
}

TEST(ProfileExport, OnlyTuttisOwnTables) {
  const DecisionTable table =
      *read_table("version = 1\npeer = \"mpich\"\n[machine]\nfingerprint = \"any\"\n", "m.toml");
  EXPECT_FALSE(export_to_profile(table, *find_shipped_profile("generic"), "mine").ok());
}

}  // namespace
}  // namespace tutti::cli
