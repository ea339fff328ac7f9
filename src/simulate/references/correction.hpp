// SPDX-License-Identifier: Apache-2.0
// Predictions with an error: the references that come with Tutti say by how much published times differ from simulated
// ones on the same fabric, and so what to expect of a case near them. Made once; then immutable and thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "simulate/copies.hpp"
#include "simulate/references/references.hpp"
#include "simulate/references/residuals.hpp"

namespace tutti::simulate {

// A case of an operation on a fabric, as it was asked for.
struct Asked {
  std::string_view fabric;  // in a line
  Collective collective = Collective::all_reduce;
  std::string_view algorithm;
  std::uint32_t parts = 1;
  OwnCopies copies = {};
  bool by_name = false;
  bool is_compiled = true;  // its kernel, for so many ranks
  std::uint32_t ranks = 0;
  std::uint64_t bytes = 0;
};

// In 90 % of cases the time is between low and high times the simulated one.
struct Correction {
  double factor = 1;  // the expected time is so many times the simulated one
  double low = 1;
  double high = 1;
};

class Corrections {
 public:
  // Of the shipped references of any of these fabrics. Simulates each of their times once.
  [[nodiscard]] static Result<Corrections> of_shipped(std::span<const std::string> fabrics);
  [[nodiscard]] static Result<Corrections> of(const References& references, std::span<const std::string> fabrics);

  // Nothing for a fabric without references, for one that was asked for with other parameters than its sizes, and for a
  // way of which nothing is published there. Kernels that are compiled for their ranks say nothing of those that are
  // not.
  [[nodiscard]] std::optional<Correction> find(const Asked& asked) const;

 private:
  struct OfFit {
    Fit fit;
    Collective collective = Collective::all_reduce;
    Residuals residuals;
    double deviations = 0;  // that an interval of 90 % reaches to either side
  };
  std::vector<OfFit> fits_;
};

// What tells ways apart, whatever the number of ranks and the kind of costs.
[[nodiscard]] std::string name_of_way(std::string_view fabric, std::string_view algorithm, std::uint32_t parts,
                                      const OwnCopies& copies, bool by_name);

}  // namespace tutti::simulate
