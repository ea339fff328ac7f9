// SPDX-License-Identifier: Apache-2.0
#include "peers/nccl/call.hpp"

#include <bit>
#include <memory>

#include <fmt/format.h>

#include "peers/on_device/mirror.hpp"
#include "peers/on_device/must.hpp"

namespace tutti::peers::nccl {

namespace {

using on_device::Device;
using on_device::Mirror;
using on_device::must;

constexpr int kU8 = 1;

struct Call {
  const void* input = nullptr;
  void* output = nullptr;
  std::size_t count = 0;
  int type = 0;
  int op = 0;
  int root = 0;
  std::size_t block_bytes = 0;
};

int all_to_all(const Call& call, const Rank& rank) {
  const Library& library = rank.library;
  Stream* const stream = rank.queue.stream();
  int result = library.group_start();
  for (int other = 0; other < rank.num_ranks && result == 0; ++other) {
    const std::size_t offset = static_cast<std::size_t>(other) * call.block_bytes;
    result = library.send(static_cast<const std::byte*>(call.input) + offset, call.count, call.type, other, rank.comm,
                          stream);
    if (result == 0)
      result =
          library.recv(static_cast<std::byte*>(call.output) + offset, call.count, call.type, other, rank.comm, stream);
  }
  const int ended = library.group_end();
  return result != 0 ? result : ended;
}

// What puts the call into the stream; it comes back before the device is done.
struct Enqueue {
  const char* name = "";
  std::function<int()> call;

  void operator()(const Rank& rank) const {
    const int result = call();
    if (result != 0) must(rank.library.status_of(result, name, rank.comm));
  }
};

Enqueue enqueuing(Collective collective, const Call& call, const Rank& rank) {
  const Library& library = rank.library;
  Comm* const comm = rank.comm;
  Stream* const stream = rank.queue.stream();
  switch (collective) {
    case Collective::all_reduce:
      return {"ncclAllReduce", [=, &library] {
                return library.all_reduce(call.input, call.output, call.count, call.type, call.op, comm, stream);
              }};
    case Collective::all_gather:
      return {"ncclAllGather", [=, &library] {
                return library.all_gather(call.input, call.output, call.count, call.type, comm, stream);
              }};
    case Collective::reduce_scatter:
      return {"ncclReduceScatter", [=, &library] {
                return library.reduce_scatter(call.input, call.output, call.count, call.type, call.op, comm, stream);
              }};
    case Collective::broadcast:
      return {"ncclBroadcast", [=, &library] {
                return library.broadcast(call.input, call.output, call.count, call.type, call.root, comm, stream);
              }};
    case Collective::reduce:
      return {"ncclReduce", [=, &library] {
                return library.reduce(call.input, call.output, call.count, call.type, call.op, call.root, comm, stream);
              }};
    case Collective::all_to_all: return {"ncclSend and ncclRecv", [=, &rank] { return all_to_all(call, rank); }};
    default: break;
  }
  return {};
}

// A first call, which also connects what calls of its kind need. Where an algorithm was forced that cannot be had for
// it, NCCL says so on all ranks alike, and it is not for this machine.
Status try_out(const Enqueue& enqueue, const Rank& rank) {
  constexpr int kInvalidUsage = 5;
  const int result = enqueue.call();
  const Status status = rank.library.status_of(result, enqueue.name, rank.comm);
  if (result == kInvalidUsage && rank.is_forced) return unsupported(std::string(status.message()));
  TUTTI_TRY(status);
  return rank.queue.synchronize();
}

// NCCL averages floats by scaling each input, which rounds where 1/n is no float.
bool is_exact(const Request& request, int num_ranks) {
  const bool scales = facts_of(request.collective).folds && request.op == Op::average && is_floating(request.type);
  return !scales || std::has_single_bit(static_cast<unsigned>(num_ranks));
}

}  // namespace

std::optional<int> native_type(Type type, int version) {
  switch (type) {
    case Type::i8: return 0;
    case Type::u8: return kU8;
    case Type::i32: return 2;
    case Type::u32: return 3;
    case Type::i64: return 4;
    case Type::u64: return 5;
    case Type::f16: return 6;
    case Type::f32: return 7;
    case Type::f64: return 8;
    case Type::bf16: return 9;
    case Type::f8e4m3: return version >= kStrictVersion ? std::optional(10) : std::nullopt;
    case Type::f8e5m2: return version >= kStrictVersion ? std::optional(11) : std::nullopt;
    case Type::i16:
    case Type::u16: return std::nullopt;
  }
  return std::nullopt;
}

std::optional<int> native_op(Op op) {
  switch (op) {
    case Op::sum: return 0;
    case Op::product: return 1;
    case Op::maximum: return 2;
    case Op::minimum: return 3;
    case Op::average: return 4;
    default: return std::nullopt;
  }
}

Result<Operation> to_nccl(const Request& request, const Rank& rank) {
  const std::string& name = rank.library.name;
  switch (request.collective) {
    case Collective::gather:
    case Collective::scatter:
    case Collective::scan:
    case Collective::exclusive_scan:
    case Collective::barrier: return unsupported(fmt::format("{} has no {}", name, name_of(request.collective)));
    default: break;
  }
  if (request.collective == Collective::all_to_all && request.in_place)
    return unsupported("sends and receives of one group want two buffers");
  Call call{.count = request.count, .root = request.root, .block_bytes = request.count * size_of(request.type)};
  const std::optional<int> type = native_type(request.type, rank.library.version);
  const std::optional<int> op = native_op(request.op);
  if (facts_of(request.collective).folds) {
    if (!type) return unsupported(fmt::format("{} has no type {}", name, name_of(request.type)));
    if (!op) return unsupported(fmt::format("{} has no operator {}", name, name_of(request.op)));
    call.op = *op;
  }
  call.type = type.value_or(kU8);
  // What is only moved goes as bytes where it has no name.
  if (!type) call.count = call.block_bytes;
  Device& device = rank.queue.device();
  TUTTI_TRY_ASSIGN(const std::shared_ptr<Mirror> mirror,
                   Mirror::make(request, rank.num_ranks, device, Mirror::ordinary(device)));
  call.input = mirror->request().input;
  call.output = mirror->request().output;
  const Enqueue enqueue = enqueuing(request.collective, call, rank);
  TUTTI_TRY(try_out(enqueue, rank));
  const std::size_t bytes = call.block_bytes * static_cast<std::size_t>(rank.num_ranks);
  Operation operation;
  operation.run = [enqueue, &rank] {
    enqueue(rank);
    must(rank.queue.synchronize());
  };
  operation.load = [mirror] { mirror->load(); };
  operation.store = [mirror] { mirror->store(); };
  operation.other_microseconds = [enqueue, bytes, &rank] {
    return rank.queue.microseconds_of([&] { enqueue(rank); }, bytes);
  };
  operation.is_exact = is_exact(request, rank.num_ranks);
  return operation;
}

}  // namespace tutti::peers::nccl
