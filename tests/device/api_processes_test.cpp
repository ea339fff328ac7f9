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

TEST(DeviceApiProcesses, ProcessesAreRightAndALostOneIsNamed) {
  const auto body = [](const tuttiUniqueId& id, int rank) -> std::string {
    if (!has_device()) return "no device";
    tuttiComm_t comm = nullptr;
    if (tuttiCommInitRank(&comm, 2, id, rank) != tuttiSuccess) return tuttiGetLastError(nullptr);
    {
      const std::vector<const char*> variables = {"TUTTI_TIMEOUT=0", nullptr};
      const Rank own(comm, rank, kBytes, variables.data());
      if (own.comm() == nullptr) return tuttiGetLastError(nullptr);
      expect_all_memory(own, 2);
      if (testing::Test::HasFailure()) return "wrong";
      if (rank == 1) _exit(0);
      // Without any time-out: that the other is lost ends it.
      EXPECT_DONE(
          tuttiDeviceAllReduce(own.input(), own.output(), 100, tuttiFloat32, tuttiSum, own.comm(), own.stream()));
      if (cudaStreamSynchronize(own.stream()) != cudaSuccess) return "the stream has failed";
      tuttiResult_t error = tuttiSuccess;
      if (tuttiDeviceCommGetAsyncError(own.comm(), &error) != tuttiSuccess || error != tuttiRemoteError)
        return "no error";
    }
    return tuttiGetLastError(nullptr);
  };
  const std::vector<std::string> said = test::run_processes(2, body);
  if (said[0] == "no device") GTEST_SKIP() << "there is no CUDA device";
  EXPECT_EQ(said[1], "");
  EXPECT_NE(said[0].find("rank 1"), std::string::npos) << said[0];
}

// Rank 1 ends its part and lives on; rank 0 waits for it without a time-out.
TEST(DeviceApiProcesses, WhoWaitsForARankThatHasEndedIsTold) {
  const auto body = [](const tuttiUniqueId& id, int rank) -> std::string {
    if (!has_device()) return "no device";
    tuttiComm_t comm = nullptr;
    if (tuttiCommInitRank(&comm, 2, id, rank) != tuttiSuccess) return tuttiGetLastError(nullptr);
    {
      const std::vector<const char*> variables = {"TUTTI_TIMEOUT=0", nullptr};
      const Rank own(comm, rank, kBytes, variables.data());
      if (own.comm() == nullptr) return tuttiGetLastError(nullptr);
      const auto call = [&] {
        return tuttiDeviceAllReduce(own.input(), own.output(), 9, tuttiFloat32, tuttiSum, own.comm(), own.stream());
      };
      if (call() != tuttiSuccess) return tuttiGetLastError(nullptr);
      own.expect_no_error();
      if (rank == 0) {
        if (call() != tuttiSuccess) return tuttiGetLastError(nullptr);
        if (cudaStreamSynchronize(own.stream()) != cudaSuccess) return "the stream has failed";
        tuttiResult_t error = tuttiSuccess;
        if (tuttiDeviceCommGetAsyncError(own.comm(), &error) != tuttiSuccess || error != tuttiRemoteError)
          return "no error";
        return tuttiGetLastError(nullptr);
      }
    }
    sleep(3);
    return "";
  };
  const std::vector<std::string> said = test::run_processes(2, body);
  if (said[0] == "no device") GTEST_SKIP() << "there is no CUDA device";
  EXPECT_EQ(said[1], "");
  EXPECT_NE(said[0].find("rank 1 has ended its part"), std::string::npos) << said[0];
}

}  // namespace
}  // namespace tutti::device_api
