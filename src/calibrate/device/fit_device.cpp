// SPDX-License-Identifier: Apache-2.0
#include "calibrate/device/fit_device.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "fabric/files/fields.hpp"
#include "fabric/files/quantity.hpp"
#include "fabric/generators/generate.hpp"

namespace tutti::calibrate {

namespace {

// Curves have times above 0: what takes less counts as this much.
constexpr double kLeastTime = 0.1;

// Four digits are more than was measured.
double rounded(double value) { return std::stod(fmt::format("{:.4g}", value)); }
double at_least_none(double value) { return rounded(std::max(0.0, value)); }

void add(fabric::Curve& curve, std::uint64_t bytes, double value) {
  curve.points.push_back({bytes, rounded(std::max(kLeastTime, value))});
}

// The kernels that are written out: device/kernels/kernels.hpp.
bool is_written_for(std::uint32_t ranks) { return ranks == 2 || ranks == 4 || ranks == 8; }

class DeviceFit {
 public:
  explicit DeviceFit(const DeviceMeasurements& measured) : measured_(measured) {
    latency_ = at_least_none((measured.flags - measured.launch) / 2);
    step_ = at_least_none(measured.walked_step);
    for (const DeviceTime& copy : measured.copies) {
      const double moved = 2.0 * static_cast<double>(copy.bytes);
      rates_.points.push_back({2 * copy.bytes, rounded(moved / beyond_launch(copy))});
    }
    for (const DeviceTime& fold : measured.folds)
      add_reading(fold.bytes, beyond_launch(fold), (measured.num_ranks + 1) * fold.bytes, reading_alone_);
    if (measured.folds.empty()) assume_folds_are_as_fast_as_copies();
    for (const DeviceTime& fold : measured.shared_folds)
      add_reading(fold.bytes, beyond_launch(fold), 2 * fold.bytes, reading_together_);
  }

  [[nodiscard]] fabric::Fabric fabric() const {
    fabric::Fabric made =
        fabric::generate(fmt::format("host:{0}x{0},bandwidth=unlimited,latency={1}", measured_.num_ranks,
                                     fabric::time_to_text(rounded(latency_ / 2))))
            .value();
    // The first kind must not be `direct`, which would count for all direct schedules.
    made.costs = {exchange(), stores(), direct()};
    fabric::Memory memory;
    memory.latency = step_;
    memory.bandwidths = memory.beside_bandwidths = rates_;
    made.memories = {memory};
    return made;
  }

 private:
  [[nodiscard]] double beyond_launch(const DeviceTime& time) const {
    return std::max(kLeastTime, time.time - measured_.launch);
  }
  [[nodiscard]] double own_time(double bytes, double working_set) const {
    const double rate = fabric::rate_at(rates_, working_set);
    return rate > 0 ? bytes / rate : 0;
  }

  // A fold reads one source of the rank's own and writes one destination; the rest of its time is of the others'
  // sources.
  void add_reading(std::uint64_t bytes, double time, std::uint64_t working_set, fabric::Curve& curve) const {
    const double own = own_time(2.0 * static_cast<double>(bytes), static_cast<double>(working_set));
    double each = (time - own) / std::max(1U, measured_.num_ranks - 1);
    // More bytes take no less.
    if (!curve.empty()) each = std::max(each, curve.points.back().value);
    add(curve, bytes, each);
  }
  void assume_folds_are_as_fast_as_copies() {
    for (const DeviceTime& copy : measured_.copies) {
      const std::uint64_t working_set = 2 * copy.bytes;
      const std::uint64_t bytes = std::max<std::uint64_t>(1, working_set / (measured_.num_ranks + 1));
      if (reading_alone_.empty() || reading_alone_.points.back().bytes < bytes)
        add(reading_alone_, bytes, own_time(static_cast<double>(bytes), static_cast<double>(working_set)));
    }
  }

  // Of a two-shot's pieces, of which a rank reads and writes as many as there are ranks.
  [[nodiscard]] fabric::Curve storing_pieces() const {
    fabric::Curve curve;
    for (const fabric::CurvePoint& point : reading_alone_.points) {
      const auto bytes = static_cast<double>(point.bytes);
      add(curve, point.bytes, own_time(bytes, 2 * bytes * measured_.num_ranks));
    }
    return curve;
  }
  // Of a whole buffer to a slot.
  [[nodiscard]] fabric::Curve storing_whole() const {
    fabric::Curve curve;
    for (const DeviceTime& copy : measured_.copies) {
      const auto bytes = static_cast<double>(copy.bytes);
      add(curve, copy.bytes, own_time(bytes, 2 * bytes));
    }
    return curve;
  }

