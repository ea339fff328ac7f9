// SPDX-License-Identifier: Apache-2.0
// Plays NCCL: loads libnccl-tuner-tutti.so and calls it through each version of the interface.
#include <array>
#include <cstdarg>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../base/temporary_folder.hpp"
#include "nccl_tuner/interface.hpp"

namespace tutti::nccl_tuner {
namespace {

// NCCL's numbers.
constexpr int kBroadcast = 0;
constexpr int kAllGather = 2;
constexpr int kAllReduce = 4;
constexpr int kSendReceive = 5;
constexpr int kTree = 0;
constexpr int kRing = 1;
constexpr int kNvls = 4;
constexpr int kPat = 6;
constexpr int kLl = 0;
constexpr int kSimple = 2;
constexpr int kAlgorithms = 7;
constexpr int kProtocols = 3;

struct Logged {
  int level;
  unsigned long subsystems;
  std::string words;
};
// NCCL's log has no context either.
std::mutex logged_mutex;
std::vector<Logged> logged;

__attribute__((format(printf, 5, 6))) void note(int level, unsigned long subsystems, const char* /*file*/, int /*line*/,
                                                const char* format, ...) {
  std::array<char, 1000> words{};
  std::va_list arguments;
  va_start(arguments, format);
  static_cast<void>(std::vsnprintf(words.data(), words.size(), format, arguments));
  va_end(arguments);
  const std::lock_guard lock(logged_mutex);
  logged.push_back({level, subsystems, words.data()});
}

// What NCCL would then do: nullopt, or 0 channels, where it chooses.
struct Answer {
  std::optional<int> algorithm;
  std::optional<int> protocol;
  int channels = 0;
  bool operator==(const Answer&) const = default;
};

struct Asking {
  int function = kAllReduce;
  std::size_t bytes = 1000;
  int operations = 1;
  bool is_registered = false;
  std::vector<std::pair<int, int>> impossible = {};  // algorithm and protocol
};

void* plugin() {
  static void* const loaded = ::dlopen(TUTTI_NCCL_TUNER, RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(loaded, nullptr) << ::dlerror();
  return loaded;
}

template <typename Tuner>
const Tuner& tuner_of(int version) {
  return *static_cast<const Tuner*>(::dlsym(plugin(), fmt::format("ncclTunerPlugin_v{}", version).c_str()));
}

// One communicator.
class Communicator {
 public:
  Communicator(int version, std::size_t ranks, std::size_t nodes = 1, LogFunction log = note) : version_(version) {
    const auto begin = [&](const auto& tuner) { EXPECT_EQ(tuner.init(ranks, nodes, log, &context_), kSuccess); };
    if (version == 2) begin(tuner_of<TunerV2>(2));
    if (version == 3) begin(tuner_of<TunerV3>(3));
    if (version == 4) begin(tuner_of<TunerV4>(4));
    if (version >= 5) {
      EXPECT_EQ(newer().init(&context_, 77, ranks, nodes, log, nullptr, nullptr), kSuccess);
    }
  }
  ~Communicator() {
    const auto end = [&](const auto& tuner) { EXPECT_EQ(tuner.destroy(context_), kSuccess); };
    if (version_ == 2) end(tuner_of<TunerV2>(2));
    if (version_ == 3) end(tuner_of<TunerV3>(3));
    if (version_ == 4) end(tuner_of<TunerV4>(4));
    if (version_ >= 5) end(newer());
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] Answer ask(const Asking& asking) const { return version_ == 2 ? ask_v2(asking) : ask_by_cost(asking); }

 private:
  [[nodiscard]] const TunerV5& newer() const { return version_ == 5 ? tuner_of<TunerV5>(5) : tuner_of<TunerV6>(6).v5; }

  [[nodiscard]] Answer ask_v2(const Asking& asking) const {
    int algorithm = -1;
    int protocol = -1;
    int channels = kUntouched;
    Answer answer;
    EXPECT_EQ(tuner_of<TunerV2>(2).choose(context_, asking.function, asking.bytes, 0, asking.impossible.empty() ? 1 : 0,
                                          asking.operations, &algorithm, &protocol, &channels),
              kSuccess);
    answer.channels = told(channels);
    if (algorithm != -1) answer.algorithm = algorithm;
    if (protocol != -1) answer.protocol = protocol;
    return answer;
  }

  // Costs in one piece, with a float behind them that is not theirs.
  [[nodiscard]] Answer ask_by_cost(const Asking& asking) const {
    std::array<float, kAlgorithms * kProtocols + 1> costs{};
    for (std::size_t cell = 0; cell < costs.size(); ++cell) costs[cell] = 100.0F + static_cast<float>(cell);
    for (const auto& [algorithm, protocol] : asking.impossible)
      costs.at(static_cast<std::size_t>(algorithm * kProtocols + protocol)) = -1.0F;
    const auto before = costs;
    Answer answer;
    const auto table = reinterpret_cast<Costs>(costs.data());
    int own_channels = kUntouched;
    int* const channels = &own_channels;
    const int registered = asking.is_registered ? 1 : 0;
    int result = kSuccess;
    if (version_ == 3)
      result = tuner_of<TunerV3>(3).choose(context_, asking.function, asking.bytes, asking.operations, table,
                                           kAlgorithms, kProtocols, channels);
    if (version_ == 4)
      result = tuner_of<TunerV4>(4).choose(context_, asking.function, asking.bytes, asking.operations, table,
                                           kAlgorithms, kProtocols, registered, channels);
    if (version_ >= 5)
      result = newer().choose(context_, asking.function, asking.bytes, asking.operations, table, kAlgorithms,
                              kProtocols, registered, channels);
    EXPECT_EQ(result, kSuccess);
    answer.channels = told(own_channels);
    for (int cell = 0; cell < kAlgorithms * kProtocols + 1; ++cell) {
      const float cost = costs.at(static_cast<std::size_t>(cell));
      if (cost == before.at(static_cast<std::size_t>(cell))) continue;
      EXPECT_EQ(cost, 0.0F);
      EXPECT_FALSE(answer.algorithm) << "one cell changes, at most";
      answer.algorithm = cell / kProtocols;
      answer.protocol = cell % kProtocols;
    }
    return answer;
  }

  // Where NCCL is to take its own number, the plugin writes none.
  static constexpr int kUntouched = -5;
  [[nodiscard]] static int told(int channels) {
    EXPECT_NE(channels, 0);
    return channels == kUntouched ? 0 : channels;
  }

  int version_;
  Context context_ = nullptr;
};

class NcclTuner : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    logged.clear();
    ::unsetenv("NCCL_TUNER_CONFIG_FILE");
  }
  void TearDown() override { ::unsetenv("NCCL_TUNER_CONFIG_FILE"); }
  void have_file(std::string_view text) {
    path_ = folder_.write("lines.conf", std::string(text));
    ::setenv("NCCL_TUNER_CONFIG_FILE", path_.c_str(), 1);
  }

