// SPDX-License-Identifier: Apache-2.0
// The loops: k sources into m destinations, for any codec and operator. Included once for every instruction set, so
// the guard toggles. Internal to data/.
//
// Two shapes of the same pass. FixedPass has the numbers of sources and destinations built in: what small messages
// between few ranks take, where every nanosecond of set-up shows. AnyPass takes them from the call, and folds four
// vectors side by side in registers. Whatever is left below a whole vector is done in halves of it (8, 4, 2, 1 …), so
// nothing outside of the elements is touched and short calls need no loop.
#if defined(TUTTI_DATA_VECTOR_REDUCE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TUTTI_DATA_VECTOR_REDUCE_INL_HPP
#undef TUTTI_DATA_VECTOR_REDUCE_INL_HPP
#else
#define TUTTI_DATA_VECTOR_REDUCE_INL_HPP
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

// clang-format off: the instruction sets are named before Highway looks at them.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include "data/kernel_set.hpp"
#include "data/vector_element_inl.hpp"
#include "data/vector_operator_inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace tutti {
namespace HWY_NAMESPACE {

// How much code an operator is worth. Each level has what those before it have.
enum class Effort {
  small,     // one vector at a time
  unrolled,  // four vectors at a time; two sources into one destination built in
  full,      // two to four sources into one or two destinations built in
};

// Below AVX2 and NEON stand processors that are hardly met any more, and codecs without conversion instructions are
// bound by arithmetic: there, more code would buy nothing but compile time.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
inline constexpr Effort kGreatestEffort = Effort::full;
#else
inline constexpr Effort kGreatestEffort = Effort::small;
#endif

template <class E>
constexpr Effort limited(Effort effort) {
  return E::kHeavy ? Effort::small : std::min(effort, kGreatestEffort);
}

inline std::uint8_t* bytes_of(void* pointer) { return static_cast<std::uint8_t*>(pointer); }
inline const std::uint8_t* bytes_of(const void* pointer) { return static_cast<const std::uint8_t*>(pointer); }

template <class E, class F, int kSources, int kDestinations>
struct FixedPass {
  static_assert(kSources >= 2 && kSources <= 4 && kDestinations >= 1 && kDestinations <= 2);
  static_assert(!F::kScales && !F::kDivides);

  const std::uint8_t* source_0;
  const std::uint8_t* source_1;
  const std::uint8_t* source_2 = nullptr;
  const std::uint8_t* source_3 = nullptr;
  std::uint8_t* destination_0;
  std::uint8_t* destination_1 = nullptr;

  HWY_INLINE explicit FixedPass(const ReduceCall& call)
      : source_0(bytes_of(call.sources[0])),
        source_1(bytes_of(call.sources[1])),
        destination_0(bytes_of(call.destinations[0])) {
    if constexpr (kSources > 2) source_2 = bytes_of(call.sources[2]);
    if constexpr (kSources > 3) source_3 = bytes_of(call.sources[3]);
    if constexpr (kDestinations > 1) destination_1 = bytes_of(call.destinations[1]);
  }

  HWY_INLINE FixedPass(const void* first, const void* second, void* destination)
      : source_0(bytes_of(first)), source_1(bytes_of(second)), destination_0(bytes_of(destination)) {
    static_assert(kSources == 2 && kDestinations == 1);
  }

  template <std::size_t N>
  HWY_INLINE auto folded(std::size_t offset) const {
    using Pack = typename E::template Pack<N>;
    auto value = Pack::template combine<F>(Pack::load(source_0 + offset), Pack::load(source_1 + offset));
    if constexpr (kSources > 2) value = Pack::template combine<F>(value, Pack::load(source_2 + offset));
    if constexpr (kSources > 3) value = Pack::template combine<F>(value, Pack::load(source_3 + offset));
    return value;
  }

  template <std::size_t N, class Stored>
  HWY_INLINE void put(Stored stored, std::size_t offset) const {
    using Pack = typename E::template Pack<N>;
    Pack::store(stored, destination_0 + offset);
    if constexpr (kDestinations > 1) Pack::store(stored, destination_1 + offset);
  }

  template <std::size_t N>
  HWY_INLINE void at(std::size_t offset) const {
    put<N>(E::template Pack<N>::template stored<F>(folded<N>(offset)), offset);
  }

  // Takes the pass by value, so that its members stay in registers elsewhere.
  static HWY_NOINLINE void one_by_one(const FixedPass pass, std::size_t offset) {
    constexpr std::size_t kStep = E::kLanes * E::kBytes;
    for (std::size_t i = 0; i < 4; ++i) pass.template at<E::kLanes>(offset + i * kStep);
  }

