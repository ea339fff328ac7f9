// SPDX-License-Identifier: Apache-2.0
// The C API's sends and receives: to their end, begun, and prepared.
#include <utility>

#include "api/handle.hpp"
#include "api/recorded.hpp"
#include "api/requests.hpp"
#include "api/virtual_time.hpp"

namespace {

using tutti::Operation;
using tutti::Recorder;
using tutti::Transfer;
using tutti::api::Life;
using tutti::api::make_request;
using tutti::api::objection_to;
using tutti::api::recorded_transfer;
using tutti::api::recorder_of;
using tutti::api::refuse;
using tutti::api::report;
using tutti::api::transfer_of;
using tutti::api::within;

tuttiResult_t run(const Transfer& transfer, tuttiDataType_t datatype, tuttiComm_t comm) noexcept {
  return within(comm, [&]() -> tuttiResult_t {
    if (const char* words = objection_to(datatype)) return refuse(words);
    return recorded_transfer(recorder_of(comm), [&] { return tutti::api::carry_out(comm, transfer); });
  });
}

}  // namespace

extern "C" {

tuttiResult_t tuttiSend(const void* sendbuff, size_t count, tuttiDataType_t datatype, int peer, tuttiComm_t comm) {
  return run(transfer_of(Transfer::Direction::send, sendbuff, count, datatype, peer), datatype, comm);
}

tuttiResult_t tuttiISend(const void* sendbuff, size_t count, tuttiDataType_t datatype, int peer, tuttiComm_t comm,
                         tuttiRequest_t* request) {
  return make_request(Life::once, transfer_of(Transfer::Direction::send, sendbuff, count, datatype, peer), datatype,
                      comm, request);
}

tuttiResult_t tuttiSendInit(const void* sendbuff, size_t count, tuttiDataType_t datatype, int peer, tuttiComm_t comm,
                            tuttiRequest_t* request) {
  return make_request(Life::persistent, transfer_of(Transfer::Direction::send, sendbuff, count, datatype, peer),
                      datatype, comm, request);
}

tuttiResult_t tuttiRecv(void* recvbuff, size_t count, tuttiDataType_t datatype, int peer, tuttiComm_t comm) {
  return run(transfer_of(Transfer::Direction::receive, recvbuff, count, datatype, peer), datatype, comm);
}

tuttiResult_t tuttiIRecv(void* recvbuff, size_t count, tuttiDataType_t datatype, int peer, tuttiComm_t comm,
                         tuttiRequest_t* request) {
  return make_request(Life::once, transfer_of(Transfer::Direction::receive, recvbuff, count, datatype, peer), datatype,
                      comm, request);
}

tuttiResult_t tuttiRecvInit(void* recvbuff, size_t count, tuttiDataType_t datatype, int peer, tuttiComm_t comm,
                            tuttiRequest_t* request) {
  return make_request(Life::persistent, transfer_of(Transfer::Direction::receive, recvbuff, count, datatype, peer),
                      datatype, comm, request);
}

tuttiResult_t tuttiSendRecv(const void* sendbuff, size_t sendcount, int dest, void* recvbuff, size_t recvcount,
                            int source, tuttiDataType_t datatype, tuttiComm_t comm) {
  return within(comm, [&]() -> tuttiResult_t {
    if (const char* words = objection_to(datatype)) return refuse(words);
    const Transfer sent = transfer_of(Transfer::Direction::send, sendbuff, sendcount, datatype, dest);
    const Transfer received = transfer_of(Transfer::Direction::receive, recvbuff, recvcount, datatype, source);
    tutti::Communicator& communicator = *comm->communicator;
    Recorder* const recorder = recorder_of(comm);
    if (tutti::thread_work.open_groups == 0)
      return recorded_transfer(recorder, [&] {
        return recorded_transfer(recorder, [&] { return report(tutti::api::carry_out(comm, sent, received)); });
      });
    // Where either is refused, neither begins.
    tutti::Result<Operation*> send = communicator.prepare(sent, false);
    if (!send.ok()) return report(send.status());
    tutti::Result<Operation*> receive = communicator.prepare(received, false);
    if (!receive.ok()) {
      communicator.release(**send);
      return report(receive.status());
    }
    const auto begin = [&](const Transfer& asked, tutti::Result<Operation*>& operation) {
      return recorded_transfer(recorder,
                               [&] { return tutti::api::carry_out_in_group(comm, asked, std::move(operation)); });
    };
    const tuttiResult_t result = begin(sent, send);
    if (result != tuttiSuccess) {
      communicator.release(**receive);
      return result;
    }
    return begin(received, receive);
  });
}

}  // extern "C"
