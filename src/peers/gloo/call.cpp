// SPDX-License-Identifier: Apache-2.0
#include "peers/gloo/call.hpp"

#include <climits>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/reduce_scatter.h>
#include <gloo/types.h>

namespace tutti::peers {

namespace {

using ContextPointer = std::shared_ptr<gloo::Context>;
using Function = void (*)(void*, const void*, const void*, std::size_t);

template <typename T>
Function function_for(Op op) {
  switch (op) {
    case Op::sum: return &gloo::sum<T>;
    case Op::product: return &gloo::product<T>;
    case Op::maximum: return &gloo::max<T>;
    case Op::minimum: return &gloo::min<T>;
    default: return nullptr;
  }
}

template <typename T>
const gloo::ReductionFunction<T>* reduction_for(Op op) {
  switch (op) {
    case Op::product: return gloo::ReductionFunction<T>::product;
    case Op::maximum: return gloo::ReductionFunction<T>::max;
    case Op::minimum: return gloo::ReductionFunction<T>::min;
    default: return gloo::ReductionFunction<T>::sum;
  }
}

// Input and output as the newer calls take them; in place there is no input.
template <typename T, typename Options>
void set_buffers(Options& options, const Request& request, std::size_t input_count, std::size_t output_count) {
  if (!request.in_place) options.setInput(static_cast<T*>(request.input), input_count);
  void* whole = request.in_place && input_count > output_count ? request.input : request.output;
  options.setOutput(static_cast<T*>(whole), output_count);
}

template <typename T>
Operation all_reduce(const Request& request, const ContextPointer& context, GlooAlgorithm algorithm) {
  const auto options = std::make_shared<gloo::AllreduceOptions>(context);
  set_buffers<T>(*options, request, request.count, request.count);
  options->setReduceFunction(function_for<T>(request.op));
  if (algorithm == GlooAlgorithm::ring) options->setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
  if (algorithm == GlooAlgorithm::bcube) options->setAlgorithm(gloo::AllreduceOptions::Algorithm::BCUBE);
  return {[options] { gloo::allreduce(*options); }};
}

template <typename T>
Operation all_gather(const Request& request, const ContextPointer& context) {
  const auto options = std::make_shared<gloo::AllgatherOptions>(context);
  set_buffers<T>(*options, request, request.count, request.count * static_cast<std::size_t>(context->size));
  return {[options] { gloo::allgather(*options); }};
}

template <typename T>
Operation broadcast(const Request& request, const ContextPointer& context) {
  const auto options = std::make_shared<gloo::BroadcastOptions>(context);
  const bool has_input = !request.in_place && context->rank == request.root;
  if (has_input) options->setInput(static_cast<T*>(request.input), request.count);
  options->setOutput(static_cast<T*>(request.output), request.count);
  options->setRoot(request.root);
  return {[options] { gloo::broadcast(*options); }};
}

template <typename T>
Operation reduce(const Request& request, const ContextPointer& context) {
  const auto options = std::make_shared<gloo::ReduceOptions>(context);
  set_buffers<T>(*options, request, request.count, request.count);
  options->setReduceFunction(function_for<T>(request.op));
  options->setRoot(request.root);
  return {[options] { gloo::reduce(*options); }};
}

template <typename T>
Operation all_to_all(const Request& request, const ContextPointer& context) {
  const auto options = std::make_shared<gloo::AlltoallOptions>(context);
  const std::size_t all = request.count * static_cast<std::size_t>(context->size);
  options->setInput(static_cast<T*>(request.input), all);
  options->setOutput(static_cast<T*>(request.output), all);
  return {[options] { gloo::alltoall(*options); }};
}

// Gloo's works on the input and leaves the result at its beginning; who wants to keep the input has to copy, and so it
// is timed.
template <typename T>
Operation reduce_scatter(const Request& request, const ContextPointer& context) {
  const std::size_t all = request.count * static_cast<std::size_t>(context->size);
  const std::size_t block_bytes = request.count * sizeof(T);
  const auto room = std::make_shared<std::vector<T>>(request.in_place ? 0 : all);
  T* work = request.in_place ? static_cast<T*>(request.input) : room->data();
  const std::vector<int> counts(static_cast<std::size_t>(context->size), static_cast<int>(request.count));
  const auto algorithm = std::make_shared<gloo::ReduceScatterHalvingDoubling<T>>(
      context, std::vector<T*>{work}, static_cast<int>(all), counts, reduction_for<T>(request.op));
  if (request.in_place) return {[algorithm] { algorithm->run(); }, request.input};
  const void* input = request.input;
  void* output = request.output;
  return {[=] {
    std::memcpy(room->data(), input, all * sizeof(T));
    algorithm->run();
    std::memcpy(output, room->data(), block_bytes);
  }};
}

template <typename T>
Result<Operation> typed(const Request& request, const ContextPointer& context, GlooAlgorithm algorithm) {
  if (facts_of(request.collective).folds && function_for<T>(request.op) == nullptr)
    return unsupported(fmt::format("Gloo has no operator {}", name_of(request.op)));
  switch (request.collective) {
    case Collective::all_reduce: return all_reduce<T>(request, context, algorithm);
    case Collective::all_gather: return all_gather<T>(request, context);
    case Collective::reduce_scatter: return reduce_scatter<T>(request, context);
    case Collective::broadcast: return broadcast<T>(request, context);
    case Collective::reduce: return reduce<T>(request, context);
    case Collective::all_to_all: return all_to_all<T>(request, context);
    case Collective::barrier: break;
    default: return unsupported(fmt::format("Gloo is not asked for {}", name_of(request.collective)));
  }
  const auto options = std::make_shared<gloo::BarrierOptions>(context);
  return Operation{[options] { gloo::barrier(*options); }};
}

}  // namespace

Result<Operation> to_gloo(const Request& request, const ContextPointer& context, GlooAlgorithm algorithm) {
  if (request.collective == Collective::all_to_all && request.in_place)
    return unsupported("Gloo's all-to-all needs two buffers");
  if (request.collective == Collective::reduce_scatter &&
      request.count * static_cast<std::size_t>(context->size) > INT_MAX)
    return unsupported(fmt::format("Gloo's reduce-scatter takes at most {} elements", INT_MAX));
  switch (request.type) {
    case Type::i8: return typed<std::int8_t>(request, context, algorithm);
    case Type::u8: return typed<std::uint8_t>(request, context, algorithm);
    case Type::i16: return typed<std::int16_t>(request, context, algorithm);
    case Type::u16: return typed<std::uint16_t>(request, context, algorithm);
    case Type::i32: return typed<std::int32_t>(request, context, algorithm);
    case Type::u32: return typed<std::uint32_t>(request, context, algorithm);
    case Type::i64: return typed<std::int64_t>(request, context, algorithm);
    case Type::u64: return typed<std::uint64_t>(request, context, algorithm);
    case Type::f32: return typed<float>(request, context, algorithm);
    case Type::f64: return typed<double>(request, context, algorithm);
    default: break;
  }
  if (facts_of(request.collective).folds)
    return unsupported(fmt::format("Gloo is not asked for {}", name_of(request.type)));
  // What is only moved goes as anything of its size.
  return size_of(request.type) == 1 ? typed<std::uint8_t>(request, context, algorithm)
                                    : typed<std::uint16_t>(request, context, algorithm);
}

}  // namespace tutti::peers
