// SPDX-License-Identifier: Apache-2.0
// tutti/device.h as programs use it, by ranks that are threads and share a device.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "api_rank.hpp"

#define NEEDS_DEVICE() \
  if (!has_device()) GTEST_SKIP() << "there is no CUDA device"

namespace tutti::device_api {
namespace {

// Streams that share a connection to the device run one after another; there are 8 unless this says more, and CUDA
// reads it when it starts.
const int is_set = setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);

class OfThreads : public testing::TestWithParam<int> {};

TEST_P(OfThreads, CollectivesAreRight) {
  NEEDS_DEVICE();
  ASSERT_EQ(is_set, 0);
  const int num_ranks = GetParam();
  test::run_ranks(num_ranks, [&](tuttiComm_t comm, int rank) {
    const Rank own(comm, rank, kBytes);
    if (own.comm() != nullptr) expect_all_memory(own, num_ranks);
  });
}
INSTANTIATE_TEST_SUITE_P(DeviceApi, OfThreads, testing::Values(1, 2, 3, 4, 8));

TEST(DeviceApi, ThreadsThatWouldWaitForEverAreRefused) {
  NEEDS_DEVICE();
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "8", 1);
  test::run_ranks(2, [&](tuttiComm_t comm, int) {
    tuttiDeviceComm_t made = nullptr;
    EXPECT_EQ(tuttiDeviceCommInit(&made, comm, nullptr), tuttiUnsupported);
    EXPECT_NE(std::string(tuttiGetLastError(nullptr)).find("CUDA_DEVICE_MAX_CONNECTIONS"), std::string::npos)
        << tuttiGetLastError(nullptr);
  });
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
}

// A captured call runs as often as its graph is launched, each time with what is in the buffers.
TEST(DeviceApi, GraphsCaptureCalls) {
  NEEDS_DEVICE();
  test::run_ranks(2, [](tuttiComm_t comm, int rank) {
    const Rank own(comm, rank, kBytes);
    constexpr std::size_t kCount = 5000;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t runnable = nullptr;
    ASSERT_CUDA(cudaStreamBeginCapture(own.stream(), cudaStreamCaptureModeThreadLocal));
    // The first call of its kind loads its schedule, which is no part of the graph.
    EXPECT_DONE(
        tuttiDeviceAllReduce(own.input(), own.output(), kCount, tuttiFloat32, tuttiSum, own.comm(), own.stream()));
    EXPECT_DONE(
        tuttiDeviceAllReduce(own.output(), own.output(), kCount, tuttiFloat32, tuttiSum, own.comm(), own.stream()));
    ASSERT_CUDA(cudaStreamEndCapture(own.stream(), &graph));
    ASSERT_CUDA(cudaGraphInstantiate(&runnable, graph, 0));
    for (int round = 0; round < 3; ++round) {
      own.set(own.input(), blocks_of(rank + round, 1, kCount));
      ASSERT_CUDA(cudaGraphLaunch(runnable, own.stream()));
      std::vector<float> expected(kCount);
      for (std::size_t i = 0; i < kCount; ++i) expected[i] = 2 * (value(round, 0, i) + value(round + 1, 0, i));
      EXPECT_EQ(own.get(own.output(), kCount), expected);
    }
    own.expect_no_error();
    static_cast<void>(cudaGraphExecDestroy(runnable));
    static_cast<void>(cudaGraphDestroy(graph));
  });
}

// No ranks are waited for, but factors count.
TEST(DeviceApi, OneRankCopiesAndMultiplies) {
  NEEDS_DEVICE();
  test::run_ranks(1, [](tuttiComm_t comm, int rank) {
    const std::vector<const char*> variables = {"TUTTI_P2P_USE_MEMCPY=1", nullptr};
    const Rank own(comm, rank, kBytes, variables.data());
    expect_all_memory(own, 1);
  });
}

constexpr std::array<const char*, 3> kEngines = {"TUTTI_TIMEOUT=5s", "TUTTI_P2P_USE_MEMCPY=1", nullptr};

std::size_t count_nodes(cudaGraph_t graph, cudaGraphNodeType type) {
  std::size_t number = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &number), cudaSuccess);
  std::vector<cudaGraphNode_t> nodes(number);
  EXPECT_EQ(cudaGraphGetNodes(graph, nodes.data(), &number), cudaSuccess);
  const auto is_so = [&](cudaGraphNode_t node) {
    cudaGraphNodeType its_type = cudaGraphNodeTypeEmpty;
    return cudaGraphNodeGetType(node, &its_type) == cudaSuccess && its_type == type;
  };
  return static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(), is_so));
}

