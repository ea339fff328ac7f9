// SPDX-License-Identifier: Apache-2.0
#include "data/exact.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/assert.hpp"
#include "data/small_float.hpp"

namespace tutti {
namespace {

// Mixes all bits of its input (the finisher of SplitMix64: G. Steele, D. Lea, C. Flood, 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// A number that depends on everything that may tell two values apart.
std::uint64_t draw(const ExactInput& input, std::uint64_t rank, std::uint64_t place) {
  return mixed(mixed(mixed(input.seed) ^ place) ^ rank);
}

constexpr std::uint64_t kNoRank = ~std::uint64_t{0};

// The greatest n for which all integers up to n are values of the type.
std::int64_t counting_limit(Type type) {
  switch (type) {
    case Type::f8e5m2: return 8;
    case Type::f8e4m3: return 16;
    case Type::bf16: return 256;
    case Type::f16: return 2048;
    case Type::f32: return 1 << 20;
    default: return std::int64_t{1} << 40;
  }
}

// The greatest n for which 2^n and 2^-n are normal values of the type.
std::int64_t exponent_limit(Type type) {
  switch (type) {
    case Type::f8e4m3: return 6;
    case Type::f8e5m2:
    case Type::f16: return 14;
    default: return 100;
  }
}

// The rank's share at the place: within ±limit over all ranks together, and not zero where it is the rank's turn.
std::int64_t share(const ExactInput& input, int rank, std::size_t place, std::int64_t limit) {
  const std::int64_t ranks = input.num_ranks;
  const std::int64_t turns = (ranks + limit - 1) / limit;
  const auto first = static_cast<std::int64_t>(draw(input, kNoRank, place) % static_cast<std::uint64_t>(turns));
  if ((rank + first) % turns != 0) return 0;
  const std::int64_t each = turns > 1 ? 1 : limit / ranks;
  const std::uint64_t drawn = draw(input, static_cast<std::uint64_t>(rank), place);
  const auto magnitude = static_cast<std::int64_t>((drawn >> 1) % static_cast<std::uint64_t>(each)) + 1;
  return (drawn & 1) != 0 ? -magnitude : magnitude;
}

// The factor of a pre-multiplied sum: 2^-1, 1 or 2 for floats, so that dividing by it is exact.
int factor_exponent(const ExactInput& input, int rank) {
  return static_cast<int>(draw(input, static_cast<std::uint64_t>(rank), ~std::uint64_t{0}) % 3) - 1;
}

double float_input(const ExactInput& input, int rank, std::size_t place) {
  const std::uint64_t drawn = draw(input, static_cast<std::uint64_t>(rank), place);
  switch (input.op) {
    case Op::sum:
    case Op::average: return static_cast<double>(share(input, rank, place, counting_limit(input.type)));
    case Op::premultiplied_sum:
      return std::ldexp(static_cast<double>(share(input, rank, place, counting_limit(input.type))),
                        -factor_exponent(input, rank));
    case Op::product: {
      const auto exponent = static_cast<int>(share(input, rank, place, exponent_limit(input.type)));
      return std::ldexp((drawn >> 32 & 1) != 0 ? -1.0 : 1.0, exponent);
    }
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_xor: return static_cast<double>(drawn % 3);
    default: {
      const auto limit = static_cast<std::uint64_t>(counting_limit(input.type));
      return static_cast<double>(drawn % (2 * limit + 1)) - static_cast<double>(limit);
    }
  }
}

std::uint64_t integer_input(const ExactInput& input, int rank, std::size_t place) {
  const std::uint64_t drawn = draw(input, static_cast<std::uint64_t>(rank), place);
  const std::uint64_t common = draw(input, kNoRank, place);
  const auto ranks = static_cast<std::uint64_t>(input.num_ranks);
  // At each place one rank is the odd one, so that with many ranks not everything comes out as all ones or zeros.
  const bool odd_one = common % ranks == static_cast<std::uint64_t>(rank);
  switch (input.op) {
    case Op::product: return drawn | 1;  // odd: an even factor or two would make every product zero
    case Op::bit_and: return odd_one ? common >> 8 : drawn | common >> 8;
    case Op::bit_or: return odd_one ? common >> 8 : drawn & common >> 8;
    case Op::logical_and: return odd_one ? common >> 8 & 1 : drawn % 100 + 1;
    case Op::logical_or: return odd_one ? common >> 8 & 1 : 0;
    case Op::logical_xor: return drawn % 3;
    default: return drawn;
  }
}

void write_float(Type type, double value, std::uint8_t* to) {
  const auto write = [to](auto code) { std::memcpy(to, &code, sizeof(code)); };
  const auto single = static_cast<float>(value);
  switch (type) {
    case Type::f64: return write(value);
    case Type::f32: return write(single);
    case Type::f16: return write(f32_to_f16(single));
    case Type::bf16: return write(f32_to_bf16(single));
    case Type::f8e4m3: return write(f32_to_f8e4m3(single));
    case Type::f8e5m2: return write(f32_to_f8e5m2(single));
    default: TUTTI_ASSERT(false, "write_float of an integer type");
  }
}

void write_integer(Type type, std::uint64_t value, std::uint8_t* to) {
  const auto write = [to](auto code) { std::memcpy(to, &code, sizeof(code)); };
  switch (size_of(type)) {
    case 1: return write(static_cast<std::uint8_t>(value));
    case 2: return write(static_cast<std::uint16_t>(value));
    case 4: return write(static_cast<std::uint32_t>(value));
    default: return write(value);
  }
}

bool is_signed(Type type) { return type == Type::i8 || type == Type::i16 || type == Type::i32 || type == Type::i64; }

// What the low bits of `bits` mean in the type, as 64 bits (sign-extended for the signed).
std::uint64_t in_type(Type type, std::uint64_t bits) {
  const auto unused = static_cast<int>(64 - 8 * size_of(type));
  if (is_signed(type)) return static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << unused) >> unused);
  return bits << unused >> unused;
}

