// SPDX-License-Identifier: Apache-2.0
// A table against what ran before, in processes of their own: what chose the ways does not score them. Main thread
// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/measure/statistics.hpp"
#include "cli/tune/peer_track.hpp"
#include "tune/cells.hpp"

namespace tutti::cli {

struct Scored {
  tune::CaseKey key;
  std::uint64_t bytes = 0;
  double before_us = 0;
  double after_us = 0;
  harness::Ratio ratio;    // of the times before to those after: above 1, the table is faster
  std::string before_ran;  // the peer's words
  std::string after_ran;
  std::string fault;       // wrong results, or none at all, where there were right ones before
  TableWay way;            // of the table that was scored
  bool is_undone = false;  // the table that is written has what ran before
};

struct ScoreOptions {
  double seconds = 15;
  int launches = 6;                           // with fewer there is no interval
  std::vector<harness::Setting> before = {};  // with which the peer runs as before
  std::vector<harness::Row>* rows = nullptr;  // where all that was measured goes, before and after in turns
};

// For a cell, the peer's settings that make it follow the table.
using SettingsAfter = std::function<std::vector<harness::Setting>(const tune::Cell&)>;

// Each size of each key, as far as time and interrupts allow, against the peer with the settings of before.
[[nodiscard]] std::vector<Scored> score(std::span<const tune::Cell> cells, const DecisionTable& table,
                                        const SettingsAfter& after, const ScoreOptions& options, PeerTrack& track,
                                        const harness::MeasureOptions& measure);

// What ran before is the only way left in a cell where the table is slower or does wrong. "Slower" means surely, or in
// the median by more than 3 % though that is not sure. With `unless_faster`, the same for whatever is not surely
// faster. How many sizes these are.
std::size_t undo_losses(std::vector<Scored>& scored, std::vector<tune::Cell>& cells,
                        const std::function<TableWay(const Scored&)>& way_before, bool unless_faster = false);

// How many times as long the old way took in the score as in the races: the median over the sizes of `key`.
struct Drift {
  tune::CaseKey key;
  double times = 1;
};

// The cases with more than kMostDrift times, or less than 1 / kMostDrift, at kLeastSizesOfDrift or more sizes. Then the
// machine itself became slower or faster; noise differs from size to size.
inline constexpr double kMostDrift = 1.3;
inline constexpr std::size_t kLeastSizesOfDrift = 5;
[[nodiscard]] std::vector<Drift> drifts_of(std::span<const Scored> scored, std::span<const tune::Cell> cells,
                                           const std::function<TableWay(const Scored&)>& way_before);

// Null where it has none.
[[nodiscard]] const TableSection* section_for(const DecisionTable& table, const tune::CaseKey& key);

// Of the speed-ups; 1 where there are none.
[[nodiscard]] double geometric_mean(std::span<const Scored> scored);

}  // namespace tutti::cli