  test::TemporaryFolder folder_;
  std::string path_;
};

constexpr Answer kOwnChoice{};

TEST_P(NcclTuner, TheFirstLineThatMatchesDecidesAndAllElseIsNccls) {
  have_file("# c\nallreduce,1000,2000,tree,ll,4,-1,8\nallreduce,2000,3000,ring,simple,0,-1,8\n");
  const Communicator eight(GetParam(), 8);
  const Answer tree{.algorithm = kTree, .protocol = kLl, .channels = 4};
  const Answer ring{.algorithm = kRing, .protocol = kSimple, .channels = 0};
  EXPECT_EQ(eight.ask({.bytes = 999}), kOwnChoice);
  EXPECT_EQ(eight.ask({.bytes = 1000}), tree);
  EXPECT_EQ(eight.ask({.bytes = 2000}), tree);
  EXPECT_EQ(eight.ask({.bytes = 2001}), ring);
  EXPECT_EQ(eight.ask({.bytes = 3000}), ring);
  EXPECT_EQ(eight.ask({.bytes = 3001}), kOwnChoice);
  EXPECT_EQ(eight.ask({.function = kAllGather, .bytes = 1000}), kOwnChoice);
  EXPECT_EQ(eight.ask({.function = kSendReceive, .bytes = 1000}), kOwnChoice);
  EXPECT_EQ(eight.ask({.function = 1000, .bytes = 1000}), kOwnChoice) << "of a release to come";
  EXPECT_EQ(Communicator(GetParam(), 7).ask({.bytes = 1000}), kOwnChoice);
}

TEST_P(NcclTuner, TakesTheLargestSizes) {
  have_file("broadcast,18446744073709551615,18446744073709551615,ring,ll,64,-1,-1\n");
  const Communicator two(GetParam(), 2);
  EXPECT_EQ(two.ask({.function = kBroadcast, .bytes = SIZE_MAX}).channels, 64);
  EXPECT_EQ(two.ask({.function = kBroadcast, .bytes = SIZE_MAX - 1}), kOwnChoice);
}

TEST_P(NcclTuner, CommunicatorsDifferInRanksAndNodes) {
  have_file("allreduce,0,9999,ring,ll,1,1,8\nallreduce,0,9999,ring,ll,2,2,8\nallreduce,0,9999,ring,ll,3,-1,16\n");
  const Communicator one_node(GetParam(), 8, 1);
  const Communicator two_nodes(GetParam(), 8, 2);
  const Communicator sixteen(GetParam(), 16, 4);
  const Communicator other(GetParam(), 8, 8);
  EXPECT_EQ(one_node.ask({}).channels, 1);
  EXPECT_EQ(two_nodes.ask({}).channels, 2);
  EXPECT_EQ(sixteen.ask({}).channels, 3);
  EXPECT_EQ(other.ask({}), kOwnChoice);
  EXPECT_EQ(one_node.ask({}).channels, 1);
}

TEST_P(NcclTuner, WhatNcclCannotDoIsPassedOver) {
  have_file("allreduce,0,9999,nvls,simple,7,-1,-1\nallreduce,0,999,tree,ll,5,-1,-1\n");
  const Communicator eight(GetParam(), 8);
  EXPECT_EQ(eight.ask({}).algorithm, kNvls);
  EXPECT_EQ(eight.ask({.impossible = {{kNvls, kSimple}}}), kOwnChoice) << "its channels are not taken either";
  EXPECT_EQ(eight.ask({.bytes = 999, .impossible = {{kNvls, kSimple}}}),
            (Answer{.algorithm = kTree, .protocol = kLl, .channels = 5}))
      << "the next line that matches";
}

TEST_P(NcclTuner, OperationsAndRegistrationAreConditionsToo) {
  have_file("allreduce,0,9999,ring,ll,1,-1,-1,2\nallreduce,0,9999,ring,ll,2,-1,-1,-1,1\n");
  const Communicator eight(GetParam(), 8);
  EXPECT_EQ(eight.ask({.operations = 2}).channels, 1);
  EXPECT_EQ(eight.ask({.operations = 1}), kOwnChoice);
  EXPECT_EQ(eight.ask({.is_registered = true}).channels, GetParam() < 4 ? 0 : 2) << "older versions do not tell";
}

TEST_P(NcclTuner, SaysWhatItReadAndHowOftenItDecided) {
  have_file("allreduce,0,999,ring,ll,0,-1,8\nallreduce,0,9999,nvls,simple,0,-1,4\n");
  {
    const Communicator four(GetParam(), 4);
    EXPECT_EQ(four.ask({}).algorithm, kNvls);
    EXPECT_EQ(four.ask({.impossible = {{kNvls, kSimple}}}), kOwnChoice);
    EXPECT_EQ(four.ask({.bytes = 10000}), kOwnChoice);
    EXPECT_EQ(four.ask({.function = kBroadcast}), kOwnChoice);
  }
  ASSERT_EQ(logged.size(), 2U);
  EXPECT_EQ(logged[0].words, fmt::format("TUNER/Tutti: 2 lines in {}, 1 of them for 4 ranks on 1 node", path_));
  EXPECT_EQ(
      logged[1].words,
      "TUNER/Tutti: lines decided 1 of 4 calls; for 1 they name what NCCL cannot do here, and for 2 there is none");
  for (const Logged& each : logged) {
    EXPECT_EQ(each.level, kLogInfo);
    EXPECT_EQ(each.subsystems & kLogTuning, kLogTuning);
  }
}

TEST_P(NcclTuner, AWrongFileIsToldOnceAndLeavesAllToNccl) {
  have_file("allreduce,0,9999,ring,ll,0,-1,-1\nallreduce,0,9999,ring,lll,0,-1,-1\n");
  const Communicator eight(GetParam(), 8);
  EXPECT_EQ(eight.ask({}), kOwnChoice);
  EXPECT_EQ(eight.ask({}), kOwnChoice);
  ASSERT_EQ(logged.size(), 1U);
  EXPECT_EQ(logged[0].level, kLogWarn);
  EXPECT_EQ(logged[0].words,
            fmt::format("TUNER/Tutti: {}:2: 'lll' is no protocol; NCCL chooses by itself for all calls", path_));
}

TEST_P(NcclTuner, AFileThatCannotBeReadIsToldAndLeavesAllToNccl) {
  for (const std::string& path : {folder_.file("missing"), folder_.file("."), std::string("/dev/zero")}) {
    logged.clear();
    ::setenv("NCCL_TUNER_CONFIG_FILE", path.c_str(), 1);
    const Communicator eight(GetParam(), 8);
    EXPECT_EQ(eight.ask({}), kOwnChoice);
    ASSERT_EQ(logged.size(), 1U);
    EXPECT_EQ(logged[0].level, kLogWarn);
    EXPECT_EQ(logged[0].words.rfind("TUNER/Tutti: cannot read " + path + ": ", 0), 0U) << logged[0].words;
  }
}

TEST_P(NcclTuner, NoFileIsNoMistake) {
  const Communicator eight(GetParam(), 8);
  EXPECT_EQ(eight.ask({}), kOwnChoice);
  ASSERT_EQ(logged.size(), 1U);
  EXPECT_EQ(logged[0].level, kLogInfo);
}

TEST_P(NcclTuner, NeedsNoLog) {
  have_file("allreduce,0,9999,ring,ll,3,-1,-1\n");
  EXPECT_EQ(Communicator(GetParam(), 8, 1, nullptr).ask({}).channels, 3);
}

TEST_P(NcclTuner, ThreadsMayHaveCommunicatorsOfTheirOwnAndShareOne) {
  have_file("allreduce,0,9999,ring,ll,3,-1,8\n");
  {
    const Communicator shared(GetParam(), 8);
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&] {
        for (int round = 0; round < 50; ++round) {
          const Communicator own(GetParam(), 8);
          EXPECT_EQ(own.ask({}).channels, 3);
          EXPECT_EQ(shared.ask({}).channels, 3);
        }
      });
  }
  EXPECT_NE(logged.back().words.find("decided 200 of 200 calls"), std::string::npos) << logged.back().words;
}

