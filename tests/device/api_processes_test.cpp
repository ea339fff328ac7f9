// SPDX-License-Identifier: Apache-2.0
// tutti/device.h as programs use it, by ranks that are processes. CUDA does not survive a fork, so this process never
// touches it.
#include <string>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "../api/processes.hpp"
#include "api_rank.hpp"

namespace tutti::device_api {
namespace {

// What `body(own)` returns on each of two ranks, which wait for each other without a time-out. Then they destroy their
// parts, and live on for `after` seconds. Nothing where there is no device.
template <class Body>
std::vector<std::string> run_two(unsigned after, const Body& body, const char* variable = nullptr) {
  const auto run = [&](const tuttiUniqueId& id, int rank) -> std::string {
    if (!has_device()) return "no device";
    tuttiComm_t comm = nullptr;
    if (tuttiCommInitRank(&comm, 2, id, rank) != tuttiSuccess) return tuttiGetLastError(nullptr);
    std::string words;
    {
      const std::vector<const char*> variables = {"TUTTI_TIMEOUT=0", variable, nullptr};
      const Rank own(comm, rank, kBytes, variables.data());
      words = own.comm() == nullptr ? tuttiGetLastError(nullptr) : body(own);
    }
    sleep(after);
    return testing::Test::HasFailure() ? "an expectation failed; " + words : words;
  };
  std::vector<std::string> said = test::run_processes(2, run);
  if (said[0] == "no device") said.clear();
  return said;
}

tuttiResult_t reduce(const Rank& own) {
  return tuttiDeviceAllReduce(own.input(), own.output(), 100, tuttiFloat32, tuttiSum, own.comm(), own.stream());
}

// The words of the error with which a call ends that rank 1 does not make.
std::string error_without_rank_1(const Rank& own) {
  if (reduce(own) != tuttiSuccess) return tuttiGetLastError(nullptr);
  if (cudaStreamSynchronize(own.stream()) != cudaSuccess) return "the stream has failed";
  tuttiResult_t error = tuttiSuccess;
  if (tuttiDeviceCommGetAsyncError(own.comm(), &error) != tuttiSuccess || error != tuttiRemoteError) return "no error";
  return tuttiGetLastError(nullptr);
}

TEST(DeviceApiProcesses, ProcessesAreRightAndALostOneIsNamed) {
  const std::vector<std::string> said = run_two(0, [](const Rank& own) -> std::string {
    expect_all_memory(own, 2);
    if (testing::Test::HasFailure()) return "wrong";
    if (own.rank() == 1) _exit(0);
    return error_without_rank_1(own);
  });
  if (said.empty()) GTEST_SKIP() << "there is no CUDA device";
  EXPECT_EQ(said[1], "");
  EXPECT_NE(said[0].find("rank 1"), std::string::npos) << said[0];
}

TEST(DeviceApiProcesses, CopyEnginesCopyBetweenProcesses) {
  const auto body = [](const Rank& own) -> std::string {
    expect_all_memory(own, 2);
    return "";
  };
  const std::vector<std::string> said = run_two(0, body, "TUTTI_P2P_USE_MEMCPY=1");
  if (said.empty()) GTEST_SKIP() << "there is no CUDA device";
  EXPECT_EQ(said[0] + said[1], "");
}

TEST(DeviceApiProcesses, WhoWaitsForARankThatHasEndedIsTold) {
  const std::vector<std::string> said = run_two(3, [](const Rank& own) -> std::string {
    EXPECT_DONE(reduce(own));
    own.expect_no_error();
    return own.rank() == 1 ? "" : error_without_rank_1(own);
  });
  if (said.empty()) GTEST_SKIP() << "there is no CUDA device";
  EXPECT_EQ(said[1], "");
  EXPECT_NE(said[0].find("rank 1 has ended its part"), std::string::npos) << said[0];
}

}  // namespace
}  // namespace tutti::device_api
