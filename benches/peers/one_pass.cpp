// SPDX-License-Identifier: Apache-2.0
#include "benches/peers/one_pass.hpp"

#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/mman.h>

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include "benches/peers/score.hpp"

namespace tutti::bars {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCores = 2;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<float, Free>;

// Buffers behind each other, at different places within a page: where they agree in it, a load waits for a store of
// another buffer.
constexpr std::size_t kNumBuffers = 4;
constexpr std::size_t kApart = 1024 + 64;
std::size_t stride_of(std::size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage + kApart; }

Memory zeros(std::size_t bytes) {
  const std::size_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
  void* memory = std::aligned_alloc(kHugePage, whole);
  if (memory == nullptr) return nullptr;
  ::madvise(memory, whole, MADV_HUGEPAGE);
  std::fill_n(static_cast<float*>(memory), whole / sizeof(float), 0.0F);
  return Memory(static_cast<float*>(memory));
}

// Of one core.
struct Part {
  const float* first;
  const float* second;
  float* mine;
  float* yours;
  std::size_t count;
};

void add_plainly(const Part& part) {
  const float* __restrict first = part.first;
  const float* __restrict second = part.second;
  float* __restrict mine = part.mine;
  float* __restrict yours = part.yours;
  for (std::size_t i = 0; i < part.count; ++i) {
    const float sum = first[i] + second[i];
    mine[i] = sum;
    yours[i] = sum;
  }
}

#if defined(__AVX__)
void add_streaming(const Part& part) {
  constexpr std::size_t kWide = 8;
  std::size_t i = 0;
  for (; i + 2 * kWide <= part.count; i += 2 * kWide) {  // whole cache lines
    const __m256 low = _mm256_add_ps(_mm256_loadu_ps(part.first + i), _mm256_loadu_ps(part.second + i));
    const __m256 high =
        _mm256_add_ps(_mm256_loadu_ps(part.first + i + kWide), _mm256_loadu_ps(part.second + i + kWide));
    _mm256_stream_ps(part.mine + i, low);
    _mm256_stream_ps(part.mine + i + kWide, high);
    _mm256_stream_ps(part.yours + i, low);
    _mm256_stream_ps(part.yours + i + kWide, high);
  }
  _mm_sfence();
  for (; i < part.count; ++i) part.mine[i] = part.yours[i] = part.first[i] + part.second[i];
}
#else
void add_streaming(const Part& part) { add_plainly(part); }
#endif

void run_on(int place) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &allowed) || place-- > 0) continue;
    cpu_set_t own;
    CPU_ZERO(&own);
    CPU_SET(processor, &own);
    ::sched_setaffinity(0, sizeof own, &own);
    return;
  }
}

// The last end minus the first begin.
template <typename Add>
double one_pass(const Part& whole, const Add& add) {
  std::array<Clock::time_point, kCores> begins;
  std::array<Clock::time_point, kCores> ends;
  std::barrier together(kCores);
  const std::size_t share = whole.count / kCores;
  const auto work = [&](int core) {
    run_on(core);
    const std::size_t from = static_cast<std::size_t>(core) * share;
    const Part part = {whole.first + from, whole.second + from, whole.mine + from, whole.yours + from, share};
    together.arrive_and_wait();
    begins[static_cast<std::size_t>(core)] = Clock::now();
    add(part);
    ends[static_cast<std::size_t>(core)] = Clock::now();
  };
  std::vector<std::jthread> threads;
  threads.reserve(kCores);
  for (int core = 0; core < kCores; ++core) threads.emplace_back(work, core);
  threads.clear();
  return std::chrono::duration<double, std::micro>(*std::max_element(ends.begin(), ends.end()) -
                                                   *std::min_element(begins.begin(), begins.end()))
      .count();
}

}  // namespace

double one_pass_us(std::size_t bytes) {
  constexpr int kPasses = 11;
  const std::size_t stride = stride_of(bytes);
  const Memory memory = zeros(kNumBuffers * stride);
  if (memory == nullptr) return 0;
  const auto buffer = [&](std::size_t which) { return memory.get() + which * stride / sizeof(float); };
  const Part whole = {buffer(0), buffer(1), buffer(2), buffer(3), bytes / sizeof(float)};
  std::vector<double> plain;
  std::vector<double> streaming;
  for (int pass = 0; pass < kPasses; ++pass) {
    plain.push_back(one_pass(whole, add_plainly));
    streaming.push_back(one_pass(whole, add_streaming));
  }
  return std::min(median_of(plain), median_of(streaming));
}

}  // namespace tutti::bars
