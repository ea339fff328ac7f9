#include "bench/measure.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "base/text.hpp"
#include "bench/said.hpp"

namespace tutti::harness {

namespace {

constexpr std::int64_t kLeastMargin = 1'000;
constexpr std::int64_t kMostMargin = 200'000;
constexpr std::size_t kWarmUp = 5;
constexpr std::size_t kMostIterations = 200;  // of a round
// Long enough for asking to cost little beside it, short enough for a machine not to change meanwhile.
constexpr double kRoundNanos = 4e6;

double median_of(std::vector<double> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

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

// The iterations of one round, over ranks first: nanoseconds of those that all ranks began in time.
struct Round {
  std::vector<double> samples;
  std::uint64_t invalid = 0;
};

Round reduce(const std::vector<Json>& answers, std::size_t iterations, Sync sync) {
  Round round;
  std::vector<std::vector<std::int64_t>> starts;
  std::vector<std::vector<std::int64_t>> ends;
  std::vector<bool> is_late(iterations);
  for (const Json& answer : answers) {
    const Json& samples = answer.at("samples");
    starts.push_back(samples.at("starts").get<std::vector<std::int64_t>>());
    ends.push_back(samples.at("ends").get<std::vector<std::int64_t>>());
    if (starts.back().size() != iterations || ends.back().size() != iterations)
      throw Json::other_error::create(
          501, fmt::format("{} samples where {} were ordered", starts.back().size(), iterations), &samples);
    for (const Json& late : samples.at("late")) is_late.at(late.get<std::size_t>()) = true;
  }
  for (std::size_t each = 0; each < iterations; ++each) {
    if (is_late[each]) {
      ++round.invalid;
      continue;
    }
    std::int64_t first = starts[0][each];
    std::int64_t last = ends[0][each];
    double sum = 0;
    for (std::size_t rank = 0; rank < starts.size(); ++rank) {
      first = std::min(first, starts[rank][each]);
      last = std::max(last, ends[rank][each]);
      sum += static_cast<double>(ends[rank][each] - starts[rank][each]);
    }
    round.samples.push_back(sync == Sync::round ? static_cast<double>(last - first)
                                                : sum / static_cast<double>(starts.size()));
  }
  return round;
}

// One group on its way through one case.
class Course {
 public:
  Course(const std::string& bench, LiveGroup& group, const Point& point, const MeasureOptions& options)
      : options_(options), group_(group) {
    Row& row = measured_.row;
    row.bench = bench;
    row.peer = group.group().label;
    row.num_ranks = group.group().num_ranks;
    row.settings = group.group().settings;
    row.point = point;
    row.version = group.version();
    row.shares_cores = group.shares_cores();
    row.note = group.remarks();
    row.sync = options.sync.value_or(row.shares_cores ? Sync::barrier : Sync::round);
    margin_ = row.shares_cores ? 20 * kLeastMargin : kLeastMargin;
  }

  [[nodiscard]] bool is_running() const { return is_running_; }
  [[nodiscard]] Measured take() { return std::move(measured_); }

  void prepare() {
    const auto answers =
        ask({{"order", "prepare"}, {"bench", measured_.row.bench}, {"point", to_json(measured_.row.point)}});
    if (!answers) return;
    for (const Json& answer : *answers) {
      if (!answer.contains("skipped")) continue;
      const Json why = answer.at("skipped");
      forget();
      end_with(Outcome::skipped, why.is_string() ? printable(why.get<std::string>()) : "skipped");
      return;
    }
    is_running_ = true;
    warm_up();
  }

  void run_round() {
    const auto begin = std::chrono::steady_clock::now();
    const std::optional<Round> round = run(iterations_);
    if (!round) return;
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    Row& row = measured_.row;
    row.invalid += round->invalid;
    row.samples.insert(row.samples.end(), round->samples.begin(), round->samples.end());
    // A round without a valid sample keeps its place, so that rounds of several groups pair up.
    measured_.round_medians.push_back(round->samples.empty() ? 0 : median_of(round->samples));
    if (round->invalid * 10 > iterations_) margin_ = std::min(margin_ * 2, kMostMargin);
    row.stop = should_stop(row.samples, seconds_, options_.budget);
  }

  [[nodiscard]] bool has_enough() const {
    return measured_.row.stop == Stop::time ||
           (measured_.row.stop != Stop::not_yet && measured_.round_medians.size() >= options_.least_rounds);
  }

  void finish() {
    if (!is_running_) return;
    if (options_.check) check();
    if (!is_running_) return;
    const auto answers = ask({{"order", "end"}});
    if (!answers) return;
    is_running_ = false;
    note(answers->front());
    if (measured_.row.samples.empty() && measured_.row.outcome == Outcome::ok)
      end_with(Outcome::error,
               "no iteration was begun in time by all ranks; the machine is too busy, or --sync barrier");
  }

 private:
  std::optional<std::vector<Json>> ask(const Json& order) {
    Result<std::vector<Json>> answers = group_.exchange(order);
    if (answers.ok()) return std::move(*answers);
    forget();
    end_with(Outcome::error, answers.status().to_string());
    return std::nullopt;
  }

  // Ranks that are still at the case leave it, so that the next one finds all of them alike.
  void forget() {
    if (group_.is_alive()) static_cast<void>(group_.exchange({{"order", "end"}}));
  }

  void end_with(Outcome outcome, std::string why) {
    measured_.row.outcome = outcome;
    measured_.row.note = std::move(why);
    is_running_ = false;
  }

  std::optional<Round> run(std::size_t iterations) {
    const auto answers =
        ask({{"order", "run"}, {"iterations", iterations}, {"sync", name_of(measured_.row.sync)}, {"margin", margin_}});
    if (!answers) return std::nullopt;
    try {
      return reduce(*answers, iterations, measured_.row.sync);
    } catch (const std::exception& wrong) {
      end_with(Outcome::error, fmt::format("a rank sent malformed samples: {}", printable(wrong.what())));
      return std::nullopt;
    }
  }

  // Brings caches and connections to where they stay, and learns how long a call takes.
  void warm_up() {
    const std::optional<Round> round = run(kWarmUp);
    if (!round) return;
    const double once = round->samples.empty() ? 1e4 : median_of(round->samples);
    const double around = once + static_cast<double>(margin_) + 1000;
    const double round_nanos =
        std::min(kRoundNanos, options_.budget.seconds * 1e9 / 2 / static_cast<double>(options_.least_rounds));
    iterations_ = static_cast<std::size_t>(std::clamp(round_nanos / around, 1.0, static_cast<double>(kMostIterations)));
  }

  void check() {
    const auto answers = ask({{"order", "check"}});
    if (!answers) return;
    for (std::size_t rank = 0; rank < answers->size(); ++rank) {
      const Json checked = (*answers)[rank].value("checked", Json());
      if (checked.is_null()) continue;
      measured_.row.is_checked = true;
      if (checked.is_string() && checked.get<std::string>().empty()) continue;
      measured_.row.outcome = Outcome::wrong;
      measured_.row.note = fmt::format("rank {}: {}", rank,
                                       checked.is_string() ? printable(checked.get<std::string>()) : checked.dump());
      return;
    }
  }

  // What rank 0's body has said of the case.
  void note(const Json& said) {
    Row& row = measured_.row;
    const Status taken = take_said(said, row);
    if (!taken.ok()) end_with(Outcome::error, fmt::format("rank 0 sent a malformed answer: {}", taken.message()));
    for (const auto& [name, evidence] : row.evidence)
      if (evidence.obeyed == State::Obeyed::ignored && row.outcome == Outcome::ok)
        end_with(Outcome::error, fmt::format("{} was ignored: {}", name, evidence.how));
  }

  const MeasureOptions& options_;
  LiveGroup& group_;
  Measured measured_;
  bool is_running_ = false;
  std::size_t iterations_ = 1;
  std::int64_t margin_ = kLeastMargin;
  double seconds_ = 0;
};

}  // namespace

std::vector<Measured> measure(const std::string& bench, const std::vector<LiveGroup*>& groups,
                              const std::vector<Point>& points, const MeasureOptions& options,
                              std::mt19937_64& random) {
  std::vector<Course> courses;
  courses.reserve(groups.size());
  for (std::size_t each = 0; each < groups.size(); ++each)
    courses.emplace_back(bench, *groups[each], points[each], options);
  for (Course& course : courses) course.prepare();
  std::vector<Course*> running;
  for (Course& course : courses)
    if (course.is_running()) running.push_back(&course);
  // All go on until each has enough, so that rounds pair up.
  const auto all_have_enough = [&] {
    return std::all_of(running.begin(), running.end(), [](const Course* course) { return course->has_enough(); });
  };
  while (!running.empty() && !all_have_enough() && !options.is_interrupted()) {
    std::shuffle(running.begin(), running.end(), random);
    for (Course* course : running) course->run_round();
    std::erase_if(running, [](const Course* course) { return !course->is_running(); });
  }
  std::vector<Measured> all;
  for (Course& course : courses) {
    course.finish();
    all.push_back(course.take());
  }
  return all;
}

}  // namespace tutti::harness
