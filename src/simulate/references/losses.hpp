// SPDX-License-Identifier: Apache-2.0
// How far what is simulated with some parameters is from the figures that a fit sees, as one number: for searches.
// Keeps the times that a parameter does not change. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "simulate/references/against.hpp"
#include "simulate/references/references.hpp"

namespace tutti::simulate {

// A parameter as a number, to be moved.
struct Knob {
  std::string name;
  double value = 0;
  enum class Kind : std::uint8_t { time, rate, size } kind = Kind::time;

  [[nodiscard]] ParameterValue at(double value_now) const;
};

[[nodiscard]] Result<Knob> knob_of(const ParameterValue& parameter);

class Losses {
 public:
  // Borrows the references.
  Losses(const References& references, const Fit& what);

  [[nodiscard]] bool has_series() const { return !series_.empty(); }
  [[nodiscard]] std::size_t cells() const { return cells_; }
  [[nodiscard]] std::size_t tries() const { return tries_; }

  [[nodiscard]] Result<double> loss(const std::vector<ParameterValue>& parameters);
  // Every figure, also those that the fit does not see.
  [[nodiscard]] Result<std::vector<Compared>> compared(const std::vector<ParameterValue>& parameters);

 private:
  // Most parameters are of few series, and the others' times stay.
  struct Known {
    std::string fabrics;
    std::vector<Compared> compared;
  };

  [[nodiscard]] Result<const std::vector<Compared>*> compared_on(const Series& series,
                                                                 const std::vector<ParameterValue>& parameters);

  const References& references_;
  std::vector<const Series*> series_;
  std::map<const Series*, Known> known_;
  std::size_t cells_ = 0;
  std::size_t tries_ = 0;
};

// The fabric with those of the parameters that are for it.
[[nodiscard]] std::string with_parameters(std::string fabric, const std::vector<ParameterValue>& parameters);

}  // namespace tutti::simulate
