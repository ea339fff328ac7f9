// SPDX-License-Identifier: Apache-2.0
// Folds sources into destinations with all threads of a channel: 16 bytes at a time where all ends are aligned alike,
// else an element at a time. For host and device; a thread of the host is a channel of one thread.
#pragma once

#include <cstdint>

#include "device/walk/element.hpp"
#include "device/walk/words.hpp"

namespace tutti::device {

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
  // A tile has 2 to the power of that many elements; kNoTiles where there are none. Blocks are then cut into tiles,
  // which channels take in turn, and ends begin with element `first` of their blocks: a channel folds what lies in its
  // tiles. So whoever has an element does not depend on where buffers lie, and all channels together sweep through
  // memory, which is faster than each by itself.
  std::uint32_t tile_shift;
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
    Lanes lanes = {};
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
    if constexpr (kInPairs) {
      Stored stored[kNumber];  // NOLINT(modernize-avoid-c-arrays)
      TUTTI_UNROLL
      for (unsigned i = 0; i < kNumber; i += 2) Element::narrow_pair(&lane[i], &stored[i]);
      if (!is_doubtful(stored)) return chunk_of(stored);
    }
    Stored stored[kNumber];  // NOLINT(modernize-avoid-c-arrays)
    TUTTI_UNROLL
    for (unsigned i = 0; i < kNumber; ++i) stored[i] = Element::narrow(lane[i]);
    return chunk_of(stored);
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

 private:
  static TUTTI_ON_DEVICE Chunk<kBytes> chunk_of(const Stored* stored) {
    Chunk<kBytes> chunk = {};
    __builtin_memcpy(&chunk, stored, kBytes);
    return chunk;
  }
  // Whether some code that was narrowed in a pair may be another than by itself.
  static TUTTI_ON_DEVICE bool is_doubtful(const Stored* stored) {
    bool any = false;
    if constexpr (requires(std::uint32_t codes) { Element::is_doubtful(codes); }) {
      constexpr unsigned kWord = kBytes < 4 ? kBytes : 4;
      TUTTI_UNROLL
      for (unsigned i = 0; i < kBytes; i += kWord) {
        std::uint32_t codes = 0;
        __builtin_memcpy(&codes, reinterpret_cast<const std::uint8_t*>(stored) + i, kWord);
        any = any || Element::is_doubtful(codes);
      }
    }
    return any;
  }
};

// Whether chunk i of some is there.
template <bool kGuarded>
TUTTI_ON_DEVICE bool is_there(unsigned i, unsigned number) {
  return !kGuarded || i < number;
}