// What only copies between symmetric buffers is two small kernels, in which ranks meet, and copies.
TEST(DeviceApi, CopyEnginesCopy) {
  NEEDS_DEVICE();
  for (const int num_ranks : {2, 4})
    test::run_ranks(num_ranks, [&](tuttiComm_t comm, int rank) {
      const Rank own(comm, rank, kBytes, kEngines.data());
      expect_all_memory(own, num_ranks);
      constexpr std::size_t kCount = 5000;
      const auto ranks = static_cast<std::size_t>(num_ranks);
      void* memory = nullptr;
      ASSERT_DONE(tuttiDeviceMemAlloc(&memory, kBytes, own.comm()));
      auto* const input = static_cast<float*>(memory);
      float* const output = input + kCount * ranks;
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t runnable = nullptr;
      ASSERT_CUDA(cudaStreamBeginCapture(own.stream(), cudaStreamCaptureModeThreadLocal));
      EXPECT_DONE(tuttiDeviceAlltoAll(input, output, kCount, tuttiFloat32, own.comm(), own.stream()));
      ASSERT_CUDA(cudaStreamEndCapture(own.stream(), &graph));
      EXPECT_EQ(count_nodes(graph, cudaGraphNodeTypeKernel), 2U);
      EXPECT_EQ(count_nodes(graph, cudaGraphNodeTypeMemcpy), ranks);
      ASSERT_CUDA(cudaGraphInstantiate(&runnable, graph, 0));
      EXPECT_DONE(tuttiBarrier(comm));
      for (int round = 0; round < 3; ++round) {
        own.set(input, blocks_of(rank + round, ranks, kCount));
        ASSERT_CUDA(cudaGraphLaunch(runnable, own.stream()));
        std::vector<float> expected;
        for (int each = 0; each < num_ranks; ++each)
          for (std::size_t i = 0; i < kCount; ++i)
            expected.push_back(value(each + round, static_cast<std::size_t>(rank), i));
        EXPECT_EQ(own.get(output, kCount * ranks), expected);
      }
      own.expect_no_error();
      static_cast<void>(cudaGraphExecDestroy(runnable));
      static_cast<void>(cudaGraphDestroy(graph));
    });
}

TEST(DeviceApi, CopyEnginesWantTheSamePlaceAlsoOfWhoCallsInPlace) {
  NEEDS_DEVICE();
  test::run_ranks(2, [](tuttiComm_t comm, int rank) {
    const Rank own(comm, rank, kBytes, kEngines.data());
    void* memory = nullptr;
    ASSERT_DONE(tuttiDeviceMemAlloc(&memory, kBytes, own.comm()));
    auto* const first = static_cast<float*>(memory);
    float* const output = first + 4096;
    EXPECT_DONE(tuttiDeviceAllGather(rank == 0 ? output : first, output, 1000, tuttiFloat32, own.comm(), own.stream()));
    ASSERT_CUDA(cudaStreamSynchronize(own.stream()));
    tuttiResult_t error = tuttiSuccess;
    EXPECT_DONE(tuttiDeviceCommGetAsyncError(own.comm(), &error));
    EXPECT_NE(error, tuttiSuccess);
  });
}

TEST(DeviceApi, CopyEnginesWantBuffersAtTheSamePlaces) {
  NEEDS_DEVICE();
  test::run_ranks(2, [](tuttiComm_t comm, int rank) {
    const Rank own(comm, rank, kBytes, kEngines.data());
    void* memory = nullptr;
    ASSERT_DONE(tuttiDeviceMemAlloc(&memory, kBytes, own.comm()));
    auto* const input = static_cast<float*>(memory);
    EXPECT_DONE(tuttiDeviceAlltoAll(input, input + 4096 * (rank + 1), 1000, tuttiFloat32, own.comm(), own.stream()));
    ASSERT_CUDA(cudaStreamSynchronize(own.stream()));
    tuttiResult_t error = tuttiSuccess;
    EXPECT_DONE(tuttiDeviceCommGetAsyncError(own.comm(), &error));
    EXPECT_NE(error, tuttiSuccess);
    EXPECT_NE(std::string(tuttiGetLastError(nullptr)).find("do not make the same call"), std::string::npos)
        << tuttiGetLastError(nullptr);
  });
}

