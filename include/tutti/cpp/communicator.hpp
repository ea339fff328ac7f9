// SPDX-License-Identifier: Apache-2.0
// A communicator: this rank's handle on a group of ranks that perform collectives together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tutti/cpp/blocks.hpp>
#include <tutti/cpp/config.hpp>
#include <tutti/cpp/elements.hpp>
#include <tutti/cpp/error.hpp>
#include <tutti/cpp/facts.hpp>
#include <tutti/cpp/memory.hpp>
#include <tutti/cpp/operator.hpp>
#include <tutti/cpp/request.hpp>
#include <tutti/cpp/unwinding.hpp>
#include <tutti/cpp/varying.hpp>
#include <tutti/tutti.h>

namespace tutti {
inline namespace v0_1 {

inline constexpr int kNoColor = TUTTI_SPLIT_NOCOLOR;

// Belongs to one thread at a time, except for abort() and async_error(). All ranks call the same collectives in the
// same order. Each collective has three forms: all_reduce() blocks, iall_reduce() starts it and returns a request, and
// all_reduce_init() makes a persistent request. A buffer is anything with std::data and std::size (elements.hpp); sizes
// are checked before anything is sent. As in C, passing the same memory twice means in place. A buffer of the root
// alone may be empty on other ranks.
//
// Destroy it after its requests, operators and symmetric memory.
class Communicator {
 public:
  // No communicator yet; assign one to it.
  Communicator() = default;
  // Takes ownership of a communicator of the C API.
  explicit Communicator(tuttiComm_t comm) : comm_(comm) {
    if (comm == nullptr) return;
    tuttiCommUserRank(comm, &rank_);
    tuttiCommCount(comm, &num_ranks_);
  }
  Communicator(Communicator&& other) noexcept
      : comm_(std::exchange(other.comm_, nullptr)),
        rank_(std::exchange(other.rank_, -1)),
        num_ranks_(std::exchange(other.num_ranks_, 0)) {}
  Communicator& operator=(Communicator&& other) noexcept {
    std::swap(comm_, other.comm_);
    std::swap(rank_, other.rank_);
    std::swap(num_ranks_, other.num_ranks_);
    return *this;
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  // Waits for pending operations; finalize() returns their errors. During an exception's unwinding, aborts instead.
  ~Communicator() {
    if (comm_ != nullptr && unwinding_.is_now()) tuttiCommAbort(comm_);
    tuttiCommDestroy(comm_);
  }

  // All ranks that `tutti launch`, an mpirun, torchrun or srun has started together.
  [[nodiscard]] static Communicator launched() {
    tuttiComm_t comm = nullptr;
    detail::check(tuttiCommInitLaunched(&comm), "launched");
    return Communicator(comm);
  }
  [[nodiscard]] static Communicator join(const UniqueId& id, int num_ranks, int rank, const Config& config = {}) {
    const detail::CConfig c_config(config);
    tuttiComm_t comm = nullptr;
    detail::check(tuttiCommInitRankConfig(&comm, num_ranks, id, rank, &c_config.value), "join");
    return Communicator(comm);
  }
  // All ranks with the same color, in the order of their keys; no ranks with kNoColor.
  [[nodiscard]] Communicator split(int color, int key = 0, const Config& config = {}) {
    const detail::CConfig c_config(config);
    tuttiComm_t comm = nullptr;
    detail::check(tuttiCommSplit(comm_, color, key, &comm, &c_config.value), "split");
    return Communicator(comm);
  }
  // A new communicator of the same ranks.
  [[nodiscard]] Communicator dup() {
    tuttiComm_t comm = nullptr;
    detail::check(tuttiCommDup(comm_, &comm), "dup");
    return Communicator(comm);
  }

  // A communicator of the surviving ranks, whatever has broken this one. All survivors call it.
  [[nodiscard]] Communicator shrink(const Config& config = {}) {
    const detail::CConfig c_config(config);
    tuttiComm_t comm = nullptr;
    detail::check(tuttiCommShrink(comm_, &comm, &c_config.value), "shrink");
    return Communicator(comm);
  }

  [[nodiscard]] explicit operator bool() const { return comm_ != nullptr; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int num_ranks() const { return num_ranks_; }
  [[nodiscard]] tuttiComm_t raw() const { return comm_; }

  // Waits for all pending operations.
  void finalize() { detail::check(tuttiCommFinalize(comm_), "finalize"); }
  // Breaks the communicator for all ranks.
  void abort() { detail::check(tuttiCommAbort(comm_), "abort"); }
  // The error that has broken it, if any.
  [[nodiscard]] Result async_error() const {
    tuttiResult_t error = tuttiSuccess;
    detail::check(tuttiCommGetAsyncError(comm_, &error), "async_error");
    return static_cast<Result>(error);
  }

  template <typename T>
  [[nodiscard]] SymmetricMemory<T> allocate(std::size_t count) {
    return SymmetricMemory<T>(comm_, count);
  }
  // An associative operator of the caller, such as make_operator<float>([](float a, float b) { … }, Commutes::yes). All
  // ranks make the same ones in the same order.
  template <typename T, typename Function>
  [[nodiscard]] Operator<T> make_operator(Function function, Commutes commutes) {
    return Operator<T>(comm_, std::move(function), commutes);
  }
  template <typename T>
  [[nodiscard]] Operator<T> make_premultiplied_sum(T scalar) {
    return Operator<T>(comm_, typename Operator<T>::Premultiplied{scalar});
  }

  // Folds the inputs of all ranks, with the result on every rank.
  template <typename In, typename Out, typename Operation>
  void all_reduce(const In& input, Out&& output, const Operation& op) {
    run("all_reduce", tuttiAllReduce, detail::alike(input, output), detail::operator_on<detail::Element<Out>>(op));
  }
  template <typename In, typename Out, typename Operation>
  [[nodiscard]] Request iall_reduce(const In& input, Out&& output, const Operation& op) {
    return begin("iall_reduce", tuttiIAllReduce, detail::alike(input, output),
                 detail::operator_on<detail::Element<Out>>(op));
  }
  template <typename In, typename Out, typename Operation>
  [[nodiscard]] PersistentRequest all_reduce_init(const In& input, Out&& output, const Operation& op) {
    return prepare("all_reduce_init", tuttiAllReduceInit, detail::alike(input, output),
                   detail::operator_on<detail::Element<Out>>(op));
  }

  // In place.
  template <typename Data, typename Operation>
  void all_reduce(Data&& data, const Operation& op) {
    all_reduce(data, data, op);
  }

  // The output has a block for each rank, in their order.
  template <typename In, typename Out>
  void all_gather(const In& input, Out&& output) {
    run("all_gather", tuttiAllGather, detail::gathered(input, output, num_ranks_));
  }
  template <typename In, typename Out>
  [[nodiscard]] Request iall_gather(const In& input, Out&& output) {
    return begin("iall_gather", tuttiIAllGather, detail::gathered(input, output, num_ranks_));
  }
  template <typename In, typename Out>
  [[nodiscard]] PersistentRequest all_gather_init(const In& input, Out&& output) {
    return prepare("all_gather_init", tuttiAllGatherInit, detail::gathered(input, output, num_ranks_));
  }

  // The input has a block for each rank; each gets the fold of its own.
  template <typename In, typename Out, typename Operation>
  void reduce_scatter(const In& input, Out&& output, const Operation& op) {
    run("reduce_scatter", tuttiReduceScatter, detail::scattered(input, output, num_ranks_),
        detail::operator_on<detail::Element<Out>>(op));
  }
  template <typename In, typename Out, typename Operation>
  [[nodiscard]] Request ireduce_scatter(const In& input, Out&& output, const Operation& op) {
    return begin("ireduce_scatter", tuttiIReduceScatter, detail::scattered(input, output, num_ranks_),
                 detail::operator_on<detail::Element<Out>>(op));
  }
  template <typename In, typename Out, typename Operation>
  [[nodiscard]] PersistentRequest reduce_scatter_init(const In& input, Out&& output, const Operation& op) {
    return prepare("reduce_scatter_init", tuttiReduceScatterInit, detail::scattered(input, output, num_ranks_),
                   detail::operator_on<detail::Element<Out>>(op));
  }

  // Copies the root's data to every rank.
  template <typename Out>
  void broadcast(Out&& data, int root) {
    run_one("broadcast", tuttiBcast, detail::output(data), root);
  }
  template <typename Out>
  [[nodiscard]] Request ibroadcast(Out&& data, int root) {
    return begin_one("ibroadcast", tuttiIBcast, detail::output(data), root);
  }
  template <typename Out>
  [[nodiscard]] PersistentRequest broadcast_init(Out&& data, int root) {
    return prepare_one("broadcast_init", tuttiBcastInit, detail::output(data), root);
  }

  // Copies the root's input to every rank's output. Other ranks' input is ignored.
  template <typename In, typename Out>
  void broadcast(const In& input, Out&& output, int root) {
    run("broadcast", tuttiBroadcast, detail::scattered(input, output, 1, rank_ == root), root);
  }
  template <typename In, typename Out>
  [[nodiscard]] Request ibroadcast(const In& input, Out&& output, int root) {
    return begin("ibroadcast", tuttiIBroadcast, detail::scattered(input, output, 1, rank_ == root), root);
  }
  template <typename In, typename Out>
  [[nodiscard]] PersistentRequest broadcast_init(const In& input, Out&& output, int root) {
    return prepare("broadcast_init", tuttiBroadcastInit, detail::scattered(input, output, 1, rank_ == root), root);
  }

  // As all_reduce, with the result on the root alone. Other ranks' output is ignored.
  template <typename In, typename Out, typename Operation>
  void reduce(const In& input, Out&& output, const Operation& op, int root) {
    run("reduce", tuttiReduce, detail::alike(input, output, rank_ == root),
        detail::operator_on<detail::Element<Out>>(op), root);
  }
  template <typename In, typename Out, typename Operation>
  [[nodiscard]] Request ireduce(const In& input, Out&& output, const Operation& op, int root) {
    return begin("ireduce", tuttiIReduce, detail::alike(input, output, rank_ == root),
                 detail::operator_on<detail::Element<Out>>(op), root);
  }
  template <typename In, typename Out, typename Operation>
  [[nodiscard]] PersistentRequest reduce_init(const In& input, Out&& output, const Operation& op, int root) {
    return prepare("reduce_init", tuttiReduceInit, detail::alike(input, output, rank_ == root),
                   detail::operator_on<detail::Element<Out>>(op), root);
  }

  // Block j of rank i becomes block i of rank j.
  template <typename In, typename Out>
  void all_to_all(const In& input, Out&& output) {
    run("all_to_all", tuttiAlltoAll, detail::exchanged(input, output, num_ranks_));
  }
  template <typename In, typename Out>
  [[nodiscard]] Request iall_to_all(const In& input, Out&& output) {
    return begin("iall_to_all", tuttiIAlltoAll, detail::exchanged(input, output, num_ranks_));
  }
  template <typename In, typename Out>
  [[nodiscard]] PersistentRequest all_to_all_init(const In& input, Out&& output) {
    return prepare("all_to_all_init", tuttiAlltoAllInit, detail::exchanged(input, output, num_ranks_));
  }

  // As all_gather, for the root alone.
  template <typename In, typename Out>
  void gather(const In& input, Out&& output, int root) {
    run("gather", tuttiGather, detail::gathered(input, output, num_ranks_, rank_ == root), root);
  }
  template <typename In, typename Out>
  [[nodiscard]] Request igather(const In& input, Out&& output, int root) {
    return begin("igather", tuttiIGather, detail::gathered(input, output, num_ranks_, rank_ == root), root);
  }
  template <typename In, typename Out>
  [[nodiscard]] PersistentRequest gather_init(const In& input, Out&& output, int root) {
    return prepare("gather_init", tuttiGatherInit, detail::gathered(input, output, num_ranks_, rank_ == root), root);
  }

  // The root's input has a block for each rank.
  template <typename In, typename Out>
  void scatter(const In& input, Out&& output, int root) {
    run("scatter", tuttiScatter, detail::scattered(input, output, num_ranks_, rank_ == root), root);
  }
  template <typename In, typename Out>
  [[nodiscard]] Request iscatter(const In& input, Out&& output, int root) {
    return begin("iscatter", tuttiIScatter, detail::scattered(input, output, num_ranks_, rank_ == root), root);
  }
  template <typename In, typename Out>
  [[nodiscard]] PersistentRequest scatter_init(const In& input, Out&& output, int root) {
    return prepare("scatter_init", tuttiScatterInit, detail::scattered(input, output, num_ranks_, rank_ == root), root);
  }

  // scan folds the inputs of all ranks up to this one, exclusive_scan those before it. The latter does not change rank
  // 0's output.
  template <typename In, typename Out, typename Operation>
  void scan(const In& input, Out&& output, const Operation& op) {
    run("scan", tuttiScan, detail::alike(input, output), detail::operator_on<detail::Element<Out>>(op));
  }
  template <typename In, typename Out, typename Operation>
  [[nodiscard]] Request iscan(const In& input, Out&& output, const Operation& op) {
    return begin("iscan", tuttiIScan, detail::alike(input, output), detail::operator_on<detail::Element<Out>>(op));
  }
  template <typename In, typename Out, typename Operation>
  [[nodiscard]] PersistentRequest scan_init(const In& input, Out&& output, const Operation& op) {
    return prepare("scan_init", tuttiScanInit, detail::alike(input, output),
                   detail::operator_on<detail::Element<Out>>(op));
  }
  template <typename In, typename Out, typename Operation>
  void exclusive_scan(const In& input, Out&& output, const Operation& op) {
    run("exclusive_scan", tuttiExScan, detail::alike(input, output), detail::operator_on<detail::Element<Out>>(op));
  }
  template <typename In, typename Out, typename Operation>
  [[nodiscard]] Request iexclusive_scan(const In& input, Out&& output, const Operation& op) {
    return begin("iexclusive_scan", tuttiIExScan, detail::alike(input, output),
                 detail::operator_on<detail::Element<Out>>(op));
  }
  template <typename In, typename Out, typename Operation>
  [[nodiscard]] PersistentRequest exclusive_scan_init(const In& input, Out&& output, const Operation& op) {
    return prepare("exclusive_scan_init", tuttiExScanInit, detail::alike(input, output),
                   detail::operator_on<detail::Element<Out>>(op));
  }

  // Collectives with blocks of different sizes: counts, or Blocks(counts, displacements), which are read once.
  template <typename In, typename Out>
  void all_gather_v(const In& input, Out&& output, const Blocks& to) {
    run_v("all_gather_v", tuttiAllGatherV, detail::gathered_v("all_gather_v", input, output, to, num_ranks_));
  }
  template <typename In, typename Out>
  [[nodiscard]] Request iall_gather_v(const In& input, Out&& output, const Blocks& to) {
    return request_v<Request>("iall_gather_v", tuttiIAllGatherV,
                              detail::gathered_v("iall_gather_v", input, output, to, num_ranks_));
  }
  template <typename In, typename Out>
  [[nodiscard]] PersistentRequest all_gather_v_init(const In& input, Out&& output, const Blocks& to) {
    return request_v<PersistentRequest>("all_gather_v_init", tuttiAllGatherVInit,
                                        detail::gathered_v("all_gather_v_init", input, output, to, num_ranks_));
  }
  template <typename In, typename Out, typename Counts, typename Operation>
  void reduce_scatter_v(const In& input, Out&& output, const Counts& counts, const Operation& op) {
    run_v("reduce_scatter_v", tuttiReduceScatterV,
          detail::folded_v("reduce_scatter_v", input, output, counts, num_ranks_, rank_),
          detail::operator_on<detail::Element<Out>>(op));
  }
  template <typename In, typename Out, typename Counts, typename Operation>
  [[nodiscard]] Request ireduce_scatter_v(const In& input, Out&& output, const Counts& counts, const Operation& op) {
    return request_v<Request>("ireduce_scatter_v", tuttiIReduceScatterV,
                              detail::folded_v("ireduce_scatter_v", input, output, counts, num_ranks_, rank_),
                              detail::operator_on<detail::Element<Out>>(op));
  }
  template <typename In, typename Out, typename Counts, typename Operation>
  [[nodiscard]] PersistentRequest reduce_scatter_v_init(const In& input, Out&& output, const Counts& counts,
                                                        const Operation& op) {
    return request_v<PersistentRequest>(
        "reduce_scatter_v_init", tuttiReduceScatterVInit,
        detail::folded_v("reduce_scatter_v_init", input, output, counts, num_ranks_, rank_),
        detail::operator_on<detail::Element<Out>>(op));
  }
  template <typename In, typename Out>
  void all_to_all_v(const In& input, const Blocks& from, Out&& output, const Blocks& to) {
    run_v("all_to_all_v", tuttiAlltoAllV, detail::exchanged_v("all_to_all_v", input, from, output, to, num_ranks_));
  }
  template <typename In, typename Out>
  [[nodiscard]] Request iall_to_all_v(const In& input, const Blocks& from, Out&& output, const Blocks& to) {
    return request_v<Request>("iall_to_all_v", tuttiIAlltoAllV,
                              detail::exchanged_v("iall_to_all_v", input, from, output, to, num_ranks_));
  }
  template <typename In, typename Out>
  [[nodiscard]] PersistentRequest all_to_all_v_init(const In& input, const Blocks& from, Out&& output,
                                                    const Blocks& to) {
    return request_v<PersistentRequest>("all_to_all_v_init", tuttiAlltoAllVInit,
                                        detail::exchanged_v("all_to_all_v_init", input, from, output, to, num_ranks_));
  }
  template <typename In, typename Out>
  void gather_v(const In& input, Out&& output, const Blocks& to, int root) {
    run_v("gather_v", tuttiGatherV, detail::gathered_v("gather_v", input, output, to, num_ranks_, rank_ == root), root);
  }
  template <typename In, typename Out>
  [[nodiscard]] Request igather_v(const In& input, Out&& output, const Blocks& to, int root) {
    return request_v<Request>("igather_v", tuttiIGatherV,
                              detail::gathered_v("igather_v", input, output, to, num_ranks_, rank_ == root), root);
  }
  template <typename In, typename Out>
  [[nodiscard]] PersistentRequest gather_v_init(const In& input, Out&& output, const Blocks& to, int root) {
    return request_v<PersistentRequest>(
        "gather_v_init", tuttiGatherVInit,
        detail::gathered_v("gather_v_init", input, output, to, num_ranks_, rank_ == root), root);
  }
  template <typename In, typename Out>
  void scatter_v(const In& input, const Blocks& from, Out&& output, int root) {
    run_v("scatter_v", tuttiScatterV, detail::scattered_v("scatter_v", input, from, output, num_ranks_, rank_ == root),
          root);
  }
  template <typename In, typename Out>
  [[nodiscard]] Request iscatter_v(const In& input, const Blocks& from, Out&& output, int root) {
    return request_v<Request>("iscatter_v", tuttiIScatterV,
                              detail::scattered_v("iscatter_v", input, from, output, num_ranks_, rank_ == root), root);
  }
  template <typename In, typename Out>
  [[nodiscard]] PersistentRequest scatter_v_init(const In& input, const Blocks& from, Out&& output, int root) {
    return request_v<PersistentRequest>(
        "scatter_v_init", tuttiScatterVInit,
        detail::scattered_v("scatter_v_init", input, from, output, num_ranks_, rank_ == root), root);
  }

  // Returns when every rank has called it.
  void barrier() { detail::check(tuttiBarrier(comm_), "barrier"); }
  [[nodiscard]] Request ibarrier() { return request<Request>("ibarrier", tuttiIBarrier); }
  [[nodiscard]] PersistentRequest barrier_init() {
    return request<PersistentRequest>("barrier_init", tuttiBarrierInit);
  }

  // To one rank, and from one. Every send has a receive of the same size.
  template <typename In>
  void send(const In& data, int peer) {
    run_one("send", tuttiSend, detail::input(data), peer);
  }
  template <typename In>
  [[nodiscard]] Request isend(const In& data, int peer) {
    return begin_one("isend", tuttiISend, detail::input(data), peer);
  }
  template <typename In>
  [[nodiscard]] PersistentRequest send_init(const In& data, int peer) {
    return prepare_one("send_init", tuttiSendInit, detail::input(data), peer);
  }
  template <typename Out>
  void receive(Out&& data, int peer) {
    run_one("receive", tuttiRecv, detail::output(data), peer);
  }
  template <typename Out>
  [[nodiscard]] Request ireceive(Out&& data, int peer) {
    return begin_one("ireceive", tuttiIRecv, detail::output(data), peer);
  }
  template <typename Out>
  [[nodiscard]] PersistentRequest receive_init(Out&& data, int peer) {
    return prepare_one("receive_init", tuttiRecvInit, detail::output(data), peer);
  }

  // Sends and receives at once; either peer may be this rank. The buffers must not overlap.
  template <typename In, typename Out>
  void send_receive(const In& data, int to, Out&& into, int from) {
    const auto sent = detail::input(data);
    const auto received = detail::output(into);
    static_assert(std::is_same_v<detail::Element<In>, detail::Element<Out>>, "both buffers need the same element type");
    detail::check(tuttiSendRecv(sent.data, sent.count, to, received.data, received.count, from, sent.type, comm_),
                  "send_receive");
  }

  // The algorithm of a call of the collective with that name. Performs nothing.
  template <typename T>
  [[nodiscard]] Algorithm algorithm(const char* collective, const T* input, const T* output, std::size_t count,
                                    Op op = Op::sum, int root = 0) const {
    Algorithm chosen{};
    detail::check(tuttiGetAlgorithm(collective, input, output, count, detail::data_type<T>(),
                                    static_cast<tuttiRedOp_t>(op), root, comm_, &chosen.name, &chosen.why),
                  "algorithm");
    return chosen;
  }

  // With TUTTI_FABRIC=simulate:FABRIC; see facts.hpp. The program computes that long: nothing in real time.
  [[nodiscard]] VirtualTime virtual_time() const { return VirtualTime::of(comm_); }
  void advance_virtual_time(VirtualTime::Duration computed) {
    detail::check(tuttiAdvanceVirtualTime(comm_, computed.count()), "advance_virtual_time");
  }

  // What this rank has done so far.
  [[nodiscard]] std::vector<Statistic> statistics() const { return Statistic::all_of(comm_); }

 private:
  template <typename Function, typename... Rest>
  void run(const char* what, Function function, const detail::Buffers& of, Rest... rest) {
    of.check(what);
    detail::check(function(of.input, of.output, of.count, of.type, rest..., comm_), what);
  }
  template <typename Function, typename Buffer, typename... Rest>
  void run_one(const char* what, Function function, const Buffer& of, Rest... rest) {
    detail::check(function(of.data, of.count, of.type, rest..., comm_), what);
  }
  template <typename Made, typename Function, typename... Arguments>
  [[nodiscard]] Made request(const char* what, Function function, Arguments... arguments) {
    tuttiRequest_t made = nullptr;
    detail::check(function(arguments..., comm_, &made), what);
    return Made(made, comm_);
  }
  template <typename Function, typename... Of, typename... Rest>
  void run_v(const char* what, Function function, const std::tuple<Of...>& of, Rest... rest) {
    detail::check(std::apply([&](Of... each) { return function(each..., rest..., comm_); }, of), what);
  }
  template <typename Made, typename Function, typename... Of, typename... Rest>
  [[nodiscard]] Made request_v(const char* what, Function function, const std::tuple<Of...>& of, Rest... rest) {
    return std::apply([&](Of... each) { return request<Made>(what, function, each..., rest...); }, of);
  }
  template <typename Function, typename... Rest>
  [[nodiscard]] Request begin(const char* what, Function function, const detail::Buffers& of, Rest... rest) {
    of.check(what);
    return request<Request>(what, function, of.input, of.output, of.count, of.type, rest...);
  }
  template <typename Function, typename Buffer, typename... Rest>
  [[nodiscard]] Request begin_one(const char* what, Function function, const Buffer& of, Rest... rest) {
    return request<Request>(what, function, of.data, of.count, of.type, rest...);
  }
  template <typename Function, typename... Rest>
  [[nodiscard]] PersistentRequest prepare(const char* what, Function function, const detail::Buffers& of,
                                          Rest... rest) {
    of.check(what);
    return request<PersistentRequest>(what, function, of.input, of.output, of.count, of.type, rest...);
  }
  template <typename Function, typename Buffer, typename... Rest>
  [[nodiscard]] PersistentRequest prepare_one(const char* what, Function function, const Buffer& of, Rest... rest) {
    return request<PersistentRequest>(what, function, of.data, of.count, of.type, rest...);
  }

  tuttiComm_t comm_ = nullptr;
  int rank_ = -1;
  int num_ranks_ = 0;
  detail::Unwinding unwinding_;
};

}  // namespace v0_1
}  // namespace tutti
