// SPDX-License-Identifier: Apache-2.0
#include "calibrate/device/predict.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "algorithms/registry.hpp"
#include "data/message_size.hpp"
#include "simulate/simulate.hpp"

namespace tutti::calibrate {

namespace {

constexpr std::uint64_t kElement = 4;
constexpr std::uint64_t kSmall = 8 << 10U;
constexpr std::uint64_t kMiddle = 1 << 20U;
constexpr std::uint64_t kCached = 16 << 20U;
constexpr std::uint64_t kLarge = 64 << 20U;

}  // namespace

const std::vector<DeviceCase>& device_cases() {
  static const std::vector<DeviceCase> cases = [] {
    std::vector<DeviceCase> made;
    for (const std::string_view algorithm : {"one_shot", "two_shot", "two_shot_pull"}) {
      for (const std::uint64_t bytes : {kSmall, kMiddle, kCached, kLarge})
        made.push_back({Collective::all_reduce, algorithm, bytes, false});
      for (const std::uint64_t bytes : {kCached, kLarge})
        made.push_back({Collective::all_reduce, algorithm, bytes, true});
    }
    for (const Collective collective : {Collective::all_gather, Collective::reduce_scatter, Collective::all_to_all})
      for (const std::uint64_t bytes : {kSmall, kCached, kLarge}) made.push_back({collective, "direct", bytes, false});
    return made;
  }();
  return cases;
}

Result<const Algorithm*> algorithm_of(const DeviceCase& of) {
  if (const Algorithm* algorithm = find_algorithm(of.collective, of.algorithm)) return algorithm;
  return Status(Code::invalid_argument, fmt::format("{} has no algorithm {}", name_of(of.collective), of.algorithm));
}

std::uint64_t count_of(const DeviceCase& of, std::uint32_t ranks) {
  return of.bytes / kElement / num_blocks(of.collective, ranks);
}

Result<double> predicted(const fabric::Fabric& fabric, const DeviceCase& of) {
  TUTTI_TRY_ASSIGN(const Algorithm* algorithm, algorithm_of(of));
  const std::uint32_t ranks = fabric.num_ranks();
  const bool is_safe = of.in_place ? algorithm->name_safe_in_place : algorithm->name_safe;
  TUTTI_TRY_ASSIGN(const simulate::Answer answer,
                   simulate::simulate(algorithm->make({.collective = of.collective, .num_ranks = ranks}), fabric,
                                      {.count = count_of(of, ranks),
                                       .element_size = kElement,
                                       .staged = algorithm->channel == Channel::staged && !is_safe,
                                       .check = false,
                                       .in_place = of.in_place}));
  return answer.time;
}

double median_error(const std::vector<CheckedCase>& checked) {
  if (checked.empty()) return 0;
  std::vector<double> errors;
  errors.reserve(checked.size());
  for (const CheckedCase& each : checked) errors.push_back(std::abs(each.error()));
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  return *middle;
}

}  // namespace tutti::calibrate
