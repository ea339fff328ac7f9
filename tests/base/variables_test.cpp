// SPDX-License-Identifier: Apache-2.0
#include "base/variables/variables.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "base/variables/bench_variables.hpp"
#include "temporary_folder.hpp"

namespace tutti {
namespace {

using Texts = std::vector<std::string>;

class VariablesTest : public ::testing::Test {
 protected:
  [[nodiscard]] ConfPaths paths() const { return {folder_.file("user.conf"), folder_.file("system.conf")}; }
  [[nodiscard]] VariablesReading read(const Environment& environment) const {
    return Variables::read(environment, paths());
  }
  // The one problem that there is.
  [[nodiscard]] std::string problem(const Environment& environment) const {
    const VariablesReading reading = read(environment);
    EXPECT_EQ(reading.problems.size(), 1U);
    return reading.problems.empty() ? "" : without_folder(reading.problems.front().text);
  }
  [[nodiscard]] Texts warnings(const Environment& environment) const {
    const VariablesReading reading = read(environment);
    EXPECT_TRUE(reading.problems.empty()) << reading.problems.front().text;
    Texts texts = reading.variables.warnings();
    for (std::string& text : texts) text = without_folder(text);
    return texts;
  }
  [[nodiscard]] Variables good(const Environment& environment) const {
    const Result<Variables> variables = Variables::load(environment, paths());
    EXPECT_TRUE(variables.ok()) << variables.status().to_string();
    return variables.ok() ? *variables : Variables();
  }
  [[nodiscard]] std::string without_folder(std::string text) const {
    for (std::size_t at = text.find(folder_.path()); at != std::string::npos; at = text.find(folder_.path())) {
      text.erase(at, folder_.path().size() + 1);
    }
    return text;
  }