bool less_in_type(Type type, std::uint64_t a, std::uint64_t b) {
  return is_signed(type) ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
}

double fold_floats(Op op, double a, double b) {
  switch (op) {
    case Op::product: return a * b;
    case Op::maximum: return std::max(a, b);
    case Op::minimum: return std::min(a, b);
    case Op::logical_and: return a != 0 && b != 0 ? 1 : 0;
    case Op::logical_or: return a != 0 || b != 0 ? 1 : 0;
    case Op::logical_xor: return (a != 0) != (b != 0) ? 1 : 0;
    default: return a + b;
  }
}

std::uint64_t fold_integers(const ExactInput& input, std::uint64_t a, std::uint64_t b) {
  switch (input.op) {
    case Op::product: return a * b;
    case Op::maximum: return less_in_type(input.type, a, b) ? b : a;
    case Op::minimum: return less_in_type(input.type, b, a) ? b : a;
    case Op::bit_and: return a & b;
    case Op::bit_or: return a | b;
    case Op::bit_xor: return a ^ b;
    case Op::logical_and: return a != 0 && b != 0 ? 1 : 0;
    case Op::logical_or: return a != 0 || b != 0 ? 1 : 0;
    case Op::logical_xor: return (a != 0) != (b != 0) ? 1 : 0;
    case Op::user: compose_affine(&a, &b, 1, nullptr); return a;
    default: return a + b;
  }
}

double expected_float(const ExactInput& input, int ranks, std::size_t place) {
  const auto scaled = [&](int rank) {
    const double value = float_input(input, rank, place);
    return input.op == Op::premultiplied_sum ? std::ldexp(value, factor_exponent(input, rank)) : value;
  };
  double result = scaled(0);
  for (int rank = 1; rank < ranks; ++rank) result = fold_floats(input.op, result, scaled(rank));
  if (input.op != Op::average) return result;
  // One division in the type that the kernels divide in.
  if (input.type == Type::f64) return result / input.num_ranks;
  return static_cast<double>(static_cast<float>(result) / static_cast<float>(input.num_ranks));
}

std::uint64_t expected_integer(const ExactInput& input, int ranks, std::size_t place) {
  const auto scaled = [&](int rank) {
    std::uint64_t value = integer_input(input, rank, place);
    if (input.op == Op::premultiplied_sum) value *= exact_operator(input, rank).integer_scalar;
    return in_type(input.type, value);
  };
  std::uint64_t result = scaled(0);
  for (int rank = 1; rank < ranks; ++rank) {
    result = in_type(input.type, fold_integers(input, result, scaled(rank)));
  }
  if (input.op != Op::average) return result;
  if (!is_signed(input.type)) return result / static_cast<std::uint64_t>(input.num_ranks);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(result) / input.num_ranks);
}

