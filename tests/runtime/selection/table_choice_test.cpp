// SPDX-License-Identifier: Apache-2.0
// Which decision table is obeyed, and what the selector makes of it.
#include "runtime/selection/table_choice.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/selection/profile_file.hpp"
#include "runtime/selection/selector.hpp"
#include "table/machine_identity.hpp"
#include "table/table_file.hpp"

namespace tutti {
namespace {

std::string table_text(std::string_view fingerprint, std::string_view more = "") {
  return fmt::format(R"toml(version = 1
[machine]
fingerprint = "{}"
{}
[[section]]
collective = "all_reduce"
ranks = 4

  [[section.range]]
  most_bytes = "1K"
  algorithm = "one_shot"

  [[section.range]]
  most_bytes = "64K"

  [[section.range]]
  most_bytes = "1M"
  algorithm = "ring"

  [[section.range]]
  algorithm = "two_shot_pull"
  round = "64K"
)toml",
                     fingerprint, more);
}

class TableFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fmt::format("{}/tutti-tables-{}", ::testing::TempDir(), ::getpid());
    std::filesystem::create_directories(root_ + "/user");
    std::filesystem::create_directories(root_ + "/system");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  std::string put(const std::string& name, const std::string& text) const {
    const std::string path = root_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  [[nodiscard]] TableFolders folders() const { return {.user = root_ + "/user", .system = root_ + "/system"}; }

  std::string root_;
  std::string mine_ = fingerprint_of(identity_of_machine());
};

TEST_F(TableFiles, TheUsersGoesBeforeTheSystems) {
  EXPECT_EQ(choose_table("auto", folders()).table, nullptr);
  EXPECT_NE(choose_table("auto", folders()).why.find("has not been tuned"), std::string::npos);
  put("system/" + mine_ + ".toml", table_text(mine_));
  EXPECT_EQ(choose_table("auto", folders()).why, "the system's for this machine");
  put("user/" + mine_ + ".toml", table_text(mine_));
  EXPECT_EQ(choose_table("", folders()).why, "the user's for this machine");
  EXPECT_EQ(choose_table("none", folders()).table, nullptr);
}

TEST_F(TableFiles, AWrongOneIsPassedOverWithAWarning) {
  put("user/" + mine_ + ".toml", "version = 7");
  put("system/" + mine_ + ".toml", table_text(mine_));
  const TableChoice choice = choose_table("auto", folders());
  EXPECT_EQ(choice.why, "the system's for this machine");
  ASSERT_EQ(choice.warnings.size(), 1U);
  EXPECT_NE(choice.warnings[0].find(mine_ + ".toml:1: version"), std::string::npos) << choice.warnings[0];
}

TEST_F(TableFiles, ANamedOneThatIsWrongIsAnError) {
  const std::string wrong = put("wrong.toml", "version = 1\n[machine]\nfingerprint = 1\n");
  EXPECT_FALSE(choose_table(wrong, folders()).unread.ok());
  EXPECT_FALSE(choose_table(root_ + "/missing.toml", folders()).unread.ok());
  const std::string others = put("openmpi.toml", "version = 1\npeer = \"openmpi\"\n[machine]\nfingerprint = \"any\"\n");
  EXPECT_NE(choose_table(others, folders()).unread.to_string().find("tutti export"), std::string::npos);
  const std::string numbers = put("numbers.toml", table_text("any", "[profile.wait]\nloks = 3\n"));
  EXPECT_NE(choose_table(numbers, folders()).unread.to_string().find("loks"), std::string::npos);
}

TEST_F(TableFiles, AnotherMachinesIsNotObeyed) {
  const std::string foreign = put("foreign.toml", table_text("0000000000000000"));
  const TableChoice choice = choose_table(foreign, folders());
  EXPECT_EQ(choice.table, nullptr);
  EXPECT_TRUE(choice.unread.ok());
  ASSERT_EQ(choice.warnings.size(), 1U);
  EXPECT_NE(choice.warnings[0].find("machine.fingerprint"), std::string::npos);
  EXPECT_NE(choose_table(put("any.toml", table_text("any")), folders()).table, nullptr);
}

TEST_F(TableFiles, AFolderHasTablesByMachine) {
  std::filesystem::create_directories(root_ + "/mine");
  EXPECT_EQ(choose_table(root_ + "/mine", folders()).warnings.size(), 1U);
  put("mine/" + mine_ + ".toml", table_text(mine_));
  EXPECT_NE(choose_table(root_ + "/mine", folders()).table, nullptr);
}

TEST_F(TableFiles, RanksCompareNameAndText) {
  const std::string path = put("a.toml", table_text("any"));
  const std::string before = choose_table(path, folders()).agreement();
  EXPECT_EQ(choose_table(path, folders()).agreement(), before);
  put("a.toml", table_text("any", "# other"));
  EXPECT_NE(choose_table(path, folders()).agreement(), before);
  EXPECT_EQ(choose_table("none", folders()).agreement(), "(none)");
}

TEST(TableNumbers, OverruleTheProfileBeneath) {
  const Result<DecisionTable> table =
      read_table(table_text("any", "[profile]\nbased_on = \"generic\"\n[profile.wait]\nlooks = 77\n"), "t.toml");
  ASSERT_TRUE(table.ok()) << table.status().to_string();
  const ProfileChoice other = choose_profile("intel_xeon");
  const Result<ProfileChoice> under = profile_under(*table, other, false);
  ASSERT_TRUE(under.ok());
  EXPECT_EQ(under->profile->name, "generic");
  EXPECT_EQ(under->profile->wait_looks, 77U);
  EXPECT_NE(under->profile->digest, choose_profile("generic").profile->digest);
  // A profile that is named holds.
  EXPECT_EQ(profile_under(*table, other, true)->profile, other.profile);
  EXPECT_EQ(profile_under(*table, choose_profile("generic"), true)->profile->wait_looks, 77U);
}

// Of four ranks that have a core each, with a profile of a single rule.
class TableChooser {
 public:
  explicit TableChooser(std::uint32_t num_ranks, const std::string& text)
      : shape_{.num_ranks = num_ranks}, table_(*read_table(text, "t.toml")), selector_(portfolio_, num_ranks) {
    rules_.push_back({.collective = Collective::all_reduce, .most_bytes = 2 << 10, .algorithm = "one_shot"});
    rules_.push_back({.collective = Collective::all_reduce, .algorithm = "rabenseifner"});
    selector_.decide_by(rules_, 0);
    selector_.obey(&table_, false);
  }
  std::string chosen(std::uint64_t bytes, const CallFacts& call = {}) {
    const Result<Choice> choice = selector_.choose(Collective::all_reduce, bytes, call);
    if (!choice.ok()) return choice.status().to_string();
    return fmt::format("{}: {}{}", choice->way->name, choice->why,
                       choice->tuning == nullptr ? "" : "; " + choice->tuning->to_string());
  }
  std::uint64_t always_below(TypeClass types = TypeClass::plain) {
    return selector_.always_below("one_shot", false, types);
  }