  test::TemporaryFolder folder_;
};

TEST_F(VariablesTest, Defaults) {
  const Variables variables = good({});
  EXPECT_EQ(variables.get<VariableId::debug>(), "warn");
  EXPECT_TRUE(variables.get<VariableId::debug_subsystems>().contains("coll"));
  EXPECT_EQ(variables.get<VariableId::debug_file>(), "");
  EXPECT_EQ(variables.get<VariableId::allreduce_algorithm>(), "auto");
  EXPECT_EQ(variables.get<VariableId::staging_slot>(), std::nullopt);
  EXPECT_EQ(variables.get<VariableId::staging_depth>(), 4);
  EXPECT_EQ(variables.get<VariableId::stream_min>(), std::nullopt);
  EXPECT_EQ(variables.get<VariableId::spin>(), std::nullopt);
  EXPECT_EQ(variables.get<VariableId::yield>(), std::nullopt);
  EXPECT_EQ(variables.get<VariableId::timeout>(), Nanos(0));
  EXPECT_EQ(variables.get<VariableId::late_warning>(), Nanos(30'000'000'000));
  EXPECT_EQ(variables.get<VariableId::rank>(), std::nullopt);
  EXPECT_EQ(variables.get<VariableId::local_core>(), -1);
  EXPECT_EQ(variables.origin(VariableId::debug).to_string(), "default");
  EXPECT_TRUE(variables.warnings().empty());
}

TEST_F(VariablesTest, GettersHaveTheTypesOfTheirRows) {
  const Variables variables;
  static_assert(std::is_same_v<decltype(variables.get<VariableId::staging_slot>()), std::optional<Bytes>>);
  static_assert(std::is_same_v<decltype(variables.get<VariableId::stream_min>()), std::optional<Bytes>>);
  static_assert(std::is_same_v<decltype(variables.get<VariableId::staging_depth>()), std::int64_t>);
  static_assert(std::is_same_v<decltype(variables.get<VariableId::rank>()), std::optional<std::int64_t>>);
  static_assert(std::is_same_v<decltype(variables.get<VariableId::timeout>()), Nanos>);
  static_assert(std::is_same_v<decltype(variables.get<VariableId::spin>()), std::optional<Nanos>>);
  static_assert(std::is_same_v<decltype(variables.get<VariableId::walker>()), std::string_view>);
  static_assert(std::is_same_v<decltype(variables.get<VariableId::unique_id>()), const std::string&>);
  static_assert(std::is_same_v<decltype(variables.get<VariableId::debug_subsystems>()), const VariableList&>);
}

TEST_F(VariablesTest, ValuesFromTheEnvironment) {
  const Variables variables = good({{"TUTTI_DEBUG", "TRACE"},
                                    {"TUTTI_ALLREDUCE_ALGORITHM", "two-shot"},
                                    {"TUTTI_STAGING_SLOT", " 1.5M "},
                                    {"TUTTI_STAGING_DEPTH", "64"},
                                    {"TUTTI_STREAM_MIN", "4MiB"},
                                    {"TUTTI_SPIN", "20us"},
                                    {"TUTTI_TIMEOUT", "90"},
                                    {"TUTTI_RANK", "3"}});
  EXPECT_EQ(variables.get<VariableId::debug>(), "trace");
  EXPECT_EQ(variables.get<VariableId::allreduce_algorithm>(), "two_shot");
  EXPECT_EQ(variables.get<VariableId::staging_slot>(), Bytes(3 << 19));
  EXPECT_EQ(variables.get<VariableId::staging_depth>(), 64);
  EXPECT_EQ(variables.get<VariableId::stream_min>(), Bytes(4 << 20));
  EXPECT_EQ(variables.get<VariableId::spin>(), Nanos(20'000));
  EXPECT_EQ(variables.get<VariableId::timeout>(), Nanos(90'000'000'000));
  EXPECT_EQ(variables.get<VariableId::rank>(), 3);
  EXPECT_EQ(variables.origin(VariableId::rank).to_string(), "environment");
  EXPECT_EQ(variables.text(VariableId::staging_slot), "1536K");
}

TEST_F(VariablesTest, AutomaticByNumberAndByWord) {
  for (const char* text : {"-2", " auto ", "AUTO"}) {
    EXPECT_EQ(good({{"TUTTI_SPIN", text}}).get<VariableId::spin>(), std::nullopt) << text;
  }
  EXPECT_NE(problem({{"TUTTI_TIMEOUT", "-2"}}), "");
  EXPECT_NE(problem({{"TUTTI_SPIN", "-1"}}), "");
  EXPECT_NE(problem({{"TUTTI_STAGING_DEPTH", "auto"}}), "");
}

TEST_F(VariablesTest, AnySizeByMinusOne) {
  constexpr VariableId kId = VariableId::ring_bidir_ag_max_size;
  constexpr const char* kName = "TUTTI_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE";
  EXPECT_EQ(good({{kName, "-1"}}).get<kId>(), Bytes(kAnyBytes));
  EXPECT_EQ(good({{kName, "-1"}}).text(kId), "-1");
  EXPECT_EQ(good({{kName, "-2"}}).get<kId>(), std::nullopt);
  EXPECT_EQ(good({{kName, "0"}}).get<kId>(), Bytes(0));
  EXPECT_EQ(good({{kName, "4MB"}}).get<kId>(), Bytes(4 << 20));
  EXPECT_EQ(good({{"NCCL_CTRAN_ALLREDUCE_RING_BIDIR_AG_MAX_SIZE", "4MiB"}}).get<kId>(), Bytes(4 << 20));
  EXPECT_NE(problem({{kName, "-3"}}).find("allowed: auto or -2, -1 (any size), 0 or more"), std::string::npos)
      << problem({{kName, "-3"}});
}

TEST_F(VariablesTest, AChoiceMayTakeAnythingBehindItsPrefix) {
  const Variables variables = good({{"TUTTI_ALLREDUCE_ALGORITHM", " file:/a b/My.sched "}});
  EXPECT_EQ(variables.get<VariableId::allreduce_algorithm>(), "file:/a b/My.sched");
  EXPECT_EQ(variables.text(VariableId::allreduce_algorithm), "file:/a b/My.sched");
  EXPECT_NE(problem({{"TUTTI_ALLREDUCE_ALGORITHM", "file:"}}).find("'file:' has nothing behind it; allowed: auto, "),
            std::string::npos);
  EXPECT_NE(problem({{"TUTTI_ALLREDUCE_ALGORITHM", "files"}}).find("'files' is not one of the choices"),
            std::string::npos);
  EXPECT_TRUE(allowed_text(row_of(VariableId::allreduce_algorithm)).ends_with(", file:PATH"));
  EXPECT_NE(problem({{"TUTTI_WALKER", "file:a"}}), "");
}

TEST_F(VariablesTest, Lists) {
  const auto list = [this](std::string text) {
    return good({{"TUTTI_DEBUG_SUBSYS", std::move(text)}}).get<VariableId::debug_subsystems>();
  };
  EXPECT_TRUE(list("init, COLL").contains("coll"));
  EXPECT_FALSE(list("init,coll").contains("shm"));
  EXPECT_FALSE(list("^init,coll").contains("coll"));
  EXPECT_TRUE(list("^init,coll").contains("shm"));
  EXPECT_TRUE(list("shm,all").contains("env"));
  EXPECT_FALSE(list("^all").contains("env"));
  EXPECT_EQ(good({{"TUTTI_DEBUG_SUBSYS", "^INIT,coll"}}).text(VariableId::debug_subsystems), "^init,coll");
  EXPECT_NE(problem({{"TUTTI_DEBUG_SUBSYS", "init,graph"}}).find("'graph' is not one of the choices"),
            std::string::npos);
  EXPECT_NE(problem({{"TUTTI_DEBUG_SUBSYS", "init,,coll"}}), "");
  EXPECT_NE(problem({{"TUTTI_DEBUG_SUBSYS", "^"}}), "");
}

TEST_F(VariablesTest, WrongValuesNameVariableValueAndWhatIsAllowed) {
  EXPECT_EQ(problem({{"TUTTI_STAGING_DEPTH", "abc"}}),
            "TUTTI_STAGING_DEPTH (environment): 'abc' is not a whole number; allowed: 2 to 64");
  EXPECT_EQ(problem({{"TUTTI_STAGING_SLOT", "4 parsecs"}}),
            "TUTTI_STAGING_SLOT (environment): '4 parsecs' is not a size: 'parsecs' is not a unit; write bytes with K, "
            "M, G or T behind them, such as 4M; allowed: auto or -2, 4K to 16M");
  EXPECT_EQ(problem({{"TUTTI_STAGING_SLOT", "32M"}}),
            "TUTTI_STAGING_SLOT (environment): '32M' is out of range; allowed: auto or -2, 4K to 16M");
  EXPECT_EQ(problem({{"TUTTI_SPIN", "2m"}}),
            "TUTTI_SPIN (environment): '2m' is out of range; allowed: auto or -2, 0s to 1m");
  EXPECT_EQ(problem({{"TUTTI_WALKER", "fast"}}),
            "TUTTI_WALKER (environment): 'fast' is not one of the choices; allowed: auto, generic");
  EXPECT_EQ(problem({{"TUTTI_TIMEOUT", ""}}),
            "TUTTI_TIMEOUT (environment): it is set to nothing; unset it for the default; allowed: 0s to 8760h");
  EXPECT_EQ(problem({{"TUTTI_RANK", "\x1b\xFF"}}),
            "TUTTI_RANK (environment): '\\x1b\\xff' is not a whole number; allowed: 0 to 1048575");
  EXPECT_EQ(problem({{"NCCL_DEBUG", "loud"}}),
            "TUTTI_DEBUG (environment as NCCL_DEBUG): 'loud' is not one of the choices; allowed: none, version, warn, "
            "info, trace");
}

TEST_F(VariablesTest, RangesIncludeBothEnds) {
  EXPECT_EQ(good({{"TUTTI_STAGING_DEPTH", "2"}}).get<VariableId::staging_depth>(), 2);
  EXPECT_EQ(good({{"TUTTI_STAGING_DEPTH", "64"}}).get<VariableId::staging_depth>(), 64);
  EXPECT_NE(problem({{"TUTTI_STAGING_DEPTH", "1"}}), "");
  EXPECT_NE(problem({{"TUTTI_STAGING_DEPTH", "65"}}), "");
  EXPECT_NE(problem({{"TUTTI_STAGING_SLOT", "4095"}}), "");
  EXPECT_EQ(good({{"TUTTI_LOCAL_CORE", "-1"}}).get<VariableId::local_core>(), -1);
  EXPECT_NE(problem({{"TUTTI_LOCAL_CORE", "-2"}}), "");
}

TEST_F(VariablesTest, AnErrorListsAllWrongVariables) {
  folder_.write("user.conf", "nonsense\nTUTTI_YIELD=never\n");
  const Result<Variables> result = Variables::load({{"TUTTI_DEBUG", "loud"}, {"TUTTI_STAGING_DEPTH", "0"}}, paths());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), Code::invalid_argument);
  const std::string text = result.status().to_string();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
  for (const char* part : {"user.conf:1: found 'nonsense'", "user.conf:2): 'never'", "'loud'", "'0' is out of range"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
}

TEST_F(VariablesTest, WrongVariablesKeepTheirDefaultsAndAreNamedById) {
  const VariablesReading reading = read({{"TUTTI_STAGING_DEPTH", "0"}, {"TUTTI_DEBUG", "info"}});
  ASSERT_EQ(reading.problems.size(), 1U);
  EXPECT_EQ(reading.problems[0].id, VariableId::staging_depth);
  EXPECT_EQ(reading.variables.get<VariableId::staging_depth>(), 4);
  EXPECT_EQ(reading.variables.get<VariableId::debug>(), "info");
}

TEST_F(VariablesTest, EnvironmentBeforeUserBeforeSystem) {
  folder_.write("system.conf", "TUTTI_DEBUG=info\nTUTTI_YIELD=1s\nTUTTI_SPIN=1s\n");
  folder_.write("user.conf", "TUTTI_DEBUG=trace\n# two\nTUTTI_YIELD=2s\n");
  const Variables variables = good({{"TUTTI_DEBUG", "none"}});
  EXPECT_EQ(variables.get<VariableId::debug>(), "none");
  EXPECT_EQ(variables.get<VariableId::yield>(), Nanos(2'000'000'000));
  EXPECT_EQ(variables.get<VariableId::spin>(), Nanos(1'000'000'000));
  EXPECT_EQ(variables.origin(VariableId::debug).to_string(), "environment");
  EXPECT_EQ(without_folder(variables.origin(VariableId::yield).to_string()), "user.conf:3");
  EXPECT_EQ(without_folder(variables.origin(VariableId::spin).to_string()), "system.conf:3");
  EXPECT_TRUE(variables.warnings().empty());
}

TEST_F(VariablesTest, AWrongValueThatDoesNotCountIsNoError) {
  folder_.write("system.conf", "TUTTI_YIELD=never\n");
  EXPECT_EQ(good({{"TUTTI_YIELD", "5ms"}}).get<VariableId::yield>(), Nanos(5'000'000));
}

TEST_F(VariablesTest, AliasesAreTaken) {
  folder_.write("user.conf", "NCCL_DEBUG_FILE = /tmp/log\n");
  const Variables variables = good({{"NCCL_DEBUG", "INFO"}});
  EXPECT_EQ(variables.get<VariableId::debug>(), "info");
  EXPECT_EQ(variables.origin(VariableId::debug).to_string(), "environment as NCCL_DEBUG");
  EXPECT_EQ(variables.get<VariableId::debug_file>(), "/tmp/log");
  EXPECT_EQ(without_folder(variables.origin(VariableId::debug_file).to_string()), "user.conf:1 as NCCL_DEBUG_FILE");
  EXPECT_TRUE(variables.warnings().empty());
}

TEST_F(VariablesTest, OwnNameGoesBeforeAliasWithAWarningThatNamesBothValues) {
  const Environment both{{"TUTTI_DEBUG", "info"}, {"NCCL_DEBUG", "TRACE"}};
  EXPECT_EQ(good(both).get<VariableId::debug>(), "info");
  EXPECT_EQ(warnings(both),
            Texts{"TUTTI_DEBUG is 'info' (environment) and NCCL_DEBUG is 'TRACE' (environment); the first counts"});
  EXPECT_EQ(warnings({{"TUTTI_DEBUG", "info"}, {"NCCL_DEBUG", "INFO"}}), Texts{});  // the same value
}

TEST_F(VariablesTest, OwnNameInAFileGoesBeforeAliasInTheEnvironment) {
  folder_.write("user.conf", "TUTTI_DEBUG = info\n");
  EXPECT_EQ(good({{"NCCL_DEBUG", "TRACE"}}).get<VariableId::debug>(), "info");
  EXPECT_EQ(warnings({{"NCCL_DEBUG", "TRACE"}}),
            Texts{"TUTTI_DEBUG is 'info' (user.conf:1) and NCCL_DEBUG is 'TRACE' (environment); the first counts"});
}

TEST_F(VariablesTest, AnAliasInAWeakerPlaceIsOverriddenInSilence) {
  folder_.write("system.conf", "NCCL_DEBUG = info\n");
  EXPECT_EQ(warnings({{"TUTTI_DEBUG", "trace"}}), Texts{});
  folder_.write("user.conf", "NCCL_DEBUG = trace\nTUTTI_DEBUG = info\n");
  EXPECT_EQ(good({}).get<VariableId::debug>(), "info");
  EXPECT_EQ(warnings({}).size(), 1U);
}

TEST_F(VariablesTest, WordsThatOnlyTheOriginalKnowsAreLeftOutUnderItsName) {
  const Environment mixed{{"NCCL_DEBUG_SUBSYS", "INIT,P2P"}};
  EXPECT_EQ(good(mixed).text(VariableId::debug_subsystems), "init");
  const Texts said = warnings(mixed);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("'P2P' means nothing to Tutti"), std::string::npos) << said[0];
  EXPECT_FALSE(good({{"NCCL_DEBUG_SUBSYS", "P2P,GRAPH"}}).get<VariableId::debug_subsystems>().contains("init"));
  EXPECT_TRUE(good({{"NCCL_DEBUG_SUBSYS", "^P2P"}}).get<VariableId::debug_subsystems>().contains("init"));
  EXPECT_FALSE(good({{"NCCL_DEBUG_SUBSYS", "^P2P,init"}}).get<VariableId::debug_subsystems>().contains("init"));
  EXPECT_NE(problem({{"NCCL_DEBUG_SUBSYS", ""}}), "");
}

TEST_F(VariablesTest, WhatAProgramSetsIsSaidToBeItsOwn) {
  Environment environment{{"NCCL_DEBUG", "trace"}, {"TUTTI_WALKER", "generic"}};
  environment.set("TUTTI_WALKER", "fast", "config.variables");
  EXPECT_EQ(problem(environment),
            "TUTTI_WALKER (config.variables): 'fast' is not one of the choices; allowed: auto, generic");
  environment.set("TUTTI_WALKER", "auto", "config.variables");
  environment.set("TUTTI_DEGUB", "info", "config.variables");
  environment.set("TUTTI_DEBUG", "info", "config.variables");
  const Texts expected{
      "TUTTI_DEGUB (config.variables) is not a variable of Tutti; the nearest is TUTTI_DEBUG",
      "TUTTI_DEBUG is 'info' (config.variables) and NCCL_DEBUG is 'trace' (environment); the first counts"};
  EXPECT_EQ(warnings(environment), expected);
  EXPECT_EQ(good(environment).origin(VariableId::walker).to_string(), "config.variables");
}

TEST_F(VariablesTest, UnknownNamesAreWarnedOfWithTheNearest) {
  EXPECT_EQ(warnings({{"TUTTI_DEGUB", "info"}}),
            Texts{"TUTTI_DEGUB (environment) is not a variable of Tutti; the nearest is TUTTI_DEBUG"});
  EXPECT_EQ(warnings({{"TUTTI_TIMEOT", "3"}}),
            Texts{"TUTTI_TIMEOT (environment) is not a variable of Tutti; the nearest is TUTTI_TIMEOUT"});
  EXPECT_EQ(warnings({{"TUTTI_STAGING_SIZE", ""}, {"PATH", "/bin"}, {"NCCL_TOPO_FILE", "x"}}).size(), 1U);
  EXPECT_EQ(warnings({{"TUTTI_FOO", "1"}}), Texts{"TUTTI_FOO (environment) is not a variable of Tutti"})
      << "what all names begin with makes none of them near";
  folder_.write("user.conf", "TUTI_DEBUG = info\nNCCL_TOPO_FILE = x\nRCCL_X = 1\n");
  EXPECT_EQ(warnings({}), Texts{"TUTI_DEBUG (user.conf:1) is not a variable of Tutti; the nearest is TUTTI_DEBUG"});
}

TEST_F(VariablesTest, BenchmarkVariablesAreKnown) {
  EXPECT_EQ(warnings({{"TUTTI_GLOO_ALLREDUCE_ALGORITHM", "ring"}, {"TUTTI_NULL_WORK", "1us"}}), Texts{});
  EXPECT_EQ(warnings({{"TUTTI_NULL_WROK", "1us"}}),
            Texts{"TUTTI_NULL_WROK (environment) is not a variable of Tutti; the nearest is TUTTI_NULL_WORK"});
  folder_.write("user.conf", "BENCH_MEMORY = symmetric\n");
  EXPECT_EQ(warnings({}), Texts{"BENCH_MEMORY (user.conf:1): benchmarks take it from the environment only"});
}

TEST_F(VariablesTest, AValueIsCheckedByItsNameAlone) {
  EXPECT_EQ(check_variable("TUTTI_DEBUG", "info").to_string(), "ok");
  EXPECT_EQ(check_variable("TUTTI_DEBUG", "infoo").to_string(),
            "TUTTI_DEBUG: 'infoo' is not one of the choices; allowed: none, version, warn, info, trace");
  EXPECT_EQ(check_variable("BENCH_MEMORY", "ordinray").to_string(),
            "BENCH_MEMORY: 'ordinray' is not one of the choices; allowed: ordinary, symmetric");
  EXPECT_TRUE(check_variable("BENCH_MEMORY", "SYMMETRIC").ok());
  EXPECT_TRUE(check_variable("TUTTI_NULL_CRASH", "1@50").ok());
  EXPECT_TRUE(check_variable("TUTTI_FOO", "").ok());
}

// A variable that some source reads and no table has would be called unknown.
TEST_F(VariablesTest, EveryNameThatSourcesReadIsInATable) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  std::size_t found = 0;
  const auto check_line = [&](std::string_view line, const std::filesystem::path& path) {
    for (std::size_t at = line.find('"'); at != std::string_view::npos; at = line.find('"', at + 1)) {
      const std::string_view quoted = line.substr(at + 1);
      const std::string_view name = quoted.substr(0, quoted.find_first_not_of(kLetters));
      const bool has_prefix = name.starts_with("TUTTI_") || name.starts_with("BENCH_");
      // Such a name is a prefix of several.
      if (!has_prefix || name.ends_with('_') || !quoted.substr(name.size()).starts_with('"')) continue;
      EXPECT_TRUE(find_variable(name) != nullptr || find_bench_variable(name) != nullptr) << path << " has " << name;
      ++found;
    }
  };
  for (const char* folder : {"/src", "/benches", "/examples"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(TUTTI_SOURCE_DIR) + folder)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) check_line(line, entry.path());
    }
  EXPECT_GT(found, kNumVariables + kBenchVariables.size()) << "the sources were not looked at";
}

TEST_F(VariablesTest, ANamedConfFileIsReadInsteadOfBoth) {
  folder_.write("system.conf", "TUTTI_YIELD=1s\n");
  folder_.write("user.conf", "TUTTI_YIELD=2s\n");
  const std::string mine = folder_.write("mine.conf", "TUTTI_SPIN=3s\n");
  for (const char* name : {"TUTTI_CONF_FILE", "NCCL_CONF_FILE"}) {
    const Variables variables = good({{name, mine}});
    EXPECT_EQ(variables.get<VariableId::spin>(), Nanos(3'000'000'000));
    EXPECT_EQ(variables.get<VariableId::yield>(), std::nullopt);
  }
  EXPECT_EQ(good({{"TUTTI_CONF_FILE", ""}}).get<VariableId::yield>(), std::nullopt);
}

TEST_F(VariablesTest, ANamedConfFileMustExistAndBeReadable) {
  EXPECT_EQ(problem({{"TUTTI_CONF_FILE", folder_.file("mine.conf")}}),
            "TUTTI_CONF_FILE (environment): there is no file 'mine.conf'; name one that exists, or nothing for none");
  folder_.write("mine.conf/below", "");
  EXPECT_EQ(problem({{"TUTTI_CONF_FILE", folder_.file("mine.conf")}}), "cannot read 'mine.conf': Is a directory");
}

// Another user's home, as in containers of any user.
TEST_F(VariablesTest, AnUnreadableDefaultConfFileIsAWarning) {
  folder_.write("user.conf/below", "");
  folder_.write("system.conf", "TUTTI_YIELD=1s\n");
  EXPECT_EQ(good({}).get<VariableId::yield>(), Nanos(1'000'000'000));
  EXPECT_EQ(warnings({}), Texts{"cannot read 'user.conf': Is a directory; the file is ignored"});
}

TEST_F(VariablesTest, WhatConcernsOneProcessIsNotTakenFromAFile) {
  folder_.write("user.conf", "TUTTI_RANK = 0\n");
  EXPECT_EQ(problem({}), "TUTTI_RANK (user.conf:1): it is taken from the environment only; remove the line");
  folder_.write("user.conf", "NCCL_CONF_FILE = x\n");
  EXPECT_EQ(problem({}), "NCCL_CONF_FILE (user.conf:1): it is taken from the environment only; remove the line");
}

TEST_F(VariablesTest, ASecretIsReadButNeverShown) {
  const Variables variables = good({{"TUTTI_UNIQUE_ID", "hunter2"}});
  EXPECT_EQ(variables.get<VariableId::unique_id>(), "hunter2");
  EXPECT_EQ(variables.text(VariableId::unique_id), "(hidden)");
  EXPECT_EQ(Variables().text(VariableId::unique_id), "");
  folder_.write("user.conf", "TUTTI_UNIQUE_ID = hunter2\n");
  EXPECT_EQ(problem({}).find("hunter2"), std::string::npos);
}

TEST(ConfPaths, FollowTheEnvironment) {
  EXPECT_EQ(ConfPaths::standard({{"HOME", "/home/a"}}).user, "/home/a/.config/tutti/tutti.conf");
  EXPECT_EQ(ConfPaths::standard({{"HOME", "/home/a"}, {"XDG_CONFIG_HOME", "/c"}}).user, "/c/tutti/tutti.conf");
  EXPECT_EQ(ConfPaths::standard({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "relative"}}).user, "/h/.config/tutti/tutti.conf");
  EXPECT_EQ(ConfPaths::standard({}).user, "");
  EXPECT_EQ(ConfPaths::standard({}).system, "/etc/tutti.conf");
}

// Types that no row of the table has yet are read as well.
TEST(ParseVariable, BooleansAndFreeLists) {
  constexpr VariableRow kFlag{.name = "TUTTI_X", .type = VariableType::boolean, .initial = "0"};
  for (const char* text : {"1", "true", "YES", "on"}) EXPECT_EQ(*parse_variable(kFlag, text), VariableValue(true));
  for (const char* text : {"0", "False", "no", "off"}) EXPECT_EQ(*parse_variable(kFlag, text), VariableValue(false));
  EXPECT_EQ(parse_variable(kFlag, "2").status().message(), "'2' is neither yes nor no; allowed: 0 or 1");
  constexpr VariableRow kNames{.name = "TUTTI_X", .type = VariableType::list};
  EXPECT_EQ(*parse_variable(kNames, "^eth0, ib1"), VariableValue(VariableList{{"eth0", "ib1"}, true}));
  EXPECT_EQ(allowed_text(kNames), "a list with commas");
}

TEST(VariableTable, EveryDefaultIsAllowedAndReadBack) {
  for (const VariableRow& row : kVariables) {
    if (row.initial.empty()) continue;
    const Result<VariableValue> value = parse_variable(row, row.initial);
    ASSERT_TRUE(value.ok()) << row.name << ": " << value.status().to_string();
    EXPECT_EQ(*parse_variable(row, to_text(row, *value)), *value) << row.name;
  }
}

TEST(VariableTable, NamesAndAliasesAreDistinct) {
  std::set<std::string_view> names;
  for (const VariableRow& row : kVariables) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(find_variable(row.name), &row);
    for (const std::string_view alias : row.aliases) {
      EXPECT_TRUE(alias.empty() || names.insert(alias).second) << alias;
    }
  }
  EXPECT_EQ(find_variable("tutti-debug"), &row_of(VariableId::debug));
  EXPECT_EQ(find_variable("NCCL_DEBUG"), &row_of(VariableId::debug));
  EXPECT_EQ(find_variable(""), nullptr);
}

}  // namespace
}  // namespace tutti
