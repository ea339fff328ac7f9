// SPDX-License-Identifier: Apache-2.0
// The collectives of the C API whose blocks differ in size: to their end, begun, and prepared.
#include "api/asked.hpp"
#include "api/handle.hpp"
#include "api/recorded.hpp"
#include "api/requests.hpp"
#include "api/virtual_time.hpp"

namespace {

using tutti::Collective;
using tutti::Invocation;
using tutti::VaryingBlocks;
using tutti::api::Life;
using tutti::api::objection_to;
using tutti::api::refuse;
using tutti::api::asked::operator_of;
using tutti::api::asked::root_of;

// What is wrong with counts and displacements the runtime says, so that the other ranks hear of it. They are read here
// and now.
tuttiResult_t run(Invocation asked, const VaryingBlocks& blocks, tuttiDataType_t datatype, tuttiComm_t comm,
                  const void* site) noexcept {
  return tutti::api::within(comm, [&]() -> tuttiResult_t {
    if (const char* words = objection_to(datatype)) return refuse(words);
    asked.type = static_cast<tutti::Type>(datatype);
    asked.varying = &blocks;
    return tutti::api::recorded(tutti::api::recorder_of(comm), asked, *comm->communicator, site,
                                [&] { return tutti::api::carry_out(comm, asked); });
  });
}

tuttiResult_t make(Life life, Invocation asked, const VaryingBlocks& blocks, tuttiDataType_t datatype, tuttiComm_t comm,
                   tuttiRequest_t* request, const void* site) noexcept {
  asked.varying = &blocks;
  return tutti::api::make_request(life, asked, datatype, comm, request, site);
}

}  // namespace

