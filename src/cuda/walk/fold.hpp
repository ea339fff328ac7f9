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
  // Elements of a tile, or 0. Blocks are then cut into tiles, which channels take in turn, and ends begin with element
  // `first` of their blocks: a channel folds what lies in its tiles. So whoever has an element does not depend on where
  // buffers lie, and all channels together sweep through memory, which is faster than each by itself.
  std::uint64_t tile;
  std::uint64_t first;
  std::uint32_t channel;
  std::uint32_t num_channels;
  std::uint32_t thread;
  std::uint32_t num_threads;
};

template <class Element, unsigned kBytes>
struct Lanes {
  static constexpr unsigned kNumber = kBytes / sizeof(typename Element::Stored);
  using Stored = typename Element::Stored;
  using Wide = typename Element::Wide;
  static constexpr bool kInPairs = kNumber % 2 == 0 && requires(Wide * wide, Stored* stored) {
    Element::widen_pair(stored, wide);
  };
  Wide lane[kNumber];  // NOLINT(modernize-avoid-c-arrays)

  static TUTTI_ON_DEVICE Lanes widened(const Chunk<kBytes>& chunk) {
    Stored stored[kNumber];  // NOLINT(modernize-avoid-c-arrays)
    __builtin_memcpy(stored, &chunk, kBytes);
    Lanes lanes;
    if constexpr (kInPairs) {
      TUTTI_UNROLL
      for (unsigned i = 0; i < kNumber; i += 2) Element::widen_pair(&stored[i], &lanes.lane[i]);
    } else {
      TUTTI_UNROLL
      for (unsigned i = 0; i < kNumber; ++i) lanes.lane[i] = Element::widen(stored[i]);
    }
    return lanes;
  }
  [[nodiscard]] TUTTI_ON_DEVICE Chunk<kBytes> narrowed() const {
    Stored stored[kNumber];  // NOLINT(modernize-avoid-c-arrays)
    if constexpr (kInPairs) {
      TUTTI_UNROLL
      for (unsigned i = 0; i < kNumber; i += 2) Element::narrow_pair(&lane[i], &stored[i]);
    } else {
      TUTTI_UNROLL
      for (unsigned i = 0; i < kNumber; ++i) stored[i] = Element::narrow(lane[i]);
    }
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

// Calls some<n>(offset, stride) for positions `start`, `start + step` … below `number`, at base + position · pitch:
// kDeep of them at a time.
template <unsigned kDeep, class Some>
TUTTI_ON_DEVICE void sweep(std::uint64_t base, std::uint64_t number, std::uint64_t pitch, std::uint64_t start,
                           std::uint64_t step, const Some& some) {
  std::uint64_t at = start;
  if constexpr (kDeep > 1) {
    for (; at + (kDeep - 1) * step < number; at += kDeep * step)
      some.template operator()<kDeep>(base + at * pitch, step * pitch);
  }
  for (; at < number; at += step) some.template operator()<1>(base + at * pitch, step * pitch);
}

// What all passes have: a Derived has kDeep, and some<n>(offset, stride), which folds n chunks.
template <class Derived, unsigned kBytes>
class AnyPass {
 public:
  explicit TUTTI_ON_DEVICE AnyPass(const FoldCall& call) : call_(call) {}

  // That many chunks in a row.
  TUTTI_ON_DEVICE void run(std::uint64_t offset, std::uint64_t chunks) const {
    sweep<Derived::kDeep>(offset, chunks, kBytes, call_.thread, call_.num_threads, some());
  }
  // Whole tiles, a multiple of `pitch` bytes apart.
  TUTTI_ON_DEVICE void run_tiles(std::uint64_t offset, std::uint64_t tiles, std::uint64_t pitch,
                                 std::uint64_t chunks_of_tile) const {
    for (std::uint64_t chunk = call_.thread; chunk < chunks_of_tile; chunk += call_.num_threads)
      sweep<Derived::kDeep>(offset + chunk * kBytes, tiles, pitch, 0, 1, some());
  }

 protected:
  const FoldCall& call_;  // NOLINT(*-non-private-member-variables-in-classes)

 private:
  TUTTI_ON_DEVICE auto some() const {
    return [this]<unsigned kNumber>(std::uint64_t offset, std::uint64_t stride) {
      static_cast<const Derived*>(this)->template some<kNumber>(offset, stride);
    };
  }
};

template <class Element, unsigned kBytes>
class Pass : public AnyPass<Pass<Element, kBytes>, kBytes> {
 public:
  // Chunks that a thread has under way at a time: as many as registers hold widened.
  static constexpr unsigned kNumber = kBytes / sizeof(typename Element::Stored);
  static constexpr unsigned kDeepVectors = kNumber > 8 ? 1 : kNumber > 4 ? 2 : 4;
  static constexpr unsigned kDeep = kBytes == 16 ? kDeepVectors : kBytes < 4 ? 1 : 2;

  TUTTI_ON_DEVICE Pass(const FoldCall& call, const Operator& op)
      : AnyPass<Pass, kBytes>(call),
        op_(op),
        scales_(op.op == Op::premultiplied_sum && call.raw_source < call.num_sources),
        divides_(op.op == Op::average && call.completes),
        copies_(call.num_sources == 1 && !scales_ && !divides_) {}

  template <unsigned kSome>
  TUTTI_ON_DEVICE void some(std::uint64_t offset, std::uint64_t stride) const {
    const FoldCall& call = this->call_;
    Chunk<kBytes> chunks[kSome];  // NOLINT(modernize-avoid-c-arrays)
    TUTTI_UNROLL
    for (unsigned i = 0; i < kSome; ++i) chunks[i] = load<kBytes>(call.sources[0] + offset + i * stride);
    if (!copies_) fold<kSome>(chunks, offset, stride);
    for (std::uint32_t each = 0; each < call.num_destinations; ++each) {
      TUTTI_UNROLL
      for (unsigned i = 0; i < kSome; ++i) store<kBytes>(call.destinations[each] + offset + i * stride, chunks[i]);
    }
  }

 private:
  using Row = Lanes<Element, kBytes>;

  template <unsigned kSome>
  TUTTI_ON_DEVICE void fold(Chunk<kBytes>* chunks, std::uint64_t offset, std::uint64_t stride) const {
    const FoldCall& call = this->call_;
    Row totals[kSome];  // NOLINT(modernize-avoid-c-arrays)
    TUTTI_UNROLL
    for (unsigned i = 0; i < kSome; ++i) totals[i] = first_touched(Row::widened(chunks[i]), 0);
    for (std::uint32_t source = 1; source < call.num_sources; ++source) {
      TUTTI_UNROLL
      for (unsigned i = 0; i < kSome; ++i) chunks[i] = load<kBytes>(call.sources[source] + offset + i * stride);
      TUTTI_UNROLL
      for (unsigned i = 0; i < kSome; ++i) totals[i].fold(op_.op, first_touched(Row::widened(chunks[i]), source));
    }
    TUTTI_UNROLL
    for (unsigned i = 0; i < kSome; ++i) {
      if (divides_) totals[i].each([this](auto value) { return divided(value, op_.divisor); });
      chunks[i] = totals[i].narrowed();
    }
  }

  TUTTI_ON_DEVICE Row first_touched(Row row, std::uint32_t source) const {
    if (scales_ && source == this->call_.raw_source)
      row.each([this](auto value) { return scaled<Element>(value, op_); });
    return row;
  }

  const Operator& op_;
  const bool scales_;
  const bool divides_;
  const bool copies_;
};

// How many bytes all ends lie behind a multiple of 16 at that offset; 16 where they differ.
TUTTI_ON_DEVICE unsigned common_misalignment(const FoldCall& call, std::uint64_t offset) {
  const auto of = [offset](const std::byte* end) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(end + offset) % 16);
  };
  const unsigned first = of(call.sources[0]);
  for (std::uint32_t i = 1; i < call.num_sources; ++i)
    if (of(call.sources[i]) != first) return 16;
  for (std::uint32_t i = 0; i < call.num_destinations; ++i)
    if (of(call.destinations[i]) != first) return 16;
  return first;
}