// Calls in different streams run one after another.
TEST(DeviceApi, StreamsTakeTurns) {
  NEEDS_DEVICE();
  test::run_ranks(2, [](tuttiComm_t comm, int rank) {
    const Rank own(comm, rank, kBytes);
    constexpr std::size_t kCount = 100000;
    constexpr int kRounds = 40;
    std::array<cudaStream_t, 2> streams = {};
    for (cudaStream_t& stream : streams) ASSERT_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    own.set(own.input(), std::vector<float>(kCount, 1));
    EXPECT_DONE(tuttiBarrier(comm));
    // Each doubles what the one before has left, so that any overlap shows.
    for (int round = 0; round < kRounds; ++round)
      EXPECT_DONE(tuttiDeviceAllReduce(own.input(), own.input(), kCount, tuttiFloat32, tuttiSum, own.comm(),
                                       streams.at(static_cast<std::size_t>(round) % 2)));
    for (const cudaStream_t stream : streams) ASSERT_CUDA(cudaStreamSynchronize(stream));
    EXPECT_EQ(own.get(own.input(), kCount), std::vector<float>(kCount, std::ldexp(1.0F, kRounds)));
    own.expect_no_error();
    EXPECT_DONE(tuttiBarrier(comm));
    for (const cudaStream_t stream : streams) static_cast<void>(cudaStreamDestroy(stream));
  });
}

