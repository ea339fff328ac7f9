// SPDX-License-Identifier: Apache-2.0
// Ranks in virtual time, and what their calls must take: the schedules by themselves, on the same fabric.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "algorithms/full_name.hpp"
#include "fabric/files/load.hpp"
#include "ranks.hpp"
#include "simulate/simulate.hpp"
#include <tutti/tutti.h>

namespace tutti::test {

inline constexpr int kRanks = 6;
inline constexpr const char* kTorus = "torus_2d:2x3";

// Each rank of a communicator with its variables, in a thread.
template <typename Body>
void run_each_with(int num_ranks, const std::function<std::vector<std::string>(int)>& variables_of, const Body& body) {
  tuttiUniqueId id{};
  ASSERT_EQ(tuttiGetUniqueId(&id), tuttiSuccess) << tuttiGetLastError(nullptr);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < num_ranks; ++rank)
    threads.emplace_back([&, rank] {
      const std::vector<std::string> variables = variables_of(rank);
      std::vector<const char*> list;
      for (const std::string& each : variables) list.push_back(each.c_str());
      list.push_back(nullptr);
      tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
      config.variables = list.data();
      tuttiComm_t comm = nullptr;
      const tuttiResult_t made = tuttiCommInitRankConfig(&comm, num_ranks, id, rank, &config);
      body(comm, rank, made);
      tuttiCommDestroy(comm);
    });
}

template <typename Body>
void run_with(int num_ranks, const std::vector<std::string>& variables, const Body& body) {
  run_each_with(
      num_ranks, [&](int) { return variables; }, body);
}

inline std::string on(const std::string& fabric) { return "TUTTI_FABRIC=simulate:" + fabric; }

inline double now(tuttiComm_t comm) {
  double time = -1;
  EXPECT_DONE(tuttiGetVirtualTime(comm, &time, nullptr));
  return time;
}
inline double last(tuttiComm_t comm) {
  double time = -1;
  EXPECT_DONE(tuttiGetVirtualTime(comm, nullptr, &time));
  return time;
}

// The schedule by itself, on the fabric.
inline simulate::Answer simulated(const std::string& fabric, Collective collective, const std::string& algorithm,
                                  std::uint64_t count, std::uint32_t root = 0, bool in_place = false,
                                  const std::vector<std::uint64_t>& counts = {}) {
  const Result<fabric::Fabric> machine = fabric::load_fabric(fabric);
  EXPECT_TRUE(machine.ok()) << machine.status().to_string();
  Result<NamedAlgorithm> named =
      find_by_full_name(collective, algorithm, machine->num_ranks(), machine->grid_of(machine->num_ranks()));
  EXPECT_TRUE(named.ok()) << named.status().to_string();
  named->request.root = root;
  const Result<simulate::Answer> answer = simulate::simulate(named->algorithm->make(named->request), *machine,
                                                             {.count = count,
                                                              .counts = counts,
                                                              .element_size = 4,
                                                              .staged = named->algorithm->channel == Channel::staged,
                                                              .in_place = in_place});
  EXPECT_TRUE(answer.ok()) << answer.status().to_string();
  return *answer;
}

using Ints = std::vector<std::int32_t>;

inline constexpr int kSumOfRanks = kRanks * (kRanks - 1) / 2;

}  // namespace tutti::test
