// SPDX-License-Identifier: Apache-2.0
// Folds sources into destinations with all threads of a channel: 16 bytes at a time where all ends are aligned alike,
// else an element at a time. For host and device; a thread of the host is a channel of one thread.
#pragma once

#include <cstdint>

#include "cuda/walk/element.hpp"
#include "cuda/walk/words.hpp"

namespace tutti::cuda {

// What is loaded and stored at once.
template <unsigned kBytes>
struct alignas(kBytes) Chunk {
  std::uint8_t bytes[kBytes];  // NOLINT(modernize-avoid-c-arrays): also on devices
};
template <>
struct alignas(16) Chunk<16> {
  std::uint32_t words[4];  // NOLINT(modernize-avoid-c-arrays)
};

struct FoldCall {
  const std::byte* const* sources;
  std::byte* const* destinations;
  std::uint32_t num_sources;
  std::uint32_t num_destinations;
  std::uint32_t raw_source;  // of sources; what is not below num_sources is none
  bool completes;
  std::uint64_t count;  // elements
  std::uint32_t thread;
  std::uint32_t num_threads;
};

template <class Element, unsigned kBytes>
struct Lanes {
  static constexpr unsigned kNumber = kBytes / sizeof(typename Element::Stored);
  using Stored = typename Element::Stored;
  using Wide = typename Element::Wide;
  Wide lane[kNumber];  // NOLINT(modernize-avoid-c-arrays)

  static TUTTI_ON_DEVICE Lanes widened(const Chunk<kBytes>& chunk) {
    Stored stored[kNumber];  // NOLINT(modernize-avoid-c-arrays)
    __builtin_memcpy(stored, &chunk, kBytes);
    Lanes lanes;
TUTTI_UNROLL
    for (unsigned i = 0; i < kNumber; ++i) lanes.lane[i] = Element::widen(stored[i]);
    return lanes;
  }
  [[nodiscard]] TUTTI_ON_DEVICE Chunk<kBytes> narrowed() const {
    Stored stored[kNumber];  // NOLINT(modernize-avoid-c-arrays)
TUTTI_UNROLL
    for (unsigned i = 0; i < kNumber; ++i) stored[i] = Element::narrow(lane[i]);
    Chunk<kBytes> chunk;
    __builtin_memcpy(&chunk, stored, kBytes);
    return chunk;
  }
  template <class Function>
  TUTTI_ON_DEVICE void with(const Lanes& other, const Function& function) {
TUTTI_UNROLL
    for (unsigned i = 0; i < kNumber; ++i) lane[i] = function(lane[i], other.lane[i]);
  }
  template <class Function>
  TUTTI_ON_DEVICE void each(const Function& function) {
TUTTI_UNROLL
    for (unsigned i = 0; i < kNumber; ++i) lane[i] = function(lane[i]);
  }

  TUTTI_ON_DEVICE void fold(Op op, const Lanes& next) {
    switch (op) {
      case Op::product: with(next, [](Wide a, Wide b) { return fold_product(a, b); }); break;
      case Op::maximum: with(next, [](Wide a, Wide b) { return fold_extreme(true, a, b); }); break;
      case Op::minimum: with(next, [](Wide a, Wide b) { return fold_extreme(false, a, b); }); break;
      case Op::bit_and:
      case Op::bit_or:
      case Op::bit_xor: with(next, [op](Wide a, Wide b) { return fold_bits(op, a, b); }); break;
      case Op::logical_and:
      case Op::logical_or:
      case Op::logical_xor: with(next, [op](Wide a, Wide b) { return fold_logical(op, a, b); }); break;
      default: with(next, [](Wide a, Wide b) { return fold_sum(a, b); }); break;
    }
  }
};

template <unsigned kBytes>
TUTTI_ON_DEVICE Chunk<kBytes> load(const std::byte* from) {
#ifdef __CUDA_ARCH__
  if constexpr (kBytes == 16) {
    const uint4 words = *reinterpret_cast<const uint4*>(from);
    return {{words.x, words.y, words.z, words.w}};
  }
#endif
  Chunk<kBytes> chunk;
  __builtin_memcpy(&chunk, __builtin_assume_aligned(from, kBytes), kBytes);
  return chunk;
}
template <unsigned kBytes>
TUTTI_ON_DEVICE void store(std::byte* to, const Chunk<kBytes>& chunk) {
#ifdef __CUDA_ARCH__
  if constexpr (kBytes == 16) {
    *reinterpret_cast<uint4*>(to) = make_uint4(chunk.words[0], chunk.words[1], chunk.words[2], chunk.words[3]);
    return;
  }
#endif
  __builtin_memcpy(__builtin_assume_aligned(to, kBytes), &chunk, kBytes);
}

template <class Element, unsigned kBytes>
class Pass {
 public:
  // Chunks that a thread has under way at a time: as many as registers hold widened.
  static constexpr unsigned kNumber = kBytes / sizeof(typename Element::Stored);
  static constexpr unsigned kDeep = kNumber > 8 ? 1 : kNumber > 4 ? 2 : kBytes == 16 ? 4 : sizeof(typename Element::Stored) < 4 ? 1 : 2;