// What has gone wrong on one rank's device ends the calls of all, also of those who do not wait for that rank.
TEST(DeviceApi, AFailureOfOneEndsTheCallsOfAll) {
  NEEDS_DEVICE();
  test::run_ranks(4, [](tuttiComm_t comm, int rank) {
    const std::vector<const char*> variables = {"TUTTI_TIMEOUT=0", nullptr};
    const Rank own(comm, rank, kBytes, variables.data());
    // Rank 3 differs from the root, and sees it. The others wait for rank 3 to be done, and only it could tell them.
    const std::size_t count = rank == 3 ? 1001 : 1000;
    EXPECT_DONE(tuttiDeviceBcast(own.output(), count, tuttiFloat32, 0, own.comm(), own.stream()));
    ASSERT_CUDA(cudaStreamSynchronize(own.stream()));
    tuttiResult_t error = tuttiSuccess;
    // The watcher tells the others within some 10 ms.
    for (int look = 0; error == tuttiSuccess && look < 200; ++look) {
      EXPECT_DONE(tuttiDeviceCommGetAsyncError(own.comm(), &error));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_NE(error, tuttiSuccess);
  });
}

std::string algorithm_of(const Rank& rank, const char* collective, const void* input, const void* output,
                         std::size_t count) {
  const char* algorithm = nullptr;
  const char* why = nullptr;
  EXPECT_DONE(tuttiDeviceGetAlgorithm(collective, input, output, count, tuttiFloat32, tuttiSum, 0, rank.comm(),
                                      &algorithm, &why));
  return algorithm == nullptr ? "none" : std::string(algorithm) + ", " + why;
}

TEST(DeviceApi, TablesAndVariablesChoose) {
  NEEDS_DEVICE();
  test::run_ranks(4, [](tuttiComm_t comm, int rank) {
    const Rank own(comm, rank, kBytes);
    void* symmetric = nullptr;
    ASSERT_DONE(tuttiDeviceMemAlloc(&symmetric, kBytes, own.comm()));
    EXPECT_EQ(algorithm_of(own, "all_reduce", own.input(), own.output(), 1000), "one_shot, by the table");
    EXPECT_EQ(algorithm_of(own, "all_reduce", own.input(), own.output(), 1000000), "two_shot_pull, by the table");
    EXPECT_EQ(algorithm_of(own, "all_reduce", symmetric, symmetric, 1000000), "two_shot, by the table");
    EXPECT_EQ(algorithm_of(own, "all_gather", own.input(), own.output(), 1000), "direct, the first that can");
    const char* algorithm = nullptr;
    const char* why = nullptr;
    EXPECT_EQ(tuttiDeviceGetAlgorithm("scan", own.input(), own.output(), 1, tuttiFloat32, tuttiSum, 0, own.comm(),
                                      &algorithm, &why),
              tuttiUnsupported);
    const std::vector<const char*> variables = {"TUTTI_DEVICE_ALGORITHM=all_reduce=two_shot_pull",
                                                "TUTTI_DEVICE_CHANNELS=3", nullptr};
    const Rank forced(comm, rank, kBytes, variables.data());
    EXPECT_EQ(algorithm_of(forced, "all_reduce", own.input(), own.output(), 1), "two_shot_pull, asked for");
    expect_collectives(forced, 4, forced.input(), forced.output(), 10000);
  });
}

TEST(DeviceApi, WrongSettingsAndArgumentsAreNamed) {
  NEEDS_DEVICE();
  const auto init_with = [](tuttiComm_t comm, const char* variable) {
    const std::vector<const char*> variables = {variable, nullptr};
    tuttiConfig_t config = TUTTI_CONFIG_INITIALIZER;
    config.variables = variables.data();
    tuttiDeviceComm_t made = nullptr;
    EXPECT_NE(tuttiDeviceCommInit(&made, comm, &config), tuttiSuccess) << variable;
    return std::string(tuttiGetLastError(nullptr));
  };
  test::run_ranks(2, [&](tuttiComm_t comm, int rank) {
    EXPECT_NE(init_with(comm, "TUTTI_DEVICE_ALGORITHM=all_reduce=rong").find("no algorithm 'rong'"), std::string::npos);
    EXPECT_NE(init_with(comm, "TUTTI_DEVICE_ALGORITHM=one_shot").find("COLLECTIVE=ALGORITHM"), std::string::npos);
    EXPECT_NE(init_with(comm, "TUTTI_DEVICE_TABLE=/nowhere.toml").find("/nowhere.toml"), std::string::npos);
    EXPECT_NE(init_with(comm, rank == 0 ? "TUTTI_DEVICE_ALGORITHM=" : "TUTTI_DEVICE_ALGORITHM=all_reduce=one_shot")
                  .find("differ"),
              std::string::npos);
    const Rank own(comm, rank, kBytes);
    float* const some = own.input();
    EXPECT_EQ(tuttiDeviceAllReduce(nullptr, some, 1, tuttiFloat32, tuttiSum, own.comm(), nullptr),
              tuttiInvalidArgument);
    EXPECT_EQ(tuttiDeviceAllReduce(some, some, 1, tuttiNumTypes, tuttiSum, own.comm(), nullptr), tuttiInvalidArgument);
    EXPECT_EQ(tuttiDeviceAllReduce(some, some, 1, tuttiFloat32, tuttiBitAnd, own.comm(), nullptr),
              tuttiInvalidArgument);
    // Neither apart nor in place.
    EXPECT_EQ(tuttiDeviceAllReduce(some, some + 1, 2, tuttiFloat32, tuttiSum, own.comm(), nullptr),
              tuttiInvalidArgument);
    EXPECT_EQ(tuttiDeviceBcast(some, 1, tuttiFloat32, 2, own.comm(), nullptr), tuttiInvalidArgument);
    EXPECT_EQ(tuttiDeviceAllReduce(some, some, std::size_t{1} << 40U, tuttiFloat32, tuttiSum, own.comm(), nullptr),
              tuttiInvalidArgument);
    EXPECT_DONE(tuttiDeviceAllReduce(nullptr, nullptr, 0, tuttiFloat32, tuttiSum, own.comm(), nullptr));
    EXPECT_EQ(tuttiDeviceAllReduce(some, some, 1, tuttiFloat32, tuttiSum, nullptr, nullptr), tuttiInvalidArgument);
    // None of that has broken anything.
    expect_collectives(own, 2, own.input(), own.output(), 100);
  });
}

TEST(DeviceApi, DestroyedCommunicatorsAreRefused) {
  NEEDS_DEVICE();
  test::run_ranks(1, [](tuttiComm_t comm, int) {
    tuttiDeviceComm_t made = nullptr;
    ASSERT_DONE(tuttiDeviceCommInit(&made, comm, nullptr));
    EXPECT_DONE(tuttiDeviceCommDestroy(made));
    EXPECT_EQ(tuttiDeviceCommDestroy(made), tuttiInvalidUsage);
    EXPECT_EQ(tuttiDeviceAllReduce(nullptr, nullptr, 0, tuttiFloat32, tuttiSum, made, nullptr), tuttiInvalidUsage);
  });
}

// A rank that aborts ends the call of the other, which waits without limit.
TEST(DeviceApi, AnAbortEndsWhatWaits) {
  NEEDS_DEVICE();
  test::run_ranks(2, [](tuttiComm_t comm, int rank) {
    const std::vector<const char*> variables = {"TUTTI_TIMEOUT=0", nullptr};
    const Rank own(comm, rank, kBytes, variables.data());
    if (rank == 0) {
      EXPECT_DONE(
          tuttiDeviceAllReduce(own.input(), own.output(), 100, tuttiFloat32, tuttiSum, own.comm(), own.stream()));
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      EXPECT_DONE(tuttiDeviceCommAbort(own.comm()));
    }
    ASSERT_CUDA(cudaStreamSynchronize(own.stream()));
    tuttiResult_t error = tuttiSuccess;
    EXPECT_DONE(tuttiDeviceCommGetAsyncError(own.comm(), &error));
    EXPECT_EQ(error, tuttiRemoteError) << tuttiGetLastError(nullptr);
    EXPECT_NE(std::string(tuttiGetLastError(nullptr)).find("rank 1 aborted"), std::string::npos)
        << tuttiGetLastError(nullptr);
  });
}

}  // namespace
}  // namespace tutti::device_api
