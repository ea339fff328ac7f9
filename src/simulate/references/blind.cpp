// SPDX-License-Identifier: Apache-2.0
#include "simulate/references/blind.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "simulate/references/against.hpp"
#include "simulate/references/fit.hpp"
#include "simulate/references/losses.hpp"
#include "simulate/references/members.hpp"
#include "simulate/references/near.hpp"
#include "simulate/references/residuals.hpp"
#include "simulate/references/weight.hpp"

namespace tutti::simulate {

namespace {

constexpr double kShareWithin = 0.9;
// Of a normal distribution.
constexpr double kUsualDeviations = 1.645;

std::size_t at(Predictor predictor) { return static_cast<std::size_t>(predictor); }

// One fit, and what it does not see.
struct Fold {
  std::string name;
  std::function<bool(const Member&, std::size_t size)> is_left_out;
};

std::vector<Fold> folds_of(const std::vector<Member>& members, const Fit& fit, LeftOut what) {
  std::vector<Fold> folds;
  if (what == LeftOut::sizes) {
    const bool has_sizes = std::any_of(members.begin(), members.end(),
                                       [](const Member& member) { return member.series->bytes.size() > 1; });
    if (!has_sizes) return folds;
    for (const std::size_t odd : {0U, 1U})
      folds.push_back({fmt::format("{}, {} sizes", fit.name, odd == 0 ? "even" : "odd"),
                       [odd](const Member&, std::size_t size) { return size % 2 == odd; }});
    return folds;
  }
  std::map<std::string, std::set<std::uint32_t>> numbers;
  for (const Member& member : members) numbers[member.fabric].insert(member.ranks);
  for (const auto& [fabric, of_fabric] : numbers) {
    if (of_fabric.size() < 2) continue;
    for (const std::uint32_t ranks : of_fabric)
      folds.push_back({fmt::format("{}, {}", fabric, counted(ranks, "rank")),
                       [fabric = fabric, ranks](const Member& member, std::size_t) {
                         return member.fabric == fabric && member.ranks == ranks;
                       }});
  }
  return folds;
}

// The file as if what is left out had never been published.
References without(const References& references, const std::vector<Member>& members, const Fold& fold) {
  References seen = references;
  seen.left_out.clear();
  for (const Member& member : members) {
    Series& series = seen.series[static_cast<std::size_t>(member.series - references.series.data())];
    std::vector<std::uint64_t> bytes;
    std::vector<double> values;
    for (std::size_t size = 0; size < series.bytes.size(); ++size) {
      if (fold.is_left_out(member, size)) continue;
      bytes.push_back(series.bytes[size]);
      values.push_back(series.values[size]);
    }
    series.bytes = std::move(bytes);
    series.values = std::move(values);
  }
  std::erase_if(seen.series, [](const Series& series) { return series.bytes.empty(); });
  return seen;
}

// The times that a fold leaves out or does not, and the parameters fitted to the latter.
class Blind {
 public:
  using Progress = std::function<void(const std::string&)>;

  Blind(const References& references, const Fit& fit, const std::vector<Member>& members, const Progress& progress)
      : references_(references), fit_(fit), members_(members), progress_(progress) {}

