// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "schedule/empty_messages.hpp"
#include "simulate/engine/passes.hpp"
#include "simulate/engine/sizes.hpp"
#include "simulate/trace/goal.hpp"

namespace tutti::simulate {

namespace {

bool is_passed_on(const Endpoint& end) { return end.place == Place::message; }
bool is_own_memory(const Endpoint& end) { return end.place == Place::local; }

bool is_expressible(const Step& step) { return step.kind == StepKind::combine && !is_direct(step); }

class GoalWriter {
 public:
  GoalWriter(const Schedule& schedule, const GoalOptions& options)
      : schedule_(schedule),
        options_(options),
        sizes_(schedule, options.count, {}, options.element_size, 0),
        sends_empty_(sends_empty_messages(schedule, [] { return false; })) {
    if (options.fabric != nullptr) passes_.emplace(*options.fabric, schedule.num_ranks, sizes_, false);
  }

  Result<std::string> write() {
    line("// Written by Tutti: {} of {}, {} ranks, blocks of {} elements of {} bytes\n", name_of(schedule_.collective),
         printable(schedule_.name), schedule_.num_ranks, options_.count, options_.element_size);
    line("num_ranks {}\n", schedule_.num_ranks);
    for (rank_ = 0; rank_ < schedule_.num_ranks; ++rank_) {
      line("\nrank {} {{\n", rank_);
      TUTTI_TRY(write_rank());
      line("}}\n");
    }
    return std::move(text_);
  }

 private:
  // The operations of a step, by their labels; none where it has none.
  struct Written {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };

  template <typename... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  // All operations stand before what they require: then no label is used before it is there.
  Status write_rank() {
    lanes_ = collect(schedule_, rank_, Fusion::neighbours).lanes;
    labels_ = 0;
    const std::vector<std::vector<bool>> is_waited_for = steps_waited_for();
    std::vector<std::vector<Written>> written(lanes_.size());
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      for (std::size_t index = 0; index < lanes_[lane].size(); ++index) {
        const Step& step = lanes_[lane][index];
        if (!is_expressible(step))
          return {
              Code::unsupported,
              fmt::format("GOAL has messages, and no access to other ranks' memory. {} of {} has one: rank {}, lane "
                          "{}, {}. Choose an algorithm by messages ('tutti algorithms' tells)",
                          printable(schedule_.name), name_of(schedule_.collective), rank_, lane, to_string(step))};
        written[lane].push_back(write_step(step, !step.after.empty() || is_waited_for[lane][index]));
      }
    }
    total_ += labels_;
    if (total_ > goal_text::kMostOperations)
      return {Code::unsupported,
              fmt::format("{} of {} has more than {} operations, which is too many for a text",
                          printable(schedule_.name), name_of(schedule_.collective), goal_text::kMostOperations)};
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) write_order(lane, written);
    return {};
  }

  // The step of this number, or that which it is fused into; null where there is none.
  [[nodiscard]] const Step* find(const After& after) const {
    const std::vector<Step>& steps = lanes_[after.lane];
    const auto found =
        std::partition_point(steps.begin(), steps.end(), [&](const Step& step) { return step.number < after.step; });
    return found == steps.end() ? nullptr : &*found;
  }
  [[nodiscard]] std::size_t index_of(const After& after, const Step* step) const {
    return static_cast<std::size_t>(step - lanes_[after.lane].data());
  }

  [[nodiscard]] std::vector<std::vector<bool>> steps_waited_for() const {
    std::vector<std::vector<bool>> are_waited_for;
    for (const std::vector<Step>& steps : lanes_) are_waited_for.emplace_back(steps.size());
    for (const std::vector<Step>& steps : lanes_)
      for (const Step& step : steps)
        for (const After& after : step.after)
          if (const Step* target = find(after)) are_waited_for[after.lane][index_of(after, target)] = true;
    return are_waited_for;
  }

