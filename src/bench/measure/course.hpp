// SPDX-License-Identifier: Apache-2.0
// One group on its way through one case: prepared, warmed up, measured round by round, checked. Whatever goes wrong
// ends in its row. Blocks; one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure/measure.hpp"
#include "bench/measure/round.hpp"
#include "bench/process/live_group.hpp"
#include "bench/results/result.hpp"

namespace tutti::harness {

class Course {
 public:
  // `takes_turns`: other groups run between this one's rounds. All arguments outlive it.
  Course(const std::string& bench, LiveGroup& group, const Point& point, const MeasureOptions& options,
         bool takes_turns);

  // Until the first round can be run.
  void prepare();
  void run_round();
  // Checks results, and ends the case.
  void finish();

  [[nodiscard]] bool is_running() const { return is_running_; }
  // By its own samples alone.
  [[nodiscard]] Stop should_stop() const;
  [[nodiscard]] bool has_spent_budget() const { return seconds_ >= options_.budget.seconds; }
  // All its rounds were left out, and it may have some more for one that counts.
  [[nodiscard]] bool lacks_rounds() const {
    constexpr double kMostBudgets = 5;
    return row_.samples.empty() && seconds_ < kMostBudgets * options_.budget.seconds;
  }
  [[nodiscard]] std::size_t num_rounds() const { return round_medians_.size(); }
  // 0 where a round gave no sample, so that rounds of several groups pair up.
  [[nodiscard]] const std::vector<double>& round_medians() const { return round_medians_; }

  // Since its round before the last one, its processes have had work to do while they should have slept.
  [[nodiscard]] bool was_busy_while_others_ran() const { return was_busy_; }
  // The samples of the last two rounds do not count: somebody else used the processors.
  void drop_last_rounds(const std::string& because_of);

  void set_stop(Stop stop) { row_.stop = stop; }
  [[nodiscard]] Row take() { return std::move(row_); }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] std::optional<std::vector<Json>> ask(const Json& order);
  void forget();
  void end_with(Outcome outcome, std::string why);
  [[nodiscard]] std::optional<Round> run(std::size_t iterations);
  void warm_up();
  void choose_iterations();
  [[nodiscard]] std::size_t iterations_in(double nanos) const;
  void check();
  void note(const Json& said);
  void note_processors(const std::vector<Json>& answers, Clock::time_point asked);

  const MeasureOptions& options_;
  LiveGroup& group_;
  bool takes_turns_;
  Row row_;
  bool is_running_ = false;
  std::size_t iterations_ = 1;
  std::int64_t least_margin_ = 0;
  std::int64_t most_margin_ = 0;
  double around_ = 0;   // nanoseconds of an iteration, about, with what comes before it
  double seconds_ = 0;  // spent on rounds
  std::vector<double> round_medians_;

  Clock::time_point answered_{};     // when the last round's answers were here, and
  std::int64_t processor_time_ = 0;  // what its processes had used of processors by then
  bool was_busy_ = false;
  std::string disturbed_by_;
};

// Who used processors while it should have slept spoils the rounds that others ran meanwhile. `courses` are those of
// the groups, in their order.
void drop_disturbed_rounds(const std::vector<Course*>& running, const std::vector<LiveGroup*>& groups,
                           const Course* courses);

}  // namespace tutti::harness
