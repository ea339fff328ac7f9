// SPDX-License-Identifier: Apache-2.0
// The collectives of the C API, to their end.
#include <optional>

#include "api/asked.hpp"
#include "api/handle.hpp"
#include "api/recorded.hpp"
#include "api/virtual_time.hpp"

namespace {

using tutti::Collective;
using tutti::End;
using tutti::Invocation;
using tutti::Recorder;
using tutti::api::objection_to;
using tutti::api::recorded;
using tutti::api::recorder_of;
using tutti::api::refuse;
using tutti::api::report;
using tutti::api::unrecorded;
using tutti::api::asked::fold;
using tutti::api::asked::move;
using tutti::api::asked::operator_of;
using tutti::api::asked::root_of;

tuttiResult_t run_in_general(Invocation asked, tuttiDataType_t datatype, tuttiComm_t comm, const void* site) noexcept {
  return tutti::api::within(comm, [&]() -> tuttiResult_t {
    if (const char* words = objection_to(datatype)) return refuse(words);
    asked.type = static_cast<tutti::Type>(datatype);
    return recorded(recorder_of(comm), asked, *comm->communicator, site,
                    [&] { return tutti::api::carry_out(comm, asked); });
  });
}

[[gnu::noinline]] tuttiResult_t run_recorded(Invocation asked, tuttiDataType_t datatype, tuttiComm_t comm,
                                             const void* site) noexcept {
  if (tutti::api::is_live(comm) && recorder_of(comm) != nullptr && tutti::api::is_type(datatype)) {
    tutti::Communicator& communicator = *comm->communicator;
    asked.type = static_cast<tutti::Type>(datatype);
    if (tutti::BoundCall* const bound = communicator.enter_bound(asked)) {
      Recorder& recorder = *recorder_of(comm);
      const Recorder::Call call = recorder.begin(tutti::api::recorded_key(asked, communicator, site));
      const tutti::Status status = communicator.run_bound(*bound, asked);
      recorder.end(call, status.ok());
      return status.ok() ? tuttiSuccess : report(status);
    }
  }
  return run_in_general(asked, datatype, comm, site);
}

tuttiResult_t run(Invocation asked, tuttiDataType_t datatype, tuttiComm_t comm, const void* site) noexcept {
  tutti::Communicator* const communicator = unrecorded(comm);
  if (communicator == nullptr) [[unlikely]]
    return run_recorded(asked, datatype, comm, site);
  if (tutti::api::is_type(datatype)) [[likely]] {
    asked.type = static_cast<tutti::Type>(datatype);
    if (tutti::BoundCall* const bound = communicator->enter_bound(asked)) {
      const tutti::Status status = communicator->run_bound(*bound, asked);
      return status.ok() ? tuttiSuccess : report(status);
    }
  }
  return run_in_general(asked, datatype, comm, site);
}

// As one argument, so that all fit registers.
struct Folded {
  tuttiDataType_t datatype;
  tuttiRedOp_t op;
};

// Out of line, what the small path does not need: so its caller has no registers to save for it. Where calls are
// recorded, this one was counted.
[[gnu::noinline]] tuttiResult_t failed(End end, tuttiComm_t comm) {
  if (Recorder* const recorder = recorder_of(comm)) recorder->take_back();
  return tutti::api::guarded([&] { return report(comm->communicator->fail(end)); });
}
[[gnu::noinline]] tuttiResult_t all_reduce_otherwise(const void* sendbuff, void* recvbuff, size_t count, Folded folded,
                                                     tuttiComm_t comm, const void* site) {
  if (Recorder* const recorder = recorder_of(comm)) recorder->take_back();
  return run(fold(Collective::all_reduce, sendbuff, recvbuff, count, folded.op), folded.datatype, comm, site);
}
// The first of its kind after another one, or a clock is due.
[[gnu::noinline]] tuttiResult_t all_reduce_recorded(const void* sendbuff, void* recvbuff, size_t count, Folded folded,
                                                    tuttiComm_t comm, const void* site) {
  tutti::Communicator& communicator = *comm->communicator;
  const auto type = static_cast<tutti::Type>(folded.datatype);
  const tutti::SmallOperator* const entry =
      tutti::api::is_type(folded.datatype)
          ? communicator.enter_small(sendbuff, recvbuff, count, type, operator_of(folded.op))
          : nullptr;
  if (entry == nullptr)
    return run(fold(Collective::all_reduce, sendbuff, recvbuff, count, folded.op), folded.datatype, comm, site);
  Recorder& recorder = *recorder_of(comm);
  const Recorder::Call call = recorder.begin(Recorder::key_of(site, Collective::all_reduce, type, count, 0));
  const End end = communicator.run_small(*entry, sendbuff, recvbuff, count);
  if (end != End::done) return failed(end, comm);
  recorder.end(call, true);
  return tuttiSuccess;
}

}  // namespace

