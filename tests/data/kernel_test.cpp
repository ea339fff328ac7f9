// SPDX-License-Identifier: Apache-2.0
// Every type, operator and shape of call on every instruction set of this processor, bit for bit against the plain
// reference.
#include "data/kernel.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "instruction_sets.hpp"
#include "kernel_reference.hpp"

namespace tutti {
namespace {

constexpr std::uint64_t kSeed = 20240607;
constexpr std::size_t kMaxSources = 9;
constexpr std::size_t kMaxDestinations = 3;
constexpr std::size_t kMaxCount = 333;
constexpr std::array<std::size_t, 21> kCounts = {0,  1,  2,  3,  4,  5,  7,  8,   9,   15,       16,
                                                 17, 31, 33, 63, 64, 65, 71, 127, 130, kMaxCount};

std::vector<Type> all_types() {
  std::vector<Type> types;
  types.reserve(kNumTypes);
  for (int i = 0; i < kNumTypes; ++i) types.push_back(static_cast<Type>(i));
  return types;
}

// Codes that are special in the type: zeros, ones, extremes, subnormals, infinities, NaNs of several kinds.
std::vector<std::uint64_t> special_codes(Type type) {
  switch (type) {
    case Type::f32:
      return {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
              0xffc00001, 0x7f800001, 1,          0x80000001, 0x7f7fffff, 0x00800000, 0xff7fffff};
    case Type::f64:
      return {0,
              0x8000000000000000,
              0x3ff0000000000000,
              0x7ff0000000000000,
              0xfff0000000000000,
              0x7ff8000000000000,
              0xfff8000000000001,
              0x7ff0000000000001,
              1,
              0x7fefffffffffffff};
    case Type::f16: return {0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 1, 0x03ff, 0x7bff};
    case Type::bf16: return {0, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81, 1, 0x007f, 0x7f7f};
    case Type::f8e4m3: return {0, 0x80, 0x38, 0xb8, 0x7e, 0xfe, 0x7f, 0xff, 1, 7, 8};
    case Type::f8e5m2: return {0, 0x80, 0x3c, 0xbc, 0x7c, 0xfc, 0x7d, 0xff, 1, 3, 4, 0x7b};
    default: return {0, 1, ~std::uint64_t{0}, std::uint64_t{1} << (8 * size_of(type) - 1), 2, 0x7f, 0x80};
  }
}

// Bits by chance, special codes, and small numbers in turn; the turns of the sources meet in all combinations.
std::vector<std::uint8_t> random_elements(Type type, std::size_t count, std::mt19937_64& random) {
  const std::size_t size = size_of(type);
  const std::vector<std::uint64_t> specials = special_codes(type);
  std::vector<std::uint8_t> bytes(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t code = random();
    if (code % 3 == 0) code = specials[random() % specials.size()];
    if (code % 3 == 1 && type == Type::f32) code = std::bit_cast<std::uint32_t>(static_cast<float>(random() % 1000));
    std::memcpy(bytes.data() + i * size, &code, size);
  }
  return bytes;
}

// How floats of the type are made up, where kernels look for NaN in several vectors at once.
struct FloatParts {
  Type type;
  int mantissa_bits;
  std::uint64_t greatest_exponent;  // of infinity and NaN
};
constexpr std::array<FloatParts, 4> kFloatParts = {
    {{Type::f32, 23, 0xff}, {Type::f64, 52, 0x7ff}, {Type::f16, 10, 0x1f}, {Type::bf16, 7, 0xff}}};

// No NaN and no infinity: mostly of a few neighbouring exponents, so that sums are rounded, and lie in the middle
// between two values, in every way; some zeros, subnormals and extremes.
std::vector<std::uint8_t> finite_elements(const FloatParts& parts, std::size_t count, std::mt19937_64& random) {
  const std::size_t size = size_of(parts.type);
  std::vector<std::uint8_t> bytes(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t mantissa = random() & ((std::uint64_t{1} << parts.mantissa_bits) - 1);
    std::uint64_t exponent = parts.greatest_exponent / 2 + random() % 12;
    const std::uint64_t chance = random() % 16;
    if (chance == 0) exponent = 0;
    if (chance == 1) exponent = parts.greatest_exponent - 1;
    const std::uint64_t sign = random() % 2 << (8 * size - 1);
    const std::uint64_t code = sign | exponent << parts.mantissa_bits | (chance == 2 ? 0 : mantissa);
    std::memcpy(bytes.data() + i * size, &code, size);
  }
  return bytes;
}

void concatenate_bits(void* accumulator, const void* next, std::size_t count, void* context) {
  // A user's function that is not commutative: rotate, then add.
  const std::size_t size = *static_cast<const std::size_t*>(context);
  ASSERT_EQ(reinterpret_cast<std::uintptr_t>(next) % size, 0U);
  auto* a = static_cast<std::uint8_t*>(accumulator);
  const auto* b = static_cast<const std::uint8_t*>(next);
  for (std::size_t i = 0; i < count * size; ++i) a[i] = static_cast<std::uint8_t>(a[i] * 3 + b[i]);
}

struct Shape {
  std::uint32_t num_sources;
  std::uint32_t num_destinations;
  std::size_t count;
  std::size_t misalignment;
  std::uint32_t in_place;  // this source is destination 0, or kNoSource
  std::uint32_t raw_source;
  bool final;
  bool streaming;
};

// Buffers with room on both sides that must stay as it was.
class Bench {
 public:
  explicit Bench(Type type) : type_(type), random_(kSeed + static_cast<std::uint64_t>(type)) {
    for (auto& values : master_) values = random_elements(type, kMaxCount, random_);
    for (auto& buffer : sources_) buffer.resize(kRoom);
    for (auto& buffer : destinations_) buffer.resize(kRoom);
  }

