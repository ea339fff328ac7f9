// SPDX-License-Identifier: Apache-2.0
// The search for the fastest way at each size, by races. It begins with few sizes and all ways; tries neighbours of the
// best; at the sizes between, races what was good on either side; looks closer where ways change; and at the end lets
// the best of each size race again in new processes. It knows no process and no clock but those behind Track.
//
// One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tune/candidates.hpp"
#include "tune/cells.hpp"

namespace tutti::tune {

// Where ways race.
class Track {
 public:
  virtual ~Track() = default;
  // A time for each way that can do the case, as long as `seconds` allow; fewer or none where they cannot, or after an
  // interrupt. Ways that are surely slower than the best may have few samples.
  virtual std::vector<WayTime> race(const CaseKey& key, std::uint64_t bytes, std::span<const TableWay> ways,
                                    double seconds) = 0;
  // From now on in new processes.
  virtual void relaunch() = 0;
  // Seconds since it was made.
  [[nodiscard]] virtual double now() const = 0;
  [[nodiscard]] virtual bool is_interrupted() const = 0;
};

struct SearchOptions {
  std::vector<std::uint64_t> sizes;  // in ascending order; at least one
  double seconds = 60;               // for the whole search
  std::size_t stride = 3;            // all ways race at each third size, the first and the last
  double keep = 1.3;                 // between them, ways race that took up to so many times the best
  std::size_t finalists = 3;         // of each size, race again in new processes
  bool exhaustive = false;           // every way and every combination of values at every size
  // Times have no noise, and no way is faster at a larger size: with `exhaustive`, ways that were slower at a smaller
  // size than another is at this one are known to lose here.
  bool is_exact = false;
  double alike = 0.02;  // ways so near each other are one choice: no need to look closer
};

// What the search did, for people and for tests.
struct SearchCounts {
  std::size_t races = 0;
  std::size_t ways_raced = 0;      // in all races together
  std::size_t ways_spared = 0;     // that would have raced, had nothing been pruned
  std::size_t pruning_checks = 0;  // pruned ways that raced all the same
  std::size_t pruning_faults = 0;  // of these, the ones that were faster than all others
};

struct SearchResult {
  std::vector<Cell> cells;  // by size
  SearchCounts counts;
  bool is_complete = false;  // nothing was left out for want of time
};

// What it is at, for people: "16K: two_shot_pull, 13.1 us; 9 ways".
using OnProgress = std::function<void(const Cell& cell, std::string_view phase)>;

[[nodiscard]] SearchResult search(const CaseKey& key, const Candidates& candidates, const SearchOptions& options,
                                  Track& track, const OnProgress& on_progress);

}  // namespace tutti::tune
