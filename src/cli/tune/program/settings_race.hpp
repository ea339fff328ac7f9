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

// By case, the place of an environment.
using Choices = std::map<TimedCase, std::size_t>;

struct BestSettings {
  TimedCase timed;
  std::size_t best = 0;    // the place of the environment; 0: the one before stays, since none is surely faster
  std::size_t chosen = 0;  // the one that was chosen, before it was judged
  double before_us = 0;
  double best_us = 0;
  harness::Ratio ratio;  // of the time before to that of the chosen one: above 1, that is faster
  std::size_t rounds = 0;
};

class SettingsRace {
 public:
  // The first is what runs without any tuning; it is never dropped.
  explicit SettingsRace(std::vector<Settings> settings);

  [[nodiscard]] const std::vector<Settings>& settings() const { return settings_; }
  [[nodiscard]] bool is_in(std::size_t place) const { return !contestants_[place].is_out; }
  [[nodiscard]] std::size_t num_in() const;
  [[nodiscard]] std::size_t num_rounds() const { return rounds_; }
  // It takes no part.
  void leave_out(std::size_t place) { contestants_[place].is_out = true; }
  // What one round gave. An environment whose run failed or was wrong is out, with its words.
  void add_round(const std::vector<harness::Row>& rows);
  // Of those that are out because they failed: "NCCL_ALGO=x: exit status 1".
  [[nodiscard]] const std::vector<std::string>& failures() const { return failures_; }

  // For each case that the first environment has timed: of those that are surely faster than that, the fastest; if
  // there is none, the one with the least times.
  [[nodiscard]] Choices choices() const;
  // The environment that is fastest over all cases together, by the geometric mean; 0 where that is the first.
  [[nodiscard]] std::size_t choice_overall() const;
  // How the choices come out here: in rounds that have not chosen them, or else they would look better than they are.
  [[nodiscard]] std::vector<BestSettings> judged(const Choices& choices) const;
  // Of all cases together.
  [[nodiscard]] harness::Ratio judged_overall(std::size_t place) const;

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