// `count` elements in a row from `offset` bytes on.
template <class Element, class AlignedPass>
TUTTI_ON_DEVICE void fold_run(const FoldCall& call, const Operator& op, std::uint64_t offset, std::uint64_t count) {
  constexpr unsigned kElement = sizeof(typename Element::Stored);
  const unsigned misalignment = common_misalignment(call, offset);
  const std::uint64_t bytes = count * kElement;
  if (misalignment == 16) return Pass<Element, kElement>(call, op).run(offset, count);
  std::uint64_t head = (16 - misalignment) % 16;
  if (head > bytes) head = bytes;
  const std::uint64_t chunks = (bytes - head) / 16;
  const std::uint64_t rest = bytes - head - chunks * 16;
  if (head > 0) Pass<Element, kElement>(call, op).run(offset, head / kElement);
  AlignedPass(call, op).run(offset + head, chunks);
  if (rest > 0) Pass<Element, kElement>(call, op).run(offset + head + chunks * 16, rest / kElement);
}

// With `AlignedPass` for what is aligned.
template <class Element, class AlignedPass = Pass<Element, 16>>
TUTTI_ON_DEVICE void fold(const FoldCall& call, const Operator& op) {
  constexpr unsigned kElement = sizeof(typename Element::Stored);
  if (call.tile == 0) return fold_run<Element, AlignedPass>(call, op, 0, call.count);
  const std::uint64_t end = call.first + call.count;
  const std::uint64_t first_tile = call.first / call.tile;
  std::uint64_t tile =
      first_tile + (call.channel + call.num_channels - first_tile % call.num_channels) % call.num_channels;
  while (tile * call.tile < end) {
    const std::uint64_t from = tile * call.tile < call.first ? call.first : tile * call.tile;
    const std::uint64_t until = (tile + 1) * call.tile < end ? (tile + 1) * call.tile : end;
    const std::uint64_t offset = (from - call.first) * kElement;
    if (until - from < call.tile || common_misalignment(call, offset) != 0) {
      fold_run<Element, AlignedPass>(call, op, offset, until - from);
      tile += call.num_channels;
      continue;
    }
    const std::uint64_t whole = (end / call.tile - tile + call.num_channels - 1) / call.num_channels;
    AlignedPass(call, op).run_tiles(offset, whole, call.num_channels * call.tile * kElement, call.tile * kElement / 16);
    tile += whole * call.num_channels;
  }
}

}  // namespace tutti::cuda
