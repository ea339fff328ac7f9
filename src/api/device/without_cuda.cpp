// SPDX-License-Identifier: Apache-2.0
// tutti/device.h, where Tutti is built without CUDA: programs that link with it still start.
#include "api/handle.hpp"
#include <tutti/device.h>

namespace {

tuttiResult_t refuse() noexcept {
  return tutti::api::guarded([] {
    return tutti::api::report(
        {tutti::Code::unsupported,
         "this libtutti was built without CUDA, so it has no device communicators; build it where "
         "nvcc 12 or newer is"});
  });
}

}  // namespace

extern "C" {

tuttiResult_t tuttiDeviceCommInit(tuttiDeviceComm_t* /*device_comm*/, tuttiComm_t /*comm*/,
                                  const tuttiConfig_t* /*config*/) {
  return refuse();
}
tuttiResult_t tuttiDeviceCommDestroy(tuttiDeviceComm_t /*device_comm*/) { return refuse(); }
tuttiResult_t tuttiDeviceCommAbort(tuttiDeviceComm_t /*device_comm*/) { return refuse(); }
tuttiResult_t tuttiDeviceCommCount(tuttiDeviceComm_t /*device_comm*/, int* /*count*/) { return refuse(); }
tuttiResult_t tuttiDeviceCommUserRank(tuttiDeviceComm_t /*device_comm*/, int* /*rank*/) { return refuse(); }
tuttiResult_t tuttiDeviceCommGetAsyncError(tuttiDeviceComm_t /*device_comm*/, tuttiResult_t* /*async_error*/) {
  return refuse();
}
tuttiResult_t tuttiDeviceMemAlloc(void** /*memory*/, size_t /*bytes*/, tuttiDeviceComm_t /*device_comm*/) {
  return refuse();
}
tuttiResult_t tuttiDeviceMemFree(void* /*memory*/, tuttiDeviceComm_t /*device_comm*/) { return refuse(); }
tuttiResult_t tuttiDeviceCommRegister(tuttiDeviceComm_t /*device_comm*/, void* /*buffer*/, size_t /*bytes*/) {
  return refuse();
}
tuttiResult_t tuttiDeviceCommDeregister(tuttiDeviceComm_t /*device_comm*/, void* /*buffer*/) { return refuse(); }
tuttiResult_t tuttiDeviceAllReduce(const void* /*sendbuff*/, void* /*recvbuff*/, size_t /*count*/,
                                   tuttiDataType_t /*datatype*/, tuttiRedOp_t /*op*/, tuttiDeviceComm_t /*device_comm*/,
                                   tuttiDeviceStream_t /*stream*/) {
  return refuse();
}
tuttiResult_t tuttiDeviceAllGather(const void* /*sendbuff*/, void* /*recvbuff*/, size_t /*sendcount*/,
                                   tuttiDataType_t /*datatype*/, tuttiDeviceComm_t /*device_comm*/,
                                   tuttiDeviceStream_t /*stream*/) {
  return refuse();
}
tuttiResult_t tuttiDeviceReduceScatter(const void* /*sendbuff*/, void* /*recvbuff*/, size_t /*recvcount*/,
                                       tuttiDataType_t /*datatype*/, tuttiRedOp_t /*op*/,
                                       tuttiDeviceComm_t /*device_comm*/, tuttiDeviceStream_t /*stream*/) {
  return refuse();
}
tuttiResult_t tuttiDeviceBroadcast(const void* /*sendbuff*/, void* /*recvbuff*/, size_t /*count*/,
                                   tuttiDataType_t /*datatype*/, int /*root*/, tuttiDeviceComm_t /*device_comm*/,
                                   tuttiDeviceStream_t /*stream*/) {
  return refuse();
}
tuttiResult_t tuttiDeviceBcast(void* /*buff*/, size_t /*count*/, tuttiDataType_t /*datatype*/, int /*root*/,
                               tuttiDeviceComm_t /*device_comm*/, tuttiDeviceStream_t /*stream*/) {
  return refuse();
}
tuttiResult_t tuttiDeviceReduce(const void* /*sendbuff*/, void* /*recvbuff*/, size_t /*count*/,
                                tuttiDataType_t /*datatype*/, tuttiRedOp_t /*op*/, int /*root*/,
                                tuttiDeviceComm_t /*device_comm*/, tuttiDeviceStream_t /*stream*/) {
  return refuse();
}
tuttiResult_t tuttiDeviceAlltoAll(const void* /*sendbuff*/, void* /*recvbuff*/, size_t /*count*/,
                                  tuttiDataType_t /*datatype*/, tuttiDeviceComm_t /*device_comm*/,
                                  tuttiDeviceStream_t /*stream*/) {
  return refuse();
}
tuttiResult_t tuttiDeviceRedOpCreatePreMulSum(tuttiRedOp_t* /*op*/, const void* /*scalar*/,
                                              tuttiDataType_t /*datatype*/, tuttiDeviceComm_t /*device_comm*/) {
  return refuse();
}
tuttiResult_t tuttiDeviceRedOpDestroy(tuttiRedOp_t /*op*/, tuttiDeviceComm_t /*device_comm*/) { return refuse(); }
tuttiResult_t tuttiDeviceGetAlgorithm(const char* /*collective*/, const void* /*sendbuff*/, const void* /*recvbuff*/,
                                      size_t /*count*/, tuttiDataType_t /*datatype*/, tuttiRedOp_t /*op*/, int /*root*/,
                                      tuttiDeviceComm_t /*device_comm*/, const char** /*algorithm*/,
                                      const char** /*why*/) {
  return refuse();
}

}  // extern "C"
