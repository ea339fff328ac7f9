// SPDX-License-Identifier: Apache-2.0
#include "data/kernel.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "data/kernel_set.hpp"

namespace tutti {
namespace {

// What a pass holds on the stack where its result is worked on before it is stored: small against the first cache.
constexpr std::size_t kBlockBytes = 8192;

using FindSet = const KernelSet& (*)();

// In the order of Type.
constexpr std::array<FindSet, kNumTypes> kSets = {
    &i8_kernels,  &u8_kernels,  &i32_kernels,  &u32_kernels,    &i64_kernels,    &u64_kernels, &f16_kernels,
    &f32_kernels, &f64_kernels, &bf16_kernels, &f8e4m3_kernels, &f8e5m2_kernels, &i16_kernels, &u16_kernels,
};

const KernelSet& kernels_of(Type type) { return kSets[static_cast<std::size_t>(type)](); }

std::uint8_t* bytes_of(void* pointer) { return static_cast<std::uint8_t*>(pointer); }
const std::uint8_t* bytes_of(const void* pointer) { return static_cast<const std::uint8_t*>(pointer); }

// x / divisor for any x below 2^32 without a division: the high half of x times ⌈2^64 / divisor⌉ is exact.
// (D. Lemire, O. Kaser, N. Kurz: Faster remainder by direct computation, 2019.)
class Divider32 {
 public:
  // divisor is in 2 … 2^32 − 1.
  explicit Divider32(std::uint64_t divisor) : reciprocal_(~std::uint64_t{0} / divisor + 1) {}
  [[nodiscard]] std::uint32_t operator()(std::uint32_t x) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint32_t>((static_cast<Wide>(reciprocal_) * x) >> 64);
  }

 private:
  std::uint64_t reciprocal_;
};

// Divides the magnitude and gives the sign back: truncation towards zero.
template <class T, class DivideMagnitude>
void divide_all(T* values, std::size_t count, const DivideMagnitude& divide) {
  using Bits = std::make_unsigned_t<T>;
  for (std::size_t i = 0; i < count; ++i) {
    const bool negative = values[i] < 0;
    const Bits bits = static_cast<Bits>(values[i]);
    const Bits magnitude = negative ? static_cast<Bits>(0 - bits) : bits;
    const Bits quotient = divide(magnitude);
    values[i] = static_cast<T>(negative ? static_cast<Bits>(0 - quotient) : quotient);
  }
}

template <class T>
void divide_values(void* block, std::size_t count, std::uint64_t divisor) {
  using Bits = std::make_unsigned_t<T>;
  T* values = static_cast<T*>(block);
  if (divisor <= 1) return;
  if constexpr (sizeof(T) == 8) {
    divide_all(values, count, [divisor](Bits magnitude) { return magnitude / divisor; });
  } else {
    if (divisor > 0xffffffff) {
      std::fill_n(values, count, T{0});
      return;
    }
    const Divider32 by(divisor);
    divide_all(values, count, [&by](Bits magnitude) { return static_cast<Bits>(by(magnitude)); });
  }
}

void divide_integers(Type type, void* block, std::size_t count, std::uint64_t divisor) {
  switch (type) {
    case Type::i8: return divide_values<std::int8_t>(block, count, divisor);
    case Type::u8: return divide_values<std::uint8_t>(block, count, divisor);
    case Type::i16: return divide_values<std::int16_t>(block, count, divisor);
    case Type::u16: return divide_values<std::uint16_t>(block, count, divisor);
    case Type::i32: return divide_values<std::int32_t>(block, count, divisor);
    case Type::u32: return divide_values<std::uint32_t>(block, count, divisor);
    case Type::i64: return divide_values<std::int64_t>(block, count, divisor);
    case Type::u64: return divide_values<std::uint64_t>(block, count, divisor);
    case Type::f16:
    case Type::f32:
    case Type::f64:
    case Type::bf16:
    case Type::f8e4m3:
    case Type::f8e5m2: return;  // the kernels of floats divide in registers
  }
}

// Stores one finished block to every destination, `offset` bytes in.
void spread_block(const ReduceCall& call, std::size_t offset, const void* block, std::size_t bytes, bool streaming) {
  for (std::uint32_t d = 0; d < call.num_destinations; ++d) {
    std::uint8_t* to = bytes_of(call.destinations[d]) + offset;
    if (streaming) {
      stream_bytes(to, block, bytes);
    } else {
      std::memcpy(to, block, bytes);
    }
  }
}

// The sum of `count` elements from `offset` bytes into the sources. The sources move along by a copy of their
// addresses, sixteen at a time: with more of them the block is folded in several calls, which is the same left fold.
void sum_block(const Operator& op, const ReduceCall& call, std::size_t offset, std::size_t count, void* block) {
  const Operator sum = {.op = Op::sum, .type = op.type};
  const ReduceKernel kernel = reduce_kernel(op.type, Op::sum, false);
  std::array<const void*, 16> sources{};
  std::uint32_t taken = 0;
  while (taken < call.num_sources) {
    std::uint32_t filled = 0;
    if (taken > 0) sources[filled++] = block;
    while (filled < sources.size() && taken < call.num_sources)
      sources[filled++] = bytes_of(call.sources[taken++]) + offset;
    kernel(sum, {.destinations = &block,
                 .num_destinations = 1,
                 .sources = sources.data(),
                 .num_sources = filled,
                 .count = count});
  }
}

void average_in_blocks(const Operator& op, const ReduceCall& call, bool streaming) {
  if (!call.final) {
    const KernelSet::Kernels& sum = kernels_of(op.type)[Op::sum];
    return (streaming ? sum.streaming : sum.plain)(op, call);
  }
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): written before it is read; zeros would cost a pass
  alignas(64) std::array<std::uint8_t, kBlockBytes> block;
  const std::size_t size = size_of(op.type);
  for (std::size_t done = 0; done < call.count;) {
    const std::size_t count = std::min(call.count - done, kBlockBytes / size);
    sum_block(op, call, done * size, count, block.data());
    divide_integers(op.type, block.data(), count, op.divisor);
    spread_block(call, done * size, block.data(), count * size, streaming);
    done += count;
  }
  if (streaming) fence_streams();
}

