// SPDX-License-Identifier: Apache-2.0
// What the harness itself costs, and whether its verdicts can be relied upon: an iteration of nothing, starting a group
// of 8, ten thousand short cases; two copies of Open MPI, which no verdict may tell apart, and 5 % planted into the
// null peer, which verdicts must find; and averages behind a barrier beside those that the OSU micro-benchmarks would
// tell. Prints one line a bar; exit 1 where one is missed.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

namespace {

using Json = nlohmann::json;

struct Outcome {
  double seconds = 0;
  Json rows;
};

// `tutti ARGUMENTS --no-store --json`; no rows where it failed.
Outcome tutti(const std::string& arguments) {
  const std::string command = fmt::format("'{}' {} --no-store --json 2>/dev/null", TUTTI_PROGRAM, arguments);
  const auto begin = std::chrono::steady_clock::now();
  std::string text;
  FILE* output = popen(command.c_str(), "r");
  if (output == nullptr) return {};
  std::array<char, 65536> part{};
  for (std::size_t got = 0; (got = std::fread(part.data(), 1, part.size(), output)) > 0;) text.append(part.data(), got);
  pclose(output);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  Json rows = Json::parse(text, nullptr, false);
  return {taken.count(), rows.is_array() ? rows : Json::array()};
}

bool holds(const std::string& what, double value, const char* unit, double bar, bool at_least = false) {
  const bool met = at_least ? value >= bar : value <= bar;
  fmt::print("{:60} {:>9.4g} of {:>6.4g} {:3} {}\n", what, value, bar, unit, met ? "met" : "missed");
  std::fflush(stdout);
  return met;
}

// How many of the rows' verdicts are one of these, and how many there are.
struct Verdicts {
  int hits = 0;
  int all = 0;

  void add(const Json& rows, const std::string& first, const std::string& second) {
    for (const Json& row : rows)
      for (const auto& [name, value] : row.items()) {
        if (!name.ends_with("_verdict") || !value.is_string()) continue;
        ++all;
        if (value == first || value == second) ++hits;
      }
  }
  [[nodiscard]] double percent() const { return all == 0 ? -1 : 100.0 * hits / all; }
};

bool costs_little() {
  const Outcome nothing = tutti("run --bench all_reduce --peer null -a num_ranks=2 -a bytes=8,64,4K");
  double most = nothing.rows.empty() ? 1e9 : 0;
  for (const Json& row : nothing.rows)
    most = std::max(most, row["time_us"].is_number() ? row["time_us"].get<double>() * 1000 : 1e9);
  bool all = holds("an iteration that does nothing", most, "ns", 100);

  double start = 1e9;
  for (int turn = 0; turn < 3; ++turn) {
    const Outcome group = tutti("run --bench all_reduce --peer null -a num_ranks=8 -a bytes=8 --budget 1ms");
    if (group.rows.size() == 1) start = std::min(start, group.seconds);
  }
  all = holds("a group of 8, from nothing to its end", start * 1000, "ms", 300) && all;

  ::setenv("TUTTI_NULL_WORK", "1us", 1);
  const Outcome many = tutti("run --bench all_reduce --peer null -a num_ranks=2 -a bytes=8:80000:+8");
  ::unsetenv("TUTTI_NULL_WORK");
  return holds("10,000 cases of 1 us", many.rows.size() == 10'000 ? many.seconds : 1e9, "s", 60) && all;
}

bool verdicts_can_be_relied_upon() {
  constexpr int kTries = 10;
  const std::string cases = " -a num_ranks=2 -a bytes=8:1M:x8";
  Verdicts wrong;
  for (int attempt = 0; attempt < kTries; ++attempt)
    wrong.add(tutti("compare --bench all_reduce --peer openmpi,openmpi" + cases).rows, "faster", "slower");
  bool all = true;
  if (wrong.all == 0) {
    fmt::print("Open MPI is not here, so nothing was compared with itself\n");
  } else {
    all = holds(fmt::format("wrong verdicts on Open MPI beside itself ({})", wrong.all), wrong.percent(), "%", 5);
  }
  Verdicts found;
  for (int attempt = 0; attempt < kTries; ++attempt)
    found.add(
        tutti("compare --bench all_reduce --peer null --env TUTTI_NULL_WORK=10us --env TUTTI_NULL_FACTOR=1.0,1.05" +
              cases)
            .rows,
        "slower", "slower");
  return holds(fmt::format("5 % planted into the null peer and found ({})", found.all), found.percent(), "%", 95,
               true) &&
         all;
}

#if defined(TUTTI_AS_OSU)
double median_of(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers.empty() ? 0 : numbers[numbers.size() / 2];
}

// In turns, as what the machine does changes by more than is to be shown.
bool agrees_with_osu() {
  constexpr int kTurns = 7;
  std::map<int, std::vector<double>> ratios;
  for (int turn = 0; turn < kTurns; ++turn) {
    std::map<int, double> osu;
    const std::string command =
        fmt::format("mpirun.openmpi --allow-run-as-root -n 2 '{}' 1024 8192 65536 524288 2>/dev/null", TUTTI_AS_OSU);
    if (FILE* output = popen(command.c_str(), "r")) {
      int bytes = 0;
      double micros = 0;
      while (std::fscanf(output, "%d %lf", &bytes, &micros) == 2) osu[bytes] = micros;
      pclose(output);
    }
    const Outcome ours =
        tutti("run --bench all_reduce --peer openmpi -a num_ranks=2 --sync barrier -a bytes=1024,8192,65536,524288");
    for (const Json& row : ours.rows) {
      const int bytes = row["bytes"].get<int>();
      if (row["mean_us"].is_number() && osu[bytes] > 0)
        ratios[bytes].push_back(row["mean_us"].get<double>() / osu[bytes]);
    }
  }
  bool all = !ratios.empty();
  for (const auto& [bytes, of_turns] : ratios) {
    const double off = std::fabs(median_of(of_turns) - 1) * 100;
    all =
        holds(fmt::format("averages of {} bytes against OSU's way, {} turns", bytes, of_turns.size()), off, "%", 15) &&
        all;
  }
  return all;
}
#else
bool agrees_with_osu() {
  fmt::print("Open MPI is not here, so nothing was timed in OSU's way\n");
  return true;
}
#endif

}  // namespace

int main() {
  const bool cheap = costs_little();
  const bool agrees = agrees_with_osu();
  const bool reliable = verdicts_can_be_relied_upon();
  return cheap && agrees && reliable ? 0 : 1;
}