  Status predict(const Fold& fold, LeftOut what, std::vector<BlindTime>& all) {
    double beyond_ranks = 0;
    if (what == LeftOut::ranks) {
      TUTTI_TRY_ASSIGN(beyond_ranks, beyond_ranks_without(fold));
    }
    TUTTI_TRY_ASSIGN(const std::vector<Compared> compared, compared_without(fold));
    std::map<std::string, std::vector<Known>> times;
    each_time(compared, [&](const Member& member, std::size_t size, const Compared& time) {
      if (!fold.is_left_out(member, size)) times[member.way].push_back({member.ranks, time.bytes, time.published});
    });
    const Residuals whole(residuals_without(fold, compared));
    const Residuals residuals(residuals_without(fold, compared), beyond_ranks);
    each_time(compared, [&](const Member& member, std::size_t size, const Compared& time) {
      if (!fold.is_left_out(member, size)) return;
      const std::vector<Known>& known = times[member.way];
      if (known.empty()) return;
      BlindTime& blind = all.emplace_back(BlindTime{.series = member.series,
                                                    .ranks = member.ranks,
                                                    .bytes = time.bytes,
                                                    .published = time.published,
                                                    .left_out = fold.name});
      const auto near = [&](Near how) { return *value_near(known, member.ranks, time.bytes, how); };
      const Expected expected = residuals.expected(member.way, member.ranks, time.bytes);
      blind.deviation = std::hypot(expected.deviation, noise_of(time));
      if (whole.is_beyond(member.way, member.ranks))
        blind.beyond = whole.expected(member.way, member.ranks, time.bytes).log_ratio;
      blind.times[at(Predictor::simulated)] = *time.simulated;
      blind.times[at(Predictor::corrected)] = *time.simulated * std::exp(expected.log_ratio);
      blind.times[at(Predictor::nearest)] = near(Near::nearest);
      blind.times[at(Predictor::linear)] = near(Near::linear);
      blind.times[at(Predictor::log_log)] = near(Near::log_log);
    });
    return {};
  }

 private:
  // How much of a correction holds beyond the numbers of ranks seen, by what the fold does not leave out.
  Result<double> beyond_ranks_without(const Fold& fold) {
    std::vector<Member> seen;
    for (const Member& member : members_)
      if (!fold.is_left_out(member, 0)) seen.push_back(member);
    std::vector<Evidence> evidence;
    for (const Fold& inner : folds_of(seen, fit_, LeftOut::ranks)) {
      // The same two may be left out in either order.
      const Fold both{fmt::format("{}, and {}", std::min(fold.name, inner.name), std::max(fold.name, inner.name)),
                      [&](const Member& member, std::size_t size) {
                        return fold.is_left_out(member, size) || inner.is_left_out(member, size);
                      }};
      TUTTI_TRY_ASSIGN(const std::vector<Compared> compared, compared_without(both));
      const Residuals residuals(residuals_without(both, compared));
      each_time(compared, [&](const Member& member, std::size_t size, const Compared& time) {
        if (inner.is_left_out(member, size) && residuals.is_beyond(member.way, member.ranks))
          evidence.push_back({member.series->id, residuals.expected(member.way, member.ranks, time.bytes).log_ratio,
                              residual_of(member, time).log_ratio});
      });
    }
    return weight_of(evidence);
  }

  // All times, simulated with the parameters that are fitted to what the fold does not leave out.
  Result<std::vector<Compared>> compared_without(const Fold& fold) {
    const auto known = parameters_.find(fold.name);
    std::vector<ParameterValue> parameters = known == parameters_.end() ? std::vector<ParameterValue>() : known->second;
    if (known == parameters_.end()) {
      progress_(fold.name);
      const References seen = without(references_, members_, fold);
      TUTTI_TRY_ASSIGN(const Fitted fitted, fit(seen, fit_, [](const Fitted&) {}));
      parameters = fitted.parameters;
      parameters_.emplace(fold.name, parameters);
    }
    std::vector<const Series*> series;
    for (const Member& member : members_) series.push_back(member.series);
    return compare(references_, series, [&](const std::string& fabric) { return with_parameters(fabric, parameters); });
  }

  [[nodiscard]] std::vector<Residual> residuals_without(const Fold& fold, const std::vector<Compared>& compared) const {
    std::vector<Residual> seen;
    each_time(compared, [&](const Member& member, std::size_t size, const Compared& time) {
      if (!fold.is_left_out(member, size)) seen.push_back(residual_of(member, time));
    });
    return seen;
  }

  template <typename Act>
  void each_time(const std::vector<Compared>& compared, const Act& act) const {
    std::map<const Series*, std::size_t> next;
    for (const Compared& time : compared) {
      const auto member = std::find_if(members_.begin(), members_.end(),
                                       [&](const Member& each) { return each.series == time.series; });
      act(*member, next[time.series]++, time);
    }
  }

