// SPDX-License-Identifier: Apache-2.0
// The kernels of one type on one instruction set, and where each family of types keeps its own. Internal to data/.
// The sets are constants; thread-safe.
#pragma once

#include <array>
#include <cstddef>

#include "data/kernel.hpp"

// The instruction sets compiled for: 256- and 512-bit vectors and SSE4 on x86, NEON on ARM, and plain C++ below that.
// The others that Highway knows would cost compile time and gain nothing here. Every file that includes Highway in
// this layer includes this one first.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV | HWY_WASM_EMU256)

namespace tutti {

struct KernelSet {
  struct Kernels {
    ReduceKernel plain = nullptr;
    ReduceKernel streaming = nullptr;
    PairKernel pair = nullptr;
  };
  std::array<Kernels, kNumOps> of{};

  constexpr Kernels& operator[](Op op) { return of[static_cast<std::size_t>(op)]; }
  constexpr const Kernels& operator[](Op op) const { return of[static_cast<std::size_t>(op)]; }
};

// Each looks up the best set for this processor (a table lookup; the processor is asked once per process).
const KernelSet& f32_kernels();
const KernelSet& f64_kernels();
const KernelSet& f16_kernels();
const KernelSet& bf16_kernels();
const KernelSet& f8e4m3_kernels();
const KernelSet& f8e5m2_kernels();
const KernelSet& i8_kernels();
const KernelSet& u8_kernels();
const KernelSet& i16_kernels();
const KernelSet& u16_kernels();
const KernelSet& i32_kernels();
const KernelSet& u32_kernels();
const KernelSet& i64_kernels();
const KernelSet& u64_kernels();

// The integer average: a wrapped sum by the set's own kernel, then an exact division.
void average_integers(const Operator& op, const ReduceCall& call);
void average_integers_streaming(const Operator& op, const ReduceCall& call);

// Writes `bytes` past the caches, without the fence.
void stream_bytes(void* destination, const void* source, std::size_t bytes);

// What was streamed becomes visible before anything that is stored after this.
void fence_streams();

}  // namespace tutti
