// SPDX-License-Identifier: Apache-2.0
// The program `tutti`, asked for measurements as a user would ask it. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "benches/peers/score.hpp"

namespace tutti::bars {

struct Cases {
  std::string collective = "all_reduce";
  int num_ranks = 2;
  std::vector<std::int64_t> sizes;  // empty: the collective has none
  std::string variables;            // --env of Tutti's alone
};

// Sizes without any are one case with this key.
inline constexpr std::int64_t kNoSize = 0;
// The rivals of each size.
using RivalSizes = std::map<Rival, std::set<std::int64_t>>;
using Scores = std::map<Rival, std::map<std::int64_t, Score>>;

class Program {
 public:
  // quick: a fifth of the time for each case.
  Program(std::string path, bool quick) : path_(std::move(path)), quick_(quick) {}

  // Which of the peers that are compared with are here; none where the program does not even know Tutti.
  [[nodiscard]] std::optional<std::vector<std::string>> peers_here() const;
  // The fastest for each size, at its default or at any of its algorithms; sizes that nobody can do are left out.
  [[nodiscard]] std::map<std::int64_t, Rival> best_of(const std::vector<std::string>& peers, bool by_algorithm,
                                                      const Cases& cases) const;
  // Each of the rivals beside Tutti, in turns. What could not be measured, or was wrong, is left out.
  [[nodiscard]] Scores score(const RivalSizes& sizes, const Cases& cases) const;
  // Tutti alone; of one launch, or of so many that an interval can be told.
  [[nodiscard]] nlohmann::json run_alone(const Cases& cases, const std::string& options) const;

 private:
  // Its rows; none where it failed.
  [[nodiscard]] nlohmann::json rows(const std::string& arguments) const;
  // In two parts, since a case of many bytes needs more time.
  [[nodiscard]] nlohmann::json rows_of(const std::string& arguments, const Cases& cases, int small_ms,
                                       int large_ms) const;

  std::string path_;
  bool quick_;
};

}  // namespace tutti::bars
