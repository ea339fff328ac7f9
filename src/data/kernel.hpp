// SPDX-License-Identifier: Apache-2.0
// Reduction kernels: k sources into m destinations in one pass over memory, chosen once for the processor at hand.
// Nothing here owns memory or keeps state; everything may be called from any number of threads at once.
//
// What a kernel computes, for every element: the left fold in the order of the sources, ((s0 ∘ s1) ∘ s2) …, stored to
// every destination. The bits are the same on every instruction set:
//  - f32 and f64 fold in their own type; f16, bf16 and the 8-bit floats widen to f32, and are rounded once, at the end
//    of the call (small_float.hpp has the rules). Nothing is contracted to a fused multiply-add.
//  - Integers wrap modulo 2^n.
//  - An average is a sum; a call marked `final` divides it: floats in f32 (f64) before the one rounding, integers after
//    the wrapped sum, truncating towards zero.
//  - A pre-multiplied sum multiplies the one raw source by the scalar, rounds that to the type, and then adds.
//  - The maximum and minimum of floats are NaN if any source is, and take −0 to be less than +0.
//  - Logical operators take anything but ±0 to be true, NaN too, and give 1 or 0 of the type.
//  - An arithmetic result that is NaN is always the type's one NaN: positive, quiet, without payload.
//  - One source with nothing to scale or divide is a copy, bit for bit (also of NaNs, also under logical operators).
//
// A destination is exactly one of the sources (in place) or overlaps none. Any byte alignment is right. Nothing outside
// of the `count` elements is read or written. Streaming variants write past the caches, and end with the fence that
// orders these writes before whatever the caller publishes next (a release store alone does not).
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/type.hpp"

namespace tutti {

// A caller's own operator: accumulator[i] = accumulator[i] ∘ next[i]. Both are aligned for the type. It is called on
// runs of elements: how many at a time is not promised.
using UserFunction = void (*)(void* accumulator, const void* next, std::size_t count, void* context);

struct Operator {
  Op op = Op::sum;
  Type type = Type::f32;
  // premultiplied_sum: this rank's factor. Floats take `scalar` (f64 as it is, the others rounded to f32), integers
  // take `integer_scalar` modulo 2^n (two's complement for the signed), so that 64-bit factors are exact.
  double scalar = 1.0;
  std::uint64_t integer_scalar = 1;
  // average: by what the sum is divided, at least 1.
  std::uint64_t divisor = 1;
  // user: borrowed for as long as the operator is used.
  UserFunction function = nullptr;
  void* context = nullptr;
  bool commutative = true;
};

inline constexpr std::uint32_t kNoSource = ~0U;

struct ReduceCall {
  void* const* destinations = nullptr;
  std::uint32_t num_destinations = 0;
  const void* const* sources = nullptr;
  std::uint32_t num_sources = 0;  // at least 1
  std::size_t count = 0;          // elements
  // The one source that is this rank's own untouched input: a pre-multiplied sum scales it.
  std::uint32_t raw_source = kNoSource;
  // Nothing is added after this call: an average divides now.
  bool final = false;
};

using ReduceKernel = void (*)(const Operator& op, const ReduceCall& call);

// The kernel for this processor, or null where the operator is not defined on the type. A streaming kernel for the
// 8-bit floats and for a user's function is the plain one: its stores are too small or too rare to gain.
[[nodiscard]] ReduceKernel reduce_kernel(Type type, Op op, bool streaming);

// The same of two sources into one destination where nothing but their order matters: null for operators that take more
// than that from the call, and where it would be no faster. For small messages between two ranks, where every
// nanosecond of set-up shows.
using PairKernel = void (*)(const void* first, const void* second, void* destination, std::size_t count);
[[nodiscard]] PairKernel pair_kernel(Type type, Op op);

// `destination` and `source` are the same or do not overlap.
void copy(void* destination, const void* source, std::size_t bytes, bool streaming);

// The same bytes to every destination, reading the source once.
void multi_copy(void* const* destinations, std::uint32_t num_destinations, const void* source, std::size_t bytes,
                bool streaming);

// The first touch of this rank's own input on its way to where others read it: scaled for a pre-multiplied sum,
// otherwise copied.
void first_touch_copy(const Operator& op, void* destination, const void* source, std::size_t count, bool streaming);

}  // namespace tutti
