// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/course.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/measure/said.hpp"

namespace tutti::harness {

namespace {

// How long before the agreed instant it is agreed upon.
constexpr std::int64_t kLeastMargin = 1'000;
constexpr std::int64_t kSharedMargin = 20'000;  // where ranks share cores
constexpr std::int64_t kMostMargin = 200'000;
constexpr std::int64_t kMostMarginOfHosts = 5'000'000;  // messages between hosts may be held up
constexpr double kMostLateSeconds = 0.25;               // so long a virtual machine's core may be away

constexpr std::size_t kMostIterations = 200;  // of a round
// A round begins short, and gets longer as long as the case is not known well: a short one is soon known well, and
// asking costs a tenth of a millisecond.
constexpr double kFirstRoundNanos = 80e3;
constexpr double kFirstTurnNanos = 1e6;  // where groups take turns, waking up costs more
constexpr double kMostRoundNanos = 4e6;
constexpr std::size_t kRoundsOfALength = 10;

constexpr double kWarmUpSeconds = 5e-4;
constexpr int kMostWarmUpRounds = 12;
constexpr double kStillQuicker = 0.7;  // than in the round before

// Of the time between two rounds, each rank: waking up, and looking now and then whether the runner lives, are less.
constexpr double kMostIdleShare = 0.1;
constexpr double kMostIdleNanos = 300e3;

Json to_json(const Point& point) {
  Json all = Json::array();
  for (const auto& [name, value] : point.values) {
    Json held = value.is_integer()  ? Json(value.integer())
                : value.is_number() ? Json(value.number())
                                    : Json(value.word());
    all.push_back({name, std::move(held)});
  }
  return all;
}

}  // namespace

Course::Course(const std::string& bench, LiveGroup& group, const Point& point, const MeasureOptions& options,
               bool takes_turns)
    : options_(options), group_(group), takes_turns_(takes_turns) {
  row_.bench = bench;
  row_.peer = group.group().label;
  row_.num_ranks = group.group().num_ranks;
  row_.settings = group.group().settings;
  row_.point = point;
  row_.version = group.version();
  row_.shares_cores = group.shares_cores();
  row_.note = group.remarks();
  row_.sync = options.sync.value_or(row_.shares_cores ? Sync::meeting : Sync::round);
  least_margin_ = row_.shares_cores ? kSharedMargin : kLeastMargin;
  most_margin_ = group.spans_hosts() ? kMostMarginOfHosts : kMostMargin;
  group.margin = std::max(group.margin, least_margin_);
}

void Course::prepare() {
  const auto answers = ask({{"order", "prepare"}, {"bench", row_.bench}, {"point", to_json(row_.point)}});
  if (!answers) return;
  for (const Json& answer : *answers) {
    if (!answer.contains("skipped")) continue;
    const Json& why = answer.at("skipped");
    forget();
    end_with(Outcome::skipped, why.is_string() ? printable(why.get<std::string>()) : "skipped");
    return;
  }
  is_running_ = true;
  warm_up();
}

void Course::run_round() {
  choose_iterations();
  const Clock::time_point begin = Clock::now();
  const std::optional<Round> round = run(iterations_);
  if (!round) return;
  seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
  around_ = round->around;
  row_.invalid += round->invalid;
  row_.samples.insert(row_.samples.end(), round->samples.begin(), round->samples.end());
  row_.rounds.push_back(static_cast<std::uint32_t>(round->samples.size()));
  round_medians_.push_back(round->samples.empty() ? 0 : median_of(round->samples));
  if (round->invalid * 10 > iterations_) {
    group_.margin = std::min(group_.margin * 2, most_margin_);
  } else if (round->invalid == 0) {
    group_.margin = std::max(group_.margin - group_.margin / 8, least_margin_);
  }
}

Stop Course::should_stop() const {
  // Where every iteration has been late so far, the next round agrees upon a later instant; without that, a budget of a
  // millisecond would be over before a core has come back.
  if (row_.samples.empty() && row_.invalid > 0 && disturbed_by_.empty() && seconds_ < kMostLateSeconds)
    return Stop::not_yet;
  std::vector<double> medians = round_medians_;
  std::erase(medians, 0.0);
  return harness::should_stop(medians, row_.samples.size(), seconds_, options_.budget);
}

void Course::drop_last_rounds(const std::string& because_of) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(2, row_.rounds.size()); ++back) {
    // Those of later rounds are gone already.
    std::uint32_t& count = row_.rounds[row_.rounds.size() - back];
    row_.samples.resize(row_.samples.size() - count);
    count = 0;
    round_medians_[round_medians_.size() - back] = 0;
  }
  disturbed_by_ = because_of;
}

void Course::finish() {
  if (!is_running_) return;
  if (options_.check) check();
  if (!is_running_) return;
  const auto answers = ask({{"order", "end"}});
  if (!answers) return;
  is_running_ = false;
  note(answers->front());
  if (row_.outcome != Outcome::ok) return;
  std::string why;
  if (!disturbed_by_.empty())
    why = row_.samples.empty()
              ? fmt::format("{} uses the processors while it waits", disturbed_by_)
              : fmt::format("{} used the processors while it waited; such rounds are left out", disturbed_by_);
  else if (row_.samples.empty())
    why = "no iteration was begun in time by all ranks; the machine is too busy for --sync round";
  // What is known of the group may be the reason.
  if (!why.empty()) row_.note += (row_.note.empty() ? "" : "; ") + why;
  if (row_.samples.empty()) row_.outcome = Outcome::error;
}