  // With these in place of random bits, and one of them another.
  void make_finite(const FloatParts& parts) {
    for (auto& values : master_) values = finite_elements(parts, kMaxCount, random_);
  }
  std::uint64_t exchange(std::uint32_t source, std::size_t index, std::uint64_t code) {
    const std::size_t size = size_of(type_);
    std::uint8_t* const at = master_[source].data() + index * size;
    std::uint64_t before = 0;
    std::memcpy(&before, at, size);
    std::memcpy(at, &code, size);
    return before;
  }

  testing::AssertionResult check(const Operator& op, const Shape& shape) {
    const std::size_t bytes = shape.count * size_of(type_);
    std::array<const void*, kMaxSources> sources{};
    std::array<const void*, kMaxSources> masters{};
    std::array<void*, kMaxDestinations> destinations{};
    for (std::uint32_t j = 0; j < shape.num_sources; ++j) {
      std::uint8_t* at = sources_[j].data() + kMargin + (shape.misalignment * (j + 1)) % 61;
      if (j == shape.in_place) {
        std::fill(sources_[j].begin(), sources_[j].end(), std::uint8_t{0xa5});
        destinations[0] = at;
      }
      if (bytes > 0) std::memcpy(at, master_[j].data(), bytes);
      sources[j] = at;
      masters[j] = master_[j].data();
    }
    for (std::uint32_t d = 0; d < shape.num_destinations; ++d) {
      std::fill(destinations_[d].begin(), destinations_[d].end(), std::uint8_t{0xa5});
      if (destinations[d] == nullptr) {
        destinations[d] = destinations_[d].data() + kMargin + (shape.misalignment * (d + 7)) % 53;
      }
    }
    ReduceCall call = {.destinations = destinations.data(),
                       .num_destinations = shape.num_destinations,
                       .sources = sources.data(),
                       .num_sources = shape.num_sources,
                       .count = shape.count,
                       .raw_source = shape.raw_source,
                       .final = shape.final};
    // Every other time by the kernel for just that, where there is one.
    const PairKernel pair = pair_kernel(op.type, op.op);
    if (pair != nullptr && shape.num_sources == 2 && shape.num_destinations == 1 && !shape.streaming &&
        ++num_pairs_ % 2 == 0) {
      pair(sources[0], sources[1], destinations[0], shape.count);
    } else {
      reduce_kernel(op.type, op.op, shape.streaming)(op, call);
    }
    call.sources = masters.data();
    return compare(expected(op, call), shape, destinations);
  }

