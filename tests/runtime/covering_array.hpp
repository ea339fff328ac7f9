// SPDX-License-Identifier: Apache-2.0
// Rows of choices such that every pair of choices that can stand together stands together in some row: what tests run
// where the whole product is too much. Rows are made one after another, each for as many new pairs for its cost as can
// be had (greedily, as in D. Cohen, S. Dalal, M. Fredman, G. Patton, The AETG system, IEEE TSE 1997).
//
// Deterministic: the same problem and seed give the same rows. Pure; thread-safe where the functions given are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

namespace tutti::test {

// Of each factor, the number of its level.
using CoveringRow = std::vector<std::size_t>;

struct Choice {
  std::size_t factor = 0;
  std::size_t level = 0;
};

struct ChoicePair {
  Choice a;
  Choice b;
};

struct CoveringProblem {
  std::vector<std::size_t> levels;  // of each factor, how many
  // Whether the two cannot stand in a row; symmetric. Never asked of one factor with itself.
  std::function<bool(Choice, Choice)> in_conflict;
  // Of a row; above 0. Also asked of rows in the making, whose open factors are at level 0.
  std::function<double(const CoveringRow&)> cost;
  std::uint64_t seed = 1;
  // Whether beside it no pair of others shows anything, as beside a call of no elements; those pairs then stand
  // together in another row too, if they can.
  std::function<bool(Choice)> is_idle = [](Choice) { return false; };
};

struct CoveringArray {
  std::vector<CoveringRow> rows;
  // Not in conflict themselves, and yet no row can have them.
  std::vector<ChoicePair> impossible;
};

class CoveringArrayMaker {
 public:
  explicit CoveringArrayMaker(const CoveringProblem& problem) : problem_(problem), random_(problem.seed) {
    for (const std::size_t levels : problem.levels) {
      first_.push_back(num_choices_);
      num_choices_ += levels;
    }
    is_open_.assign(num_choices_ * num_choices_, false);
  }

  [[nodiscard]] CoveringArray make() {
    CoveringArray array;
    for (const ChoicePair& pair : open_pairs()) {
      if (!is_open(pair.a, pair.b)) continue;
      const bool is_idle = problem_.is_idle(pair.a) || problem_.is_idle(pair.b);
      auto row = best_row(pair, is_idle);
      if (!row && !is_idle) row = best_row(pair, true);
      if (row) {
        close_pairs(*row);
        set_open(pair, false);
        array.rows.push_back(*row);
      } else {
        array.impossible.push_back(pair);
        set_open(pair, false);
      }
    }
    return array;
  }

 private:
  static constexpr int kAttempts = 3;
  static constexpr std::size_t kNothing = ~std::size_t{0};

  struct Draft {
    CoveringRow levels;  // kNothing where it is open
    CoveringRow filled;  // the same with 0 there
    std::size_t gain = 0;
    bool may_be_idle = false;
  };

  [[nodiscard]] std::size_t place(Choice a, Choice b) const {
    return (first_[a.factor] + a.level) * num_choices_ + first_[b.factor] + b.level;
  }
  [[nodiscard]] bool is_open(Choice a, Choice b) const { return is_open_[place(a, b)]; }
  void set_open(const ChoicePair& pair, bool open) {
    is_open_[place(pair.a, pair.b)] = open;
    is_open_[place(pair.b, pair.a)] = open;
  }

  // All that are to be covered, the cheapest first: dear choices then find only each other left, and few rows of them
  // are made.
  std::vector<ChoicePair> open_pairs() {
    struct Priced {
      ChoicePair pair;
      double cost;
    };
    std::vector<Priced> priced;
    for (Choice a; a.factor < problem_.levels.size(); ++a.factor)
      for (a.level = 0; a.level < problem_.levels[a.factor]; ++a.level)
        for (Choice b{.factor = a.factor + 1}; b.factor < problem_.levels.size(); ++b.factor)
          for (b.level = 0; b.level < problem_.levels[b.factor]; ++b.level) {
            if (problem_.in_conflict(a, b)) continue;
            set_open({a, b}, true);
            CoveringRow row(problem_.levels.size(), 0);
            row[a.factor] = a.level;
            row[b.factor] = b.level;
            priced.push_back({{a, b}, problem_.cost(row)});
          }
    std::shuffle(priced.begin(), priced.end(), random_);
    std::stable_sort(priced.begin(), priced.end(), [](const Priced& a, const Priced& b) { return a.cost < b.cost; });
    std::vector<ChoicePair> pairs;
    pairs.reserve(priced.size());
    for (const Priced& each : priced) pairs.push_back(each.pair);
    return pairs;
  }

