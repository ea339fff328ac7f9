// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/measure.hpp"

#include <algorithm>
#include <cmath>

#include "bench/measure/course.hpp"

namespace tutti::harness {

namespace {

// How well the ratio to the first is known.
Stop stop_of_pair(const Course& first, const Course& other, const Budget& budget) {
  const std::size_t rounds = std::min(first.num_rounds(), other.num_rounds());
  if (rounds >= budget.least_rounds) {
    const Ratio ratio =
        compare(std::span(other.round_medians()).first(rounds), std::span(first.round_medians()).first(rounds));
    const bool is_known =
        ratio.interval && (ratio.interval->high - ratio.interval->low) / 2 <= budget.precision * ratio.ratio;
    if (is_known) return Stop::precise;
  }
  return other.has_spent_budget() ? Stop::time : Stop::not_yet;
}

// Whether they have enough; all go on until each has, so that rounds pair up.
bool have_enough(const std::vector<Course*>& running, const Budget& budget) {
  if (running.size() == 1) {
    running.front()->set_stop(running.front()->should_stop());
    return running.front()->should_stop() != Stop::not_yet;
  }
  if (std::any_of(running.begin(), running.end(), [](const Course* course) { return course->lacks_rounds(); }))
    return false;
  Stop of_all = Stop::precise;
  for (std::size_t other = 1; other < running.size(); ++other) {
    const Stop stop = stop_of_pair(*running.front(), *running[other], budget);
    if (stop == Stop::not_yet) return false;
    running[other]->set_stop(stop);
    of_all = std::max(of_all, stop);
  }
  running.front()->set_stop(of_all);
  return true;
}

}  // namespace

std::vector<Row> measure(const std::string& bench, const std::vector<LiveGroup*>& groups, const Point& point,
                         const MeasureOptions& options, std::mt19937_64& random) {
  std::vector<Course> courses;
  courses.reserve(groups.size());
  for (LiveGroup* group : groups) courses.emplace_back(bench, *group, point, options, groups.size() > 1);
  for (std::size_t each = 0; each < courses.size(); ++each) courses[(options.first + each) % courses.size()].prepare();
  std::vector<Course*> running;
  for (Course& course : courses)
    if (course.is_running()) running.push_back(&course);
  while (!running.empty() && !options.is_interrupted()) {
    std::vector<Course*> turn = running;
    std::shuffle(turn.begin(), turn.end(), random);
    for (Course* course : turn) course->run_round();
    std::erase_if(running, [](const Course* course) { return !course->is_running(); });
    drop_disturbed_rounds(running, groups, courses.data());
    if (running.empty() || have_enough(running, options.budget)) break;
  }
  std::vector<Row> rows;
  for (Course& course : courses) {
    course.finish();
    rows.push_back(course.take());
  }
  return rows;
}

}  // namespace tutti::harness