  HWY_INLINE void four_at(std::size_t offset) const {
    constexpr std::size_t kLanes = E::kLanes;
    constexpr std::size_t kStep = kLanes * E::kBytes;
    using Value = typename E::template Pack<kLanes>::Value;
    Four<typename E::template Pack<kLanes>::Stored> stored;
    const Four<Value> values = {folded<kLanes>(offset), folded<kLanes>(offset + kStep),
                                folded<kLanes>(offset + 2 * kStep), folded<kLanes>(offset + 3 * kStep)};
    if (HWY_UNLIKELY(!E::template stored_four<F>(values, stored))) return one_by_one(*this, offset);
    put<kLanes>(stored.a, offset);
    put<kLanes>(stored.b, offset + kStep);
    put<kLanes>(stored.c, offset + 2 * kStep);
    put<kLanes>(stored.d, offset + 3 * kStep);
  }

  // What is below a whole vector.
  template <std::size_t N = E::kLanes / 2>
  HWY_INLINE void rest(std::size_t offset, std::size_t count) const {
    if constexpr (N >= 1) {
      if (count & N) {
        at<N>(offset);
        offset += N * E::kBytes;
      }
      rest<N / 2>(offset, count);
    }
  }

  HWY_INLINE void run(std::size_t count) const {
    constexpr std::size_t kStep = E::kLanes * E::kBytes;
    std::size_t offset = 0;
    for (; count >= 4 * E::kLanes; count -= 4 * E::kLanes, offset += 4 * kStep) four_at(offset);
    for (; count >= E::kLanes; count -= E::kLanes, offset += kStep) at<E::kLanes>(offset);
    rest(offset, count);
  }
};

template <class E, class F, bool kStreaming, Effort kEffort>
struct AnyPass {
  const ReduceCall& call;
  std::size_t num_sources;
  std::size_t num_destinations;
  typename E::Scalar factor{};
  typename E::Scalar divisor{};

  HWY_INLINE AnyPass(const Operator& op, const ReduceCall& the_call)
      : call(the_call), num_sources(the_call.num_sources), num_destinations(the_call.num_destinations) {
    if constexpr (F::kScales) {
      if constexpr (std::is_floating_point_v<typename E::Scalar>) {
        factor = static_cast<typename E::Scalar>(op.scalar);
      } else {
        factor = static_cast<typename E::Scalar>(op.integer_scalar);
      }
    }
    if constexpr (F::kDivides) divisor = static_cast<typename E::Scalar>(op.divisor);
    static_cast<void>(op);
  }

  template <std::size_t N>
  HWY_INLINE auto source(std::size_t j, std::size_t offset) const {
    using Pack = typename E::template Pack<N>;
    auto value = Pack::load(bytes_of(call.sources[j]) + offset);
    if constexpr (F::kScales) {
      if (j == call.raw_source) value = Pack::template scale<F>(value, factor);
    }
    return value;
  }

  template <std::size_t N, class Value>
  HWY_INLINE Value divided(Value value) const {
    if constexpr (F::kDivides) value = E::template Pack<N>::divide(value, divisor);
    return value;
  }

  // A destination that the head could not align is written in the ordinary way.
  template <std::size_t N, class Stored>
  HWY_INLINE void put(Stored stored, std::uint8_t* to) const {
    using Pack = typename E::template Pack<N>;
    if constexpr (kStreaming && N == E::kLanes) {
      if (reinterpret_cast<std::uintptr_t>(to) % (E::kLanes * E::kBytes) == 0) {
        Pack::stream(stored, to);
        return;
      }
    }
    Pack::store(stored, to);
  }

  template <std::size_t N>
  HWY_INLINE void at(std::size_t offset) const {
    using Pack = typename E::template Pack<N>;
    auto value = source<N>(0, offset);
    for (std::size_t j = 1; j < num_sources; ++j) value = Pack::template combine<F>(value, source<N>(j, offset));
    const auto stored = Pack::template stored<F>(divided<N>(value));
    for (std::size_t i = 0; i < num_destinations; ++i) put<N>(stored, bytes_of(call.destinations[i]) + offset);
  }

  static HWY_NOINLINE void one_by_one(const AnyPass pass, std::size_t offset) {
    constexpr std::size_t kStep = E::kLanes * E::kBytes;
    for (std::size_t i = 0; i < 4; ++i) pass.template at<E::kLanes>(offset + i * kStep);
  }