  TUTTI_ON_DEVICE Pass(const FoldCall& call, const Operator& op)
      : call_(call),
        op_(op),
        scales_(op.op == Op::premultiplied_sum && call.raw_source < call.num_sources),
        divides_(op.op == Op::average && call.completes),
        copies_(call.num_sources == 1 && !scales_ && !divides_) {}

  // Chunks [first, end) of the ends.
  TUTTI_ON_DEVICE void run(std::uint64_t offset, std::uint64_t chunks) const {
    std::uint64_t at = call_.thread;
    if constexpr (kDeep > 1) {
      for (; at + (kDeep - 1) * call_.num_threads < chunks; at += kDeep * call_.num_threads)
        some<kDeep>(offset + at * kBytes);
    }
    for (; at < chunks; at += call_.num_threads) some<1>(offset + at * kBytes);
  }

 private:
  using Row = Lanes<Element, kBytes>;

  template <unsigned kNumber>
  TUTTI_ON_DEVICE void some(std::uint64_t offset) const {
    const std::uint64_t stride = std::uint64_t{call_.num_threads} * kBytes;
    Chunk<kBytes> chunks[kNumber];  // NOLINT(modernize-avoid-c-arrays)
TUTTI_UNROLL
    for (unsigned i = 0; i < kNumber; ++i) chunks[i] = load<kBytes>(call_.sources[0] + offset + i * stride);
    if (!copies_) fold<kNumber>(chunks, offset, stride);
    for (std::uint32_t each = 0; each < call_.num_destinations; ++each) {
TUTTI_UNROLL
      for (unsigned i = 0; i < kNumber; ++i) store<kBytes>(call_.destinations[each] + offset + i * stride, chunks[i]);
    }
  }

  template <unsigned kNumber>
  TUTTI_ON_DEVICE void fold(Chunk<kBytes>* chunks, std::uint64_t offset, std::uint64_t stride) const {
    Row totals[kNumber];  // NOLINT(modernize-avoid-c-arrays)
TUTTI_UNROLL
    for (unsigned i = 0; i < kNumber; ++i) totals[i] = first_touched(Row::widened(chunks[i]), 0);
    for (std::uint32_t source = 1; source < call_.num_sources; ++source) {
TUTTI_UNROLL
      for (unsigned i = 0; i < kNumber; ++i) chunks[i] = load<kBytes>(call_.sources[source] + offset + i * stride);
TUTTI_UNROLL
      for (unsigned i = 0; i < kNumber; ++i)
        totals[i].fold(op_.op, first_touched(Row::widened(chunks[i]), source));
    }
TUTTI_UNROLL
    for (unsigned i = 0; i < kNumber; ++i) {
      if (divides_) totals[i].each([this](auto value) { return divided(value, op_.divisor); });
      chunks[i] = totals[i].narrowed();
    }
  }

  TUTTI_ON_DEVICE Row first_touched(Row row, std::uint32_t source) const {
    if (scales_ && source == call_.raw_source) row.each([this](auto value) { return scaled<Element>(value, op_); });
    return row;
  }

  const FoldCall& call_;
  const Operator& op_;
  const bool scales_;
  const bool divides_;
  const bool copies_;
};

// How many bytes all ends lie behind a multiple of 16; 16 where they differ.
TUTTI_ON_DEVICE unsigned common_misalignment(const FoldCall& call) {
  const auto of = [](const void* end) { return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(end) % 16); };
  const unsigned first = of(call.sources[0]);
  for (std::uint32_t i = 1; i < call.num_sources; ++i)
    if (of(call.sources[i]) != first) return 16;
  for (std::uint32_t i = 0; i < call.num_destinations; ++i)
    if (of(call.destinations[i]) != first) return 16;
  return first;
}

// With `AlignedPass` for what is aligned.
template <class Element, class AlignedPass = Pass<Element, 16>>
TUTTI_ON_DEVICE void fold(const FoldCall& call, const Operator& op) {
  constexpr unsigned kElement = sizeof(typename Element::Stored);
  const unsigned misalignment = common_misalignment(call);
  const std::uint64_t bytes = call.count * kElement;
  if (misalignment == 16) return Pass<Element, kElement>(call, op).run(0, call.count);
  std::uint64_t head = (16 - misalignment) % 16;
  if (head > bytes) head = bytes;
  const std::uint64_t chunks = (bytes - head) / 16;
  const std::uint64_t rest = bytes - head - chunks * 16;
  if (head > 0) Pass<Element, kElement>(call, op).run(0, head / kElement);
  AlignedPass(call, op).run(head, chunks);
  if (rest > 0) Pass<Element, kElement>(call, op).run(head + chunks * 16, rest / kElement);
}

}  // namespace tutti::cuda
