// SPDX-License-Identifier: Apache-2.0
// Inputs whose reduced result is known exactly, for every type, operator and number of ranks, in whatever order and
// with whatever brackets the ranks are reduced. Pure functions; thread-safe.
//
// How it is exact: for the sums and products of floats the ranks share a budget at each element. Σ|contribution| (of a
// product: Σ|exponent|) never passes what the type counts without rounding, so that every partial result is exact; with
// more ranks than budget, those that contribute take turns from element to element, and the others hold the neutral
// value. Integers wrap, bits and order are exact as they are. An average is the exact sum divided once, as the kernels
// define it. A pre-multiplied sum's input is the contribution divided by the rank's factor, a power of two.
// For a user's operator there is the composition of affine maps modulo 2^32 on u64, which is associative and not
// commutative: it tells whether the ranks were taken in order.
//
// Values repeat after kExactPeriod elements (a prime: data moved by any smaller distance, or by a power of two, shows)
// and differ from rank to rank and from seed to seed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/kernel.hpp"

namespace tutti {

inline constexpr std::size_t kExactPeriod = 1021;

struct ExactInput {
  Type type = Type::f32;
  Op op = Op::sum;
  int num_ranks = 1;
  std::uint64_t seed = 0;
};

// What rank `rank` passes to the collective: op, type, factor and divisor are set (and the affine function for user,
// which wants type u64).
[[nodiscard]] Operator exact_operator(const ExactInput& input, int rank);

// Writes elements [offset, offset + count) of the rank's input to `buffer` (aligned for the type).
void exact_fill(const ExactInput& input, int rank, std::size_t offset, std::size_t count, void* buffer);

// Writes the same elements of the result. Takes time in proportion to num_ranks and count.
void exact_expected(const ExactInput& input, std::size_t offset, std::size_t count, void* buffer);
// Of the first `ranks` of the input's ranks alone: what a scan gives. Of no average.
void exact_expected_of_first(const ExactInput& input, int ranks, std::size_t offset, std::size_t count, void* buffer);

// (a, b) in the upper and lower half of a u64 stands for x → a·x + b modulo 2^32; accumulator becomes accumulator ∘
// next.
void compose_affine(void* accumulator, const void* next, std::size_t count, void* context);

}  // namespace tutti
