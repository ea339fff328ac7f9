// SPDX-License-Identifier: Apache-2.0
// All-reduces among ranks that share a device, beside what that device can do: a copy of as many bytes as they read and
// write, and an exchange of two flags. Before that, how near the copy comes to CUDA's own and to the memory. What is
// compared is measured in turn, round by round; the median of the ratios, with its 95 % interval, is compared with a
// bar. The figures tell how good kernels are, and nothing about links.
#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "algorithms/registry.hpp"
#include "device/cuda/cuda_status.hpp"
#include "device/cuda/device_group.hpp"
#include "device/kernels/kernels.hpp"

namespace tutti::device {
namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  fmt::print(stderr, "device: {}\n", cudaGetErrorString(error));
  std::exit(2);
}
void check(const Status& status) {
  if (status.ok()) return;
  fmt::print(stderr, "device: {}\n", status.to_string());
  std::exit(2);
}
template <class T>
T take(Result<T> result) {
  check(result.status());
  return std::move(result).value();
}

struct Interval {
  double low = 0;
  double median = 0;
  double high = 0;
};
Interval interval_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size());
  const double half = 0.98 * std::sqrt(n);
  const auto at = [&](double rank) { return values[static_cast<std::size_t>(std::clamp(rank, 0.0, n - 1))]; };
  return {at(n / 2 - half), at(n / 2), at(n / 2 + half)};
}

class Clock {
 public:
  Clock() {
    check(cudaEventCreate(&begin_));
    check(cudaEventCreate(&end_));
  }
  // Microseconds of one of `calls` in a row.
  template <class Call>
  double time(int calls, const Call& call) {
    check(cudaEventRecord(begin_));
    for (int i = 0; i < calls; ++i) call();
    check(cudaEventRecord(end_));
    check(cudaEventSynchronize(end_));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return milliseconds * 1000.0 / calls;
  }

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

class Memory {
 public:
  explicit Memory(std::size_t bytes) : bytes_(bytes) {
    check(cudaMalloc(&memory_, bytes));
    refill();
  }
  ~Memory() { static_cast<void>(cudaFree(memory_)); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(memory_); }
  // With what is a small number of every type of floats, and not 0.
  void refill() const { check(cudaMemset(memory_, 0x05, bytes_)); }

 private:
  std::size_t bytes_;
  void* memory_ = nullptr;
};

struct Case {
  const char* algorithm;
  std::uint32_t ranks;
  Type type;
  std::uint64_t bytes;
  bool in_place;
  bool generic;
  double bar;  // of the copy's rate; 0 for none
};

class Bench {
 public:
  explicit Bench(bool brief) : rounds_(brief ? 15 : 31) {
    cudaDeviceProp properties = {};
    check(cudaGetDeviceProperties(&properties, 0));
    blocks_ = static_cast<unsigned>(properties.multiProcessorCount) * 2;
    fmt::print("{}, {} multiprocessors, {} MB of L2\n\n", properties.name, properties.multiProcessorCount,
               properties.l2CacheSize >> 20);
  }