INSTANTIATE_TEST_SUITE_P(Versions, NcclTuner, ::testing::Values(2, 3, 4, 5, 6),
                         [](const ::testing::TestParamInfo<int>& each) { return fmt::format("V{}", each.param); });

TEST(NcclTunerV2, RefusesWhatNcclWouldFailAt) {
  test::TemporaryFolder folder;
  const std::string path =
      folder.write("lines.conf",
                   "allgather,0,9,pat,simple,0,-1,-1\nallgather,0,9,tree,ll,0,-1,-1\nallgather,0,9,ring,ll128,0,-1,-1\n"
                   "allreduce,0,9,nvls_tree,simple,0,-1,-1\n"
                   "allreduce,0,9,nvls,ll,0,-1,-1\n"
                   "allreduce,0,9,collnet_chain,simple,0,-1,-1\n");
  ::setenv("NCCL_TUNER_CONFIG_FILE", path.c_str(), 1);
  const Communicator one_node(2, 8, 1);
  EXPECT_EQ(one_node.ask({.function = kAllGather, .bytes = 9}), kOwnChoice);
  EXPECT_EQ(one_node.ask({.bytes = 9}), kOwnChoice);
  EXPECT_EQ(Communicator(2, 16, 2).ask({.bytes = 9}).algorithm, 5) << "nvls_tree is for several nodes";
  ::unsetenv("NCCL_TUNER_CONFIG_FILE");
}

