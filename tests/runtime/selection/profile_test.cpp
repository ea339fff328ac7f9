// SPDX-License-Identifier: Apache-2.0
// Machine profiles: read, written, refused with words that help, chosen, and obeyed. None may make a result wrong.
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../../base/temporary_folder.hpp"
#include "../ranks_of_threads.hpp"
#include "base/variables/environment.hpp"
#include "runtime/selection/profile_choice.hpp"
#include "runtime/selection/profile_fields.hpp"
#include "runtime/selection/profile_file.hpp"
#include "runtime/selection/shipped_profiles.hpp"

namespace tutti {
namespace {

Settings settings_with(std::string_view profile) {
  const Environment environment({{"TUTTI_PROFILE", std::string(profile)}});
  return Settings::from(std::move(Variables::load(environment, {}).value()));
}

// Sums and copies of many sizes, all checked.
void check_calls(Communicator& communicator) {
  const std::uint32_t rank = communicator.rank();
  const std::uint32_t ranks = communicator.num_ranks();
  for (const std::uint64_t count : {1, 12, 13, 300, 1024, 1500, 5000, 12'000, 40'000, 200'000}) {
    std::vector<std::int32_t> input(count);
    std::iota(input.begin(), input.end(), static_cast<std::int32_t>(rank));
    std::vector<std::int32_t> sum(count, -1);
    Status status = communicator.all_reduce(input.data(), sum.data(), count, Type::i32, test::handle(Op::sum));
    ASSERT_TRUE(status.ok()) << status.to_string();
    const auto total = static_cast<std::int32_t>(ranks * (ranks - 1) / 2);
    for (std::uint64_t at = 0; at < count; ++at)
      ASSERT_EQ(sum[at], static_cast<std::int32_t>(ranks * at) + total) << count << ", " << at;
    for (const Collective collective : {Collective::all_gather, Collective::all_to_all, Collective::broadcast}) {
      std::vector<std::int32_t> all(count * ranks, -1);
      std::vector<std::int32_t> mine(count * ranks, static_cast<std::int32_t>(rank));
      status = communicator.run({.collective = collective,
                                 .input = mine.data(),
                                 .output = all.data(),
                                 .count = count,
                                 .type = Type::i32,
                                 .root = ranks - 1});
      ASSERT_TRUE(status.ok()) << status.to_string();
      const bool is_broadcast = collective == Collective::broadcast;
      for (std::uint64_t at = 0; at < (is_broadcast ? count : count * ranks); ++at)
        ASSERT_EQ(all[at], is_broadcast ? ranks - 1 : at / count) << name_of(collective) << count << ", " << at;
    }
  }
}

// The profile with every number at one end of its range. What cannot be met on a machine of this size is left alone:
// memory, and waits without a look or without an end.
std::string extreme(bool at_most) {
  MachineProfile profile = shipped_profile(shipped_profiles().front());
  profile.name = at_most ? "most" : "least";
  for (const ProfileField& field : kProfileFields) {
    if (field.section == "memory" || field.section == "wait") continue;
    const double end = at_most ? field.most : field.least;
    if (const auto* const size = std::get_if<Size MachineProfile::*>(&field.member))
      profile.*(*size) = end >= profile_limits::kUnbounded ? Size(kAnySize) : Size(static_cast<std::uint64_t>(end));
    if (const auto* const number = std::get_if<std::uint32_t MachineProfile::*>(&field.member))
      profile.*(*number) = static_cast<std::uint32_t>(end);
    if (const auto* const number = std::get_if<double MachineProfile::*>(&field.member)) profile.*(*number) = end;
  }
  return write_profile(profile);
}

constexpr std::string_view kMadeUp = R"(version = 1
name = "made up"
based_on = "generic"
[[rule]]
collective = "all_reduce"
most_bytes = "20000"
algorithm = "recursive_doubling"
[[attach]]
collective = "all_gather"
least_bytes = "100"
[small]
below = "1000"
[rounds]
usual = "5000"
)";

// What two ranks agree on by its size alone, at odds with itself: short rounds, a long small path.
constexpr std::string_view kAtOdds = R"(version = 1
name = "at odds"
based_on = "generic"
[small]
below = "32K"
[rounds]
usual = "4K"
widest = "4K"
shortest = "4K"
shortest_of_root = "4K"
[lists]
fetch_part = "1/9000 first_cache"
store_part = "0 core_cache"
[transfers]
message_most = "0 core_cache"
[past]
least = "0 core_cache"
short_most = "0 core_cache"
looked = "0 core_cache"
)";

class AnyProfile : public testing::TestWithParam<std::string> {};

TEST_P(AnyProfile, GivesRightResults) {
  const test::TemporaryFolder folder;
  std::string profile = GetParam();
  if (profile == "at_odds") profile = folder.write("at_odds.toml", kAtOdds);
  if (profile == "made_up") profile = folder.write("made_up.toml", kMadeUp);
  if (profile == "least" || profile == "most") profile = folder.write("extreme.toml", extreme(profile == "most"));
  for (const std::uint32_t num_ranks : {2, 3, 5}) {
    const Settings settings = settings_with(profile);
    ASSERT_TRUE(settings.profile.unread.ok()) << settings.profile.unread.to_string();
    test::ThreadRanks group(num_ranks, settings);
    group.run([&](Communicator& communicator) {
      check_calls(communicator);
      if (GetParam() != "made_up") return;
      for (const Statistic& row : communicator.statistics()) {
        EXPECT_TRUE(row.operation != "all_reduce" || row.algorithm != "one_shot" || row.bytes > 20'000);
      }
    });
    // The first rank walks each call step by step, and the others by their shortest paths; without attached memory,
    // which only lists reach.
    test::ThreadRanks differing(num_ranks, settings);
    differing.run(check_calls, [](std::uint32_t rank, Settings& own) {
      own.attach_min = std::uint64_t{1} << 40;
      if (rank == 0) own.walker = WalkerChoice::generic;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, AnyProfile,
                         testing::Values("amd_epyc", "intel_xeon", "generic", "made_up", "at_odds", "least", "most"),
                         [](const auto& each) { return each.param; });

// By whichever thread is first; others that read at the same time take what that one has got.
TEST(ShippedProfiles, AreReadOnceInAProcess) {
  for (const ShippedProfile& shipped : shipped_profiles()) {
    std::array<const MachineProfile*, 4> found{};
    {
      std::vector<std::jthread> threads;
      for (const MachineProfile*& each : found) threads.emplace_back([&] { each = &shipped_profile(shipped); });
    }
    for (const MachineProfile* const each : found) EXPECT_EQ(each, &shipped_profile(shipped)) << shipped.name;
    EXPECT_EQ(found.front()->name, shipped.name);
  }
}

TEST(ProfileFile, WhatShipsIsReadAndWritten) {
  for (const ShippedProfile& shipped : shipped_profiles()) {
    const Result<MachineProfile> profile = read_profile(shipped.text, shipped.name);
    ASSERT_TRUE(profile.ok()) << profile.status().to_string();
    EXPECT_EQ(profile->name, shipped.name);
    EXPECT_FALSE(profile->about.empty());
    const std::string written = write_profile(*profile);
    const Result<MachineProfile> again = read_profile(written, "again");
    ASSERT_TRUE(again.ok()) << again.status().to_string();
    EXPECT_EQ(write_profile(*again), written);
    ASSERT_EQ(again->rules.size(), profile->rules.size());
    for (std::size_t each = 0; each < profile->rules.size(); ++each) {
      const Rule& rule = profile->rules[each];
      const Rule& same = again->rules[each];
      EXPECT_EQ(
          std::tie(same.collective, same.most_ranks, same.symmetric, same.attached, same.crowded, same.algorithm),
          std::tie(rule.collective, rule.most_ranks, rule.symmetric, rule.attached, rule.crowded, rule.algorithm));
      EXPECT_EQ(std::tie(same.hosts, same.most_bytes_per_rank), std::tie(rule.hosts, rule.most_bytes_per_rank));
      EXPECT_EQ(to_text(same.most_bytes), to_text(rule.most_bytes));
    }
    ASSERT_EQ(again->attach.size(), profile->attach.size());
    for (std::size_t each = 0; each < profile->attach.size(); ++each) {
      const AttachRange& range = profile->attach[each];
      const AttachRange& same = again->attach[each];
      EXPECT_EQ(std::tie(same.collective, same.least_ranks, same.most_ranks, same.stores, same.crowded),
                std::tie(range.collective, range.least_ranks, range.most_ranks, range.stores, range.crowded));
      EXPECT_EQ(to_text(same.least_bytes) + to_text(same.most_bytes),
                to_text(range.least_bytes) + to_text(range.most_bytes));
    }
  }
}

TEST(ProfileFile, EachNumberIsRead) {
  for (const ProfileField& field : kProfileFields) {
    const bool is_size = std::holds_alternative<Size MachineProfile::*>(field.member);
    const double other = field.most >= 5000 ? 5000 : 0.75;
    const std::string text =
        fmt::format("version = 1\nname = \"a\"\nbased_on = \"generic\"\n[{}]\n{} = {}\n", field.section, field.key,
                    is_size ? std::string("\"80K\"") : fmt::format("{}", other));
    const Result<MachineProfile> profile = read_profile(text, "a.toml");
    if (is_size && field.least > 81920) continue;
    ASSERT_TRUE(profile.ok()) << profile.status().to_string();
    if (const auto* const size = std::get_if<Size MachineProfile::*>(&field.member)) {
      EXPECT_EQ(std::uint64_t{(*profile).*(*size)}, 81920U);
    }
    if (const auto* const number = std::get_if<std::uint32_t MachineProfile::*>(&field.member)) {
      EXPECT_EQ((*profile).*(*number), other);
    }
    if (const auto* const number = std::get_if<double MachineProfile::*>(&field.member)) {
      EXPECT_EQ((*profile).*(*number), other);
    }
  }
}

TEST(ProfileFile, MistakesAreNamedWithFileLineAndKey) {
  struct Mistake {
    std::string_view text;
    std::string_view words;
  };
  constexpr std::array kMistakes = {
      Mistake{"", "my.toml:1: version: is 0; this version of Tutti reads 1"},
      Mistake{"version = 2", "version: is 2; this version of Tutti reads 1"},
      Mistake{"version = 1", "name: is missing"},
      Mistake{"version = 1\nname = \"a\"", "small: is missing; a profile that leaves something out says based_on"},
      Mistake{"version = 1\nname = \"a\"\nbased_on = \"intl_xeon\"", "the nearest is 'intel_xeon'"},
      Mistake{"version = 1\nname = \"a\"\nbased_on = \"generic\"\n[smalll]\nbelow = \"1K\"",
              "the nearest that is known is 'small'"},
      Mistake{"version = 1\nname = \"a\"\nbased_on = \"generic\"\n[small]\nbelow = 1", "my.toml:5: small.below"},
      Mistake{"version = 1\nname = \"a\"\nbased_on = \"generic\"\n[small]\nbelow = \"1X\"", "write bytes such as 64K"},
      Mistake{"version = 1\nname = \"a\"\nbased_on = \"generic\"\n[small]\nbelow = \"2 second_cache\"", "core_cache"},
      Mistake{"version = 1\nname = \"a\"\nbased_on = \"generic\"\n[rounds]\nusual = \"12\"",
              "is out of range: 4K to 64M"},
      Mistake{"version = 1\nname = \"a\"\nbased_on = \"generic\"\n[spread]\nof_core_cache = -1",
              "is out of range: 0 to 64"},
      Mistake{"version = 1\nname = \"a\"\nbased_on = \"generic\"\n[wait]\nlooks = 99999999", "my.toml:5: wait.looks"},
      Mistake{"version = 1\nname = \"a\"\nbased_on = \"generic\"\n[[rule]]\nalgorithm = \"ring\"",
              "rule[0].collective: is missing"},
      Mistake{"version = 1\nname = \"a\"\nbased_on = \"generic\"\n[[rule]]\ncollective = \"all_reduce\"",
              "rule[0].algorithm: is missing"},
      Mistake{"version = 1\nname = \"a\"\nbased_on = \"generic\"\n[[rule]]\ncollective = \"all_reduce\"\nalgorithm = "
              "\"rnig\"",
              "my.toml:6: rule[0].algorithm"},
      Mistake{"version = 1\nname = \"a\"\nbased_on = \"generic\"\n[[rule]]\ncollective = \"sum\"\nalgorithm = \"ring\"",
              "'sum' is no collective"},
      Mistake{
          "version = 1\nname = \"a\"\nbased_on = \"generic\"\n[[rule]]\ncollective = \"all_reduce\"\nmemory = \"big\"\n"
          "algorithm = \"ring\"",
          "it takes any or symmetric"},
      Mistake{"version = 1\nname = \"a\"\nbased_on = \"generic\"\n[[attach]]\ncollective = \"all_reduce\"\nleast = 3",
              "least_bytes"},
      Mistake{"version = 1\nname = \"a\"\nbased_on = \"generic\"\n[rounds]\nusual = \"1/4 core_cache\"",
              "rounds.usual: is a multiple of a cache; write bytes"},
      Mistake{"version = ", "my.toml:1"},
  };
  for (const Mistake& mistake : kMistakes) {
    const Result<MachineProfile> profile = read_profile(mistake.text, "my.toml");
    ASSERT_FALSE(profile.ok()) << mistake.text;
    EXPECT_NE(profile.status().to_string().find(mistake.words), std::string::npos) << profile.status().to_string();
    EXPECT_EQ(profile.status().to_string().find("my.toml:"), 0U) << profile.status().to_string();
  }
}

TEST(ProfileFile, MistakesOfRulesAreNamed) {
  struct Mistake {
    std::string_view rule;
    std::string_view words;
  };
  constexpr std::array kMistakes = {
      Mistake{"algorithm = \"two_shot_few(cores)\"",
              "algorithm: has the parameter (cores), which is for rules with crowded"},
      Mistake{"algorithm = \"hierarchical(hosts, ring)\"", "is for rules with hosts = true"},
      Mistake{"hosts = true\nmost_bytes = \"1 core_cache\"\nalgorithm = \"ring\"", "rules for hosts take bytes"},
      Mistake{"most_bytes_per_rank = \"1 core_cache\"\nalgorithm = \"ring\"",
              "my.toml:6: rule[0].most_bytes_per_rank: is a share of a cache; it takes bytes"},
      Mistake{"most_bytes_per_rank = \"1M\"\nalgorithm = \"ring\"",
              "my.toml:6: rule[0].most_bytes_per_rank: is for rules with hosts = true"},
  };
  for (const Mistake& mistake : kMistakes) {
    const std::string text = fmt::format(
        "version = 1\nname = \"a\"\nbased_on = \"generic\"\n[[rule]]\ncollective = \"all_reduce\"\n{}", mistake.rule);
    const Result<MachineProfile> profile = read_profile(text, "my.toml");
    ASSERT_FALSE(profile.ok()) << mistake.rule;
    EXPECT_NE(profile.status().to_string().find(mistake.words), std::string::npos) << profile.status().to_string();
  }
}

TEST(ProfileFile, SizesAreBytesOrMultiplesOfCaches) {
  const CacheSizes caches{.first = 48 << 10, .core = 2 << 20, .last = 32 << 20};
  const auto bytes_of = [&](std::string_view text) {
    const Result<Size> size = parse_profile_size(text);
    return size.ok() ? std::uint64_t{size->for_caches(caches)} : ~std::uint64_t{1};
  };
  EXPECT_EQ(bytes_of("64K"), 65536U);
  EXPECT_EQ(bytes_of("1/6 first_cache"), 8192U);
  EXPECT_EQ(bytes_of("2 core_cache"), std::uint64_t{4} << 20);
  EXPECT_EQ(bytes_of("0.25 last_level_cache"), std::uint64_t{8} << 20);
  EXPECT_EQ(bytes_of("unlimited"), kAnySize);
  for (const std::string_view text : {"", "x", "1/0 core_cache", "-1 core_cache", "nan core_cache", "1e9 core_cache"})
    EXPECT_FALSE(parse_profile_size(text).ok()) << text;
  for (const std::string_view text : {"64K", "1/6 first_cache", "2 core_cache", "1/4 last_level_cache", "unlimited"})
    EXPECT_EQ(to_text(*parse_profile_size(text)), text);
}

TEST(ProfileChoice, TakesNamesFilesAndTheProcessor) {
  EXPECT_EQ(choose_profile("AMD-EPYC").profile->name, "amd_epyc");
  EXPECT_EQ(choose_profile("generic").why, "TUTTI_PROFILE names it");
  const ProfileChoice automatic = choose_profile(kAutomaticProfile);
  EXPECT_TRUE(automatic.unread.ok());
  EXPECT_FALSE(automatic.why.empty());
  const ProfileChoice wrong = choose_profile("intel_xeno");
  EXPECT_NE(wrong.unread.to_string().find(
                "TUTTI_PROFILE: no profile 'intel_xeno' ships with Tutti; the nearest is 'intel_xeon'"),
            std::string::npos)
      << wrong.unread.to_string();
  EXPECT_NE(wrong.profile, nullptr);
  EXPECT_NE(choose_profile("./none.toml").unread.to_string().find("./none.toml"), std::string::npos);
}

}  // namespace
}  // namespace tutti
