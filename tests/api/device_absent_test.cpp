// SPDX-License-Identifier: Apache-2.0
// tutti/device.h where there is no CUDA device, or no CUDA in this build.
#include <string>

#include <gtest/gtest.h>

#include "ranks.hpp"
#include <tutti/device.h>

namespace tutti::test {
namespace {

TEST(DeviceAbsent, AllRanksAreToldSoAndGoOn) {
  run_ranks(2, [](tuttiComm_t comm, int) {
    tuttiDeviceComm_t made = nullptr;
    const tuttiResult_t result = tuttiDeviceCommInit(&made, comm, nullptr);
    if (result == tuttiSuccess) {
      EXPECT_DONE(tuttiDeviceCommDestroy(made));
      GTEST_SKIP() << "there is a CUDA device";
    }
    EXPECT_EQ(result, tuttiUnsupported);
    EXPECT_NE(std::string(tuttiGetLastError(nullptr)).find("CUDA"), std::string::npos) << tuttiGetLastError(nullptr);
    EXPECT_DONE(tuttiBarrier(comm));
  });
}

TEST(DeviceAbsent, NoHandleIsTaken) {
  EXPECT_NE(tuttiDeviceCommDestroy(nullptr), tuttiSuccess);
  EXPECT_NE(tuttiDeviceAllReduce(nullptr, nullptr, 0, tuttiFloat32, tuttiSum, nullptr, nullptr), tuttiSuccess);
  EXPECT_NE(std::string(tuttiGetLastError(nullptr)), "");
}

}  // namespace
}  // namespace tutti::test