 private:
  static constexpr std::size_t kMargin = 64;
  static constexpr std::size_t kRoom = kMaxCount * 8 + 64 + 2 * kMargin;

  std::uint64_t num_pairs_ = 0;

  std::vector<std::uint8_t> expected(const Operator& op, const ReduceCall& call) const {
    if (op.op != Op::user) return reference::reduce(op, call);
    std::vector<std::uint8_t> result(master_[0].begin(),
                                     master_[0].begin() + static_cast<std::ptrdiff_t>(call.count * size_of(type_)));
    for (std::uint32_t j = 1; j < call.num_sources; ++j) {
      for (std::size_t i = 0; i < result.size(); ++i) {
        result[i] = static_cast<std::uint8_t>(result[i] * 3 + master_[j][i]);
      }
    }
    return result;
  }

  testing::AssertionResult compare(const std::vector<std::uint8_t>& want, const Shape& shape,
                                   const std::array<void*, kMaxDestinations>& destinations) const {
    for (std::uint32_t d = 0; d < shape.num_destinations; ++d) {
      const auto* at = static_cast<const std::uint8_t*>(destinations[d]);
      const std::vector<std::uint8_t>& room =
          d == 0 && shape.in_place != kNoSource ? sources_[shape.in_place] : destinations_[d];
      for (std::size_t i = 0; i < room.size(); ++i) {
        const auto offset = static_cast<std::size_t>(room.data() + i - at);  // wraps in front of the elements
        const std::uint8_t right = offset < want.size() ? want[offset] : std::uint8_t{0xa5};
        if (room[i] == right) continue;
        return testing::AssertionFailure()
               << name_of(type_) << " k=" << shape.num_sources << " m=" << shape.num_destinations
               << " count=" << shape.count << " misalignment=" << shape.misalignment
               << " in_place=" << static_cast<int>(shape.in_place) << " raw=" << static_cast<int>(shape.raw_source)
               << " final=" << shape.final << " streaming=" << shape.streaming << " destination " << d << " byte "
               << static_cast<std::ptrdiff_t>(offset) << ": " << int{room[i]} << ", not " << int{right};
      }
    }
    return testing::AssertionSuccess();
  }