template <unsigned kBytes>
TUTTI_ON_DEVICE Chunk<kBytes> load(const std::byte* from) {
#ifdef __CUDA_ARCH__
  if constexpr (kBytes == 16) {
    const uint4 words = *reinterpret_cast<const uint4*>(from);
    return {{words.x, words.y, words.z, words.w}};
  }
#endif
  Chunk<kBytes> chunk = {};
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

// One thread's chunks: for each c = first_chunk, first_chunk + num_threads … below end_chunk and each i = start,
// start + step … below `number`, the chunk at offset + c * kBytes + i * pitch.
struct Stretch {
  std::uint64_t offset;
  std::uint64_t first_chunk;
  std::uint64_t end_chunk;
  std::uint64_t start;
  std::uint64_t step;
  std::uint64_t number;
  std::uint64_t pitch;
};

// What all passes have: a Derived has kDeep, and some<n, is_guarded>(offset, stride, number), which folds n chunks, or
// the first `number` of n. All of what is left over is under way at once too.
template <class Derived, unsigned kBytes>
class AnyPass {
 public:
  explicit TUTTI_ON_DEVICE AnyPass(const FoldCall& call) : call_(call) {}

  // That many chunks in a row.
  [[nodiscard]] TUTTI_ON_DEVICE Stretch row(std::uint64_t offset, std::uint64_t chunks) const {
    return {offset, 0, 1, call_.thread, call_.num_threads, chunks, kBytes};
  }
  // `number` whole tiles, `pitch` bytes from one to the next.
  [[nodiscard]] TUTTI_ON_DEVICE Stretch tiles(std::uint64_t offset, std::uint64_t number, std::uint64_t pitch,
                                              std::uint64_t chunks_of_tile) const {
    return {offset, call_.thread, chunks_of_tile, 0, 1, number, pitch};
  }

  TUTTI_ON_DEVICE void run(const Stretch& stretch) const {
    constexpr unsigned kDeep = Derived::kDeep;
    for (std::uint64_t chunk = stretch.first_chunk; chunk < stretch.end_chunk; chunk += call_.num_threads) {
      const std::uint64_t base = stretch.offset + chunk * kBytes;
      std::uint64_t at = stretch.start;
      for (; at + (kDeep - 1) * stretch.step < stretch.number; at += kDeep * stretch.step)
        self().template some<kDeep, false>(base + at * stretch.pitch, stretch.step * stretch.pitch, kDeep);
      if constexpr (kDeep > 1) {
        unsigned left = 0;
        for (std::uint64_t next = at; next < stretch.number; next += stretch.step) ++left;
        if (left > 0) self().template some<kDeep, true>(base + at * stretch.pitch, stretch.step * stretch.pitch, left);
      }
    }
  }

 protected:
  const FoldCall& call_;  // NOLINT(*-non-private-member-variables-in-classes)

 private:
  [[nodiscard]] TUTTI_ON_DEVICE const Derived& self() const { return *static_cast<const Derived*>(this); }
};

// One source as it is, of any type.
class CopyPass : public AnyPass<CopyPass, 16> {
 public:
  static constexpr unsigned kDeep = 4;

  explicit TUTTI_ON_DEVICE CopyPass(const FoldCall& call) : AnyPass<CopyPass, 16>(call) {}

  template <unsigned kSome, bool kGuarded>
  TUTTI_ON_DEVICE void some(std::uint64_t offset, std::uint64_t stride, unsigned number) const {
    Chunk<16> chunks[kSome];  // NOLINT(modernize-avoid-c-arrays)
    TUTTI_UNROLL
    for (unsigned i = 0; i < kSome; ++i)
      chunks[i] = is_there<kGuarded>(i, number) ? load<16>(call_.sources[0] + offset + i * stride) : Chunk<16>{};
    for (std::uint32_t each = 0; each < call_.num_destinations; ++each) {
      TUTTI_UNROLL
      for (unsigned i = 0; i < kSome; ++i) {
        if (is_there<kGuarded>(i, number)) store<16>(call_.destinations[each] + offset + i * stride, chunks[i]);
      }
    }
  }
};

// Whether a pre-multiplied sum has a factor here, and whether an average is divided.
TUTTI_ON_DEVICE bool scales(const FoldCall& call, const Operator& op) {
  return op.op == Op::premultiplied_sum && call.raw_source < call.num_sources;
}
TUTTI_ON_DEVICE bool divides(const FoldCall& call, const Operator& op) {
  return op.op == Op::average && call.completes;
}
TUTTI_ON_DEVICE bool copies(const FoldCall& call, const Operator& op) {
  return call.num_sources == 1 && !scales(call, op) && !divides(call, op);
}

template <class Element, unsigned kBytes>
class Pass : public AnyPass<Pass<Element, kBytes>, kBytes> {
 public:
  static constexpr unsigned kNumber = kBytes / sizeof(typename Element::Stored);
  // Chunks that a thread loads at a time: as many as fit into its registers after widening.
  static constexpr unsigned kDeepVectors = kNumber > 8 ? 1 : kNumber > 4 ? 2 : 4;
  static constexpr unsigned kDeep = kBytes == 16 ? kDeepVectors : kBytes < 4 ? 1 : 2;

  TUTTI_ON_DEVICE Pass(const FoldCall& call, const Operator& op)
      : AnyPass<Pass, kBytes>(call),
        op_(op),
        scales_(scales(call, op)),
        divides_(divides(call, op)),
        copies_(copies(call, op)) {}

  template <unsigned kSome, bool kGuarded>
  TUTTI_ON_DEVICE void some(std::uint64_t offset, std::uint64_t stride, unsigned number) const {
    const FoldCall& call = this->call_;
    Chunk<kBytes> chunks[kSome];  // NOLINT(modernize-avoid-c-arrays)
    load_source<kSome, kGuarded>(chunks, 0, offset, stride, number);
    if (!copies_) fold<kSome, kGuarded>(chunks, offset, stride, number);
    for (std::uint32_t each = 0; each < call.num_destinations; ++each) {
      TUTTI_UNROLL
      for (unsigned i = 0; i < kSome; ++i) {
        if (is_there<kGuarded>(i, number)) store<kBytes>(call.destinations[each] + offset + i * stride, chunks[i]);
      }
    }
  }

 private:
  using Row = Lanes<Element, kBytes>;

  template <unsigned kSome, bool kGuarded>
  TUTTI_ON_DEVICE void load_source(Chunk<kBytes>* chunks, std::uint32_t source, std::uint64_t offset,
                                   std::uint64_t stride, unsigned number) const {
    TUTTI_UNROLL
    for (unsigned i = 0; i < kSome; ++i)
      chunks[i] = is_there<kGuarded>(i, number) ? load<kBytes>(this->call_.sources[source] + offset + i * stride)
                                                : Chunk<kBytes>{};
  }

  template <unsigned kSome, bool kGuarded>
  TUTTI_ON_DEVICE void fold(Chunk<kBytes>* chunks, std::uint64_t offset, std::uint64_t stride, unsigned number) const {
    Row totals[kSome];  // NOLINT(modernize-avoid-c-arrays)
    TUTTI_UNROLL
    for (unsigned i = 0; i < kSome; ++i) totals[i] = first_touched(Row::widened(chunks[i]), 0);
    for (std::uint32_t source = 1; source < this->call_.num_sources; ++source) {
      load_source<kSome, kGuarded>(chunks, source, offset, stride, number);
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

// `count` elements in a row from `offset` bytes on, one by one. By value, so that a caller's call stays in registers.
template <class Element>
TUTTI_ON_DEVICE_APART void fold_elements(const FoldCall call, const Operator& op, std::uint64_t offset,
                                         std::uint64_t count) {
  const Pass<Element, sizeof(typename Element::Stored)> pass(call, op);
  pass.run(pass.row(offset, count));
}

// With `AlignedPass` for what is aligned.
template <class Element, class AlignedPass = Pass<Element, 16>>
TUTTI_ON_DEVICE void fold(const FoldCall& call, const Operator& op) {
  constexpr unsigned kElement = sizeof(typename Element::Stored);
  const AlignedPass pass(call, op);
  const bool is_copy = copies(call, op);
  const bool is_tiled = call.tile_shift != kNoTiles;
  const std::uint64_t size = is_tiled ? std::uint64_t{1} << call.tile_shift : call.count;
  const std::uint64_t first = is_tiled ? call.first : 0;
  const std::uint64_t end = first + call.count;
  // Division is slow on devices, of 64 bits above all; no block has 2^32 tiles.
  const std::uint32_t step = is_tiled ? call.num_channels : 1;
  const std::uint32_t first_tile = is_tiled ? static_cast<std::uint32_t>(first >> call.tile_shift) : 0;
  std::uint64_t tile = first_tile;
  if (step > 1) tile += (call.channel + step - first_tile % step) % step;
  while (tile * size < end) {
    const std::uint64_t from = tile * size < first ? first : tile * size;
    const std::uint64_t until = (tile + 1) * size < end ? (tile + 1) * size : end;
    const std::uint64_t offset = (from - first) * kElement;
    const unsigned misalignment = common_misalignment(call, offset);
    if (misalignment == 16) {
      fold_elements<Element>(call, op, offset, until - from);
      tile += step;
      continue;
    }
    Stretch stretch = {};
    if (is_tiled && misalignment == 0 && until - from == size) {
      const auto left = static_cast<std::uint32_t>((end >> call.tile_shift) - tile);
      const std::uint32_t whole = (left + step - 1) / step;
      stretch = pass.tiles(offset, whole, step * size * kElement, size * kElement / 16);
      tile += std::uint64_t{whole} * step;
    } else {
      const std::uint64_t bytes = (until - from) * kElement;
      std::uint64_t head = (16 - misalignment) % 16;
      if (head > bytes) head = bytes;
      const std::uint64_t chunks = (bytes - head) / 16;
      const std::uint64_t rest = bytes - head - chunks * 16;
      if (head > 0) fold_elements<Element>(call, op, offset, head / kElement);
      if (rest > 0) fold_elements<Element>(call, op, offset + bytes - rest, rest / kElement);
      stretch = pass.row(offset + head, chunks);
      tile += step;
    }
    if (is_copy) {
      CopyPass(call).run(stretch);
    } else {
      pass.run(stretch);
    }
  }
}

}  // namespace tutti::device
