// SPDX-License-Identifier: Apache-2.0
#include "simulate/references/residuals.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tutti::simulate {

namespace {

// How far apart cases are that still have exp(-1) of their residuals in common: four times the ranks, or sixteen times
// the bytes.
const double kOfRanks = std::log(4.0);
const double kOfBytes = std::log(16.0);
// Of a ratio whose measured time is exact.
constexpr double kLeastNoise = 0.01;

double in_common(std::uint32_t ranks, std::uint64_t bytes, const Residual& other) {
  const double of_ranks = std::abs(std::log(static_cast<double>(ranks) / other.ranks)) / kOfRanks;
  const double of_bytes = std::abs(std::log(static_cast<double>(bytes) / static_cast<double>(other.bytes))) / kOfBytes;
  return std::exp(-of_ranks - of_bytes);
}

// Solves a · x = b for a symmetric positive definite a, which it overwrites with its Cholesky factor.
std::vector<double> solve(std::vector<std::vector<double>>& a, std::vector<double> b) {
  const std::size_t size = b.size();
  for (std::size_t row = 0; row < size; ++row) {
    for (std::size_t column = 0; column <= row; ++column) {
      double sum = a[row][column];
      for (std::size_t k = 0; k < column; ++k) sum -= a[row][k] * a[column][k];
      a[row][column] = row == column ? std::sqrt(std::max(sum, 1e-12)) : sum / a[column][column];
    }
    for (std::size_t k = 0; k < row; ++k) b[row] -= a[row][k] * b[k];
    b[row] /= a[row][row];
  }
  for (std::size_t row = size; row-- > 0;) {
    for (std::size_t k = row + 1; k < size; ++k) b[row] -= a[k][row] * b[k];
    b[row] /= a[row][row];
  }
  return b;
}

}  // namespace

Residuals::Residuals(std::vector<Residual> known, double beyond_ranks)
    : known_(std::move(known)), beyond_ranks_(beyond_ranks) {
  for (Residual& each : known_) each.noise = std::max(each.noise, kLeastNoise);
  for (const Residual& each : known_) variance_ += each.log_ratio * each.log_ratio - each.noise * each.noise;
  if (!known_.empty()) variance_ = std::max(variance_ / static_cast<double>(known_.size()), kLeastNoise * kLeastNoise);
}

bool Residuals::know(std::string_view way) const {
  return std::any_of(known_.begin(), known_.end(), [&](const Residual& each) { return each.way == way; });
}

bool Residuals::is_beyond(std::string_view way, std::uint32_t ranks) const {
  bool has_fewer = false;
  bool has_more = false;
  for (const Residual& each : known_) {
    if (each.way != way) continue;
    has_fewer = has_fewer || each.ranks <= ranks;
    has_more = has_more || each.ranks >= ranks;
  }
  return has_fewer != has_more;
}

Expected Residuals::expected(std::string_view way, std::uint32_t ranks, std::uint64_t bytes) const {
  std::vector<const Residual*> near;
  for (const Residual& each : known_)
    if (each.way == way) near.push_back(&each);
  if (near.empty()) return {0, std::sqrt(variance_)};
  std::vector<std::vector<double>> covariances(near.size(), std::vector<double>(near.size()));
  std::vector<double> to_case;
  for (std::size_t row = 0; row < near.size(); ++row) {
    for (std::size_t column = 0; column < near.size(); ++column)
      covariances[row][column] = variance_ * in_common(near[row]->ranks, near[row]->bytes, *near[column]);
    covariances[row][row] += near[row]->noise * near[row]->noise;
    to_case.push_back(variance_ * in_common(ranks, bytes, *near[row]));
  }
  const std::vector<double> weights = solve(covariances, to_case);
  double log_ratio = 0;
  double explained = 0;
  for (std::size_t each = 0; each < near.size(); ++each) {
    log_ratio += weights[each] * near[each]->log_ratio;
    explained += weights[each] * to_case[each];
  }
  // A share s of the best estimate explains s (2 - s) of what that explains.
  const double share = is_beyond(way, ranks) ? beyond_ranks_ : 1;
  const double variance = variance_ - share * (2 - share) * explained;
  return {share * log_ratio, std::sqrt(std::max(variance, kLeastNoise * kLeastNoise))};
}

}  // namespace tutti::simulate
