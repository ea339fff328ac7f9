// SPDX-License-Identifier: Apache-2.0
// How near the reduction kernels come to memcpy on this machine.
//
// A kernel with k sources and m destinations of S bytes moves (k + m)·S, memcpy 2·S. Each row sets (k + 1)·S/t of the
// kernel beside 2·S/t of a memcpy of the same size, measured right after each other in alternating order: the ratio is
// taken round by round, so that a drifting machine cancels out, and its median is reported with the 95 % interval that
// order statistics give without assuming a distribution. Warm means the same buffers again and again within a round,
// and others in the next, for where their pages lie decides more than a tenth; cold means that buffers rotate through
// several times the last-level cache. Streaming or not is the library's own choice for two ranks (stream_min_of),
// and both are shown. Exit status 1: a bar was missed by more than the interval.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/system/caches.hpp"
#include "data/kernel.hpp"
#include "runtime/selection/machine_profile.hpp"
#include "runtime/selection/profile_choice.hpp"

namespace {

using namespace tutti;  // NOLINT(google-build-using-namespace): a program of its own

using Clock = std::chrono::steady_clock;

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;
constexpr double kF32Bar = 0.85;
constexpr double kBf16Bar = 0.70;

// One large area that buffers are cut from, touched once so that pages are there.
class Arena {
 public:
  explicit Arena(std::size_t bytes)
      : bytes_(bytes), data_(static_cast<std::uint8_t*>(std::aligned_alloc(2 * kMiB, bytes)), &std::free) {
    if (data_ == nullptr) {
      fmt::print(stderr, "cannot allocate {} bytes for the buffers\n", bytes);
      std::exit(2);
    }
    // 0x3c3c is a small number in bf16 and, doubled, in f32: nothing slow such as a subnormal.
    std::memset(data_.get(), 0x3c, bytes);
  }
  [[nodiscard]] std::uint8_t* at(std::size_t offset) const { return data_.get() + offset; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_;
  std::unique_ptr<std::uint8_t, decltype(&std::free)> data_;
};

struct Case {
  std::string_view name;
  Type type;
  std::uint32_t num_sources;
  std::uint32_t num_destinations;
  std::size_t bytes;
  bool streaming;
  double bar;  // 0: shown, not judged
};

struct Interval {
  double low;
  double median;
  double high;
};

// The median and the pair of order statistics around it that enclose the true one in 95 % of all cases.
Interval median_interval(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const auto n = static_cast<double>(samples.size());
  const double half = 0.98 * std::sqrt(n);  // 1.96 · √n / 2
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(n / 2 - half)));
  const auto high = static_cast<std::size_t>(std::min(n - 1, std::ceil(n / 2 + half)));
  return {samples[low], samples[samples.size() / 2], samples[high]};
}

// Hands out sets of buffers: the same for a whole round when warm, the next in the arena when cold.
class Buffers {
 public:
  Buffers(const Arena& arena, std::size_t bytes, std::size_t num_buffers, bool cold)
      : arena_(arena), stride_((bytes + 4095) / 4096 * 4096 + 4096 + 192), set_(stride_ * num_buffers), cold_(cold) {}

  // The offset of a set; buffer i lies i strides further. A stride is off the page size, so that buffers do not
  // compete for the same cache sets.
  std::size_t next() {
    const std::size_t now = position_;
    if (cold_) advance();
    return now;
  }
  void next_round() {
    if (!cold_) advance();
  }
  [[nodiscard]] std::uint8_t* buffer(std::size_t set, std::size_t i) const { return arena_.at(set + i * stride_); }

 private:
  void advance() {
    position_ += set_;
    if (position_ + set_ > arena_.bytes()) position_ = 0;
  }