// A caller's function wants aligned elements, so a source that is not is copied first.
void reduce_by_function(const Operator& op, const ReduceCall& call) {
  if (call.num_sources == 1) {
    return multi_copy(call.destinations, call.num_destinations, call.sources[0], call.count * size_of(op.type), false);
  }
  // NOLINTBEGIN(cppcoreguidelines-pro-type-member-init): written before they are read; zeros would cost a pass
  alignas(64) std::array<std::uint8_t, kBlockBytes> accumulated;
  alignas(64) std::array<std::uint8_t, kBlockBytes> aligned;
  // NOLINTEND(cppcoreguidelines-pro-type-member-init)
  const std::size_t size = size_of(op.type);
  for (std::size_t done = 0; done < call.count;) {
    const std::size_t count = std::min(call.count - done, kBlockBytes / size);
    const std::size_t offset = done * size;
    std::memcpy(accumulated.data(), bytes_of(call.sources[0]) + offset, count * size);
    for (std::uint32_t j = 1; j < call.num_sources; ++j) {
      const std::uint8_t* next = bytes_of(call.sources[j]) + offset;
      if (std::bit_cast<std::uintptr_t>(next) % size != 0) {
        std::memcpy(aligned.data(), next, count * size);
        next = aligned.data();
      }
      op.function(accumulated.data(), next, count, op.context);
    }
    spread_block(call, offset, accumulated.data(), count * size, false);
    done += count;
  }
}

}  // namespace

void average_integers(const Operator& op, const ReduceCall& call) { average_in_blocks(op, call, false); }

void average_integers_streaming(const Operator& op, const ReduceCall& call) { average_in_blocks(op, call, true); }

ReduceKernel reduce_kernel(Type type, Op op, bool streaming) {
  if (op == Op::user) return &reduce_by_function;
  const KernelSet::Kernels& kernels = kernels_of(type)[op];
  return streaming ? kernels.streaming : kernels.plain;
}

PairKernel pair_kernel(Type type, Op op) { return op == Op::user ? nullptr : kernels_of(type)[op].pair; }

void copy(void* destination, const void* source, std::size_t bytes, bool streaming) {
  if (bytes == 0 || destination == source) return;
  if (!streaming) {
    std::memcpy(destination, source, bytes);
    return;
  }
  stream_bytes(destination, source, bytes);
  fence_streams();
}

void multi_copy(void* const* destinations, std::uint32_t num_destinations, const void* source, std::size_t bytes,
                bool streaming) {
  if (num_destinations == 1) return copy(destinations[0], source, bytes, streaming);
  for (std::size_t offset = 0; offset < bytes; offset += kBlockBytes) {
    const std::uint8_t* from = bytes_of(source) + offset;
    const std::size_t block = std::min(bytes - offset, kBlockBytes);
    for (std::uint32_t d = 0; d < num_destinations; ++d) {
      std::uint8_t* to = bytes_of(destinations[d]) + offset;
      if (to == from) continue;
      if (streaming) {
        stream_bytes(to, from, block);
      } else {
        std::memcpy(to, from, block);
      }
    }
  }
  if (streaming) fence_streams();
}

void first_touch_copy(const Operator& op, void* destination, const void* source, std::size_t count, bool streaming) {
  if (op.op != Op::premultiplied_sum) return copy(destination, source, count * size_of(op.type), streaming);
  reduce_kernel(op.type, op.op, streaming)(op, {.destinations = &destination,
                                                .num_destinations = 1,
                                                .sources = &source,
                                                .num_sources = 1,
                                                .count = count,
                                                .raw_source = 0});
}

}  // namespace tutti