  Type type_;
  std::mt19937_64 random_;
  std::array<std::vector<std::uint8_t>, kMaxSources> master_;
  std::array<std::vector<std::uint8_t>, kMaxSources> sources_;
  std::array<std::vector<std::uint8_t>, kMaxDestinations> destinations_;
};

// Whether there is a NaN is asked of several vectors at once: with none, and with one wherever it may be.
TEST(KernelsOfFloats, FindTheOneNan) {
  for (const FloatParts& parts : kFloatParts) {
    Bench bench(parts.type);
    bench.make_finite(parts);
    const Operator sum = {.op = Op::sum, .type = parts.type};
    const auto shape_of = [](std::uint32_t num_sources, std::uint32_t num_destinations, bool streaming) {
      return Shape{.num_sources = num_sources,
                   .num_destinations = num_destinations,
                   .count = kMaxCount,
                   .misalignment = 0,
                   .in_place = kNoSource,
                   .raw_source = kNoSource,
                   .final = true,
                   .streaming = streaming};
    };
    for (const std::int64_t set : available_instruction_sets()) {
      SCOPED_TRACE(hwy::TargetName(set));
      const ForcedInstructionSet forced(set);
      for (const Op op : {Op::sum, Op::product, Op::maximum, Op::average})
        for (const std::uint32_t k : {2U, 3U, 4U, 9U})
          for (const std::uint32_t m : {1U, 2U, 3U})
            for (const bool streaming : {false, true, false})
              ASSERT_TRUE(bench.check({.op = op, .type = parts.type, .divisor = 3}, shape_of(k, m, streaming)));
      const std::uint64_t infinity = parts.greatest_exponent << parts.mantissa_bits;
      for (const std::uint64_t code : {infinity | 1, infinity}) {
        for (std::size_t index = 0; index < 160; ++index) {
          const auto source = static_cast<std::uint32_t>(index % 2);
          const std::uint64_t before = bench.exchange(source, index, code);
          // Twice, for the kernel of two sources has a turn.
          for (int turn = 0; turn < 2; ++turn) ASSERT_TRUE(bench.check(sum, shape_of(2, 1, false))) << index;
          ASSERT_TRUE(bench.check(sum, shape_of(3, 2, index % 3 == 0))) << index;
          bench.exchange(source, index, before);
        }
      }
    }
  }
}

class Kernels : public testing::TestWithParam<Type> {
 protected:
  void SetUp() override { RecordProperty("seed", static_cast<int>(kSeed)); }
};

// The less usual properties of a call go round with the numbers of sources and destinations and the count.
void check_all_shapes(Bench& bench, const Operator& op) {
  std::size_t turn = 0;
  for (std::uint32_t k = 1; k <= kMaxSources; ++k) {
    for (std::uint32_t m = 1; m <= kMaxDestinations; ++m) {
      for (const std::size_t count : kCounts) {
        for (const bool streaming : {false, true}) {
          ++turn;
          Shape shape = {.num_sources = k,
                         .num_destinations = m,
                         .count = count,
                         .misalignment = 0,
                         .in_place = kNoSource,
                         .raw_source = kNoSource,
                         .final = false,
                         .streaming = streaming};
          shape.misalignment = std::array<std::size_t, 4>{0, 1, 8, 3}[turn % 4];
          if (turn % 3 != 0) shape.in_place = static_cast<std::uint32_t>(turn / 3) % k;
          if (op.op == Op::premultiplied_sum && turn % 5 != 0) {
            shape.raw_source = static_cast<std::uint32_t>(turn / 5) % k;
          }
          shape.final = turn % 7 != 0;
          ASSERT_TRUE(bench.check(op, shape)) << name_of(op.op);
        }
      }
    }
  }
}

TEST_P(Kernels, AgreeWithTheReferenceOnEveryInstructionSet) {
  const Type type = GetParam();
  std::size_t size = size_of(type);
  Bench bench(type);
  for (const std::int64_t set : available_instruction_sets()) {
    SCOPED_TRACE(hwy::TargetName(set));
    const ForcedInstructionSet forced(set);
    for (int i = 0; i < kNumOps; ++i) {
      Operator op = {.op = static_cast<Op>(i), .type = type};
      if (!is_defined(op.op, type)) {
        EXPECT_EQ(reduce_kernel(type, op.op, false), nullptr);
        continue;
      }
      op.scalar = 0.7109375;
      op.integer_scalar = 0x8000000000000003;
      op.divisor = 7;
      op.function = &concatenate_bits;
      op.context = &size;
      op.commutative = false;
      check_all_shapes(bench, op);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Kernels, AveragesDivideByAnyDivisor) {
  const Type type = GetParam();
  Bench bench(type);
  for (const std::uint64_t divisor : {1ULL, 2ULL, 3ULL, 8ULL, 127ULL, 255ULL, 65521ULL, 65536ULL, 4294967295ULL}) {
    const Operator op = {.op = Op::average, .type = type, .divisor = divisor};
    // The reference divides in the type itself, where an integer divisor beyond it would not fit.
    if (!is_floating(type) && divisor >= std::uint64_t{1} << (8 * size_of(type) - 1)) continue;
    for (const std::uint32_t k : {1U, 2U, 9U}) {
      const Shape shape = {.num_sources = k,
                           .num_destinations = 1,
                           .count = kMaxCount,
                           .misalignment = 1,
                           .in_place = kNoSource,
                           .raw_source = kNoSource,
                           .final = true,
                           .streaming = false};
      ASSERT_TRUE(bench.check(op, shape)) << divisor;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Kernels, testing::ValuesIn(all_types()),
                         [](const auto& instance) { return std::string(name_of(instance.param)); });

// The sanitizers' builds have one instruction set alone (src/data/CMakeLists.txt).
#if !defined(HWY_COMPILE_ONLY_STATIC)
TEST(KernelChoice, EveryInstructionSetHasItsOwn) {
  std::set<ReduceKernel> kernels;
  const std::vector<std::int64_t> sets = available_instruction_sets();
  for (const std::int64_t set : sets) {
    const ForcedInstructionSet forced(set);
    kernels.insert(reduce_kernel(Type::f32, Op::sum, false));
  }
  EXPECT_EQ(kernels.size(), sets.size());
}

TEST(KernelChoice, StreamsWhatThatHelps) {
  for (const Type type : {Type::f32, Type::f64, Type::bf16, Type::i32}) {
    EXPECT_NE(reduce_kernel(type, Op::sum, true), reduce_kernel(type, Op::sum, false)) << name_of(type);
  }
}
#endif

TEST(KernelBlocks, LongCallsOfBlockwiseKernels) {
  // More elements than a block, and more sources than the average folds at once.
  constexpr std::size_t kCount = 10007;
  constexpr std::uint32_t kSources = 37;
  std::mt19937_64 random(kSeed);
  std::vector<std::vector<std::uint8_t>> data;
  std::vector<const void*> sources;
  data.reserve(kSources);
  sources.reserve(kSources);
  for (std::uint32_t j = 0; j < kSources; ++j) data.push_back(random_elements(Type::i16, kCount, random));
  for (const auto& values : data) sources.push_back(values.data());
  std::vector<std::int16_t> first(kCount);
  std::vector<std::int16_t> second(kCount);
  const std::array<void*, 2> destinations = {first.data(), second.data()};
  const Operator op = {.op = Op::average, .type = Type::i16, .divisor = kSources};
  const ReduceCall call = {.destinations = destinations.data(),
                           .num_destinations = 2,
                           .sources = sources.data(),
                           .num_sources = kSources,
                           .count = kCount,
                           .final = true};
  const std::vector<std::uint8_t> want = reference::reduce(op, call);
  for (const bool streaming : {false, true}) {
    reduce_kernel(op.type, op.op, streaming)(op, call);
    EXPECT_EQ(std::memcmp(first.data(), want.data(), want.size()), 0);
    EXPECT_EQ(first, second);
  }
}

TEST(KernelNumbers, SixtyFourBitFactorsAreExact) {
  const std::uint64_t value = 0x123456789abcdef1;
  std::uint64_t result = 0;
  const Operator op = {.op = Op::premultiplied_sum, .type = Type::u64, .integer_scalar = 0xfedcba9876543211};
  first_touch_copy(op, &result, &value, 1, false);
  EXPECT_EQ(result, value * 0xfedcba9876543211);
}

TEST(KernelNumbers, AverageOfNegativesTruncatesTowardsZero) {
  const std::array<std::int32_t, 2> a = {-7, 7};
  const std::array<std::int32_t, 2> b = {0, 0};
  std::array<std::int32_t, 2> result{};
  void* const destination = result.data();
  const std::array<const void*, 2> sources = {a.data(), b.data()};
  reduce_kernel(Type::i32, Op::average, false)({.op = Op::average, .type = Type::i32, .divisor = 2},
                                               {.destinations = &destination,
                                                .num_destinations = 1,
                                                .sources = sources.data(),
                                                .num_sources = 2,
                                                .count = 2,
                                                .final = true});
  EXPECT_EQ(result[0], -3);
  EXPECT_EQ(result[1], 3);
}

}  // namespace
}  // namespace tutti