  const Arena& arena_;
  std::size_t stride_;
  std::size_t set_;
  bool cold_;
  std::size_t position_ = 0;
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The first of several calls warms up.
double time_kernel(const Case& c, ReduceKernel kernel, Buffers& buffers, int repeats) {
  const Operator op = {.op = Op::sum, .type = c.type};
  double total = 0;
  for (int i = repeats > 1 ? -1 : 0; i < repeats; ++i) {
    const std::size_t set = buffers.next();
    std::array<const void*, 8> sources{};
    std::array<void*, 8> destinations{};
    for (std::size_t j = 0; j < c.num_sources; ++j) sources[j] = buffers.buffer(set, j);
    for (std::size_t d = 0; d < c.num_destinations; ++d) destinations[d] = buffers.buffer(set, c.num_sources + d);
    const ReduceCall call = {.destinations = destinations.data(),
                             .num_destinations = c.num_destinations,
                             .sources = sources.data(),
                             .num_sources = c.num_sources,
                             .count = c.bytes / size_of(c.type)};
    const auto start = Clock::now();
    kernel(op, call);
    if (i >= 0) total += seconds_since(start);
  }
  buffers.next_round();
  return total / repeats;
}

double time_memcpy(std::size_t bytes, Buffers& buffers, int repeats) {
  double total = 0;
  for (int i = repeats > 1 ? -1 : 0; i < repeats; ++i) {
    const std::size_t set = buffers.next();
    void* to = buffers.buffer(set, 1);
    const void* from = buffers.buffer(set, 0);
    const auto start = Clock::now();
    std::memcpy(to, from, bytes);
    asm volatile("" : : "r"(to) : "memory");  // the copy is made
    if (i >= 0) total += seconds_since(start);
  }
  buffers.next_round();
  return total / repeats;
}

struct Outcome {
  Interval ratio;
  double kernel_rate;  // (k + 1)·S/t in GB/s, median
  double memcpy_rate;
};

Outcome measure(const Case& c, const Arena& arena, bool cold, int rounds) {
  const ReduceKernel kernel = reduce_kernel(c.type, Op::sum, c.streaming);
  Buffers kernel_buffers(arena, c.bytes, c.num_sources + c.num_destinations, cold);
  Buffers copy_buffers(arena, c.bytes, 2, cold);
  const int repeats = c.bytes <= 64 * kKiB ? 64 : 1;
  std::vector<double> ratios;
  std::vector<double> kernel_times;
  std::vector<double> copy_times;
  for (int round = -2; round < rounds; ++round) {
    double kernel_time = 0;
    double copy_time = 0;
    if (round % 2 == 0) {
      kernel_time = time_kernel(c, kernel, kernel_buffers, repeats);
      copy_time = time_memcpy(c.bytes, copy_buffers, repeats);
    } else {
      copy_time = time_memcpy(c.bytes, copy_buffers, repeats);
      kernel_time = time_kernel(c, kernel, kernel_buffers, repeats);
    }
    if (round < 0) continue;  // the first two warm up
    ratios.push_back((c.num_sources + 1) * copy_time / (2 * kernel_time));
    kernel_times.push_back(kernel_time);
    copy_times.push_back(copy_time);
  }
  const auto size = static_cast<double>(c.bytes);
  return {median_interval(ratios), (c.num_sources + 1) * size / median_interval(kernel_times).median / 1e9,
          2 * size / median_interval(copy_times).median / 1e9};
}

std::vector<Case> all_cases(std::size_t stream_min) {
  std::vector<Case> cases;
  struct Row {
    std::string_view name;
    Type type;
    std::uint32_t num_sources;
    std::uint32_t num_destinations;
    double bar;
  };
  constexpr std::array<Row, 6> kRows = {{{"f32 k=2 m=1", Type::f32, 2, 1, kF32Bar},
                                         {"bf16 k=2 m=1", Type::bf16, 2, 1, kBf16Bar},
                                         {"f16 k=2 m=1", Type::f16, 2, 1, 0},
                                         {"f32 k=2 m=2", Type::f32, 2, 2, 0},
                                         {"f32 k=4 m=1", Type::f32, 4, 1, 0},
                                         {"f32 k=8 m=1", Type::f32, 8, 1, 0}}};
  for (const std::size_t bytes : {32 * kKiB, 4 * kMiB, 64 * kMiB}) {
    for (const Row& row : kRows) {
      const bool chosen = bytes * row.num_destinations >= stream_min;
      for (const bool streaming : {chosen, !chosen}) {
        if (row.num_sources == 8 && bytes == 64 * kMiB) continue;  // nine buffers of 64 MiB: the arena has eight
        cases.push_back({row.name, row.type, row.num_sources, row.num_destinations, bytes, streaming,
                         streaming == chosen ? row.bar : 0});
      }
    }
  }
  return cases;
}

std::string size_name(std::size_t bytes) {
  return bytes >= kMiB ? fmt::format("{} MiB cold", bytes / kMiB) : fmt::format("{} KiB warm", bytes / kKiB);
}

// What a call costs when there is almost nothing to do: median of batches, in nanoseconds.
double call_nanoseconds(std::size_t count) {
  constexpr int kBatch = 10000;
  std::array<float, 64> a{};
  std::array<float, 64> b{};
  std::array<float, 64> result{};
  const std::array<const void*, 2> sources = {a.data(), b.data()};
  void* const destination = result.data();
  const Operator op = {.op = Op::sum, .type = Type::f32};
  const ReduceCall call = {
      .destinations = &destination, .num_destinations = 1, .sources = sources.data(), .num_sources = 2, .count = count};
  const ReduceKernel kernel = reduce_kernel(Type::f32, Op::sum, false);
  std::vector<double> samples;
  for (int i = 0; i < 101; ++i) {
    const auto start = Clock::now();
    for (int j = 0; j < kBatch; ++j) {
      kernel(op, call);
      asm volatile("" : : : "memory");
    }
    samples.push_back(seconds_since(start) / kBatch * 1e9);
  }
  return median_interval(samples).median;
}

}  // namespace

