// SPDX-License-Identifier: Apache-2.0
#include "report/axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace tutti::report {

namespace {

constexpr double kMostTicks = 8;
// A logarithmic axis of no more decades has 1, 2 and 5 of each.
constexpr double kMostFullDecades = 6;
// An axis is broken where one value is so many times the next, and few are above it.
constexpr double kFarAbove = 3.5;
constexpr std::size_t kFewOf = 4;  // one in so many
// Between the greatest value below the break and that, for what is written above bars.
constexpr double kRoom = 1.08;
// The share of a broken axis for what is below, and where that above begins.
constexpr double kShareBelow = 0.72;
constexpr double kGapEnd = 0.78;

// 1, 2 or 5 times a power of ten.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double times : {1.0, 2.0, 5.0})
    if (times * power >= least * (1 - 1e-9)) return times * power;
  return 10 * power;
}

// The same, no greater.
double round_down(double most) {
  const double power = std::pow(10, std::floor(std::log10(most) + 1e-9));
  for (const double times : {5.0, 2.0})
    if (times * power <= most * (1 + 1e-9)) return times * power;
  return power;
}

}  // namespace

Axis Axis::linear(double least, double greatest) {
  Axis axis;
  axis.from_ = std::min(least, 0.0);
  axis.to_ = std::max(greatest, 0.0);
  if (axis.to_ - axis.from_ <= 0) axis.to_ = axis.from_ + 1;
  const double step = round_step((axis.to_ - axis.from_) / kMostTicks);
  axis.from_ = std::floor(axis.from_ / step + 1e-9) * step;
  axis.to_ = std::ceil(axis.to_ / step - 1e-9) * step;
  const auto count = static_cast<int>(std::lround((axis.to_ - axis.from_) / step));
  for (int i = 0; i <= count; ++i) axis.ticks_.push_back(axis.from_ + i * step);
  return axis;
}

Axis Axis::logarithmic(double least, double greatest) {
  Axis axis;
  axis.is_logarithmic_ = true;
  axis.from_ = round_down(least);
  axis.to_ = round_step(greatest);
  if (axis.to_ <= axis.from_ * 1.5) axis.to_ = round_step(axis.from_ * 1.5);
  const int lowest = static_cast<int>(std::floor(std::log10(axis.from_) + 1e-9));
  const int highest = static_cast<int>(std::ceil(std::log10(axis.to_) - 1e-9));
  const bool has_room = std::log10(axis.to_ / axis.from_) <= kMostFullDecades;
  const int apart = (highest - lowest) / static_cast<int>(kMostTicks) + 1;
  for (int power = lowest; power <= highest; power += apart)
    for (const double times : {1.0, 2.0, 5.0}) {
      const double tick = times * std::pow(10, power);
      const bool is_within = tick >= axis.from_ * (1 - 1e-9) && tick <= axis.to_ * (1 + 1e-9);
      if (is_within && (times == 1 || has_room)) axis.ticks_.push_back(tick);
    }
  return axis;
}

Axis Axis::of_sizes(double least, double greatest) {
  Axis axis;
  axis.is_logarithmic_ = true;
  const int lowest = static_cast<int>(std::floor(std::log2(least) + 1e-9));
  const int highest = std::max(static_cast<int>(std::ceil(std::log2(greatest) - 1e-9)), lowest + 1);
  axis.from_ = std::exp2(lowest);
  axis.to_ = std::exp2(highest);
  constexpr int kMostSizes = 14;
  const int apart = (highest - lowest) / kMostSizes + 1;
  for (int power = lowest; power <= highest; power += apart) axis.ticks_.push_back(std::exp2(power));
  // The end has one too, in place of the last where they would be too near.
  const int left = (highest - lowest) % apart;
  if (left > 0 && 2 * left <= apart) axis.ticks_.pop_back();
  if (left > 0) axis.ticks_.push_back(std::exp2(highest));
  return axis;
}

double Axis::at(double value) const {
  if (is_logarithmic_) return std::log(value / from_) / std::log(to_ / from_);
  return (value - from_) / (to_ - from_);
}

BarAxis::BarAxis(std::vector<double> values, double reaches) : below_(Axis::linear(0, 1)) {
  std::sort(values.begin(), values.end());
  if (values.empty()) return;
  below_ = Axis::linear(0, std::max(values.back(), reaches));
  below_end_ = below_.ticks().back();
  if (reaches > 0) return;
  for (std::size_t i = values.size(); i-- > 1;) {
    if ((values.size() - i) * kFewOf > values.size()) break;
    if (values[i - 1] <= 0 || values[i] < kFarAbove * values[i - 1]) continue;
    below_ = Axis::linear(0, kRoom * values[i - 1]);
    below_end_ = below_.ticks().back();
    above_ = Axis::linear(0, values.back());
    return;
  }
}

double BarAxis::at(double value) const {
  if (!above_) return below_.at(value);
  if (value <= below_end_) return kShareBelow * below_.at(value);
  // The upper part begins where its own axis has come to the end of the lower one.
  const double begin = above_->at(below_end_);
  return kGapEnd + (1 - kGapEnd) * (above_->at(value) - begin) / (1 - begin);
}

std::vector<double> BarAxis::ticks() const {
  std::vector<double> ticks = below_.ticks();
  if (above_) ticks.push_back(above_->ticks().back());
  return ticks;
}

std::optional<double> BarAxis::break_at() const {
  return above_ ? std::optional((kShareBelow + kGapEnd) / 2) : std::nullopt;
}

std::string number_text(double value) {
  const double size = std::abs(value);
  if (size >= 1e4 && size < 1e7) return fmt::format("{:.0f}", value);
  // Steps of tenths do not add up to tenths.
  return fmt::format("{:.4g}", size < 1e-12 ? 0.0 : value);
}

}  // namespace tutti::report