extern "C" {

tuttiResult_t tuttiAllGatherV(const void* sendbuff, size_t sendcount, void* recvbuff, const size_t* recvcounts,
                              const size_t* displs, tuttiDataType_t datatype, tuttiComm_t comm) {
  return run({.collective = Collective::all_gather_v, .input = sendbuff, .output = recvbuff},
             {.input = {&sendcount}, .output = {recvcounts, displs}}, datatype, comm, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiIAllGatherV(const void* sendbuff, size_t sendcount, void* recvbuff, const size_t* recvcounts,
                               const size_t* displs, tuttiDataType_t datatype, tuttiComm_t comm,
                               tuttiRequest_t* request) {
  return make(Life::once, {.collective = Collective::all_gather_v, .input = sendbuff, .output = recvbuff},
              {.input = {&sendcount}, .output = {recvcounts, displs}}, datatype, comm, request, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiAllGatherVInit(const void* sendbuff, size_t sendcount, void* recvbuff, const size_t* recvcounts,
                                  const size_t* displs, tuttiDataType_t datatype, tuttiComm_t comm,
                                  tuttiRequest_t* request) {
  return make(Life::persistent, {.collective = Collective::all_gather_v, .input = sendbuff, .output = recvbuff},
              {.input = {&sendcount}, .output = {recvcounts, displs}}, datatype, comm, request, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiReduceScatterV(const void* sendbuff, void* recvbuff, const size_t* recvcounts,
                                  tuttiDataType_t datatype, tuttiRedOp_t op, tuttiComm_t comm) {
  return run({.collective = Collective::reduce_scatter_v, .input = sendbuff, .output = recvbuff, .op = operator_of(op)},
             {.input = {recvcounts}}, datatype, comm, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiIReduceScatterV(const void* sendbuff, void* recvbuff, const size_t* recvcounts,
                                   tuttiDataType_t datatype, tuttiRedOp_t op, tuttiComm_t comm,
                                   tuttiRequest_t* request) {
  return make(
      Life::once,
      {.collective = Collective::reduce_scatter_v, .input = sendbuff, .output = recvbuff, .op = operator_of(op)},
      {.input = {recvcounts}}, datatype, comm, request, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiReduceScatterVInit(const void* sendbuff, void* recvbuff, const size_t* recvcounts,
                                      tuttiDataType_t datatype, tuttiRedOp_t op, tuttiComm_t comm,
                                      tuttiRequest_t* request) {
  return make(
      Life::persistent,
      {.collective = Collective::reduce_scatter_v, .input = sendbuff, .output = recvbuff, .op = operator_of(op)},
      {.input = {recvcounts}}, datatype, comm, request, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiAlltoAllV(const void* sendbuff, const size_t* sendcounts, const size_t* sdispls, void* recvbuff,
                             const size_t* recvcounts, const size_t* rdispls, tuttiDataType_t datatype,
                             tuttiComm_t comm) {
  return run({.collective = Collective::all_to_all_v, .input = sendbuff, .output = recvbuff},
             {.input = {sendcounts, sdispls}, .output = {recvcounts, rdispls}}, datatype, comm, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiIAlltoAllV(const void* sendbuff, const size_t* sendcounts, const size_t* sdispls, void* recvbuff,
                              const size_t* recvcounts, const size_t* rdispls, tuttiDataType_t datatype,
                              tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::once, {.collective = Collective::all_to_all_v, .input = sendbuff, .output = recvbuff},
              {.input = {sendcounts, sdispls}, .output = {recvcounts, rdispls}}, datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiAlltoAllVInit(const void* sendbuff, const size_t* sendcounts, const size_t* sdispls, void* recvbuff,
                                 const size_t* recvcounts, const size_t* rdispls, tuttiDataType_t datatype,
                                 tuttiComm_t comm, tuttiRequest_t* request) {
  return make(Life::persistent, {.collective = Collective::all_to_all_v, .input = sendbuff, .output = recvbuff},
              {.input = {sendcounts, sdispls}, .output = {recvcounts, rdispls}}, datatype, comm, request,
              TUTTI_CALL_SITE);
}

tuttiResult_t tuttiGatherV(const void* sendbuff, size_t sendcount, void* recvbuff, const size_t* recvcounts,
                           const size_t* displs, tuttiDataType_t datatype, int root, tuttiComm_t comm) {
  return run({.collective = Collective::gather_v, .input = sendbuff, .output = recvbuff, .root = root_of(root)},
             {.input = {&sendcount}, .output = {recvcounts, displs}}, datatype, comm, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiIGatherV(const void* sendbuff, size_t sendcount, void* recvbuff, const size_t* recvcounts,
                            const size_t* displs, tuttiDataType_t datatype, int root, tuttiComm_t comm,
                            tuttiRequest_t* request) {
  return make(Life::once,
              {.collective = Collective::gather_v, .input = sendbuff, .output = recvbuff, .root = root_of(root)},
              {.input = {&sendcount}, .output = {recvcounts, displs}}, datatype, comm, request, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiGatherVInit(const void* sendbuff, size_t sendcount, void* recvbuff, const size_t* recvcounts,
                               const size_t* displs, tuttiDataType_t datatype, int root, tuttiComm_t comm,
                               tuttiRequest_t* request) {
  return make(Life::persistent,
              {.collective = Collective::gather_v, .input = sendbuff, .output = recvbuff, .root = root_of(root)},
              {.input = {&sendcount}, .output = {recvcounts, displs}}, datatype, comm, request, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiScatterV(const void* sendbuff, const size_t* sendcounts, const size_t* displs, void* recvbuff,
                            size_t recvcount, tuttiDataType_t datatype, int root, tuttiComm_t comm) {
  return run({.collective = Collective::scatter_v, .input = sendbuff, .output = recvbuff, .root = root_of(root)},
             {.input = {sendcounts, displs}, .output = {&recvcount}}, datatype, comm, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiIScatterV(const void* sendbuff, const size_t* sendcounts, const size_t* displs, void* recvbuff,
                             size_t recvcount, tuttiDataType_t datatype, int root, tuttiComm_t comm,
                             tuttiRequest_t* request) {
  return make(Life::once,
              {.collective = Collective::scatter_v, .input = sendbuff, .output = recvbuff, .root = root_of(root)},
              {.input = {sendcounts, displs}, .output = {&recvcount}}, datatype, comm, request, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiScatterVInit(const void* sendbuff, const size_t* sendcounts, const size_t* displs, void* recvbuff,
                                size_t recvcount, tuttiDataType_t datatype, int root, tuttiComm_t comm,
                                tuttiRequest_t* request) {
  return make(Life::persistent,
              {.collective = Collective::scatter_v, .input = sendbuff, .output = recvbuff, .root = root_of(root)},
              {.input = {sendcounts, displs}, .output = {&recvcount}}, datatype, comm, request, TUTTI_CALL_SITE);
}

}  // extern "C"
