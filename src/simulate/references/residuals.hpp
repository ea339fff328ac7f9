// SPDX-License-Identifier: Apache-2.0
// By how much measured times differ from simulated ones, and what that says of a case nearby: simple kriging of the
// logarithms of their ratios (Matheron 1963; Cressie, Statistics for Spatial Data, 3.4.5). Where nothing is known
// nearby the expected ratio is 1, and as uncertain as the ratios are different. Beyond the known numbers of ranks, a
// share of that counts (weight.hpp). Immutable; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::simulate {

struct Residual {
  std::string way;  // the same way with other numbers of ranks has the same name
  std::uint32_t ranks = 0;
  std::uint64_t bytes = 0;
  double log_ratio = 0;  // measured / simulated
  double noise = 0;      // the standard deviation of what was measured, as a share of it
};

// Of the logarithm of measured / simulated.
struct Expected {
  double log_ratio = 0;
  double deviation = 0;  // of its error
};

class Residuals {
 public:
  explicit Residuals(std::vector<Residual> known, double beyond_ranks = 1);

  // Whether anything is known of that way.
  [[nodiscard]] bool know(std::string_view way) const;
  // Of that way something is known, and only with fewer ranks or only with more.
  [[nodiscard]] bool is_beyond(std::string_view way, std::uint32_t ranks) const;
  [[nodiscard]] Expected expected(std::string_view way, std::uint32_t ranks, std::uint64_t bytes) const;

 private:
  std::vector<Residual> known_;
  double variance_ = 0;  // of what is not noise
  double beyond_ranks_ = 1;
};

}  // namespace tutti::simulate
