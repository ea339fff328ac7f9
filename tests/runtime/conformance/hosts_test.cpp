// SPDX-License-Identifier: Apache-2.0
// The same cases with ranks on several hosts, between which they send messages by each transport over the loopback
// interface: every algorithm that sends messages alone, and hierarchical over groups that are the hosts. In some
// layouts the network is late, or cuts ranks off; FAULTS_SEED begins another series of that, and a failure prints it.
#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "../../transport/faults_seed.hpp"
#include "algorithms/full_name.hpp"
#include "algorithms/registry.hpp"
#include "conformance/choices.hpp"
#include "conformance/run.hpp"
#include "ranks_of_threads.hpp"
#include "tests/transport/ofi_world.hpp"
#include "tests/transport/relay.hpp"

namespace tutti::test {
namespace {

struct Layout {
  std::size_t number = 0;
  const char* name = "";
  std::uint32_t (*host_of)(std::uint32_t rank) = nullptr;
  bool is_late = false;
};

std::uint32_t pairs(std::uint32_t rank) { return rank / 2; }
std::uint32_t one_two_three(std::uint32_t rank) { return rank < 1 ? 0U : rank < 3 ? 1U : rank < 6 ? 2U : 3U; }
std::uint32_t in_turn(std::uint32_t rank) { return rank % 3; }
std::uint32_t each_alone(std::uint32_t rank) { return rank; }

// 4 hosts of 2 ranks for 8; 3 hosts of 1, 2 and 3 for 6; and ranks of a host apart from each other.
constexpr Layout kLayouts[] = {
    {0, "Pairs", pairs},          {1, "OneTwoThree", one_two_three},           {2, "InTurn", in_turn},
    {3, "EachAlone", each_alone}, {4, "OneTwoThreeLate", one_two_three, true}, {5, "EachAloneLate", each_alone, true},
};

// Where ranks are, and what carries messages between hosts: connections of TCP, or a provider of libfabric.
struct Setting {
  Layout layout;
  const char* name = "";
  const char* provider = nullptr;
  std::uint32_t connections = 1;

  // Of how many cases one is done: each communicator opens doors of libfabric, or several connections.
  [[nodiscard]] std::size_t share() const { return provider != nullptr || connections > 1 ? 7 : 1; }
  [[nodiscard]] TransportChoice transport() const {
    if (provider != nullptr) return {.is_ofi = true, .provider = provider};
    return {.connections = connections};
  }
};

std::vector<Setting> all_settings() {
  std::vector<Setting> all;
  for (const Layout& layout : kLayouts) all.push_back({layout, "Tcp"});
  for (const Layout& layout : {kLayouts[0], kLayouts[2]})
    all.push_back({layout, "OfiOverTcp", transport::ofi::kOverTcp});
  for (const Layout& layout : {kLayouts[0], kLayouts[4]}) all.push_back({layout, "StripedTcp", nullptr, 3});
  return all;
}

Hosts hosts_of(const Layout& layout, std::uint32_t num_ranks) {
  Hosts hosts;
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank) hosts.host_of.push_back(layout.host_of(rank));
  return hosts;
}

void PrintTo(const Setting& setting, std::ostream* out) { *out << setting.layout.name << setting.name; }

// Takes one case in share(), different ones for each layout. Fewer under sanitizers, where each message takes much
// longer, and in brief tests.
std::vector<Case> some_of(std::vector<Case> cases, const Setting& setting) {
  cases = thinned(std::move(cases));
  std::size_t share = setting.share();
  if (TUTTI_IS_SANITIZED) share = std::max<std::size_t>(share, 7);
  if (TUTTI_BRIEF_TESTS) share *= 3;
  std::vector<Case> some;
  for (std::size_t i = setting.layout.number % share; i < cases.size(); i += share) some.push_back(std::move(cases[i]));
  return some;
}

class OverHosts : public ::testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    const char* const provider = GetParam().provider;
    if (provider == nullptr) return;
    if (const std::string why = transport::ofi::why_not(provider); !why.empty()) GTEST_SKIP() << why;
  }
  [[nodiscard]] static Hosts hosts(std::uint32_t num_ranks) { return hosts_of(GetParam().layout, num_ranks); }
  [[nodiscard]] static Settings settings() {
    Settings settings = Settings::from(Variables());
    settings.transport = GetParam().transport();
    return settings;
  }
  [[nodiscard]] std::string run(const std::vector<Case>& cases) const {
    return run_cases(cases, hosts, GetParam().transport(), faults());
  }
  [[nodiscard]] std::optional<transport::faulty::Faults> faults() const {
    if (!GetParam().layout.is_late) return std::nullopt;
    return transport::faulty::Faults{.seed = seed_};
  }
  void TearDown() override {
    if (HasFailure()) ADD_FAILURE() << "FAULTS_SEED=" << seed_;
  }

 private:
  std::uint64_t seed_ = seed_of_faults();
};