 private:
  shm::RegionShape shape_;
  DecisionTable table_;
  std::vector<Rule> rules_;
  Portfolio portfolio_{0, shape_};
  Selector selector_;
};

TEST(TableSelector, RangesGoBeforeRulesAndNameTheirLine) {
  TableChooser chooser(4, table_text("any"));
  EXPECT_EQ(chooser.chosen(1024), "one_shot: t.toml:11");
  EXPECT_EQ(chooser.chosen(1025), "one_shot: by size, which t.toml:13 leaves it to");
  EXPECT_EQ(chooser.chosen(64 << 10), "rabenseifner: by size, which t.toml:13 leaves it to");
  EXPECT_EQ(chooser.chosen(1 << 20), "ring: t.toml:18");
  EXPECT_EQ(chooser.chosen(1 << 21), "two_shot_pull: t.toml:21; round=64K");
  // What a table leaves to the rules does not end the small path.
  EXPECT_EQ(chooser.always_below(), (2U << 10) + 1);
}

// One class's ranges leave the small path of the other alone.
TEST(TableSelector, SectionsOfOneClassEndTheSmallPathOfThatClass) {
  std::string text = "version = 1\npeer = \"tutti\"\n[machine]\nfingerprint = \"any\"\n";
  for (const char* const types : {"plain", "narrow"})
    text += fmt::format(
        "[[section]]\ncollective = \"all_reduce\"\nranks = 4\nmemory = \"ordinary\"\ntypes = \"{}\"\n"
        "[[section.range]]\n{}\n",
        types, types[0] == 'n' ? "algorithm = \"ring\"" : "");
  TableChooser chooser(4, text);
  EXPECT_EQ(chooser.always_below(TypeClass::narrow), 0U);
  EXPECT_EQ(chooser.always_below(TypeClass::plain), (2U << 10) + 1);
}

// What is left to a profile that has no rule for it goes to the catalogue, not to the ranges behind.
TEST(TableSelector, WhatIsLeftDoesNotGoToOtherRanges) {
  shm::RegionShape shape{.num_ranks = 4};
  const DecisionTable table = *read_table(table_text("any"), "t.toml");
  Portfolio portfolio(0, shape);
  Selector selector(portfolio, 4);
  const std::vector<Rule> none;
  selector.decide_by(none, 0);
  selector.obey(&table, false);
  const Result<Choice> choice = selector.choose(Collective::all_reduce, 64 << 10, {});
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->why, "the first that can");
}

TEST(TableSelector, OtherNumbersOfRanksGoByTheNearest) {
  TableChooser chooser(5, table_text("any"));
  EXPECT_EQ(chooser.chosen(1024), "one_shot: t.toml:11, measured with 4 ranks");
}

TEST(TableSelector, WhatARangeCannotDoGoesOnAndSaysWhy) {
  TableChooser chooser(4, table_text("any"));
  CallFacts call;
  call.commutative = false;
  const std::string chosen = chooser.chosen(1 << 20, call);
  EXPECT_EQ(chosen.find("ring"), std::string::npos) << chosen;
  EXPECT_NE(chosen.find("two_shot_pull"), std::string::npos) << chosen;
}

TEST(TableSelector, SymmetricMemoryIsAnotherSection) {
  TableChooser chooser(4, table_text("any"));
  EXPECT_EQ(chooser.chosen(1024, {.symmetric = true}), "one_shot: by size");
}

}  // namespace
}  // namespace tutti