extern "C" {

tuttiResult_t tuttiAllReduce(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                             tuttiRedOp_t op, tuttiComm_t comm) {
  tutti::Communicator* communicator = unrecorded(comm);
  if (communicator == nullptr) [[unlikely]] {
    Recorder* const recorder = comm == nullptr ? nullptr : recorder_of(comm);
    if (recorder == nullptr)
      return run_in_general(fold(Collective::all_reduce, sendbuff, recvbuff, count, op), datatype, comm,
                            TUTTI_CALL_SITE);
    const auto type = static_cast<tutti::Type>(datatype);
    if (!recorder->count_again(Recorder::key_of(TUTTI_CALL_SITE, Collective::all_reduce, type, count, 0)))
      return all_reduce_recorded(sendbuff, recvbuff, count, {datatype, op}, comm, TUTTI_CALL_SITE);
    communicator = comm->communicator.get();
  }
  if (tutti::api::is_type(datatype)) [[likely]] {
    const tutti::SmallOperator* const entry =
        communicator->enter_small(sendbuff, recvbuff, count, static_cast<tutti::Type>(datatype), operator_of(op));
    if (entry != nullptr) [[likely]] {
      const End end = communicator->run_small(*entry, sendbuff, recvbuff, count);
      return end == End::done ? tuttiSuccess : failed(end, comm);
    }
  }
  return all_reduce_otherwise(sendbuff, recvbuff, count, {datatype, op}, comm, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, tuttiDataType_t datatype,
                             tuttiComm_t comm) {
  return run(move(Collective::all_gather, sendbuff, recvbuff, sendcount), datatype, comm, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount, tuttiDataType_t datatype,
                                 tuttiRedOp_t op, tuttiComm_t comm) {
  return run(fold(Collective::reduce_scatter, sendbuff, recvbuff, recvcount, op), datatype, comm, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiBroadcast(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype, int root,
                             tuttiComm_t comm) {
  return run(move(Collective::broadcast, sendbuff, recvbuff, count, root), datatype, comm, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiBcast(void* buff, size_t count, tuttiDataType_t datatype, int root, tuttiComm_t comm) {
  return run(move(Collective::broadcast, buff, buff, count, root), datatype, comm, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiReduce(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype, tuttiRedOp_t op,
                          int root, tuttiComm_t comm) {
  return run(fold(Collective::reduce, sendbuff, recvbuff, count, op, root), datatype, comm, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiAlltoAll(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype,
                            tuttiComm_t comm) {
  return run(move(Collective::all_to_all, sendbuff, recvbuff, count), datatype, comm, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiGather(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype, int root,
                          tuttiComm_t comm) {
  return run(move(Collective::gather, sendbuff, recvbuff, count, root), datatype, comm, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiScatter(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype, int root,
                           tuttiComm_t comm) {
  return run(move(Collective::scatter, sendbuff, recvbuff, count, root), datatype, comm, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiScan(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype, tuttiRedOp_t op,
                        tuttiComm_t comm) {
  return run(fold(Collective::scan, sendbuff, recvbuff, count, op), datatype, comm, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiExScan(const void* sendbuff, void* recvbuff, size_t count, tuttiDataType_t datatype, tuttiRedOp_t op,
                          tuttiComm_t comm) {
  return run(fold(Collective::exclusive_scan, sendbuff, recvbuff, count, op), datatype, comm, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiBarrier(tuttiComm_t comm) {
  return run({.collective = Collective::barrier}, tuttiUint8, comm, TUTTI_CALL_SITE);
}

tuttiResult_t tuttiGetAlgorithmInfo(const char* collective, const void* sendbuff, const void* recvbuff, size_t count,
                                    tuttiDataType_t datatype, tuttiRedOp_t op, int root, tuttiComm_t comm,
                                    tuttiAlgorithmInfo_t* info) {
  return tutti::api::within(comm, [&]() -> tuttiResult_t {
    if (const char* words = objection_to(datatype)) return refuse(words);
    if (collective == nullptr) return refuse("collective is null");
    if (info == nullptr) return refuse("info is null");
    if (info->size < sizeof(tuttiAlgorithmInfo_t))
      return refuse(
          "info->size is too small; begin one as tuttiAlgorithmInfo_t info = TUTTI_ALGORITHM_INFO_INITIALIZER");
    const std::optional<Collective> named = tutti::find_collective(collective);
    if (!named) return refuse("collective is the name of none");
    // Nothing is written there: the choice depends on where the buffer is.
    auto* output = const_cast<void*>(recvbuff);
    const tutti::Result<tutti::Choice> choice =
        comm->communicator->choice_for({.collective = *named,
                                        .input = sendbuff,
                                        .output = output,
                                        .count = count,
                                        .type = static_cast<tutti::Type>(datatype),
                                        .op = operator_of(op),
                                        .root = root_of(root)});
    if (!choice.ok()) return report(choice.status());
    info->algorithm = choice->way->name.c_str();
    info->why = choice->why.data();
    info->choice = choice->is_forced               ? tuttiChoiceForced
                   : choice->unfollowed != nullptr ? tuttiChoiceFallback
                                                   : tuttiChoiceOwn;
    return tuttiSuccess;
  });
}

tuttiResult_t tuttiGetAlgorithm(const char* collective, const void* sendbuff, const void* recvbuff, size_t count,
                                tuttiDataType_t datatype, tuttiRedOp_t op, int root, tuttiComm_t comm,
                                const char** algorithm, const char** why) {
  if (algorithm == nullptr || why == nullptr)
    return tutti::api::within(comm, [&] { return refuse(algorithm == nullptr ? "algorithm is null" : "why is null"); });
  tuttiAlgorithmInfo_t info = TUTTI_ALGORITHM_INFO_INITIALIZER;
  const tuttiResult_t result =
      tuttiGetAlgorithmInfo(collective, sendbuff, recvbuff, count, datatype, op, root, comm, &info);
  if (result != tuttiSuccess) return result;
  *algorithm = info.algorithm;
  *why = info.why;
  return tuttiSuccess;
}

}  // extern "C"
