// SPDX-License-Identifier: Apache-2.0
// The C API's operations that are begun now and waited for later, and those that are made once and started often.
#include "api/requests.hpp"

#include <algorithm>
#include <string>

#include "api/asked.hpp"
#include "api/handle.hpp"
#include "api/recorded.hpp"
#include "api/virtual_time.hpp"

namespace {

using tutti::Collective;
using tutti::Invocation;
using tutti::Operation;
using tutti::Recorder;
using tutti::Status;
using tutti::Transfer;
using tutti::api::guarded;
using tutti::api::Life;
using tutti::api::objection_to;
using tutti::api::recorded_transfer;
using tutti::api::recorder_of;
using tutti::api::refuse;
using tutti::api::report;
using tutti::api::within;
using tutti::api::asked::fold;
using tutti::api::asked::move;

// A handle is where its operation stands, and which use of that place it is, so that a copy of one that has ended is
// told from whoever has the place now (once in 2^16 it is not). Addresses of programs leave the upper bits alone.
constexpr int kAddressBits = 48;
static_assert(sizeof(tuttiRequest_t) == sizeof(std::uint64_t) && sizeof(Operation::uses) * 8 + kAddressBits == 64);

tuttiRequest_t handle_of(const Operation& operation) {
  return reinterpret_cast<tuttiRequest_t>(reinterpret_cast<std::uint64_t>(&operation) | std::uint64_t{operation.uses}
                                                                                            << kAddressBits);
}

// Null where the request has ended.
Operation* operation_of(tuttiRequest_t request) {
  const auto handle = reinterpret_cast<std::uint64_t>(request);
  auto* const operation = reinterpret_cast<Operation*>(handle & ((std::uint64_t{1} << kAddressBits) - 1));
  return operation->uses == handle >> kAddressBits ? operation : nullptr;
}

// A call of the operation, if it is one still.
template <typename Body>
tuttiResult_t with(tuttiRequest_t request, const Body& body) noexcept {
  Operation* const operation = operation_of(request);
  if (operation == nullptr)
    return report({tutti::Code::invalid_usage, "the request has ended, or was freed, and this is a copy of it"});
  return within(*operation->owner, [&] { return body(*operation); });
}

template <typename Asked>
tuttiResult_t make(Life life, const Asked& asked, tuttiComm_t comm, tuttiRequest_t* request) {
  const tutti::Result<Operation*> operation = tutti::api::prepare(comm, asked, life == Life::persistent);
  if (!operation.ok()) return report(operation.status());
  if (life == Life::once)
    if (const Status status = tutti::api::start(**operation); !status.ok()) {
      comm->communicator->release(**operation);
      return report(status);
    }
  *request = handle_of(**operation);
  return tuttiSuccess;
}

tuttiResult_t make(Life life, const Invocation& asked, tuttiDataType_t datatype, tuttiComm_t comm,
                   tuttiRequest_t* request, const void* site) noexcept {
  return tutti::api::make_request(life, asked, datatype, comm, request, site);
}

// As the recorder's cell, where calls are recorded: what is once, as it begins; what is persistent, each time.
tuttiResult_t make_recorded(Life life, const Invocation& asked, tuttiComm_t comm, tuttiRequest_t* request,
                            const void* site) {
  Recorder& recorder = *recorder_of(comm);
  const Recorder::Key key = tutti::api::recorded_key(asked, *comm->communicator, site);
  if (life == Life::persistent) {
    const tuttiResult_t result = make(life, asked, comm, request);
    if (result == tuttiSuccess) operation_of(*request)->recorded = &recorder.cell_of(key);
    return result;
  }
  const Recorder::Call call = recorder.begin(key);
  const tuttiResult_t result = make(life, asked, comm, request);
  recorder.end(call, result == tuttiSuccess);
  if (result == tuttiSuccess && call.is_clocked) {
    operation_of(*request)->recorded = call.cell;
    operation_of(*request)->is_clocked = true;
  }
  return result;
}

// To its end, with a clock if its begin was clocked.
Status wait_for(Operation& operation) {
  if (!operation.is_clocked) return tutti::api::wait(operation);
  Recorder::Cell& cell = *static_cast<Recorder::Cell*>(operation.recorded);
  operation.is_clocked = false;
  const std::int64_t start = cell.owner->begin_wait(cell);
  Status status = tutti::api::wait(operation);
  cell.owner->end_wait(cell, start);
  return status;
}

Status start(Operation& operation) {
  if (operation.recorded == nullptr) return tutti::api::start(operation);
  Recorder::Cell& cell = *static_cast<Recorder::Cell*>(operation.recorded);
  const Recorder::Call call = cell.owner->begin(cell);
  Status status = tutti::api::start(operation);
  cell.owner->end(call, status.ok());
  operation.is_clocked = status.ok() && call.is_clocked && operation.kind == Operation::Kind::collective;
  return status;
}

// A request that has ended is none any more, unless it can be started again.
void end(Operation& operation, tuttiRequest_t* request) {
  if (operation.is_persistent) return;
  operation.owner->release(operation);
  *request = nullptr;
}

// The first error of several calls; all of them are made.
class FirstError {
 public:
  void take(tuttiResult_t result) {
    if (result == tuttiSuccess || first_ != tuttiSuccess) return;
    first_ = result;
    words_ = tutti::api::last_error();
  }
  [[nodiscard]] tuttiResult_t say() const {
    if (first_ != tuttiSuccess) tutti::api::last_error() = words_;
    return first_;
  }