  HWY_INLINE void four_at(std::size_t offset) const {
    constexpr std::size_t kLanes = E::kLanes;
    constexpr std::size_t kStep = kLanes * E::kBytes;
    using Pack = typename E::template Pack<kLanes>;
    Four<typename Pack::Value> values = {source<kLanes>(0, offset), source<kLanes>(0, offset + kStep),
                                         source<kLanes>(0, offset + 2 * kStep), source<kLanes>(0, offset + 3 * kStep)};
    for (std::size_t j = 1; j < num_sources; ++j) {
      values.a = Pack::template combine<F>(values.a, source<kLanes>(j, offset));
      values.b = Pack::template combine<F>(values.b, source<kLanes>(j, offset + kStep));
      values.c = Pack::template combine<F>(values.c, source<kLanes>(j, offset + 2 * kStep));
      values.d = Pack::template combine<F>(values.d, source<kLanes>(j, offset + 3 * kStep));
    }
    if constexpr (F::kDivides) {
      values = {divided<kLanes>(values.a), divided<kLanes>(values.b), divided<kLanes>(values.c),
                divided<kLanes>(values.d)};
    }
    Four<typename Pack::Stored> stored;
    if (HWY_UNLIKELY(!E::template stored_four<F>(values, stored))) return one_by_one(*this, offset);
    for (std::size_t i = 0; i < num_destinations; ++i) {
      std::uint8_t* to = bytes_of(call.destinations[i]) + offset;
      put<kLanes>(stored.a, to);
      put<kLanes>(stored.b, to + kStep);
      put<kLanes>(stored.c, to + 2 * kStep);
      put<kLanes>(stored.d, to + 3 * kStep);
    }
  }

  // `count` is below kLanes; returns the offset behind it.
  template <std::size_t N>
  HWY_INLINE std::size_t rest(std::size_t offset, std::size_t count) const {
    if constexpr (N >= 1) {
      if (count & N) {
        at<N>(offset);
        offset += N * E::kBytes;
      }
      return rest<N / 2>(offset, count);
    } else {
      return offset;
    }
  }

  // How many elements lie before the first destination's next vector boundary; none where no element starts on one.
  [[nodiscard]] HWY_INLINE std::size_t head() const {
    constexpr std::size_t kVector = E::kLanes * E::kBytes;
    const std::size_t past = reinterpret_cast<std::uintptr_t>(call.destinations[0]) % kVector;
    const std::size_t missing = (kVector - past) % kVector;
    return missing % E::kBytes == 0 ? std::min(missing / E::kBytes, call.count) : 0;
  }

