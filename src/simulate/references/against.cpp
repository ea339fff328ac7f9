// SPDX-License-Identifier: Apache-2.0
#include "simulate/references/against.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "base/text.hpp"
#include "data/message_size.hpp"
#include "fabric/files/load.hpp"
#include "schedule/prove/side_by_side.hpp"
#include "simulate/copies.hpp"

namespace tutti::simulate {

namespace {

struct Timed {
  double time = 0;  // nanoseconds
  std::string_view algorithm;
};

// Fabrics and schedules are made once.
class Comparer {
 public:
  Comparer(const References& references, const Rewrite& rewrite) : references_(references), rewrite_(rewrite) {}

  Status compare(const Series& series, std::vector<Compared>& all) {
    if (series.metric == Metric::crossover) {
      Compared compared{.series = &series, .published = series.values[0]};
      if (!series.ways.empty()) {
        TUTTI_TRY_ASSIGN(compared.simulated, crossover(series));
      }
      all.push_back(compared);
      return {};
    }
    for (std::size_t i = 0; i < series.bytes.size(); ++i) {
      const std::uint64_t bytes = series.bytes[i];
      const auto& left_out = references_.left_out;
      Compared compared{.series = &series, .bytes = bytes, .published = series.values[i]};
      compared.is_left_out = std::find(left_out.begin(), left_out.end(), bytes) != left_out.end();
      if (!series.ways.empty()) {
        const Result<Timed> time = fastest(series.ways, bytes);
        if (!time.ok()) return time.status().with_context(series.id);
        compared.best = time->algorithm;
        compared.simulated = time->time / references_.nanoseconds;
        if (series.metric == Metric::gain) {
          TUTTI_TRY_ASSIGN(compared.simulated, gain(series, bytes));
        }
      }
      all.push_back(compared);
    }
    return {};
  }

 private:
  Result<double> gain(const Series& series, std::uint64_t bytes) {
    const Result<Timed> time = fastest(series.ways, bytes);
    if (!time.ok()) return time.status().with_context(series.id);
    const Result<Timed> baseline = fastest(series.baselines, bytes);
    if (!baseline.ok()) return baseline.status().with_context(series.id);
    return (baseline->time / time->time - 1) * 100;
  }

  // Half of the least size where not even that one is faster.
  Result<double> crossover(const Series& series) {
    double greatest = static_cast<double>(series.bytes.front()) / 2;
    for (const std::uint64_t bytes : series.bytes) {
      TUTTI_TRY_ASSIGN(const double percent, gain(series, bytes));
      if (percent <= series.uncertainty) break;
      greatest = static_cast<double>(bytes);
    }
    return greatest;
  }

  Result<Timed> fastest(const std::vector<ReferenceWay>& ways, std::uint64_t bytes) {
    // Where costs are for operations up to some size, the least of these counts; beyond it, those without.
    std::vector<std::uint64_t> limits;
    std::uint64_t limit = 0;
    for (const ReferenceWay& way : ways) {
      TUTTI_TRY_ASSIGN(const fabric::Fabric* const fabric, fabric_of(way.fabric));
      limits.push_back(fabric->costs[fabric->ranks.front().costs].up_to);
      if (limits.back() >= bytes && (limit == 0 || limits.back() < limit)) limit = limits.back();
    }
    std::optional<Timed> best;
    for (const ReferenceWay& way : ways) {
      if (limits[static_cast<std::size_t>(&way - ways.data())] != limit) continue;
      TUTTI_TRY_ASSIGN(const double time, time_of(way, bytes));
      if (!best || time < best->time) best = Timed{time, way.algorithm};
    }
    return *best;
  }