std::optional<std::vector<Json>> Course::ask(const Json& order) {
  Result<std::vector<Json>> answers = group_.exchange(order);
  if (answers.ok()) return std::move(*answers);
  forget();
  end_with(Outcome::error, answers.status().to_string());
  return std::nullopt;
}

// Ranks that are still at the case leave it, so that the next one finds all of them alike.
void Course::forget() {
  if (group_.is_alive()) static_cast<void>(group_.exchange({{"order", "end"}}));
}

void Course::end_with(Outcome outcome, std::string why) {
  row_.outcome = outcome;
  row_.note = std::move(why);
  is_running_ = false;
}

std::optional<Round> Course::run(std::size_t iterations) {
  const Clock::time_point asked = Clock::now();
  const auto answers = ask({{"order", "run"},
                            {"iterations", iterations},
                            {"untimed", takes_turns_ ? 1 : 0},
                            {"sync", name_of(row_.sync)},
                            {"margin", group_.margin}});
  if (!answers) return std::nullopt;
  try {
    note_processors(*answers, asked);
    return round_of(*answers, iterations, row_.sync);
  } catch (const std::exception& wrong) {
    end_with(Outcome::error, fmt::format("a rank sent malformed samples: {}", printable(wrong.what())));
    return std::nullopt;
  }
}

void Course::note_processors(const std::vector<Json>& answers, Clock::time_point asked) {
  std::int64_t before = 0;
  std::int64_t after = 0;
  for (const Json& answer : answers) {
    before += answer.at("processor_time_before").get<std::int64_t>();
    after += answer.at("processor_time").get<std::int64_t>();
  }
  const bool has_waited = answered_ != Clock::time_point{};
  const double waited = std::chrono::duration<double, std::nano>(asked - answered_).count();
  const double used = static_cast<double>(before - processor_time_) / static_cast<double>(answers.size());
  was_busy_ = takes_turns_ && has_waited && used > kMostIdleNanos && used > waited * kMostIdleShare;
  processor_time_ = after;
  answered_ = Clock::now();
}

// Brings caches and connections to where they stay, and learns how long a call takes, and how early an instant must be
// agreed upon.
void Course::warm_up() {
  std::size_t iterations = 1;
  const Clock::time_point begin = Clock::now();
  const double most_seconds = std::max(kMostWarmUpRounds * kWarmUpSeconds, options_.budget.seconds / 5);
  for (int turn = 0; turn < kMostWarmUpRounds; ++turn) {
    const std::optional<Round> round = run(iterations);
    if (!round) return;
    const double before = around_;
    around_ = round->around;
    const double spent = std::chrono::duration<double>(Clock::now() - begin).count();
    // Ranks that share cores take some rounds until they find each other awake.
    const bool is_steady = turn > 0 && around_ > kStillQuicker * before;
    const bool is_warm = spent >= kWarmUpSeconds && is_steady && !round->is_mostly_late();
    if (is_warm || spent >= most_seconds) return;
    // The very first iteration of all finds ranks that have yet to wake up.
    if (round->is_mostly_late() && turn > 0) group_.margin = std::min(group_.margin * 4, most_margin_);
    iterations = iterations_in(kWarmUpSeconds * 1e9);
  }
}

void Course::choose_iterations() {
  const double first = takes_turns_ ? kFirstTurnNanos : kFirstRoundNanos;
  const auto doublings = static_cast<double>(1ULL << std::min<std::size_t>(num_rounds() / kRoundsOfALength, 10));
  const double nanos = std::min({first * doublings, kMostRoundNanos,
                                 options_.budget.seconds * 1e9 / static_cast<double>(options_.budget.least_rounds)});
  iterations_ = iterations_in(nanos);
}

std::size_t Course::iterations_in(double nanos) const {
  const double around = around_ + (row_.sync == Sync::round ? static_cast<double>(group_.margin) : 0);
  return static_cast<std::size_t>(std::clamp(nanos / std::max(around, 1.0), 1.0, static_cast<double>(kMostIterations)));
}

void Course::check() {
  const auto answers = ask({{"order", "check"}});
  if (!answers) return;
  for (std::size_t rank = 0; rank < answers->size(); ++rank) {
    const Json checked = (*answers)[rank].value("checked", Json());
    if (checked.is_null()) continue;
    row_.is_checked = true;
    if (checked.is_string() && checked.get<std::string>().empty()) continue;
    row_.outcome = Outcome::wrong;
    row_.note =
        fmt::format("rank {}: {}", rank, checked.is_string() ? printable(checked.get<std::string>()) : checked.dump());
    return;
  }
}

// What rank 0's body has said of the case.
void Course::note(const Json& said) {
  const Status taken = take_said(said, row_);
  if (!taken.ok()) end_with(Outcome::error, fmt::format("rank 0 sent a malformed answer: {}", taken.message()));
  for (const auto& [name, evidence] : row_.evidence)
    if (evidence.obeyed == State::Obeyed::ignored && row_.outcome == Outcome::ok)
      end_with(Outcome::error, fmt::format("{} was ignored: {}", name, evidence.how));
}

void drop_disturbed_rounds(const std::vector<Course*>& running, const std::vector<LiveGroup*>& groups,
                           const Course* courses) {
  for (const Course* busy : running) {
    if (!busy->was_busy_while_others_ran()) continue;
    const std::string& name = groups[static_cast<std::size_t>(busy - courses)]->group().label;
    for (Course* other : running)
      if (other != busy) other->drop_last_rounds(name);
  }
}

}  // namespace tutti::harness