int main() {
  const std::size_t cache = size_of_cache(kThirdCache).value_or(size_of_cache(kSecondCache).value_or(32 * kMiB));
  const Arena arena((std::max(8 * (66 * kMiB), 4 * cache) + 2 * kMiB - 1) / (2 * kMiB) * (2 * kMiB));
  fmt::print("last-level cache {} MiB; ratio = (k+1)·S/t over memcpy's 2·S/t, median [95 % interval]\n\n",
             cache / kMiB);
  fmt::print("{:<14} {:<12} {:<10} {:>9} {:>9}  {:<22} {}\n", "kernel", "size", "stores", "GB/s", "memcpy", "ratio",
             "bar");
  int missed = 0;
  const CacheSizes caches = CacheSizes::of_this_machine();
  const MachineProfile profile = choose_profile(kAutomaticProfile).profile->for_caches(caches);
  const std::uint64_t stream_min = stream_min_of(profile, caches, {.num_cores = 2, .num_ranks = 2}, OutputUse::kept);
  for (const Case& c : all_cases(stream_min)) {
    const bool cold = c.bytes > 64 * kKiB;
    const int rounds = c.bytes >= 64 * kMiB ? 25 : 101;
    const Outcome outcome = measure(c, arena, cold, rounds);
    std::string verdict;
    if (c.bar > 0) {
      const bool fails = outcome.ratio.high < c.bar;
      missed += fails ? 1 : 0;
      verdict = fmt::format("{:.2f} {}", c.bar, fails ? "MISSED" : "met");
    }
    fmt::print("{:<14} {:<12} {:<10} {:>9.2f} {:>9.2f}  {:.3f} [{:.3f}, {:.3f}]   {}\n", c.name, size_name(c.bytes),
               c.streaming ? "streaming" : "ordinary", outcome.kernel_rate, outcome.memcpy_rate, outcome.ratio.median,
               outcome.ratio.low, outcome.ratio.high, verdict);
    if (verdict.ends_with("MISSED")) {
      fmt::print(stderr, "{} at {}: {:.3f} of memcpy's rate, even the interval's end {:.3f} is below the bar {:.2f}\n",
                 c.name, size_name(c.bytes), outcome.ratio.median, outcome.ratio.high, c.bar);
    }
    static_cast<void>(std::fflush(stdout));
  }
  fmt::print("\ncall with two sources of f32, one destination:");
  for (const std::size_t count : {2U, 4U, 8U, 16U, 32U})
    fmt::print("  {} elements {:.1f} ns", count, call_nanoseconds(count));
  fmt::print("\n");
  return missed > 0 ? 1 : 0;
}