 private:
  tuttiResult_t first_ = tuttiSuccess;
  std::string words_;
};

// Null where a call may have these.
const char* objection_to(int count, const tuttiRequest_t* requests) {
  if (count < 0) return "count is negative";
  return requests == nullptr && count > 0 ? "requests is null" : nullptr;
}

// Waits until an active request has ended or failed; `first` is one of them.
tuttiResult_t wait_for_any(Operation& first, int count, const tuttiRequest_t* requests) {
  const auto is_over = [](tuttiRequest_t request) {
    const Operation* const operation = request == nullptr ? nullptr : operation_of(request);
    if (operation == nullptr || !operation->is_active) return false;
    if (operation->owner->async_error() != tutti::Code::ok) return true;
    const tutti::on_fabric::VirtualTime* const time = tutti::api::virtual_time_of(*operation);
    return operation->is_done() && (time == nullptr || time->looks_ready(*operation));
  };
  return within(*first.owner, [&] {
    return report(first.owner->wait_for_any(first, [&] { return std::any_of(requests, requests + count, is_over); }));
  });
}

tuttiResult_t wait(tuttiRequest_t* request) {
  if (*request == nullptr) return tuttiSuccess;
  return with(*request, [request](Operation& operation) {
    const Status status = wait_for(operation);
    // What has broken is waited for no more.
    end(operation, request);
    return report(status);
  });
}

}  // namespace

tuttiResult_t tutti::api::make_request(Life life, Invocation asked, tuttiDataType_t datatype, tuttiComm_t comm,
                                       tuttiRequest_t* request, const void* site) noexcept {
  if (request == nullptr) return refuse("request is null");
  *request = nullptr;
  return within(comm, [&]() -> tuttiResult_t {
    if (const char* words = objection_to(datatype)) return refuse(words);
    asked.type = static_cast<tutti::Type>(datatype);
    return recorder_of(comm) == nullptr ? make(life, asked, comm, request)
                                        : make_recorded(life, asked, comm, request, site);
  });
}

