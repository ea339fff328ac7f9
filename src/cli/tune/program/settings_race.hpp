// SPDX-License-Identifier: Apache-2.0
// A race of environments: each round runs a program once in each, and those that are surely slower at every size are
// dropped. Sees rows, no processes. Pure; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure/statistics.hpp"
#include "bench/results/result.hpp"

namespace tutti::cli {

// What a program timed: a size, where its output has sizes.
struct TimedCase {
  int num_ranks = 0;  // 0: not known
  std::string what;   // axes and other columns of the output: "type=float, op=sum"
  std::optional<std::uint64_t> bytes;
  friend auto operator<=>(const TimedCase&, const TimedCase&) = default;
};
[[nodiscard]] TimedCase case_of(const harness::Row& row);

using Settings = std::vector<harness::Setting>;

struct BestSettings {
  TimedCase timed;
  std::size_t best = 0;  // the place of the environment; 0 is the one before, which stays where none is surely faster
  std::size_t fastest = 0;  // the one with the least median, surely or not
  double before_us = 0;
  double best_us = 0;
  harness::Ratio ratio;  // of the time before to the fastest's: above 1, that is faster
  std::size_t rounds = 0;
};

class SettingsRace {
 public:
  // The first is what runs without any tuning; it is never dropped.
  explicit SettingsRace(std::vector<Settings> settings);

  [[nodiscard]] const std::vector<Settings>& settings() const { return settings_; }
  [[nodiscard]] bool is_in(std::size_t place) const { return !contestants_[place].is_out; }
  [[nodiscard]] std::size_t num_in() const;
  // What one round gave. An environment whose run failed or was wrong is out, with its words.
  void add_round(const std::vector<harness::Row>& rows);
  // Of those that are out because they failed: "NCCL_ALGO=x: exit status 1".
  [[nodiscard]] const std::vector<std::string>& failures() const { return failures_; }

  // A row for each case that the first environment has timed.
  [[nodiscard]] std::vector<BestSettings> best_of_each() const;
  // The environment that is fastest over all cases together, by the geometric mean, and how much; 0 and 1 where none is
  // faster than the first.
  struct Overall {
    std::size_t place = 0;
    harness::Ratio ratio;
  };
  [[nodiscard]] Overall best_overall() const;

 private:
  struct Contestant {
    bool is_out = false;
    std::map<TimedCase, std::vector<double>> times_us;  // by round; 0: none in that round
  };
  void drop_slow_ones();
  [[nodiscard]] bool is_slower_everywhere(const Contestant& contestant) const;

  std::vector<Settings> settings_;
  std::vector<Contestant> contestants_;
  std::vector<std::string> failures_;
  std::size_t rounds_ = 0;
};

// "NCCL_ALGO=Ring NCCL_PROTO unset"; "as it is" where there are none.
[[nodiscard]] std::string words_of(const Settings& settings);

}  // namespace tutti::cli
