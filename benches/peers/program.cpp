// SPDX-License-Identifier: Apache-2.0
#include "benches/peers/program.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tutti::bars {

namespace {

using Json = nlohmann::json;

constexpr std::array kRivals = {"openmpi", "mpich", "gloo"};
constexpr std::int64_t kLarge = std::int64_t{1} << 20;

std::int64_t size_of(const Json& row) { return row.value("bytes", kNoSize); }

bool is_right(const Json& row) {
  const std::string check = row.value("check", "");
  return check == "ok" || check == "unchecked";
}

// The row of a comparison of two: time, ratio and interval have names that begin with who competes.
Score score_in(const Json& row, const std::string& rival) {
  Score score;
  for (const auto& [name, value] : row.items()) {
    if (name.ends_with("_us") && value.is_number())
      (name.starts_with(rival) ? score.rival_us : score.own_us) = value.get<double>();
    if (name.ends_with("_ratio") && value.is_number()) score.ratio = value.get<double>();
    Interval interval;
    if (name.ends_with("_interval") && value.is_string() &&
        std::sscanf(value.get_ref<const std::string&>().c_str(), "%lf-%lf", &interval.low, &interval.high) == 2)
      score.interval = interval;
  }
  return score;
}

}  // namespace

Json Program::rows(const std::string& arguments) const {
  const std::string command = fmt::format("'{}' {} --json", path_, arguments);
  std::string text;
  FILE* output = popen(command.c_str(), "r");
  if (output == nullptr) return Json::array();
  std::array<char, 65536> part{};
  for (std::size_t got = 0; (got = std::fread(part.data(), 1, part.size(), output)) > 0;) text.append(part.data(), got);
  pclose(output);
  Json found = Json::parse(text, nullptr, false);
  return found.is_array() ? found : Json::array();
}

Json Program::rows_of(const std::string& arguments, const Cases& cases, int small_ms, int large_ms) const {
  std::vector<std::int64_t> small;
  std::vector<std::int64_t> large;
  for (const std::int64_t bytes : cases.sizes) (bytes < kLarge ? small : large).push_back(bytes);
  Json all = Json::array();
  const auto add = [&](const std::vector<std::int64_t>& sizes, int budget_ms) {
    const std::string axis = sizes.empty() ? "" : fmt::format("-a bytes={}", fmt::join(sizes, ","));
    for (Json& row : rows(fmt::format("{} --no-store -a num_ranks={} {} {} --budget {}ms", arguments, cases.num_ranks,
                                      axis, cases.variables, quick_ ? budget_ms / 5 : budget_ms)))
      all.push_back(std::move(row));
  };
  if (!small.empty() || cases.sizes.empty()) add(small, small_ms);
  if (!large.empty()) add(large, large_ms);
  return all;
}

std::optional<std::vector<std::string>> Program::peers_here() const {
  const Json peers = rows("list peers");
  if (std::none_of(peers.begin(), peers.end(), [](const Json& row) { return row.value("peer", "") == "tutti"; }))
    return std::nullopt;
  std::vector<std::string> here;
  for (const Json& row : peers)
    for (const char* rival : kRivals)
      if (row.value("peer", "") == rival && row.value("here", false)) here.emplace_back(rival);
  return here;
}

std::map<std::int64_t, Rival> Program::best_of(const std::vector<std::string>& peers, bool by_algorithm,
                                               const Cases& cases) const {
  struct Best {
    double us;
    Rival rival;
  };
  std::map<std::int64_t, Best> best;
  const std::string arguments = fmt::format("run --bench {} --peer {} -a algorithm={}", cases.collective,
                                            fmt::join(peers, ","), by_algorithm ? "default,all" : "default");
  constexpr int kSmall = 100;
  constexpr int kLargeBudget = 600;
  for (const Json& row : rows_of(arguments, cases, kSmall, kLargeBudget)) {
    if (!is_right(row) || !row["time_us"].is_number()) continue;
    const double us = row["time_us"].get<double>();
    const Rival rival{row.value("peer", ""), row.value("algorithm", "default")};
    const auto [known, is_new] = best.try_emplace(size_of(row), Best{us, rival});
    if (!is_new && us < known->second.us) known->second = {us, rival};
  }
  std::map<std::int64_t, Rival> rivals;
  for (auto& [bytes, each] : best) rivals[bytes] = std::move(each.rival);
  return rivals;
}

Scores Program::score(const RivalSizes& sizes, const Cases& cases) const {
  Scores scores;
  for (const auto& [rival, bytes] : sizes) {
    Cases own = cases;
    own.sizes.assign(bytes.begin(), bytes.end());
    if (cases.sizes.empty()) own.sizes.clear();
    const std::string arguments = fmt::format("compare --bench {} --peer {},tutti -a {}:algorithm={}", cases.collective,
                                              rival.peer, rival.peer, rival.algorithm);
    constexpr int kSmall = 400;
    constexpr int kLargeBudget = 2500;
    for (const Json& row : rows_of(arguments, own, kSmall, kLargeBudget)) {
      const Score score = score_in(row, rival.peer);
      if (is_right(row) && score.ratio > 0) scores[rival][size_of(row)] = score;
    }
  }
  return scores;
}

Json Program::run_alone(const Cases& cases, const std::string& options) const {
  constexpr int kSmall = 300;
  constexpr int kLargeBudget = 2000;
  return rows_of(fmt::format("run --bench {} --peer tutti {}", cases.collective, options), cases, kSmall, kLargeBudget);
}

}  // namespace tutti::bars