  // How good the yardsticks are: the copy kernel beside what CUDA copies with and what the memory can, and a launch.
  void run_limits() {
    int kilohertz = 0;
    int bits = 0;
    check(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, 0));
    check(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, 0));
    // Memory of GPUs carries two words a clock.
    const double memory_rate = 2.0 * kilohertz * 1e3 * bits / 8 / 1e9;
    fmt::print("copies, read and written bytes together; the memory's clock and width say {:.0f} GB/s\n", memory_rate);
    fmt::print("{:>8} {:>9} {:>9}  kernel's rate, of cudaMemcpyAsync's\n", "bytes", "us", "GB/s");
    for (const std::uint64_t bytes : {std::uint64_t{1} << 20U, std::uint64_t{8} << 20U, std::uint64_t{1} << 30U}) {
      const Memory from(bytes);
      const Memory into(bytes);
      const int calls = bytes > (64U << 20U) ? 5 : 50;
      std::vector<double> times;
      std::vector<double> ratios;
      for (int round = -2; round < rounds_; ++round) {
        const double by_cuda = clock_.time(
            calls, [&] { check(cudaMemcpyAsync(into.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, nullptr)); });
        const double time = clock_.time(calls, [&] { copy_bytes(into.data(), from.data(), bytes); });
        if (round < 0) continue;
        times.push_back(time);
        ratios.push_back(by_cuda / time);
      }
      const Interval ratio = interval_of(ratios);
      const double time = interval_of(times).median;
      fmt::print("{:>6} M {:>9.1f} {:>9.0f}  {:.3f} [{:.3f}, {:.3f}]\n", bytes >> 20U, time,
                 2.0 * static_cast<double>(bytes) / time / 1e3, ratio.median, ratio.low, ratio.high);
    }
    const Memory nothing(16);
    std::vector<double> launches;
    for (int round = -2; round < rounds_; ++round) {
      const double time = clock_.time(200, [&] { copy_bytes(nothing.data(), nothing.data(), 0); });
      if (round >= 0) launches.push_back(time);
    }
    fmt::print("a launch after another, of a kernel that does nothing: {:.2f} us\n\n", interval_of(launches).median);
  }

  void head() const {
    fmt::print("{:<10} {:>5} {:<7} {:>8} {:<8} {:<8} {:>9} {:>9}  of the copy's rate\n", "algorithm", "ranks", "type",
               "bytes", "", "kernel", "us", "copy us");
  }

  void run(const Case& each) {
    const auto group = take(DeviceGroup::create({.num_ranks = each.ranks, .timeout = 20}));
    const Algorithm* algorithm = find_algorithm(Collective::all_reduce, each.algorithm);
    const LoadedSchedule* loaded =
        take(group->schedules().load(*algorithm, {.collective = Collective::all_reduce, .num_ranks = each.ranks}));
    std::vector<std::unique_ptr<Memory>> memory;
    std::vector<DevicePart> parts;
    for (std::uint32_t rank = 0; rank < each.ranks; ++rank) {
      memory.push_back(std::make_unique<Memory>(each.bytes));
      std::byte* input = memory.back()->data();
      if (!each.in_place) memory.push_back(std::make_unique<Memory>(each.bytes));
      parts.push_back({input, memory.back()->data()});
    }
    const DeviceCall call = {.schedule = loaded,
                             .count = each.bytes / size_of(each.type),
                             .op = {.op = Op::sum, .type = each.type},
                             .in_place = each.in_place,
                             .generic = each.generic};
    const std::uint64_t copied = moved_bytes(each) / 2;
    const Memory from(copied);
    const Memory into(copied);
    // In place sums grow from call to call; of few calls, from small inputs, none grows out of its type.
    constexpr int kCalls = 5;
    std::vector<double> ratios;
    std::vector<double> times;
    std::vector<double> copies;
    for (int round = -2; round < rounds_; ++round) {
      for (const auto& each_memory : memory) each_memory->refill();
      const double copy = clock_.time(kCalls, [&] { copy_bytes(into.data(), from.data(), copied); });
      const double time = clock_.time(kCalls, [&] { check(group->call_all(call, parts, nullptr)); });
      if (round < 0) continue;
      ratios.push_back(copy / time);
      times.push_back(time);
      copies.push_back(copy);
    }
    check(group->check());
    const Interval ratio = interval_of(ratios);
    missed_ = missed_ || ratio.median < each.bar;
    fmt::print("{:<10} {:>5} {:<7} {:>6} M {:<8} {:<8} {:>9.1f} {:>9.1f}  {:.3f} [{:.3f}, {:.3f}]{}\n", each.algorithm,
               each.ranks, name_of(each.type), each.bytes >> 20U, each.in_place ? "in place" : "",
               each.generic ? "walker" : "written", interval_of(times).median, interval_of(copies).median, ratio.median,
               ratio.low, ratio.high, verdict(each.bar, ratio.median >= each.bar));
    std::fflush(stdout);
  }

  // One-shot of 8 KB beside the flags that it cannot do without.
  void run_small(std::uint32_t ranks, bool in_place, bool generic, bool as_between_devices) {
    const auto group =
        take(DeviceGroup::create({.num_ranks = ranks, .timeout = 20, .as_between_devices = as_between_devices}));
    const Algorithm* algorithm = find_algorithm(Collective::all_reduce, "one_shot");
    const LoadedSchedule* loaded =
        take(group->schedules().load(*algorithm, {.collective = Collective::all_reduce, .num_ranks = ranks}));
    constexpr std::uint64_t kBytes = 8192;
    const Memory memory(2 * kBytes * ranks);
    std::vector<DevicePart> parts;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      std::byte* input = memory.data() + 2 * kBytes * rank;
      parts.push_back({input, in_place ? input : input + kBytes});
    }
    const DeviceCall call = {loaded, kBytes / 4, {.op = Op::sum, .type = Type::f32}, in_place, generic};
    std::vector<double> ratios;
    std::vector<double> times;
    std::vector<double> flags;
    for (int round = -2; round < rounds_; ++round) {
      const double flag = clock_.time(200, [&] { check(group->flags_all(nullptr)); });
      const double time = clock_.time(200, [&] { check(group->call_all(call, parts, nullptr)); });
      if (round < 0) continue;
      ratios.push_back(time / flag);
      times.push_back(time);
      flags.push_back(flag);
    }
    check(group->check());
    constexpr double kBar = 2;
    const Interval ratio = interval_of(ratios);
    const double bar = in_place || generic ? 0 : kBar;
    missed_ = missed_ || (bar > 0 && ratio.median > bar);
    fmt::print("one_shot of 8 KB, {} ranks{}{}{}: {:.2f} us, two flags {:.2f} us, {:.3f} [{:.3f}, {:.3f}] times{}\n",
               ranks, in_place ? ", in place" : "", generic ? ", walker" : "",
               as_between_devices ? ", flags as between devices" : "", interval_of(times).median,
               interval_of(flags).median, ratio.median, ratio.low, ratio.high, verdict(bar, ratio.median <= bar));
  }

  [[nodiscard]] bool missed() const { return missed_; }

 private:
  // What all ranks read and write together. In place, one-shot goes by way of slots.
  static std::uint64_t moved_bytes(const Case& each) {
    const std::uint64_t all = each.ranks * each.bytes;
    if (std::string_view(each.algorithm) == "two_shot") return 2 * all;
    return all * each.ranks + all + (each.in_place ? 2 * all : 0);
  }
  static const char* verdict(double bar, bool is_met) { return bar == 0 ? "" : is_met ? "  met" : "  MISSED"; }

  void copy_bytes(std::byte* into, const std::byte* from, std::uint64_t bytes) const {
    std::array<void*, 3> parameters = {&into, &from, &bytes};
    check(cudaLaunchKernel(copy_kernel(), dim3(blocks_), dim3(kThreads), parameters.data(), 0, nullptr));
  }

  int rounds_;
  unsigned blocks_ = 1;
  Clock clock_;
  bool missed_ = false;
};