TEST_P(OverHosts, EveryPairOfChoicesHolds) {
  constexpr std::uint64_t kSeed = 7;
  std::vector<Case> cases = Choices().covering_cases(kSeed);
  // The longest take many messages, each of which costs much more than in memory.
  std::erase_if(cases, [](const Case& each) {
    return each.algorithm->channel != Channel::message || each.count * size_of(each.type) > 64 * each.slot;
  });
  EXPECT_GT(cases.size(), 100U);
  EXPECT_EQ(run(some_of(std::move(cases), GetParam())), "") << "something else ran than was forced";
}

// Groups are hosts: inside of them ranks read each other's memory.
TEST_P(OverHosts, HierarchicalHolds) {
  const Algorithm* const algorithm = find_algorithm(Collective::all_reduce, "hierarchical");
  ASSERT_NE(algorithm, nullptr);
  std::vector<Case> cases;
  for (std::uint32_t ranks = 2; ranks <= kMostRanks; ++ranks) {
    const std::vector<std::uint32_t> sizes = hosts(ranks).sizes();
    if (sizes.size() < 2) continue;
    for (const char* inner : {"ring", "recursive_doubling", "rabenseifner"})
      for (const std::uint64_t count : {0U, 1U, 7U, 1000U, 65539U})
        for (const Op op : {Op::sum, Op::average})
          cases.push_back({.algorithm = algorithm,
                           .way = fmt::format("hierarchical({}, {})", fmt::join(sizes, "+"), inner),
                           .num_ranks = ranks,
                           .type = cases.size() % 2 == 0 ? Type::i32 : Type::f32,
                           .op = op,
                           .count = count,
                           .in_place = cases.size() / 2 % 2 == 1,
                           .walker = cases.size() / 3 % 2 == 1 ? WalkerChoice::generic : WalkerChoice::automatic,
                           .slot = count < 5000 ? 4096U : 65536U,
                           .seed = cases.size(),
                           .form = static_cast<Form>(cases.size() / 5 % 3)});
  }
  EXPECT_EQ(run(some_of(std::move(cases), GetParam())), "") << "something else ran than was forced";
}

