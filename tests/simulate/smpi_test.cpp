// SPDX-License-Identifier: Apache-2.0
// SMPI, which runs MPI programs over SimGrid, on the same platform: told to use its ring, its recursive doubling, and
// its reduce and broadcast on binomial trees, it says what we say of which is faster, and takes the time that we say.
//
// Its correction factors and what its calls cost are switched off. Every message is eager, as ours are: it leaves
// before it is asked for. Beside its bytes each of theirs carries 16 more.
//
// A rank of its trees sends to several at once, which share its link; here they follow each other. So trees are
// compared where no two messages have a link in common.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "algorithms/registry.hpp"
#include "simulate/engine/watch.hpp"
#include "simulate/network/ways.hpp"
#include "simulate/simulate.hpp"
#include "small_fabrics.hpp"

namespace tutti::simulate {
namespace {

struct Compared {
  const char* ours;
  const char* theirs;
};
constexpr std::array kCompared = {Compared{"ring", "lr"}, Compared{"recursive_doubling", "rdb"},
                                  Compared{"reduce_broadcast", "redbcast"}};
// Ints; a ring of any of kRanks divides them evenly.
constexpr std::array<std::uint64_t, 4> kCounts = {168, 10'752, 86'016, 688'128};
constexpr std::array<std::uint32_t, 4> kRanks = {4, 6, 7, 8};
constexpr std::size_t kInt = 4;
// Those that are nearer each other need not be in the same order.
constexpr double kSurelyFaster = 1.03;
constexpr double kTolerance = 0.001;
constexpr double kHeader = 16;
constexpr double kBandwidth = 10;

using Times = std::map<std::uint64_t, double>;  // ns, by count

constexpr const char* kSettings =
    "--log=root.thres:error --cfg=network/model:CM02 --cfg=network/TCP-gamma:0 --cfg=network/crosstraffic:0 "
    "--cfg=surf/precision:1e-12 --cfg=maxmin/precision:1e-12 --cfg=smpi/simulate-computation:no --cfg=smpi/wtime:0 "
    "--cfg=smpi/os:0:0:0:0:0 --cfg=smpi/or:0:0:0:0:0 --cfg=smpi/ois:0:0:0:0:0 "
    "--cfg=smpi/async-small-thresh:1000000000 --cfg=smpi/send-is-detached-thresh:1000000000 "
    "--cfg=smpi/reduce:binomial --cfg=smpi/bcast:binomial_tree";

void write_platform(const fabric::Fabric& fabric, const std::string& path) {
  std::ofstream file(path);
  file << "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
       << "<platform version=\"4.1\"><zone id=\"all\" routing=\"Full\">\n";
  for (std::uint32_t rank = 0; rank < fabric.num_ranks(); ++rank)
    file << fmt::format("<host id=\"rank{}\" speed=\"1Gf\"/>\n", rank);
  for (std::size_t link = 0; link < fabric.links.size(); ++link)
    file << fmt::format("<link id=\"{}\" bandwidth=\"{}GBps\" latency=\"{}ns\"/>\n", link, fabric.links[link].bandwidth,
                        fabric.links[link].latency);
  // What a rank sends to itself is a copy, and takes no time.
  file << "<link id=\"self\" bandwidth=\"1e9GBps\" latency=\"0ns\"/>\n";
  const std::function<bool()> goes_on = [] { return false; };
  Watch watch(goes_on);
  Ways ways(fabric, watch);
  for (std::uint32_t from = 0; from < fabric.num_ranks(); ++from) {
    for (std::uint32_t to = 0; to < fabric.num_ranks(); ++to) {
      file << fmt::format("<route src=\"rank{}\" dst=\"rank{}\" symmetrical=\"NO\">", from, to);
      if (from == to) file << "<link_ctn id=\"self\"/>";
      if (from != to)
        for (const std::uint32_t link : ways.between(from, to)) file << fmt::format("<link_ctn id=\"{}\"/>", link);
      file << "</route>\n";
    }
  }
  file << "</zone></platform>\n";
}

Times in_smpi(const std::string& algorithm, const fabric::Fabric& fabric, const std::string& folder) {
  const std::string platform = folder + "/platform.xml";
  const std::string hosts = folder + "/hosts";
  write_platform(fabric, platform);
  std::ofstream host_file(hosts);
  for (std::uint32_t rank = 0; rank < fabric.num_ranks(); ++rank) host_file << "rank" << rank << "\n";
  host_file.close();
  std::string command = fmt::format(
      "'{}' -platform '{}' -hostfile '{}' -np {} -no-privatize {} "
      "--cfg=smpi/allreduce:{} '{}'",
      TUTTI_SMPIRUN, platform, hosts, fabric.num_ranks(), kSettings, algorithm, TUTTI_SMPI_ALL_REDUCE);
  for (const std::uint64_t count : kCounts) command += fmt::format(" {}", count);
  Times times;
  std::FILE* const output = popen((command + " </dev/null 2>&1").c_str(), "r");
  if (output == nullptr) throw std::runtime_error("popen: " + command);
  std::array<char, 512> line = {};
  std::string said;
  while (std::fgets(line.data(), line.size(), output) != nullptr) {
    unsigned long long count = 0;
    double seconds = 0;
    if (std::sscanf(line.data(), "%llu %lf", &count, &seconds) == 2)
      times[count] = std::max(times[count], seconds * 1e9);
    else
      said += line.data();
  }
  EXPECT_EQ(pclose(output), 0) << command << "\n" << said;
  EXPECT_EQ(times.size(), kCounts.size()) << said;
  return times;
}

Times in_ours(const char* name, const fabric::Fabric& fabric) {
  const Algorithm* algorithm = find_algorithm(Collective::all_reduce, name);
  Times times;
  Request request;
  request.collective = Collective::all_reduce;
  request.num_ranks = fabric.num_ranks();
  const Schedule schedule = algorithm->make(request);
  for (const std::uint64_t count : kCounts) {
    const Result<Answer> answer = simulate(schedule, fabric, {.count = count, .element_size = kInt});
    EXPECT_TRUE(answer.ok()) << answer.status().to_string();
    times[count] = answer.ok() ? answer->time : 0;
  }
  return times;
}

struct Platform {
  const char* name;
  std::function<fabric::Fabric(std::uint32_t num_ranks)> make;
  bool shares_links = true;  // of messages between different ranks
};

// Where the number of ranks is no power of two, both fold some of them away first, and not the same ones.
bool says_the_same(const Compared& algorithm, const Platform& platform, std::uint32_t num_ranks) {
  if (std::string_view(algorithm.theirs) == "redbcast") return !platform.shares_links;
  return !platform.shares_links || (num_ranks & (num_ranks - 1)) == 0 || std::string_view(algorithm.theirs) != "rdb";
}

struct Both {
  const char* name;
  Times ours;
  Times theirs;
};

std::ostream& operator<<(std::ostream& out, const Platform& platform) { return out << platform.name; }

class Smpi : public testing::TestWithParam<Platform> {
 protected:
  void SetUp() override {
    if (std::string(TUTTI_SMPIRUN).empty())
      GTEST_SKIP() << "smpirun and smpicc (Debian: libsimgrid-dev) were not there when this was configured";
    std::string name = testing::TempDir() + "smpiXXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  std::string folder_;
};

TEST_P(Smpi, TakesTheSameTimeAndSoTheSameIsFaster) {
  int ordered = 0;
  for (const std::uint32_t num_ranks : kRanks) {
    const fabric::Fabric fabric = GetParam().make(num_ranks);
    std::vector<Both> all;
    for (const Compared& algorithm : kCompared)
      if (says_the_same(algorithm, GetParam(), num_ranks))
        all.push_back({algorithm.ours, in_ours(algorithm.ours, fabric), in_smpi(algorithm.theirs, fabric, folder_)});
    for (const std::uint64_t count : kCounts) {
      SCOPED_TRACE(fmt::format("{} ranks, {} bytes", num_ranks, count * kInt));
      for (const Both& one : all) {
        const double theirs = one.theirs.at(count);
        EXPECT_NEAR(one.ours.at(count), theirs, kTolerance * theirs + 2 * num_ranks * kHeader / kBandwidth) << one.name;
        for (const Both& other : all) {
          if (one.ours.at(count) * kSurelyFaster >= other.ours.at(count)) continue;
          EXPECT_LT(theirs, other.theirs.at(count)) << one.name << " against " << other.name;
          ++ordered;
        }
      }
    }
  }
  EXPECT_GE(ordered, GetParam().shares_links ? 8 : 30);
}

INSTANTIATE_TEST_SUITE_P(
    Platforms, Smpi,
    testing::Values(Platform{"wires", [](std::uint32_t ranks) { return wires(ranks, 500, kBandwidth); }, false},
                    Platform{"star", [](std::uint32_t ranks) { return star(ranks, 500, kBandwidth); }},
                    Platform{"ring", [](std::uint32_t ranks) { return ring(ranks, 0, kBandwidth); }}),
    [](const auto& platform) { return std::string(platform.param.name); });

}  // namespace
}  // namespace tutti::simulate
