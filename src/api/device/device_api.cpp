// SPDX-License-Identifier: Apache-2.0
// tutti/device.h, where Tutti is built with CUDA.
#include <atomic>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "api/asked.hpp"
#include "api/device/device_comm.hpp"
#include "api/scalar.hpp"
#include "data/collective.hpp"
#include <tutti/device.h>

namespace {

using tutti::Collective;
using tutti::api::DeviceComm;
using tutti::api::guarded;
using tutti::api::objection_to;
using tutti::api::refuse;
using tutti::api::report;
using tutti::api::asked::fold;
using tutti::api::asked::move;
using tutti::api::asked::operator_of;

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see tuttiDeviceComm
constinit std::atomic<tuttiDeviceComm*> last_made = nullptr;

tuttiDeviceComm_t new_handle(std::unique_ptr<DeviceComm> live) {
  auto* const handle = new tuttiDeviceComm{std::move(live), last_made.load(std::memory_order_relaxed)};
  while (!last_made.compare_exchange_weak(handle->made_before, handle, std::memory_order_release,
                                          std::memory_order_relaxed)) {
  }
  return handle;
}

tuttiResult_t refuse_handle(const tuttiDeviceComm* handle) noexcept {
  if (handle == nullptr) return refuse("device_comm is null");
  return report({tutti::Code::invalid_usage, "device_comm was destroyed (tuttiDeviceCommDestroy)"});
}

template <class Body>
tuttiResult_t with(tuttiDeviceComm_t handle, const Body& body) noexcept {
  return guarded([&]() -> tuttiResult_t {
    if (handle == nullptr || handle->live == nullptr) return refuse_handle(handle);
    if (!handle->live->is_of_this_process())
      return report({tutti::Code::invalid_usage, "a forked child cannot use the device communicators of its parent"});
    return body(*handle->live);
  });
}

// May be called during a capture: what a call must load first does not become part of the graph.
tuttiResult_t run(tutti::Invocation asked, tuttiDataType_t datatype, tuttiDeviceComm_t handle,
                  tuttiDeviceStream_t stream) noexcept {
  return with(handle, [&](DeviceComm& comm) -> tuttiResult_t {
    if (const char* words = objection_to(datatype)) return refuse(words);
    asked.type = static_cast<tutti::Type>(datatype);
    return report(comm.call(asked, stream));
  });
}

}  // namespace

extern "C" {

tuttiResult_t tuttiDeviceCommInit(tuttiDeviceComm_t* device_comm, tuttiComm_t comm, const tuttiConfig_t* config) {
  return guarded([&]() -> tuttiResult_t {
    if (device_comm == nullptr) return refuse("device_comm is null");
    *device_comm = nullptr;
    int rank = 0;
    tuttiComm_t own = nullptr;
    if (const tuttiResult_t known = tuttiCommUserRank(comm, &rank); known != tuttiSuccess) return known;
    if (const tuttiResult_t made = tuttiCommSplit(comm, 0, rank, &own, config); made != tuttiSuccess) return made;
    auto live = DeviceComm::create(own);
    if (!live.ok()) return report(live.status());
    *device_comm = new_handle(std::move(*live));
    return tuttiSuccess;
  });
}

tuttiResult_t tuttiDeviceCommDestroy(tuttiDeviceComm_t handle) {
  if (handle != nullptr && handle->live != nullptr && !handle->live->is_of_this_process()) {
    // Nothing of it works in a forked child, and to end its parts would wait for threads that are not there.
    static_cast<void>(handle->live.release());
    return tuttiSuccess;
  }
  return with(handle, [&](DeviceComm& comm) -> tuttiResult_t {
    const tutti::Result<bool> settled = comm.settle();
    // Nothing is freed under running kernels.
    if (settled.ok() && !*settled)
      return report({tutti::Code::invalid_usage,
                     "a stream is being captured, so the device cannot be waited for; destroy behind the capture"});
    comm.tell_failure();
    handle->live.reset();
    return report(settled.status());
  });
}

tuttiResult_t tuttiDeviceCommAbort(tuttiDeviceComm_t handle) {
  return with(handle, [](DeviceComm& comm) {
    comm.abort();
    return tuttiSuccess;
  });
}

tuttiResult_t tuttiDeviceCommCount(tuttiDeviceComm_t handle, int* count) {
  return with(handle, [&](DeviceComm& comm) -> tuttiResult_t {
    if (count == nullptr) return refuse("count is null");
    *count = static_cast<int>(comm.num_ranks());
    return tuttiSuccess;
  });
}

tuttiResult_t tuttiDeviceCommUserRank(tuttiDeviceComm_t handle, int* rank) {
  return with(handle, [&](DeviceComm& comm) -> tuttiResult_t {
    if (rank == nullptr) return refuse("rank is null");
    *rank = static_cast<int>(comm.rank());
    return tuttiSuccess;
  });
}

tuttiResult_t tuttiDeviceCommGetAsyncError(tuttiDeviceComm_t handle, tuttiResult_t* async_error) {
  return with(handle, [&](DeviceComm& comm) -> tuttiResult_t {
    if (async_error == nullptr) return refuse("async_error is null");
    *async_error = report(comm.check());
    return tuttiSuccess;
  });
}

tuttiResult_t tuttiDeviceMemAlloc(void** memory, size_t bytes, tuttiDeviceComm_t handle) {
  return with(handle, [&](DeviceComm& comm) -> tuttiResult_t {
    if (memory == nullptr) return refuse("memory is null");
    *memory = nullptr;
    tutti::Result<std::byte*> made = comm.ranks().allocate(bytes);
    if (made.ok()) *memory = *made;
    return report(made.status());
  });
}

tuttiResult_t tuttiDeviceMemFree(void* memory, tuttiDeviceComm_t handle) {
  return with(handle, [&](DeviceComm& comm) { return report(comm.ranks().release(memory)); });
}

tuttiResult_t tuttiDeviceCommRegister(tuttiDeviceComm_t handle, void* buffer, size_t bytes) {
  return with(handle, [&](DeviceComm& comm) { return report(comm.ranks().enroll(buffer, bytes)); });
}

tuttiResult_t tuttiDeviceCommDeregister(tuttiDeviceComm_t handle, void* buffer) {
  return with(handle, [&](DeviceComm& comm) { return report(comm.ranks().release(buffer)); });
}

tuttiResult_t tuttiDeviceAllReduce(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                   tuttiRedOp_t op, tuttiDeviceComm_t device_comm, tuttiDeviceStream_t stream) {
  return run(fold(Collective::all_reduce, sendbuff, recvbuff, count, op), datatype, device_comm, stream);
}

tuttiResult_t tuttiDeviceAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, tuttiDataType_t datatype,
                                   tuttiDeviceComm_t device_comm, tuttiDeviceStream_t stream) {
  return run(move(Collective::all_gather, sendbuff, recvbuff, sendcount), datatype, device_comm, stream);
}