// By themselves: what the rules choose.
TEST_P(OverHosts, WhatIsChosenHolds) {
  for (const std::uint32_t ranks : {2U, 3U, 6U, 8U}) {
    if (!hosts(ranks).are_several()) continue;
    ThreadRanks group(ranks, settings(), Variables(), hosts(ranks), faults());
    group.run([&](Communicator& communicator) {
      const std::uint32_t rank = communicator.rank();
      for (const std::uint64_t count : {1U, 100U, 5000U, 300'000U}) {
        std::vector<float> values(count, static_cast<float>(rank + 1));
        ASSERT_TRUE(communicator.all_reduce(values.data(), values.data(), count, Type::f32, handle(Op::sum)).ok());
        EXPECT_EQ(values.front(), static_cast<float>(ranks * (ranks + 1) / 2));
        EXPECT_EQ(values.back(), static_cast<float>(ranks * (ranks + 1) / 2));
        std::vector<std::uint32_t> gathered(count * ranks);
        const std::vector<std::uint32_t> own(count, rank);
        ASSERT_TRUE(communicator
                        .run({.collective = Collective::all_gather,
                              .input = own.data(),
                              .output = gathered.data(),
                              .count = count,
                              .type = Type::u32})
                        .ok());
        for (std::uint32_t each = 0; each < ranks; ++each) EXPECT_EQ(gathered[each * count + count / 2], each);
      }
      EXPECT_TRUE(communicator.run({.collective = Collective::barrier}).ok());
    });
  }
}

// A ring of transfers, of which the longest are cut into many messages.
TEST_P(OverHosts, TransfersHold) {
  constexpr std::uint32_t kRanks = 6;
  ThreadRanks group(kRanks, settings(), Variables(), hosts(kRanks), faults());
  group.run([&](Communicator& communicator) {
    const std::uint32_t rank = communicator.rank();
    for (const std::uint64_t count : {0U, 1U, 1000U, 500'000U}) {
      std::vector<std::uint32_t> sent(count, rank);
      std::vector<std::uint32_t> received(count, ~0U);
      const auto bytes = [](std::vector<std::uint32_t>& all) { return reinterpret_cast<std::byte*>(all.data()); };
      const Status status = communicator.exchange({.direction = Transfer::Direction::send,
                                                   .peer = (rank + 1) % kRanks,
                                                   .data = bytes(sent),
                                                   .count = count,
                                                   .type = Type::u32},
                                                  {.direction = Transfer::Direction::receive,
                                                   .peer = (rank + kRanks - 1) % kRanks,
                                                   .data = bytes(received),
                                                   .count = count,
                                                   .type = Type::u32});
      ASSERT_TRUE(status.ok()) << status.to_string();
      EXPECT_EQ(received, std::vector<std::uint32_t>(count, (rank + kRanks - 1) % kRanks));
    }
  });
}

// Each rank loses another one after some messages, once all have met. What has been done until then is right.
TEST(CutOff, RanksThatAreCutOffEndAllInAnErrorThatNamesARank) {
  constexpr int kTrials = TUTTI_IS_SANITIZED ? 5 : 20;
  constexpr int kCalls = 1000;
  const std::uint64_t seed = seed_of_faults();
  for (int trial = 0; trial < kTrials; ++trial) {
    const Layout& layout = kLayouts[static_cast<std::size_t>(trial) % 4];
    const std::uint32_t ranks = 3 + static_cast<std::uint32_t>(trial) / 4 % 4;
    const Hosts hosts = hosts_of(layout, ranks);
    const transport::faulty::Faults faults{.seed = seed + 100 * static_cast<std::uint64_t>(trial),
                                           .cut_after = 50 + (seed + static_cast<std::uint64_t>(trial) * 37) % 211};
    ThreadRanks group(ranks, Settings::from(Variables()), Variables(), hosts, faults);
    std::atomic<int> finders{0};
    group.run([&](Communicator& communicator) {
      const std::uint32_t rank = communicator.rank();
      std::vector<float> values(5000);
      for (int call = 0;; ++call) {
        ASSERT_LT(call, kCalls) << "trial " << trial << ", rank " << rank << " has lost nobody";
        std::fill(values.begin(), values.end(), static_cast<float>(rank + 1));
        const Status status =
            communicator.all_reduce(values.data(), values.data(), values.size(), Type::f32, handle(Op::sum));
        if (!status.ok()) {
          EXPECT_EQ(status.code(), Code::rank_lost) << status.to_string();
          ASSERT_TRUE(status.rank() >= 0 && status.rank() < static_cast<int>(ranks)) << status.to_string();
          const auto lost = static_cast<std::uint32_t>(status.rank());
          const std::string words = status.to_string();
          EXPECT_NE(words.find(fmt::format("rank {} was lost to rank ", lost)), std::string::npos) << words;
          EXPECT_NE(words.find("it was cut off after"), std::string::npos) << words;
          if (words.find(fmt::format("rank {} was lost to rank {}:", lost, rank)) != std::string::npos) {
            EXPECT_NE(hosts.host_of[lost], hosts.host_of[rank]) << words;
            ++finders;
          }
          group.tell_all({status.code(), static_cast<std::uint32_t>(status.rank()), std::string(status.message())});
          break;
        }
        const auto expected = static_cast<float>(ranks * (ranks + 1) / 2);
        ASSERT_EQ(std::count(values.begin(), values.end(), expected), static_cast<std::ptrdiff_t>(values.size()))
            << "trial " << trial;
      }
    });
    EXPECT_GT(finders, 0);
    if (::testing::Test::HasFailure()) {
      ADD_FAILURE() << "FAULTS_SEED=" << seed;
      break;
    }
  }
}

// After each call all ranks wait for each other outside of Tutti. If a connection then breaks, what the system had of a
// rank's messages has to be sent again although the rank is in no call: others wait for it, and the rank for them.
TEST(CutConnections, AreRestoredWhileRanksWaitElsewhere) {
  constexpr int kCalls = TUTTI_IS_SANITIZED ? 60 : 150;
  constexpr int kMostCuts = 60;
  const std::uint64_t seed = seed_of_faults();
  int num_cuts = 0;
  for (const Setting& setting : {Setting{kLayouts[0], "Tcp"}, Setting{kLayouts[1], "Tcp"}, Setting{kLayouts[3], "Tcp"},
                                 Setting{kLayouts[0], "StripedTcp", nullptr, 2}}) {
    const Layout& layout = setting.layout;
    constexpr std::uint32_t kRanks = 4;
    Settings settings = Settings::from(Variables());
    settings.timeout = std::chrono::seconds(60);
    settings.transport = setting.transport();
    // Longer messages are not kept to be sent again.
    settings.region.message_slot = 8 << 10;
    transport::tcp::FaultyWire wire(seed, kMostCuts);
    ThreadRanks group(kRanks, settings, Variables(), hosts_of(layout, kRanks));
    group.tell_others([&](const Address& real) { return wire.before(real); });
    std::barrier<> elsewhere(kRanks);
    group.run([&](Communicator& communicator) {
      const std::uint32_t rank = communicator.rank();
      std::minstd_rand random(static_cast<std::uint32_t>(seed));
      std::vector<std::uint32_t> values;
      std::vector<std::uint32_t> sent;
      std::vector<std::uint32_t> received;
      bool is_right = true;
      for (int call = 0; call < kCalls && is_right; ++call) {
        const std::uint64_t count = 1 + random() % (random() % 4 == 0 ? 20'000 : 1500);
        values.assign(count, rank + 1);
        Status status = communicator.all_reduce(values.data(), values.data(), count, Type::u32, handle(Op::sum));
        is_right = status.ok() && values == std::vector<std::uint32_t>(count, kRanks * (kRanks + 1) / 2);
        EXPECT_TRUE(is_right) << "rank " << rank << ", call " << call << ": " << status.to_string();
        elsewhere.arrive_and_wait();
        sent.assign(count, rank + static_cast<std::uint32_t>(call));
        received.assign(count, 0);
        const std::uint32_t source = (rank + kRanks - 1) % kRanks;
        const auto bytes = [](std::vector<std::uint32_t>& all) { return reinterpret_cast<std::byte*>(all.data()); };
        if (is_right)
          status =
              communicator.exchange({Transfer::Direction::send, (rank + 1) % kRanks, bytes(sent), count, Type::u32},
                                    {Transfer::Direction::receive, source, bytes(received), count, Type::u32});
        is_right = is_right && status.ok() &&
                   received == std::vector<std::uint32_t>(count, source + static_cast<std::uint32_t>(call));
        EXPECT_TRUE(is_right) << "rank " << rank << ", exchange " << call << ": " << status.to_string();
        elsewhere.arrive_and_wait();
      }
      if (!is_right) elsewhere.arrive_and_drop();
    });
    num_cuts += wire.num_cuts();
    if (HasFailure()) {
      ADD_FAILURE() << layout.name << ", FAULTS_SEED=" << seed;
      return;
    }
  }
  EXPECT_GT(num_cuts, 20) << "FAULTS_SEED=" << seed;
}

INSTANTIATE_TEST_SUITE_P(Each, OverHosts, ::testing::ValuesIn(all_settings()),
                         [](const auto& test) { return fmt::format("{}{}", test.param.layout.name, test.param.name); });

}  // namespace
}  // namespace tutti::test
