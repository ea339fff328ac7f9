// SPDX-License-Identifier: Apache-2.0
// Published or measured figures as data, each with where it is from and how the simulator is to answer for it: files as
// docs/formats/references.md has them. Values; reading is pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/patterns/grid.hpp"
#include "base/status.hpp"
#include "data/type.hpp"
#include "schedule/collective.hpp"
#include "simulate/copies.hpp"
#include "simulate/network/network.hpp"

namespace tutti::simulate {

enum class Metric : std::uint8_t {
  time,       // of one operation
  gain,       // percent by which the rate is higher than the baseline's
  crossover,  // bytes: the greatest size of the sweep up to which it is faster than the baseline
};

[[nodiscard]] std::string_view name_of(Metric metric);

// Where a figure is from; pictures tell these apart.
enum class FigureKind : std::uint8_t { reference, measured, theory };

// One way in which the operation may be done.
struct ReferenceWay {
  std::string fabric;  // in a line
  std::string algorithm;
  std::optional<Grid> grid = {};
  std::optional<std::uint32_t> corner = {};
  std::uint32_t parts = 1;  // side by side (schedule/side_by_side.hpp)
  OwnCopies copies = {};    // before, after and in it
  bool by_name = false;     // what is exposed is read where it lies
};

// Figures of one configuration.
struct Series {
  std::string id;
  std::string group;          // of the same group and size, one series is the fastest
  std::string configuration;  // in words
  Metric metric = Metric::time;
  FigureKind kind = FigureKind::reference;
  std::vector<std::uint64_t> bytes;  // a value each; of a crossover all sizes of the sweep, with one value
  std::vector<double> values;
  double uncertainty = 0;  // a value may be that much more or less
  // What is simulated is held to: the root mean square of the errors of times, the greatest error of gains in points
  // and of crossovers in doublings. Negative: nothing is said.
  double bar = -1;
  std::vector<ReferenceWay> ways;       // the fastest counts; none: nothing is simulated
  std::vector<ReferenceWay> baselines;  // likewise
};

// What a fit may change, from where it starts, and what the shipped fabrics have.
struct FitParameter {
  std::string name;   // of a fabric in a line: "bandwidth"; "simple:send_overhead": only where a parameter is `simple`
  std::string start;  // with its unit
  std::string value;
  bool assumed = false;  // the figures do not say it (sensitivity.hpp)
};
struct ParameterValue {
  std::string name;
  std::string value;
};
struct Fit {
  std::string name;
  std::vector<std::string> fabrics;  // of the ways that it is about, up to the colon or comma
  std::vector<std::string> series;   // ids, or beginnings of ids, of what it is fitted to; empty: all on the fabric
  std::vector<FitParameter> parameters;
};

struct References {
  std::string id;
  std::string about;
  std::string source;
  std::string date;
  std::string unit;  // of times: ns, us, ms or s
  double nanoseconds = 1;
  Collective collective = Collective::all_reduce;
  Type type = Type::f32;
  std::vector<std::uint64_t> left_out;  // sizes that fits do not see
  // How many of its expected deviations a prediction near these times is wrong by in 90 % of cases (blind.hpp); 0: it
  // is not known.
  double deviations = 0;
  // The share of a correction that holds beyond the numbers of ranks with times (blind.hpp).
  double beyond_ranks = 1;
  std::vector<Series> series;
  std::vector<Fit> fits;
};

// The longest file of references.
inline constexpr std::uint64_t kMostReferenceBytes = std::uint64_t{4} << 20U;

// `file` stands in messages.
[[nodiscard]] Result<References> read_references(std::string_view text, std::string_view file);

// Whether `fabric`, in a line, is of this kind or name, whatever its sizes and parameters.
[[nodiscard]] bool is_of(std::string_view fabric, std::string_view name);
// Which of the fit's fabrics that is; null if none.
[[nodiscard]] const std::string* find_fabric(const Fit& fit, std::string_view fabric);
// Whether the series has ways, on a fabric that the fit is about.
[[nodiscard]] bool is_about(const Fit& fit, const Series& series);

}  // namespace tutti::simulate