tuttiResult_t tuttiDeviceReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount, tuttiDataType_t datatype,
                                       tuttiRedOp_t op, tuttiDeviceComm_t device_comm, tuttiDeviceStream_t stream) {
  return run(fold(Collective::reduce_scatter, sendbuff, recvbuff, recvcount, op), datatype, device_comm, stream);
}

tuttiResult_t tuttiDeviceBroadcast(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                   int root, tuttiDeviceComm_t device_comm, tuttiDeviceStream_t stream) {
  return run(move(Collective::broadcast, sendbuff, recvbuff, count, root), datatype, device_comm, stream);
}

tuttiResult_t tuttiDeviceBcast(void* buff, size_t count, tuttiDataType_t datatype, int root,
                               tuttiDeviceComm_t device_comm, tuttiDeviceStream_t stream) {
  return tuttiDeviceBroadcast(buff, buff, count, datatype, root, device_comm, stream);
}

tuttiResult_t tuttiDeviceReduce(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                tuttiRedOp_t op, int root, tuttiDeviceComm_t device_comm, tuttiDeviceStream_t stream) {
  return run(fold(Collective::reduce, sendbuff, recvbuff, count, op, root), datatype, device_comm, stream);
}

tuttiResult_t tuttiDeviceAlltoAll(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                  tuttiDeviceComm_t device_comm, tuttiDeviceStream_t stream) {
  return run(move(Collective::all_to_all, sendbuff, recvbuff, count), datatype, device_comm, stream);
}

tuttiResult_t tuttiDeviceRedOpCreatePreMulSum(tuttiRedOp_t* op, const void* scalar, tuttiDataType_t datatype,
                                              tuttiDeviceComm_t device_comm) {
  return with(device_comm, [&](DeviceComm& comm) -> tuttiResult_t {
    if (const char* words = objection_to(datatype)) return refuse(words);
    if (op == nullptr || scalar == nullptr) return refuse(op == nullptr ? "op is null" : "scalar is null");
    tutti::Operator made{.op = tutti::Op::premultiplied_sum, .type = static_cast<tutti::Type>(datatype)};
    tutti::api::read_scalar(scalar, made.type, made);
    *op = static_cast<tuttiRedOp_t>(comm.add_operator(made));
    return tuttiSuccess;
  });
}

tuttiResult_t tuttiDeviceRedOpDestroy(tuttiRedOp_t op, tuttiDeviceComm_t device_comm) {
  return with(device_comm, [&](DeviceComm& comm) { return report(comm.remove_operator(operator_of(op).value)); });
}

tuttiResult_t tuttiDeviceGetAlgorithm(const char* collective, const void* sendbuff, const void* recvbuff, size_t count,
                                      tuttiDataType_t datatype, tuttiRedOp_t op, int root,
                                      tuttiDeviceComm_t device_comm, const char** algorithm, const char** why) {
  return with(device_comm, [&](DeviceComm& comm) -> tuttiResult_t {
    if (const char* words = objection_to(datatype)) return refuse(words);
    if (collective == nullptr || algorithm == nullptr || why == nullptr)
      return refuse("collective, algorithm or why is null");
    const auto found = tutti::find_collective(collective);
    if (!found)
      return report(tutti::wrong_argument(
          fmt::format("\"{}\" is no collective; 'tutti algorithms' lists them", std::string_view(collective))));
    tutti::Invocation asked = fold(*found, sendbuff, const_cast<void*>(recvbuff), count, op, root);
    asked.type = static_cast<tutti::Type>(datatype);
    const auto chosen = comm.choose(asked);
    if (!chosen.ok()) return report(chosen.status());
    *algorithm = chosen->name.data();
    *why = chosen->why.data();
    return tuttiSuccess;
  });
}

}  // extern "C"