  HWY_INLINE void run() const {
    constexpr std::size_t kStep = E::kLanes * E::kBytes;
    std::size_t offset = 0;
    std::size_t count = call.count;
    if constexpr (kStreaming) {
      if (num_destinations == 0) return;
      const std::size_t before = head();
      offset = rest<E::kLanes / 2>(offset, before);
      count -= before;
    }
    if constexpr (kEffort != Effort::small) {
      for (; count >= 4 * E::kLanes; count -= 4 * E::kLanes, offset += 4 * kStep) four_at(offset);
    }
    for (; count >= E::kLanes; count -= E::kLanes, offset += kStep) at<E::kLanes>(offset);
    rest<E::kLanes / 2>(offset, count);
    if constexpr (kStreaming) hwy::FlushStream();
  }
};

template <class E, class F, int kSources, int kDestinations>
HWY_NOINLINE void reduce_fixed(const ReduceCall& call) {
  FixedPass<E, F, kSources, kDestinations>(call).run(call.count);
}

template <class E, class F>
HWY_NOINLINE void reduce_pair_of_vectors(const void* first, const void* second, void* destination, std::size_t count) {
  FixedPass<E, F, 2, 1>(first, second, destination).run(count);
}

// The smallest messages stay in this function, which uses no whole vector and so has none to clear at its end.
template <class E, class F>
void reduce_pair(const void* first, const void* second, void* destination, std::size_t count) {
  if (count >= E::kLanes) return reduce_pair_of_vectors<E, F>(first, second, destination, count);
  FixedPass<E, F, 2, 1>(first, second, destination).rest(0, count);
}

template <class E, class F, bool kStreaming, Effort kEffort>
HWY_NOINLINE void reduce_any(const Operator& op, const ReduceCall& call) {
  AnyPass<E, F, kStreaming, kEffort>(op, call).run();
}

template <class E, bool kStreaming>
HWY_NOINLINE void copy_elements(const ReduceCall& call) {
  multi_copy(call.destinations, call.num_destinations, call.sources[0], call.count * E::kBytes, kStreaming);
}

// An operator that neither scales nor divides here.
template <class E, class F, bool kStreaming, Effort kEffort>
HWY_INLINE void reduce_plainly(const Operator& op, const ReduceCall& call) {
  if constexpr (kEffort != Effort::small && !kStreaming) {
    if (call.num_sources == 2 && call.num_destinations == 1)
      return reduce_pair<E, F>(call.sources[0], call.sources[1], call.destinations[0], call.count);
  }
  if (call.num_sources == 1) return copy_elements<E, kStreaming>(call);
  if constexpr (kEffort == Effort::full && !kStreaming) {
    if (call.num_destinations == 1) {
      if (call.num_sources == 3) return reduce_fixed<E, F, 3, 1>(call);
      if (call.num_sources == 4) return reduce_fixed<E, F, 4, 1>(call);
    } else if (call.num_destinations == 2) {
      if (call.num_sources == 2) return reduce_fixed<E, F, 2, 2>(call);
      if (call.num_sources == 3) return reduce_fixed<E, F, 3, 2>(call);
      if (call.num_sources == 4) return reduce_fixed<E, F, 4, 2>(call);
    }
  }
  reduce_any<E, F, kStreaming, kEffort>(op, call);
}

// Averages and pre-multiplied sums that do neither in this call are the sum's own code.
template <class E, class F, bool kStreaming, Effort kEffort>
void reduce(const Operator& op, const ReduceCall& call) {
  if constexpr (F::kScales) {
    if (call.raw_source != kNoSource) return reduce_any<E, F, kStreaming, limited<E>(Effort::unrolled)>(op, call);
    reduce<E, Sum, kStreaming, kEffort>(op, call);
  } else if constexpr (F::kDivides) {
    if (call.final) return reduce_any<E, F, kStreaming, limited<E>(Effort::unrolled)>(op, call);
    reduce<E, Sum, kStreaming, kEffort>(op, call);
  } else {
    reduce_plainly<E, F, kStreaming, kEffort>(op, call);
  }
}

template <class E, class F, Effort kWanted>
constexpr KernelSet::Kernels kernels_of() {
  constexpr Effort kEffort = limited<E>(kWanted);
  KernelSet::Kernels kernels = {&reduce<E, F, false, kEffort>, &reduce<E, F, E::kStreams, kEffort>};
  if constexpr (kEffort != Effort::small && !F::kScales && !F::kDivides) kernels.pair = &reduce_pair<E, F>;
  return kernels;
}

// Everything that is defined on floats.
template <class E>
constexpr KernelSet float_set() {
  KernelSet set;
  set[Op::sum] = kernels_of<E, Sum, Effort::full>();
  set[Op::product] = kernels_of<E, Product, Effort::small>();
  set[Op::maximum] = kernels_of<E, Maximum, Effort::unrolled>();
  set[Op::minimum] = kernels_of<E, Minimum, Effort::unrolled>();
  set[Op::average] = kernels_of<E, Average, Effort::full>();
  set[Op::logical_and] = kernels_of<E, LogicalAnd, Effort::small>();
  set[Op::logical_or] = kernels_of<E, LogicalOr, Effort::small>();
  set[Op::logical_xor] = kernels_of<E, LogicalXor, Effort::small>();
  set[Op::premultiplied_sum] = kernels_of<E, PremultipliedSum, Effort::full>();
  return set;
}

// Integers: only the order of values tells signed from unsigned, so all else is the unsigned code. The average's final
// division stands outside of the vectors.
template <class Unsigned, class Ordered>
constexpr KernelSet integer_set() {
  using E = Plain<Unsigned>;
  KernelSet set;
  set[Op::sum] = kernels_of<E, Sum, Effort::full>();
  set[Op::product] = kernels_of<E, Product, Effort::small>();
  set[Op::maximum] = kernels_of<Plain<Ordered>, Maximum, Effort::unrolled>();
  set[Op::minimum] = kernels_of<Plain<Ordered>, Minimum, Effort::unrolled>();
  set[Op::average] = {&average_integers, &average_integers_streaming, nullptr};
  set[Op::bit_and] = kernels_of<E, BitAnd, Effort::small>();
  set[Op::bit_or] = kernels_of<E, BitOr, Effort::small>();
  set[Op::bit_xor] = kernels_of<E, BitXor, Effort::small>();
  set[Op::logical_and] = kernels_of<E, LogicalAnd, Effort::small>();
  set[Op::logical_or] = kernels_of<E, LogicalOr, Effort::small>();
  set[Op::logical_xor] = kernels_of<E, LogicalXor, Effort::small>();
  set[Op::premultiplied_sum] = kernels_of<E, PremultipliedSum, Effort::full>();
  return set;
}

}  // namespace HWY_NAMESPACE
}  // namespace tutti
HWY_AFTER_NAMESPACE();

#endif  // the toggling guard
