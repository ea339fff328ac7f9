// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/relax.hpp"
#include "calibrate/measure.hpp"
#include "data/kernel.hpp"

namespace tutti::calibrate {

namespace {

constexpr std::size_t kStreamsApart = 272;  // elements

}  // namespace

double measure_own_memory(const std::vector<int>& cores, std::uint64_t working_set, bool streams,
                          const Thoroughness& thoroughness) {
  const ReduceKernel kernel = reduce_kernel(Type::f32, Op::sum, streams);
  const std::size_t count = std::max<std::size_t>(working_set / 3 / sizeof(float), 16);
  const double moved = 3.0 * static_cast<double>(count * sizeof(float));
  // So many passes that the clock's own time is no matter, and so many of these as there is time for.
  const auto at_once = static_cast<std::size_t>(std::max(1.0, 20'000 / (moved * 0.02)));
  const auto blocks =
      static_cast<std::size_t>(std::max(3.0, double(thoroughness.block_ns) / (double(at_once) * moved * 0.04)));
  std::atomic<std::size_t> here{0};
  std::vector<double> rates(cores.size());
  const auto work = [&](std::size_t number) {
    pin_to(cores[number]);
    // Parts of a page apart, so that no stream agrees with another in the low bits of its addresses.
    const auto first = make_zeroes(count);
    const auto second = make_zeroes(count + kStreamsApart);
    const auto result = make_zeroes(count + 2 * kStreamsApart);
    const std::array<const void*, 2> sources = {first.get(), second.get() + kStreamsApart};
    void* destination = result.get() + 2 * kStreamsApart;
    const Operator sum{.op = Op::sum, .type = Type::f32};
    ReduceCall call;
    call.sources = sources.data();
    call.num_sources = 2;
    call.destinations = &destination;
    call.num_destinations = 1;
    call.count = count;
    call.final = true;
    kernel(sum, call);
    ++here;
    while (here < cores.size()) std::this_thread::yield();
    std::vector<double> times;
    for (std::size_t block = 0; block < blocks; ++block) {
      const auto begin = std::chrono::steady_clock::now();
      for (std::size_t i = 0; i < at_once; ++i) kernel(sum, call);
      const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
      times.push_back(taken.count() / static_cast<double>(at_once));
    }
    rates[number] = moved / median_of(std::move(times));
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t number = 0; number < cores.size(); ++number) threads.emplace_back(work, number);
  }
  return *std::min_element(rates.begin(), rates.end());
}

}  // namespace tutti::calibrate
