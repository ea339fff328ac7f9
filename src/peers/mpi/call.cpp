// SPDX-License-Identifier: Apache-2.0
#include "peers/mpi/call.hpp"

#include <climits>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <mpi.h>

namespace tutti::peers {

namespace {

std::optional<MPI_Datatype> native_type(Type type) {
  switch (type) {
    case Type::i8: return MPI_INT8_T;
    case Type::u8: return MPI_UINT8_T;
    case Type::i16: return MPI_INT16_T;
    case Type::u16: return MPI_UINT16_T;
    case Type::i32: return MPI_INT32_T;
    case Type::u32: return MPI_UINT32_T;
    case Type::i64: return MPI_INT64_T;
    case Type::u64: return MPI_UINT64_T;
    case Type::f32: return MPI_FLOAT;
    case Type::f64: return MPI_DOUBLE;
    case Type::f16:
    case Type::bf16:
    case Type::f8e4m3:
    case Type::f8e5m2: return std::nullopt;
  }
  return std::nullopt;
}

// What is only moved goes as anything of its size.
std::optional<MPI_Datatype> mpi_type(const Request& request) {
  const std::optional<MPI_Datatype> native = native_type(request.type);
  if (native || facts_of(request.collective).folds) return native;
  return size_of(request.type) == 1 ? MPI_UINT8_T : MPI_UINT16_T;
}

std::optional<MPI_Op> mpi_op(Op op, Type type) {
  const bool integer = !is_floating(type);
  switch (op) {
    case Op::sum: return MPI_SUM;
    case Op::product: return MPI_PROD;
    case Op::maximum: return MPI_MAX;
    case Op::minimum: return MPI_MIN;
    case Op::bit_and: return MPI_BAND;
    case Op::bit_or: return MPI_BOR;
    case Op::bit_xor: return MPI_BXOR;
    case Op::logical_and: return integer ? std::optional(MPI_LAND) : std::nullopt;
    case Op::logical_or: return integer ? std::optional(MPI_LOR) : std::nullopt;
    case Op::logical_xor: return integer ? std::optional(MPI_LXOR) : std::nullopt;
    default: return std::nullopt;
  }
}

std::function<void()> call_of(const Request& asked, int rank, MPI_Datatype type, MPI_Op op) {
  const int count = static_cast<int>(asked.count);
  const int root = asked.root;
  void* output = asked.output;
  void* input = asked.in_place ? MPI_IN_PLACE : asked.input;
  switch (asked.collective) {
    case Collective::all_reduce: return [=] { MPI_Allreduce(input, output, count, type, op, MPI_COMM_WORLD); };
    case Collective::all_gather: return [=] { MPI_Allgather(input, count, type, output, count, type, MPI_COMM_WORLD); };
    case Collective::reduce_scatter: {
      // In place, MPI takes the whole input from where it puts the result.
      void* block = asked.in_place ? asked.input : output;
      return [=] { MPI_Reduce_scatter_block(input, block, count, type, op, MPI_COMM_WORLD); };
    }
    case Collective::broadcast: return [=] { MPI_Bcast(output, count, type, root, MPI_COMM_WORLD); };
    case Collective::reduce:
      if (rank != root) input = asked.input;
      return [=] { MPI_Reduce(input, output, count, type, op, root, MPI_COMM_WORLD); };
    case Collective::all_to_all: return [=] { MPI_Alltoall(input, count, type, output, count, type, MPI_COMM_WORLD); };
    case Collective::gather:
      if (rank != root) input = asked.input;
      return [=] { MPI_Gather(input, count, type, output, count, type, root, MPI_COMM_WORLD); };
    case Collective::scatter: {
      input = asked.input;
      if (asked.in_place && rank == root) output = MPI_IN_PLACE;
      return [=] { MPI_Scatter(input, count, type, output, count, type, root, MPI_COMM_WORLD); };
    }
    case Collective::scan: return [=] { MPI_Scan(input, output, count, type, op, MPI_COMM_WORLD); };
    case Collective::exclusive_scan: return [=] { MPI_Exscan(input, output, count, type, op, MPI_COMM_WORLD); };
    case Collective::barrier: return [] { MPI_Barrier(MPI_COMM_WORLD); };
    default: return nullptr;
  }
}

// What MPI calls the type and the operator, where it can do the request.
struct Words {
  MPI_Datatype type;
  MPI_Op op;
};
Result<Words> words_of(const Request& request) {
  const std::optional<MPI_Datatype> type = mpi_type(request);
  if (!type) return unsupported(fmt::format("MPI has no type {}", name_of(request.type)));
  const std::optional<MPI_Op> op = mpi_op(request.op, request.type);
  if (facts_of(request.collective).folds && !op)
    return unsupported(fmt::format("MPI has no operator {} on {}", name_of(request.op), name_of(request.type)));
  if (request.count > INT_MAX)
    return unsupported(fmt::format("MPI takes at most {} elements, these are {}", INT_MAX, request.count));
  return Words{*type, op.value_or(MPI_SUM)};
}

}  // namespace

Result<Operation> to_mpi(const Request& request, int rank) {
  TUTTI_TRY_ASSIGN(const Words words, words_of(request));
  if (request.collective == Collective::broadcast && !request.in_place)
    return unsupported("MPI_Bcast has one buffer: in_place=1 is what it does");
  Operation operation;
  operation.run = call_of(request, rank, words.type, words.op);
  if (request.collective == Collective::reduce_scatter && request.in_place) operation.output = request.input;
  return operation;
}

Result<Pending> to_pending_mpi(const Request& request) {
  TUTTI_TRY_ASSIGN(const Words words, words_of(request));
  const auto pending = std::make_shared<MPI_Request>(MPI_REQUEST_NULL);
  void* const input = request.in_place ? MPI_IN_PLACE : request.input;
  return Pending{.start =
                     [=, output = request.output, count = static_cast<int>(request.count)] {
                       MPI_Iallreduce(input, output, count, words.type, words.op, MPI_COMM_WORLD, pending.get());
                     },
                 .wait = [pending] { MPI_Wait(pending.get(), MPI_STATUS_IGNORE); }};
}

}  // namespace tutti::peers
