// SPDX-License-Identifier: Apache-2.0
// Tutti beside hand-written all-reduces: runs the floor programs (two_ranks.cpp, four_ranks.cpp: a folder of them is
// given, or lies beside the project as shared/prototype) and floor_tutti, which times itself as they do, in turn, and
// holds the bars of the ratio floor/Tutti: the median over the pairs of runs, with its non-parametric 95 % interval.
//
//   floor [FOLDER] [PAIRS]
//
// Where there is no such folder there is nothing to compare with, and it says so and ends with 0.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

struct Key {
  std::string path;  // oneshot, staged, symm, four (ranks), four_mean
  std::size_t bytes;
  auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr): its 0 is no pointer
};
using Times = std::map<Key, double>;  // microseconds

std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string text;
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) text.append(buffer, got);
  return pclose(pipe) == 0 ? text : "";
}

template <typename Parse>
Times parse_lines(const std::string& text, const Parse& parse) {
  Times times;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    parse(text.substr(begin, end - begin), times);
    begin = end + 1;
  }
  return times;
}

void parse_two(const std::string& line, Times& times) {
  std::size_t bytes = 0;
  double time = 0;
  int chunk = 0;
  if (std::sscanf(line.c_str(), "oneshot %zu med %lf", &bytes, &time) == 2) times[{"oneshot", bytes}] = time;
  if (std::sscanf(line.c_str(), "symm %zu med %lf", &bytes, &time) == 2) times[{"symm", bytes}] = time;
  if (std::sscanf(line.c_str(), "staged CH=%dK %zu med %lf", &chunk, &bytes, &time) == 3) {
    // Two sizes of slots are tried; the better one counts.
    const auto [place, is_new] = times.emplace(Key{"staged", bytes}, time);
    if (!is_new) place->second = std::min(place->second, time);
  }
}

void parse_four(const std::string& line, Times& times) {
  std::size_t bytes = 0;
  double mean = 0;
  double median = 0;
  if (std::sscanf(line.c_str(), "mode0 pin1 %zu mean %lf med %lf", &bytes, &mean, &median) != 3) return;
  times[{"four", bytes}] = median;
  times[{"four_mean", bytes}] = mean;
}

Times parse_own(const std::string& text, bool four) {
  return parse_lines(text, [four](const std::string& line, Times& times) {
    char path[32];
    std::size_t bytes = 0;
    double median = 0;
    double mean = 0;
    if (std::sscanf(line.c_str(), "%31s %zu %lf %lf", path, &bytes, &median, &mean) != 4) return;
    times[{four ? "four" : path, bytes}] = median;
    if (four) times[{"four_mean", bytes}] = mean;
  });
}

// What the ratio must reach; 0 where it is only shown.
double bar_of(const Key& key) {
  if (key.path == "four") return 0.9;
  if (key.path == "four_mean") return 0;
  if (key.path == "oneshot" && key.bytes == 8) return 1.15;
  if (key.path == "oneshot" && key.bytes > 4096) return 0;
  return 0.95;
}

struct Interval {
  double low, median, high;
};

Interval interval_of(std::vector<double> ratios) {
  std::sort(ratios.begin(), ratios.end());
  const auto n = static_cast<double>(ratios.size());
  const double half = 0.98 * std::sqrt(n);  // 1.96 standard deviations of a fair coin, in ranks
  const auto at = [&](double rank) { return ratios[static_cast<std::size_t>(std::clamp(rank, 0.0, n - 1))]; };
  const double middle = ratios.size() % 2 == 1 ? at(n / 2) : (at(n / 2 - 1) + at(n / 2)) / 2;
  return {at(std::floor(n / 2 - half)), middle, at(std::ceil(n / 2 + half) - 1)};
}