  std::optional<CoveringRow> best_row(const ChoicePair& pair, bool may_be_idle) {
    std::optional<CoveringRow> best;
    double best_worth = 0;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      Draft draft{CoveringRow(problem_.levels.size(), kNothing), CoveringRow(problem_.levels.size(), 0), 1,
                  may_be_idle};
      for (const Choice& each : {pair.a, pair.b}) draft.levels[each.factor] = draft.filled[each.factor] = each.level;
      std::vector<std::size_t> open;
      for (std::size_t factor = 0; factor < draft.levels.size(); ++factor)
        if (draft.levels[factor] == kNothing) open.push_back(factor);
      std::shuffle(open.begin(), open.end(), random_);
      // The first factor is the one that decides what the others may be; chosen late, nearly all would be tried in
      // vain.
      std::stable_partition(open.begin(), open.end(), [](std::size_t factor) { return factor != 0; });
      if (!fill(draft, open)) return std::nullopt;
      const double worth = static_cast<double>(draft.gain) / problem_.cost(draft.filled);
      if (worth <= best_worth) continue;
      best_worth = worth;
      best = draft.levels;
    }
    return best;
  }

  // Fills the open factors in that order, going back where nothing fits.
  bool fill(Draft& draft, std::vector<std::size_t>& open) {
    if (open.empty()) return true;
    const std::size_t factor = open.back();
    open.pop_back();
    struct Candidate {
      std::size_t level;
      std::size_t gain;
      double worth;
    };
    std::vector<Candidate> candidates;
    for (std::size_t level = 0; level < problem_.levels[factor]; ++level) {
      const auto gain = gain_of(draft, {factor, level});
      if (!gain) continue;
      draft.filled[factor] = level;
      // A little more than the gain, so that what gains nothing is at least cheap.
      candidates.push_back(
          {level, *gain, (static_cast<double>(draft.gain + *gain) + 0.1) / problem_.cost(draft.filled)});
    }
    std::shuffle(candidates.begin(), candidates.end(), random_);
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.worth > b.worth; });
    for (const Candidate& each : candidates) {
      draft.levels[factor] = draft.filled[factor] = each.level;
      draft.gain += each.gain;
      if (fill(draft, open)) return true;
      draft.gain -= each.gain;
    }
    draft.levels[factor] = kNothing;
    draft.filled[factor] = 0;
    open.push_back(factor);
    return false;
  }

  // How many open pairs the choice makes with what is chosen already; nothing where it is in conflict with that.
  [[nodiscard]] std::optional<std::size_t> gain_of(const Draft& draft, Choice choice) const {
    if (!draft.may_be_idle && problem_.is_idle(choice)) return std::nullopt;
    std::size_t gain = 0;
    for (std::size_t other = 0; other < draft.levels.size(); ++other) {
      if (draft.levels[other] == kNothing) continue;
      const Choice chosen{other, draft.levels[other]};
      if (problem_.in_conflict(choice, chosen)) return std::nullopt;
      const bool shows = !draft.may_be_idle || problem_.is_idle(choice) || problem_.is_idle(chosen);
      if (shows && is_open(choice, chosen)) ++gain;
    }
    return gain;
  }

  void close_pairs(const CoveringRow& row) {
    bool is_idle = false;
    for (std::size_t factor = 0; factor < row.size(); ++factor) is_idle |= problem_.is_idle({factor, row[factor]});
    for (std::size_t a = 0; a < row.size(); ++a)
      for (std::size_t b = a + 1; b < row.size(); ++b) {
        const ChoicePair pair{{a, row[a]}, {b, row[b]}};
        if (!is_idle || problem_.is_idle(pair.a) || problem_.is_idle(pair.b)) set_open(pair, false);
      }
  }

  const CoveringProblem& problem_;
  std::mt19937_64 random_;
  std::vector<std::size_t> first_;  // by factor: the number of its first choice among all
  std::size_t num_choices_ = 0;
  std::vector<bool> is_open_;  // by pair of choices, both ways round
};

[[nodiscard]] inline CoveringArray covering_array(const CoveringProblem& problem) {
  return CoveringArrayMaker(problem).make();
}

}  // namespace tutti::test