  const References& references_;
  const Fit& fit_;
  const std::vector<Member>& members_;
  const Progress& progress_;
  std::map<std::string, std::vector<ParameterValue>> parameters_;  // by what the fit has not seen
};

double error_of(const BlindTime& time, Predictor predictor) {
  return std::abs(std::log(time.times[at(predictor)] / time.published));
}

}  // namespace

Result<std::vector<BlindTime>> predict_left_out(const References& references, LeftOut what,
                                                const std::function<void(const std::string&)>& progress) {
  std::vector<BlindTime> all;
  for (const Fit& fit : references.fits) {
    TUTTI_TRY_ASSIGN(const std::vector<Member> members, members_of(references, fit));
    Blind blind(references, fit, members, progress);
    for (const Fold& fold : folds_of(members, fit, what)) TUTTI_TRY(blind.predict(fold, what, all));
  }
  // What was left out together must not say how wrong its own predictions are.
  std::map<std::string, double> deviations;
  for (BlindTime& time : all) {
    const auto [found, is_new] = deviations.try_emplace(time.left_out);
    if (is_new)
      found->second = deviations_of(all, [&](const BlindTime& other) { return other.left_out != time.left_out; });
    time.factor = std::exp(found->second * time.deviation);
  }
  return all;
}

double beyond_ranks_of(std::span<const BlindTime> times) {
  std::vector<Evidence> evidence;
  for (const BlindTime& time : times)
    if (time.beyond)
      evidence.push_back(
          {time.series->id, *time.beyond, std::log(time.published / time.times[at(Predictor::simulated)])});
  return weight_of(evidence);
}

double deviations_of(std::span<const BlindTime> times, const std::function<bool(const BlindTime&)>& counts) {
  std::vector<double> errors;
  for (const BlindTime& time : times)
    if (counts(time)) errors.push_back(error_of(time, Predictor::corrected) / time.deviation);
  if (errors.empty()) return kUsualDeviations;
  std::sort(errors.begin(), errors.end());
  const auto place = static_cast<std::size_t>(std::ceil(kShareWithin * static_cast<double>(errors.size() + 1)));
  return errors[std::min(place, errors.size()) - 1];
}

BlindScore score_of(std::span<const BlindTime> times, Predictor predictor) {
  BlindScore score;
  if (times.empty()) return score;
  std::vector<double> errors;
  std::map<std::pair<std::string_view, std::uint64_t>, std::vector<const BlindTime*>> contests;
  std::size_t num_within = 0;
  for (const BlindTime& time : times) {
    errors.push_back(std::abs(time.times[at(predictor)] / time.published - 1));
    if (error_of(time, Predictor::corrected) <= std::log(time.factor)) ++num_within;
    if (!time.series->group.empty()) contests[{time.series->group, time.bytes}].push_back(&time);
  }
  std::sort(errors.begin(), errors.end());
  score.median_error = (errors[(errors.size() - 1) / 2] + errors[errors.size() / 2]) / 2;
  score.within = static_cast<double>(num_within) / static_cast<double>(times.size());
  double regret = 0;
  for (const auto& [key, contest] : contests) {
    if (contest.size() < 2) continue;
    const auto chosen = *std::min_element(contest.begin(), contest.end(), [&](const BlindTime* a, const BlindTime* b) {
      return a->times[at(predictor)] < b->times[at(predictor)];
    });
    const auto best = *std::min_element(contest.begin(), contest.end(), [](const BlindTime* a, const BlindTime* b) {
      return a->published < b->published;
    });
    ++score.contests;
    if (chosen->published <= best->published * (1 + kSameTime)) ++score.winners;
    regret += chosen->published / best->published - 1;
  }
  if (score.contests > 0) score.mean_regret = regret / static_cast<double>(score.contests);
  return score;
}

}  // namespace tutti::simulate
