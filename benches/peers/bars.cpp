// SPDX-License-Identifier: Apache-2.0
#include "benches/peers/bars.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>

#include <fmt/format.h>

#include "benches/peers/one_pass.hpp"

namespace tutti::bars {

namespace {

using Json = nlohmann::json;

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;
constexpr std::int64_t kMost = 64 * kMiB;

void say(const std::string& what) { fmt::print(stderr, "peers: {}\n", what); }

// By steps of 4 and with the end; quick: of 64, and no more than 4 MiB.
std::vector<std::int64_t> sizes_from(std::int64_t least, bool quick) {
  const std::int64_t most = quick ? 4 * kMiB : kMost;
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = least; bytes < most; bytes *= quick ? 64 : 4) sizes.push_back(bytes);
  sizes.push_back(most);
  return sizes;
}

Figure figure_of(int bar, const Cases& cases, std::string what) {
  Figure figure;
  figure.bar = bar;
  figure.what = std::move(what);
  figure.collective = cases.collective;
  figure.num_ranks = cases.num_ranks;
  return figure;
}

std::optional<std::int64_t> size_or_none(std::int64_t bytes) {
  return bytes == kNoSize ? std::nullopt : std::optional(bytes);
}

std::string text_of(const Rival& rival) { return fmt::format("{} {}", rival.peer, rival.algorithm); }

// Tutti beside one rival for each size, with what each ratio must be at least and what their geometric mean.
struct Contest {
  int bar;
  const Cases& cases;
  const std::map<std::int64_t, Rival>& rivals;
  std::string of_all;                                                 // what the rivals are together
  std::function<std::optional<double>(std::int64_t bytes)> at_least;  // none: the ratio is only shown
  double mean_at_least;
};

void add_contest(const Contest& contest, const Scores& scores, std::vector<Figure>& figures) {
  std::vector<double> ratios;
  for (const auto& [bytes, rival] : contest.rivals) {
    Figure figure = figure_of(contest.bar, contest.cases, "ratio");
    figure.bytes = size_or_none(bytes);
    figure.rival = text_of(rival);
    figure.least = contest.at_least(bytes);
    const auto of_rival = scores.find(rival);
    if (of_rival != scores.end()) {
      const auto score = of_rival->second.find(bytes);
      if (score != of_rival->second.end()) {
        figure.own_us = score->second.own_us;
        figure.rival_us = score->second.rival_us;
        figure.value = score->second.ratio;
        figure.interval = score->second.interval;
        ratios.push_back(score->second.ratio);
      }
    }
    figures.push_back(std::move(figure));
  }
  Figure mean = figure_of(contest.bar, contest.cases, "geometric mean");
  mean.rival = contest.of_all;
  mean.value = ratios.size() == contest.rivals.size() ? geometric_mean(ratios) : std::nullopt;
  mean.least = contest.mean_at_least;
  figures.push_back(std::move(mean));
}

RivalSizes sizes_of(const std::map<std::int64_t, Rival>& rivals) {
  RivalSizes sizes;
  for (const auto& [bytes, rival] : rivals) sizes[rival].insert(bytes);
  return sizes;
}

std::map<std::int64_t, Rival> choose(int bar, const Program& program, const Wanted& wanted, const Cases& cases,
                                     bool by_algorithm) {
  say(fmt::format("bar {}, {}, {} ranks: who is best at each size", bar, cases.collective, cases.num_ranks));
  return program.best_of(wanted.peers, by_algorithm, cases);
}

Scores play(int bar, const Program& program, const RivalSizes& sizes, const Cases& cases) {
  say(fmt::format("bar {}, {}, {} ranks: beside {}", bar, cases.collective, cases.num_ranks,
                  sizes.size() == 1 ? text_of(sizes.begin()->first) : fmt::format("{} of them", sizes.size())));
  return program.score(sizes, cases);
}

// --- 1: two ranks, ordinary memory

std::vector<Figure> two_ranks(const Program& program, const Wanted& wanted) {
  constexpr int kBar = 1;
  Cases cases;
  cases.sizes = sizes_from(8, wanted.quick);
  const std::map<std::int64_t, Rival> best = choose(kBar, program, wanted, cases, true);
  RivalSizes sizes = sizes_of(best);
  for (const std::string& peer : wanted.peers) sizes[{peer, "default"}].insert(cases.sizes.begin(), cases.sizes.end());
  const Scores scores = play(kBar, program, sizes, cases);
  std::vector<Figure> figures;
  add_contest({.bar = kBar,
               .cases = cases,
               .rivals = best,
               .of_all = "the best",
               .at_least = [](std::int64_t bytes) { return bytes <= 4 * kMiB ? 1.3 : 1.1; },
               .mean_at_least = 1.8},
              scores, figures);
  for (const std::string& peer : wanted.peers) {
    std::map<std::int64_t, Rival> at_default;
    for (const std::int64_t bytes : cases.sizes) at_default[bytes] = {peer, "default"};
    add_contest({.bar = kBar,
                 .cases = cases,
                 .rivals = at_default,
                 .of_all = fmt::format("{} default", peer),
                 .at_least = [](std::int64_t) { return std::nullopt; },
                 .mean_at_least = 2.2},
                scores, figures);
  }
  return figures;
}

// --- 2: two ranks, symmetric memory

// In turns, since what memory can do changes from minute to minute.
Figure share_of_one_pass(int bar, const Program& program, Cases cases) {
  constexpr int kTurns = 3;
  cases.sizes = {kMost};  // with --quick too: in a cache it would be another question
  std::vector<double> limits;
  std::vector<double> times;
  std::vector<double> shares;
  say(fmt::format("bar {}: beside one pass by two cores", bar));
  for (int turn = 0; turn < kTurns; ++turn) {
    const Json rows = program.run_alone(cases, "");
    if (rows.size() != 1 || !rows[0]["time_us"].is_number()) continue;
    const double limit = one_pass_us(static_cast<std::size_t>(cases.sizes.front()));
    if (limit <= 0) continue;
    limits.push_back(limit);
    times.push_back(rows[0]["time_us"].get<double>());
    shares.push_back(limit / times.back());
  }
  Figure figure = figure_of(bar, cases, "share of one pass");
  figure.bytes = cases.sizes.front();
  figure.rival = "two cores' loop";
  figure.least = 0.8;
  if (shares.empty()) return figure;
  figure.own_us = median_of(times);
  figure.rival_us = median_of(limits);
  figure.value = median_of(shares);
  figure.interval = {*std::min_element(shares.begin(), shares.end()), *std::max_element(shares.begin(), shares.end())};
  return figure;
}

std::vector<Figure> symmetric_memory(const Program& program, const Wanted& wanted) {
  constexpr int kBar = 2;
  Cases cases;
  cases.sizes = sizes_from(64 * kKiB, wanted.quick);
  cases.variables = "--env tutti:BENCH_MEMORY=symmetric";
  Cases of_rivals = cases;
  of_rivals.variables.clear();
  const std::map<std::int64_t, Rival> best = choose(kBar, program, wanted, of_rivals, true);
  std::vector<Figure> figures;
  add_contest({.bar = kBar,
               .cases = cases,
               .rivals = best,
               .of_all = "the best",
               .at_least = [](std::int64_t) { return 1.7; },
               .mean_at_least = 2.5},
              play(kBar, program, sizes_of(best), cases), figures);
  figures.push_back(share_of_one_pass(kBar, program, cases));
  return figures;
}

// --- 3: more ranks than cores

Times times_in(const Json& rows) {
  Times times;
  for (const Json& row : rows)
    if (row["time_us"].is_number() && row["low_us"].is_number() && row["high_us"].is_number())
      times[row.value("bytes", kNoSize)] = {row["time_us"].get<double>(),
                                            {row["low_us"].get<double>(), row["high_us"].get<double>()}};
  return times;
}

void add_course(int bar, const Program& program, const Cases& cases, std::vector<Figure>& figures) {
  say(fmt::format("bar {}, {} ranks: Tutti alone", bar, cases.num_ranks));
  const Times times = times_in(program.run_alone(cases, "--launches 7"));
  if (times.size() != cases.sizes.size()) {  // missed, as what was not measured is
    Figure figure = figure_of(bar, cases, "all sizes");
    figure.most = 1.0;
    figures.push_back(figure);
    return;
  }
  for (const auto& [bytes, ratio] : over_interpolation(times)) {
    Figure figure = figure_of(bar, cases, "over neighbours");
    figure.bytes = bytes;
    figure.own_us = times.at(bytes).us;
    figure.value = ratio;
    figure.most = 1.5;
    figures.push_back(figure);
  }
  for (const auto& [bytes, step] : over_next(times)) {
    Figure figure = figure_of(bar, cases, "over next size");
    figure.bytes = bytes;
    figure.own_us = times.at(bytes).us;
    figure.value = step.ratio;
    figure.interval = step.interval;
    figure.most = 1.0;
    figures.push_back(figure);
  }
}

std::vector<Figure> many_ranks(const Program& program, const Wanted& wanted) {
  constexpr int kBar = 3;
  std::vector<Figure> figures;
  for (const int num_ranks : {4, 8}) {
    Cases cases;
    cases.num_ranks = num_ranks;
    cases.sizes = sizes_from(8, wanted.quick);
    const std::map<std::int64_t, Rival> best = choose(kBar, program, wanted, cases, true);
    add_contest({.bar = kBar,
                 .cases = cases,
                 .rivals = best,
                 .of_all = "the best",
                 .at_least = [](std::int64_t) { return 1.5; },
                 .mean_at_least = 2.5},
                play(kBar, program, sizes_of(best), cases), figures);
    add_course(kBar, program, cases, figures);
  }
  return figures;
}

// --- 4: the other collectives

std::vector<Figure> others(const Program& program, const Wanted& wanted) {
  constexpr int kBar = 4;
  std::vector<Figure> figures;
  for (const std::string& collective : wanted.collectives)
    for (const int num_ranks : {2, 4}) {
      Cases cases;
      cases.collective = collective;
      cases.num_ranks = num_ranks;
      if (collective != "barrier") cases.sizes = sizes_from(8, wanted.quick);
      const std::map<std::int64_t, Rival> best = choose(kBar, program, wanted, cases, false);
      add_contest({.bar = kBar,
                   .cases = cases,
                   .rivals = best,
                   .of_all = "the best at its default",
                   .at_least = [](std::int64_t) { return 0.95; },
                   .mean_at_least = 1.5},
                  play(kBar, program, sizes_of(best), cases), figures);
    }
  return figures;
}

// --- 5: the slowest of a hundred

std::vector<Figure> tails(const Program& program) {
  constexpr int kBar = 5;
  constexpr int kRuns = 5;
  Cases cases;
  for (std::int64_t bytes = 8; bytes < 4 * kKiB; bytes *= 4) cases.sizes.push_back(bytes);
  cases.sizes.push_back(4 * kKiB);
  std::map<std::int64_t, std::vector<double>> medians;
  std::map<std::int64_t, std::vector<double>> ratios;
  say(fmt::format("bar {}: {} runs of Tutti alone", kBar, kRuns));
  for (int run = 0; run < kRuns; ++run)
    for (const Json& row : program.run_alone(cases, "--least-samples 100")) {
      if (!row["p99_us"].is_number() || !row["time_us"].is_number()) continue;
      const std::int64_t bytes = row.value("bytes", kNoSize);
      medians[bytes].push_back(row["time_us"].get<double>());
      ratios[bytes].push_back(row["p99_us"].get<double>() / medians[bytes].back());
    }
  std::vector<Figure> figures;
  for (const std::int64_t bytes : cases.sizes) {
    Figure figure = figure_of(kBar, cases, "p99 over median");
    figure.bytes = bytes;
    figure.most = 3.0;
    if (ratios[bytes].size() == kRuns) {
      figure.own_us = median_of(medians[bytes]);
      figure.value = median_of(ratios[bytes]);
    }
    figures.push_back(figure);
  }
  return figures;
}

}  // namespace

const char* title_of(int bar) {
  constexpr const char* kTitles[kNumBars] = {"all-reduce of 2 ranks on ordinary memory",
                                             "all-reduce of 2 ranks on symmetric memory", "all-reduce of 4 and 8 ranks",
                                             "the other collectives, 2 and 4 ranks",
                                             "the slowest of a hundred, 2 ranks up to 4 KB"};
  return kTitles[bar - 1];
}

const std::vector<std::string>& other_collectives() {
  static const std::vector<std::string> names = {"all_gather", "reduce_scatter", "broadcast",
                                                 "reduce",     "all_to_all",     "barrier"};
  return names;
}

std::vector<Figure> measure(int bar, const Program& program, const Wanted& wanted) {
  switch (bar) {
    case 1: return two_ranks(program, wanted);
    case 2: return symmetric_memory(program, wanted);
    case 3: return many_ranks(program, wanted);
    case 4: return others(program, wanted);
    default: return tails(program);
  }
}

}  // namespace tutti::bars