  void write_order(std::size_t lane, const std::vector<std::vector<Written>>& written) {
    std::uint32_t before = 0;
    for (std::size_t index = 0; index < lanes_[lane].size(); ++index) {
      const Written& step = written[lane][index];
      if (step.first == 0) continue;
      if (before != 0) line("l{} requires l{}\n", step.first, before);
      for (const After& after : lanes_[lane][index].after)
        if (const Step* target = find(after))
          line("l{} requires l{}\n", step.first, written[after.lane][index_of(after, target)].last);
      for (std::uint32_t label = step.first; label < step.last; ++label) line("l{} requires l{}\n", label + 1, label);
      before = step.last;
    }
  }

  // What it receives, then what it reckons, then what it sends. A step that others wait for, or that waits for others,
  // has an operation in any case.
  Written write_step(const Step& step, bool is_needed) {
    const std::uint64_t length = step.sources.empty() ? 0 : sizes_.bytes(rank_, step.sources[0].slice, 0);
    const std::uint32_t before = labels_;
    const bool is_nothing = length == 0 && !sends_empty_;
    for (const Endpoint& end : step.sources)
      if (is_passed_on(end) && !is_nothing)
        line("l{}: recv {}b from {} tag {}\n", ++labels_, length, end.rank, end.channel);
    const auto time = static_cast<std::uint64_t>(std::llround(time_of(step, static_cast<double>(length))));
    if (time > 0) line("l{}: calc {}\n", ++labels_, time);
    for (const Endpoint& end : step.destinations)
      if (is_passed_on(end) && !is_nothing)
        line("l{}: send {}b to {} tag {}\n", ++labels_, length, end.rank, end.channel);
    if (labels_ == before && is_needed) line("l{}: calc 0\n", ++labels_);
    return labels_ == before ? Written{} : Written{before + 1, labels_};
  }

  // What the step takes in memory, beside its receives and sends.
  double time_of(const Step& step, double length) {
    if (!passes_ || length <= 0) return 0;
    if (!passes_->carries(rank_)) {
      const bool folds = step.sources.size() > 1;
      const auto written = std::count_if(step.destinations.begin(), step.destinations.end(), is_own_memory);
      const bool copies = written > 0 && std::any_of(step.sources.begin(), step.sources.end(), is_own_memory);
      if (!folds && !copies) return 0;
      const double ends = static_cast<double>(step.sources.size()) + static_cast<double>(written);
      return passes_->time_in_memory(rank_, ends * length, folds ? length : 0);
    }
    // The core carries every message by itself as well.
    const auto time_of_pass = [&](const Step& of) {
      const Pass pass = pass_of(of, rank_, *options_.fabric, [](const Slice&) { return false; });
      return passes_->time_of_any(rank_, pass, length);
    };
    double beside = time_of_pass(step);
    Step alone;
    const Endpoint own{.slice = step.sources[0].slice};
    for (const Endpoint& end : step.sources) {
      alone.sources = {end};
      alone.destinations = {own};
      if (is_passed_on(end)) beside -= time_of_pass(alone);
    }
    for (const Endpoint& end : step.destinations) {
      alone.sources = {own};
      alone.destinations = {end};
      if (is_passed_on(end)) beside -= time_of_pass(alone);
    }
    return std::max(0.0, beside);
  }

  const Schedule& schedule_;
  const GoalOptions& options_;
  std::vector<std::vector<Step>> lanes_;  // of this rank
  Sizes sizes_;
  bool sends_empty_;
  std::optional<Passes> passes_;
  std::string text_;
  std::uint32_t rank_ = 0;
  std::uint32_t labels_ = 0;  // of this rank so far
  std::uint64_t total_ = 0;
};

}  // namespace

Result<std::string> write_goal(const Schedule& schedule, const GoalOptions& options) {
  return GoalWriter(schedule, options).write();
}

}  // namespace tutti::simulate
