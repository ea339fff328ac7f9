// SPDX-License-Identifier: Apache-2.0
// What there is to say of the processor, and where threads run.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <sched.h>

#include "base/counted.hpp"
#include "base/system/caches.hpp"
#include "base/units.hpp"
#include "calibrate/measure.hpp"

namespace tutti::calibrate {

std::vector<int> usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

std::string machine_in_words() {
  std::string model = "an unknown processor";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (!line.starts_with("model name") || colon == std::string::npos) continue;
    model = line.substr(colon + 2);
    break;
  }
  std::string text = fmt::format("{}, {}", model, counted(usable_cores().size(), "core"));
  for (const auto& [name, index] : {std::pair("L2", kSecondCache), std::pair("L3", kThirdCache)})
    if (const auto bytes = size_of_cache(index)) text += fmt::format(", {} {}", name, to_text(Bytes(*bytes)));
  return text;
}

void pin_to(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  sched_setaffinity(0, sizeof set, &set);
}

Zeroes make_zeroes(std::size_t count) {
  constexpr std::size_t kPage = 4096;
  const std::size_t bytes = (count * sizeof(float) + kPage - 1) / kPage * kPage;
  auto* memory = static_cast<float*>(std::aligned_alloc(kPage, bytes));
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, bytes);
  return Zeroes(memory);
}

double quantile_of(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(values.size()) * share);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double median_of(std::vector<double> values) { return quantile_of(std::move(values), 0.5); }

}  // namespace tutti::calibrate