struct Row {
  std::vector<double> floor, own, ratios;
};

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void add(std::map<Key, Row>& rows, const Times& floor, const Times& own) {
  for (const auto& [key, time] : floor) {
    const auto found = own.find(key);
    if (found == own.end()) continue;
    Row& row = rows[key];
    row.floor.push_back(time);
    row.own.push_back(found->second);
    row.ratios.push_back(time / found->second);
  }
}

bool report(const std::map<Key, Row>& rows) {
  bool all_met = true;
  fmt::print("{:10} {:>9} {:>11} {:>11} {:>7} {:>17} {:>6}  verdict\n", "path", "bytes", "floor_us", "tutti_us",
             "ratio", "interval", "bar");
  for (const auto& [key, row] : rows) {
    const Interval ratio = interval_of(row.ratios);
    const double bar = bar_of(key);
    const bool met = ratio.median >= bar;
    all_met = all_met && met;
    const std::string_view verdict = bar == 0            ? "shown only"
                                     : met               ? "met"
                                     : ratio.high >= bar ? "missed, within the "
                                                           "interval"
                                                         : "missed";
    fmt::print("{:10} {:>9} {:>11.3f} {:>11.3f} {:>7.2f}   [{:>5.2f}, {:>5.2f}] {:>7.2f}  {}\n", key.path, key.bytes,
               median_of(row.floor), median_of(row.own), ratio.median, ratio.low, ratio.high, bar, verdict);
  }
  return all_met;
}

// The floor programs use 512-bit intrinsics; where the processor has none, each stands for two of 256 bits.
bool build(const fs::path& source, const fs::path& program, const fs::path& wide) {
  const std::string shim =
      output_of("grep -c avx512f /proc/cpuinfo").empty() ? fmt::format("-include '{}'", wide.string()) : "";
  return std::system(
             fmt::format("c++ -w -O3 -march=native -pthread {} '{}' -o '{}'", shim, source.string(), program.string())
                 .c_str()) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const fs::path folder = argc > 1 ? fs::path(argv[1]) : fs::path(TUTTI_SOURCE_DIR).parent_path() / "shared/prototype";
  const int pairs = argc > 2 ? std::atoi(argv[2]) : 15;
  if (!fs::exists(folder / "two_ranks.cpp") || pairs < 1) {
    fmt::print("floor: nothing to compare with: there is no {}\n", (folder / "two_ranks.cpp").string());
    return pairs < 1 ? 2 : 0;
  }
  std::string scratch = (fs::temp_directory_path() / "tutti-floor-XXXXXX").string();
  if (mkdtemp(scratch.data()) == nullptr) return 2;
  const fs::path own = fs::read_symlink("/proc/self/exe").parent_path() / "floor_tutti";
  const fs::path two = fs::path(scratch) / "two_ranks";
  const fs::path four = fs::path(scratch) / "four_ranks";
  const fs::path wide = fs::path(TUTTI_SOURCE_DIR) / "benches/floor_wide.hpp";
  if (!build(folder / "two_ranks.cpp", two, wide) || !build(folder / "four_ranks.cpp", four, wide)) return 2;

  std::map<Key, Row> rows;
  for (int pair = 0; pair < pairs; ++pair) {
    std::fprintf(stderr, "\rfloor: pair %d of %d", pair + 1, pairs);
    Times floor, mine;
    // Who goes first alternates, so that a machine that drifts drifts for both.
    for (const bool ours : {pair % 2 == 0, pair % 2 != 0}) {
      if (ours) {
        mine = parse_own(output_of(own.string() + " 2"), false);
        mine.merge(parse_own(output_of(own.string() + " 4"), true));
      } else {
        floor = parse_lines(output_of(two.string()), parse_two);
        floor.merge(parse_lines(output_of(four.string() + " 0 1"), parse_four));
      }
    }
    add(rows, floor, mine);
  }
  std::fprintf(stderr, "\r");
  fs::remove_all(scratch);
  const bool met = report(rows);
  fmt::print("floor: {}\n", met ? "all bars met" : "a bar is missed");
  return met ? 0 : 1;
}