// A table of fewer algorithms than the line's: of an older release.
TEST(NcclTunerCosts, SmallTablesAreNotLeft) {
  test::TemporaryFolder folder;
  const std::string path = folder.write("lines.conf", "allgather,0,9,pat,simple,2,-1,-1\n");
  ::setenv("NCCL_TUNER_CONFIG_FILE", path.c_str(), 1);
  const auto& tuner = tuner_of<TunerV3>(3);
  Context context = nullptr;
  ASSERT_EQ(tuner.init(8, 1, nullptr, &context), kSuccess);
  std::array<float, kAlgorithms * kProtocols> costs{};
  costs.fill(5.0F);
  int channels = 0;
  const auto table = reinterpret_cast<Costs>(costs.data());
  EXPECT_EQ(tuner.choose(context, kAllGather, 9, 1, table, kPat, kProtocols, &channels), kSuccess);
  EXPECT_EQ(channels, 0);
  EXPECT_EQ(costs.back(), 5.0F);
  EXPECT_EQ(tuner.choose(context, kAllGather, 9, 1, table, kPat + 1, kProtocols, &channels), kSuccess);
  EXPECT_EQ(channels, 2);
  EXPECT_EQ(costs.back(), 0.0F);
  EXPECT_EQ(tuner.destroy(context), kSuccess);
  ::unsetenv("NCCL_TUNER_CONFIG_FILE");
}

}  // namespace
}  // namespace tutti::nccl_tuner
