// SPDX-License-Identifier: Apache-2.0
// Axes of charts: which values stand beside them, and where a value is. Values; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tutti::report {

// From one value to another, in even steps or in even factors.
class Axis {
 public:
  // Round ends around all values, from 0 where they are not negative.
  [[nodiscard]] static Axis linear(double least, double greatest);
  // 1, 2 or 5 times powers of 10 around all values, or, of sizes, powers of 2.
  [[nodiscard]] static Axis logarithmic(double least, double greatest);
  [[nodiscard]] static Axis of_sizes(double least, double greatest);

  // 0 at the beginning to 1 at the end.
  [[nodiscard]] double at(double value) const;
  [[nodiscard]] const std::vector<double>& ticks() const { return ticks_; }

 private:
  double from_ = 0;
  double to_ = 1;
  bool is_logarithmic_ = false;
  std::vector<double> ticks_;
};

// Of bars: from 0, and in two parts where the greatest values are far above the others.
class BarAxis {
 public:
  // At least to `reaches`, and then in one part, unless it is 0.
  explicit BarAxis(std::vector<double> values, double reaches = 0);

  [[nodiscard]] double at(double value) const;
  [[nodiscard]] std::vector<double> ticks() const;
  // Where the gap is, if there is one.
  [[nodiscard]] std::optional<double> break_at() const;

 private:
  Axis below_;
  double below_end_ = 0;
  std::optional<Axis> above_;
};

// "0.25", "1.5e+06".
[[nodiscard]] std::string number_text(double value);

}  // namespace tutti::report