// One period of values made by write_one(place, address), laid out again and again.
template <class WriteOne>
void lay_out(std::size_t size, std::size_t offset, std::size_t count, void* buffer, const WriteOne& write_one) {
  auto* to = static_cast<std::uint8_t*>(buffer);
  const std::size_t fresh = std::min(count, kExactPeriod);
  for (std::size_t i = 0; i < fresh; ++i) write_one((offset + i) % kExactPeriod, to + i * size);
  for (std::size_t done = fresh; done < count;) {
    const std::size_t next = std::min(count - done, done);  // what is there is whole periods
    std::memcpy(to + done * size, to, next * size);
    done += next;
  }
}

void expect_of_first(const ExactInput& input, int ranks, std::size_t offset, std::size_t count, void* buffer) {
  const bool untouched = ranks == 1 && input.op != Op::premultiplied_sum && input.op != Op::average;
  if (untouched) return exact_fill(input, 0, offset, count, buffer);
  lay_out(size_of(input.type), offset, count, buffer, [&](std::size_t place, std::uint8_t* to) {
    if (is_floating(input.type)) {
      write_float(input.type, expected_float(input, ranks, place), to);
    } else {
      write_integer(input.type, expected_integer(input, ranks, place), to);
    }
  });
}

}  // namespace

Operator exact_operator(const ExactInput& input, int rank) {
  Operator op = {.op = input.op, .type = input.type};
  op.divisor = static_cast<std::uint64_t>(input.num_ranks);
  if (input.op == Op::premultiplied_sum) {
    op.scalar = std::ldexp(1.0, factor_exponent(input, rank));
    op.integer_scalar = draw(input, static_cast<std::uint64_t>(rank), ~std::uint64_t{0});
  }
  if (input.op == Op::user) {
    TUTTI_ASSERT(input.type == Type::u64, "the affine maps of exact inputs are of type u64");
    op.function = &compose_affine;
    op.commutative = false;
  }
  return op;
}

void exact_fill(const ExactInput& input, int rank, std::size_t offset, std::size_t count, void* buffer) {
  TUTTI_ASSERT(rank >= 0 && rank < input.num_ranks, "a rank of the input");
  lay_out(size_of(input.type), offset, count, buffer, [&](std::size_t place, std::uint8_t* to) {
    if (is_floating(input.type)) {
      write_float(input.type, float_input(input, rank, place), to);
    } else {
      write_integer(input.type, integer_input(input, rank, place), to);
    }
  });
}

void exact_expected(const ExactInput& input, std::size_t offset, std::size_t count, void* buffer) {
  expect_of_first(input, input.num_ranks, offset, count, buffer);
}

void exact_expected_of_first(const ExactInput& input, int ranks, std::size_t offset, std::size_t count, void* buffer) {
  TUTTI_ASSERT(ranks >= 1 && ranks <= input.num_ranks, "some of the ranks of the input");
  TUTTI_ASSERT(input.op != Op::average, "who divides has all there is");
  expect_of_first(input, ranks, offset, count, buffer);
}

void compose_affine(void* accumulator, const void* next, std::size_t count, void* /*context*/) {
  auto* a = static_cast<std::uint64_t*>(accumulator);
  const auto* b = static_cast<const std::uint64_t*>(next);
  for (std::size_t i = 0; i < count; ++i) {
    const auto outer_factor = static_cast<std::uint32_t>(a[i] >> 32);
    const auto outer_constant = static_cast<std::uint32_t>(a[i]);
    const auto inner_factor = static_cast<std::uint32_t>(b[i] >> 32);
    const auto inner_constant = static_cast<std::uint32_t>(b[i]);
    const std::uint32_t factor = outer_factor * inner_factor;
    const std::uint32_t constant = outer_factor * inner_constant + outer_constant;
    a[i] = static_cast<std::uint64_t>(factor) << 32 | constant;
  }
}

}  // namespace tutti