  Result<double> time_of(const ReferenceWay& way, std::uint64_t bytes) {
    const Algorithm* algorithm = find_algorithm(references_.collective, way.algorithm);
    if (algorithm == nullptr)
      return Status(Code::invalid_argument, fmt::format("there is no algorithm {} for {}", in_quotes(way.algorithm),
                                                        name_of(references_.collective)));
    if (way.by_name && !algorithm->name_safe)
      return Status(Code::invalid_argument, fmt::format("{} is not right by name", algorithm->name));
    TUTTI_TRY_ASSIGN(const fabric::Fabric* const fabric, fabric_of(way.fabric));
    const Cases cases = find_cases(*algorithm, fabric->num_ranks(),
                                   {.grid = way.grid, .corner = way.corner, .machine_grid = fabric->grid});
    if (cases.lacks_grid)
      return Status(Code::invalid_argument, fmt::format("{}: {}; say grid = \"{}\"", algorithm->name, cases.objection,
                                                        form_of_grid(algorithm->takes)));
    if (cases.requests.empty()) return Status(Code::invalid_argument, cases.objection);
    if (way.parts > 1 && algorithm->channel != Channel::message)
      return Status(Code::invalid_argument, fmt::format("{} is not by messages: it has no parts", algorithm->name));
    const Schedule schedule = side_by_side(algorithm->make(cases.requests.front()), way.parts);
    const std::size_t element_size = size_of(references_.type);
    // A fit asks again and again for what has been checked once.
    TUTTI_TRY_ASSIGN(
        const Answer answer,
        simulate_with_copies(schedule, *fabric,
                             {.count = elements_of_block(schedule.collective, schedule.num_ranks, bytes, element_size),
                              .element_size = element_size,
                              .staged = algorithm->channel == Channel::staged && !way.by_name,
                              .check = rewrite_ == nullptr},
                             way.copies));
    return answer.time;
  }

  Result<const fabric::Fabric*> fabric_of(const std::string& words) {
    const auto known = fabrics_.find(words);
    if (known != fabrics_.end()) return &known->second;
    TUTTI_TRY_ASSIGN(fabric::Fabric fabric, fabric::load_fabric(rewrite_ ? rewrite_(words) : words));
    return &fabrics_.emplace(words, std::move(fabric)).first->second;
  }

  const References& references_;
  const Rewrite& rewrite_;
  std::map<std::string, fabric::Fabric> fabrics_;
};

// Who of a group is compared with whom: the same group and size.
using Contest = std::vector<const Compared*>;

std::vector<Contest> contests_of(std::span<const Compared> compared,
                                 const std::function<bool(const Compared&)>& counts) {
  std::map<std::pair<std::string_view, std::uint64_t>, Contest> contests;
  for (const Compared& each : compared) {
    const bool takes_part = each.simulated && each.series->metric == Metric::time && !each.series->group.empty();
    if (takes_part && counts(each)) contests[{each.series->group, each.bytes}].push_back(&each);
  }
  std::vector<Contest> all;
  for (auto& [key, contest] : contests)
    if (contest.size() > 1) all.push_back(std::move(contest));
  return all;
}

bool has_right_winner(const Contest& contest) {
  const auto by_simulated = [](const Compared* a, const Compared* b) { return *a->simulated < *b->simulated; };
  const auto by_published = [](const Compared* a, const Compared* b) { return a->published < b->published; };
  const Compared* chosen = *std::min_element(contest.begin(), contest.end(), by_simulated);
  const Compared* best = *std::min_element(contest.begin(), contest.end(), by_published);
  return chosen->published <= best->published * (1 + kSameTime);
}

bool has_right_order(const Contest& contest) {
  for (const Compared* a : contest)
    for (const Compared* b : contest)
      if (a->published < b->published && !(*a->simulated < *b->simulated)) return false;
  return true;
}

}  // namespace

double Compared::error() const {
  if (!simulated) return 0;
  switch (series->metric) {
    case Metric::time: return *simulated / published - 1;
    case Metric::gain: return *simulated - published;
    case Metric::crossover: return std::log2(*simulated / published);
  }
  return 0;
}

Result<std::vector<Compared>> compare(const References& references, std::span<const Series* const> only,
                                      const Rewrite& rewrite) {
  std::vector<Compared> all;
  Comparer comparer(references, rewrite);
  for (const Series& series : references.series) {
    if (!only.empty() && std::find(only.begin(), only.end(), &series) == only.end()) continue;
    if (const Status status = comparer.compare(series, all); !status.ok()) return status;
  }
  return all;
}

Score score(std::span<const Compared> compared, Metric metric, const std::function<bool(const Compared&)>& counts) {
  Score score;
  std::vector<double> errors;
  for (const Compared& each : compared)
    if (each.simulated && each.series->metric == metric && counts(each)) errors.push_back(std::abs(each.error()));
  score.cells = errors.size();
  if (errors.empty()) return score;
  std::sort(errors.begin(), errors.end());
  const std::size_t middle = errors.size() / 2;
  score.median_error = errors.size() % 2 == 1 ? errors[middle] : (errors[middle - 1] + errors[middle]) / 2;
  score.greatest_error = errors.back();
  if (metric != Metric::time) return score;
  for (const Contest& contest : contests_of(compared, counts)) {
    ++score.contests;
    if (has_right_winner(contest)) ++score.winners;
    if (has_right_order(contest)) ++score.orders;
  }
  return score;
}

}  // namespace tutti::simulate