int run(bool brief) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    fmt::print(stderr, "device: there is no CUDA device: nothing is measured\n");
    return 77;
  }
  Bench bench(brief);
  bench.run_limits();
  for (const std::uint32_t ranks : {2U, 4U, 8U})
    for (const bool in_place : {false, true})
      for (const bool generic : {false, true})
        for (const bool as_between_devices : {false, true})
          bench.run_small(ranks, in_place, generic, as_between_devices);
  fmt::print("\n");
  bench.head();
  constexpr double kBar = 0.8;
  for (const char* algorithm : {"one_shot", "two_shot"})
    for (const std::uint32_t ranks : {2U, 4U, 8U})
      for (const Type type : {Type::f32, Type::bf16, Type::f16, Type::f8e4m3, Type::f8e5m2})
        for (const std::uint64_t bytes : {std::uint64_t{16} << 20U, std::uint64_t{128} << 20U})
          for (const bool in_place : {false, true}) {
            if (brief && type != Type::f32 && (in_place || bytes > (16U << 20U))) continue;
            bench.run({algorithm, ranks, type, bytes, in_place, false, kBar});
            if (type == Type::f32) bench.run({algorithm, ranks, type, bytes, in_place, true, 0});
          }
  return bench.missed() ? 1 : 0;
}

}  // namespace
}  // namespace tutti::device

int main(int argc, char** argv) { return tutti::device::run(argc > 1 && std::string_view(argv[1]) == "brief"); }