tuttiResult_t tutti::api::make_request(Life life, const Transfer& transfer, tuttiDataType_t datatype, tuttiComm_t comm,
                                       tuttiRequest_t* request) noexcept {
  if (request == nullptr) return refuse("request is null");
  *request = nullptr;
  return within(comm, [&]() -> tuttiResult_t {
    if (const char* words = objection_to(datatype)) return refuse(words);
    Recorder* const recorder = recorder_of(comm);
    if (life == Life::once) return recorded_transfer(recorder, [&] { return make(life, transfer, comm, request); });
    const tuttiResult_t result = make(life, transfer, comm, request);
    if (recorder != nullptr && result == tuttiSuccess) operation_of(*request)->recorded = &recorder->transfers();
    return result;
  });
}

extern "C" {

tuttiResult_t tuttiIAllReduce(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                              tuttiRedOp_t op, tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::once, fold(Collective::all_reduce, sendbuff, recvbuff, count, op), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiAllReduceInit(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                 tuttiRedOp_t op, tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::persistent, fold(Collective::all_reduce, sendbuff, recvbuff, count, op), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiIAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, tuttiDataType_t datatype,
                              tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::once, move(Collective::all_gather, sendbuff, recvbuff, sendcount), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiAllGatherInit(const void* sendbuff, void* recvbuff, size_t sendcount, tuttiDataType_t datatype,
                                 tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::persistent, move(Collective::all_gather, sendbuff, recvbuff, sendcount), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiIReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount, tuttiDataType_t datatype,
                                  tuttiRedOp_t op, tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::once, fold(Collective::reduce_scatter, sendbuff, recvbuff, recvcount, op), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiReduceScatterInit(const void* sendbuff, void* recvbuff, size_t recvcount, tuttiDataType_t datatype,
                                     tuttiRedOp_t op, tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::persistent, fold(Collective::reduce_scatter, sendbuff, recvbuff, recvcount, op), datatype, comm,
              request, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiIBroadcast(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype, int root,
                              tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::once, move(Collective::broadcast, sendbuff, recvbuff, count, root), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiBroadcastInit(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype, int root,
                                 tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::persistent, move(Collective::broadcast, sendbuff, recvbuff, count, root), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiIBcast(void* buff, size_t count, tuttiDataType_t datatype, int root, tuttiComm_t comm,
                          tuttiRequest_t* request) {
  return make(Life::once, move(Collective::broadcast, buff, buff, count, root), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiBcastInit(void* buff, size_t count, tuttiDataType_t datatype, int root, tuttiComm_t comm,
                             tuttiRequest_t* request) {
  return make(Life::persistent, move(Collective::broadcast, buff, buff, count, root), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiIReduce(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                           tuttiRedOp_t op, int root, tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::once, fold(Collective::reduce, sendbuff, recvbuff, count, op, root), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiReduceInit(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                              tuttiRedOp_t op, int root, tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::persistent, fold(Collective::reduce, sendbuff, recvbuff, count, op, root), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiIAlltoAll(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                             tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::once, move(Collective::all_to_all, sendbuff, recvbuff, count), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiAlltoAllInit(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                                tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::persistent, move(Collective::all_to_all, sendbuff, recvbuff, count), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiIGather(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype, int root,
                           tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::once, move(Collective::gather, sendbuff, recvbuff, count, root), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiGatherInit(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype, int root,
                              tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::persistent, move(Collective::gather, sendbuff, recvbuff, count, root), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiIScatter(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype, int root,
                            tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::once, move(Collective::scatter, sendbuff, recvbuff, count, root), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiScatterInit(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype, int root,
                               tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::persistent, move(Collective::scatter, sendbuff, recvbuff, count, root), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiIScan(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype, tuttiRedOp_t op,
                         tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::once, fold(Collective::scan, sendbuff, recvbuff, count, op), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiScanInit(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                            tuttiRedOp_t op, tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::persistent, fold(Collective::scan, sendbuff, recvbuff, count, op), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiIExScan(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                           tuttiRedOp_t op, tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::once, fold(Collective::exclusive_scan, sendbuff, recvbuff, count, op), datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiExScanInit(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                              tuttiRedOp_t op, tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::persistent, fold(Collective::exclusive_scan, sendbuff, recvbuff, count, op), datatype, comm,
              request, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiIBarrier(tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::once, Invocation{.collective = Collective::barrier}, tuttiUint8, comm, request, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiBarrierInit(tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::persistent, Invocation{.collective = Collective::barrier}, tuttiUint8, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiStart(tuttiRequest_t request) {
  if (request == nullptr) return refuse("request is null");
  return with(request, [](Operation& operation) {
    if (!operation.is_persistent) return refuse("request is of an operation that has been started already");
    return report(start(operation));
  });
}

tuttiResult_t tuttiWait(tuttiRequest_t* request) {
  if (request == nullptr) return refuse("request is null");
  return wait(request);
}

tuttiResult_t tuttiWaitAll(int count, tuttiRequest_t* requests) {
  return guarded([&]() -> tuttiResult_t {
    if (const char* words = objection_to(count, requests)) return refuse(words);
    FirstError error;
    for (int each = 0; each < count; ++each) error.take(wait(&requests[each]));
    return error.say();
  });
}

tuttiResult_t tuttiWaitAny(int count, tuttiRequest_t* requests, int* index) {
  return guarded([&]() -> tuttiResult_t {
    if (index == nullptr) return refuse("index is null");
    *index = -1;
    if (const char* words = objection_to(count, requests)) return refuse(words);
    while (true) {
      Operation* first = nullptr;
      for (int each = 0; each < count; ++each) {
        if (requests[each] == nullptr) continue;
        Operation* const operation = operation_of(requests[each]);
        if (operation != nullptr && !operation->is_active) continue;
        int done = 0;
        const tuttiResult_t result = tuttiTest(&requests[each], &done);
        if (done != 0) *index = each;
        if (done != 0 || result != tuttiSuccess) return result;
        if (first == nullptr) first = operation;
      }
      if (first == nullptr) return tuttiSuccess;
      // If a request has failed meanwhile, its own test reports that.
      static_cast<void>(wait_for_any(*first, count, requests));
    }
  });
}

tuttiResult_t tuttiTest(tuttiRequest_t* request, int* done) {
  if (request == nullptr || done == nullptr) return refuse(request == nullptr ? "request is null" : "done is null");
  *done = *request == nullptr || operation_of(*request) == nullptr ? 1 : 0;
  if (*request == nullptr) return tuttiSuccess;
  return with(*request, [&](Operation& operation) {
    const tutti::Result<bool> is_done = tutti::api::test(operation);
    if (is_done.ok() && !*is_done) return tuttiSuccess;
    *done = 1;
    end(operation, request);
    return report(is_done.status());
  });
}

tuttiResult_t tuttiTestAll(int count, tuttiRequest_t* requests, int* done) {
  return guarded([&]() -> tuttiResult_t {
    if (done == nullptr) return refuse("done is null");
    *done = 0;
    if (const char* words = objection_to(count, requests)) return refuse(words);
    FirstError error;
    int num_done = 0;
    for (int each = 0; each < count; ++each) {
      int is_done = 0;
      error.take(tuttiTest(&requests[each], &is_done));
      num_done += is_done;
    }
    *done = num_done == count ? 1 : 0;
    return error.say();
  });
}

tuttiResult_t tuttiRequestFree(tuttiRequest_t* request) {
  if (request == nullptr) return refuse("request is null");
  if (*request == nullptr) return tuttiSuccess;
  return with(*request, [request](Operation& operation) {
    tutti::Communicator& owner = *operation.owner;
    if (operation.is_active && owner.async_error() == tutti::Code::ok)
      return report({tutti::Code::invalid_usage,
                     "the request is active: wait for it, or test it until it is done, before it is freed"});
    owner.release(operation);
    *request = nullptr;
    return tuttiSuccess;
  });
}

}  // extern "C"
