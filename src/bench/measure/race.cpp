// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/race.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <span>

#include "bench/measure/course.hpp"

namespace tutti::harness {

namespace {

// A race is open between those whose medians are so near each other.
constexpr double kSurelySlower = 1.01;

double middle_of(const Course& course) {
  std::vector<double> rounds = course.round_medians();
  std::erase(rounds, 0.0);
  return rounds.empty() ? std::numeric_limits<double>::infinity() : median_of(rounds);
}

}  // namespace

bool is_surely_slower(const std::vector<double>& mine, const std::vector<double>& leader) {
  const std::size_t rounds = std::min(mine.size(), leader.size());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rounds; ++i)
    if (mine[i] > 0 && leader[i] > 0) ratios.push_back(mine[i] / leader[i]);
  if (ratios.empty()) return false;
  const double ratio = median_of(ratios);
  const double least = *std::min_element(ratios.begin(), ratios.end());
  if (ratios.size() == 1) return ratio > 4;
  if (ratios.size() == 2) return least > 2;
  if (ratios.size() < 6) return ratio > 1.3 && least > 1.15;
  // As compare() does, whose interval needs six rounds.
  const Ratio all = compare(std::span(leader).first(rounds), std::span(mine).first(rounds));
  return all.interval && all.interval->low > kSurelySlower;
}

std::vector<Racer> race(const std::string& bench, const std::vector<LiveGroup*>& groups, const Point& point,
                        const RaceOptions& options, std::mt19937_64& random) {
  // Each has its share, by which it warms up and chooses how long a round is.
  MeasureOptions share = options.measure;
  share.budget.seconds /= static_cast<double>(std::max<std::size_t>(groups.size(), 1));
  std::vector<Course> courses;
  courses.reserve(groups.size());
  for (LiveGroup* group : groups) courses.emplace_back(bench, *group, point, share, true);
  std::vector<bool> dropped(groups.size(), false);
  std::vector<Course*> running;
  const auto begin = std::chrono::steady_clock::now();
  // Who is prepared later gets other pages.
  for (Course& course : courses) running.push_back(&course);
  std::shuffle(running.begin(), running.end(), random);
  for (Course* const course : running)
    if (!options.measure.is_interrupted()) course->prepare();
  std::erase_if(running, [](const Course* course) { return !course->is_running(); });
  while (!running.empty() && !options.measure.is_interrupted()) {
    std::vector<Course*> turn = running;
    std::shuffle(turn.begin(), turn.end(), random);
    for (Course* const course : turn) course->run_round();
    std::erase_if(running, [](const Course* course) { return !course->is_running(); });
    if (running.empty()) break;
    drop_disturbed_rounds(running, groups, courses.data());
    const Course* const leader = *std::min_element(
        running.begin(), running.end(), [](const Course* a, const Course* b) { return middle_of(*a) < middle_of(*b); });
    if (options.drops)
      std::erase_if(running, [&](Course* course) {
        if (course == leader || !is_surely_slower(course->round_medians(), leader->round_medians())) return false;
        dropped[static_cast<std::size_t>(course - courses.data())] = true;
        course->finish();
        return true;
      });
    const std::size_t rounds = leader->num_rounds();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
    const bool is_decided = options.drops && running.size() == 1 && rounds >= options.least_rounds;
    if (is_decided || rounds >= options.most_rounds) break;
    if (spent.count() >= options.measure.budget.seconds && rounds >= 2) break;
  }
  std::vector<Racer> racers;
  for (std::size_t i = 0; i < courses.size(); ++i) {
    courses[i].finish();
    racers.push_back({.row = courses[i].take(), .is_dropped = dropped[i]});
  }
  return racers;
}

}  // namespace tutti::harness