  // Launch and posts of the walker, by its exchange: a post, two latencies, and a step that folds.
  void set_walker(fabric::Costs& costs) const {
    costs.launch = rounded(measured_.launch);
    if (measured_.walked <= 0) return;
    costs.post_overhead = at_least_none(measured_.walked_signal - latency_);
    const auto bytes = static_cast<double>(measured_.walked_bytes);
    const double folding =
        (measured_.num_ranks - 1) * fabric::time_of(reading_alone_, bytes) + own_time(2 * bytes, 2 * bytes);
    costs.launch = at_least_none(measured_.walked - costs.post_overhead - 2 * latency_ - step_ - folding);
  }
  void set_written(fabric::Costs& costs) const {
    if (!is_written_for(measured_.num_ranks)) return set_walker(costs);
    costs.launch = rounded(measured_.launch);
  }

  [[nodiscard]] fabric::Costs exchange() const {
    fabric::Costs costs{.channels = fabric::Channels::exchange, .name = "exchange"};
    set_written(costs);
    costs.send_times = storing_whole();
    costs.receive_times = reading_together_.empty() ? reading_alone_ : reading_together_;
    return costs;
  }
  [[nodiscard]] fabric::Costs stores() const {
    fabric::Costs costs{.channels = fabric::Channels::stores, .name = "stores"};
    set_written(costs);
    costs.send_times = storing_pieces();
    costs.receive_times = reading_alone_;
    return costs;
  }
  [[nodiscard]] fabric::Costs direct() const {
    fabric::Costs costs{.channels = fabric::Channels::direct, .name = "direct"};
    set_walker(costs);
    costs.send_times = storing_whole();
    costs.receive_times = reading_alone_;
    return costs;
  }

  const DeviceMeasurements& measured_;
  double latency_ = 0;
  double step_ = 0;                 // what a step takes beside its bytes: addresses, and first loads
  fabric::Curve rates_;             // of a rank's own bytes, by its working set
  fabric::Curve reading_alone_;     // a source that only this rank reads at the time
  fabric::Curve reading_together_;  // one that all ranks read
};

std::string origin_of(const fabric::Costs& costs, std::string_view name, const DeviceMeasurements& measured,
                      std::string_view mark) {
  const bool walks = costs.channels == fabric::Channels::direct || !is_written_for(measured.num_ranks);
  if (name == "channels") return "";
  if (name == "launch")
    return walks && measured.walked > 0
               ? fmt::format("{}: a small exchange by the generic walker, less posts, latencies and its fold", mark)
               : fmt::format("{}: a kernel of a CUDA graph that does nothing", mark);
  if (name == "post_overhead") return fmt::format("{}: what a further signal adds to a walk, less the latency", mark);
  if (name == "send_times") return fmt::format("{}: half of what a copy takes beside a launch", mark);
  if (costs.channels == fabric::Channels::exchange)
    return fmt::format("{}: f32 sums of what all ranks read, less launch and own bytes, by source", mark);
  return fmt::format("{}: f32 sums of what one rank reads, less launch and own bytes, by source", mark);
}

}  // namespace

fabric::Fabric fabric_of(const DeviceMeasurements& measured) { return DeviceFit(measured).fabric(); }

std::string file_of(const DeviceMeasurements& measured) {
  const fabric::Fabric made = fabric_of(measured);
  const std::string mark = fmt::format("measured {}", measured.date);
  std::string text = fmt::format(
      "# Ranks that share a device, as `tutti probe --calibrate --device` has measured it. `{0}` is of\n"
      "# {1}.\n"
      "# It is of {2} ranks and no other number: each has 1/{2} of the multiprocessors. Kernels that load and store "
      "were\n"
      "# measured. Devices send no messages, so what is simulated for algorithms by messages means nothing.\n"
      "version = 1\n"
      "about = \"{2} ranks that share a device, calibrated on {3}\"\n"
      "generator = \"host:{2}x{2}\"\n"
      "\n[parameters]\n"
      "latency = \"{4}\"  # {0}: an exchange of flags without its launch, divided by 4: two messages, each over two "
      "links\n"
      "bandwidth = \"unlimited\"  # what limits is the device's memory, below\n",
      mark, measured.device, measured.num_ranks, measured.date, fabric::time_to_text(made.links.front().latency));
  const auto add_lines = [&](const auto& fields, const auto& owner, const auto& why) {
    for (const auto& field : fields) {
      const std::string value = fabric::get(field, owner);
      if (value == fabric::get(field, std::decay_t<decltype(owner)>())) continue;
      const std::string reason = why(field.name);
      text += fmt::format("{} = \"{}\"{}{}\n", field.name, value, reason.empty() ? "" : "  # ", reason);
    }
  };
  text += "\n[[memories]]\nname = \"memory\"\n";
  add_lines(fabric::kMemoryFields, made.memories.front(), [&](std::string_view name) {
    return name == "latency"
               ? fmt::format("{}: what a further step adds to a small all-gather by the generic walker", mark)
               : fmt::format("{}: copies by all ranks at once, a rank's share, by working set", mark);
  });
  for (const fabric::Costs& costs : made.costs) {
    text += fmt::format("\n[[costs]]\nname = \"{}\"\n", costs.name);
    add_lines(fabric::kCostFields, costs,
              [&](std::string_view name) { return origin_of(costs, name, measured, mark); });
  }
  return text;
}

}  // namespace tutti::calibrate
