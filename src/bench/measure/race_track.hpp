// SPDX-License-Identifier: Apache-2.0
// Groups of processes, one for each contender, that stay alive from race to race; they are started where they are first
// wanted. Of those that have not raced for long, some end where there would be too many. Blocks; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "bench/measure/race.hpp"
#include "bench/measure/runner.hpp"

namespace tutti::harness {

// Who takes part: a peer with settings, which no other has.
struct Contender {
  std::string label;
  std::vector<Setting> settings;
};

struct TrackOptions {
  RunnerOptions runner;
  PeerProgram peer;
  std::vector<std::string> inherited;  // the environment's block
  std::size_t most_alive = 48;         // groups
};

class RaceTrack {
 public:
  explicit RaceTrack(TrackOptions options);
  RaceTrack(const RaceTrack&) = delete;
  RaceTrack& operator=(const RaceTrack&) = delete;
  ~RaceTrack() { end_all(); }

  // A racer for each contender, in their order; of a peer without processes, its times.
  [[nodiscard]] std::vector<Racer> race(const std::string& bench, int num_ranks, const Point& point,
                                        std::span<const Contender> contenders, const RaceOptions& options);

  // All processes end; the next race starts new ones, which lie elsewhere in memory.
  void end_all();

  // Since it was made: seconds in races, of which the starts of groups.
  [[nodiscard]] double seconds_racing() const { return seconds_racing_; }
  [[nodiscard]] double seconds_starting() const { return seconds_starting_; }
  [[nodiscard]] std::size_t num_started() const { return num_started_; }

 private:
  struct Entry {
    Group group;
    std::unique_ptr<LiveGroup> live;
    Status refused;
    std::uint64_t last_race = 0;
  };
  Entry& entry_for(const Contender& contender, int num_ranks);
  void make_ready(Entry& entry);
  void make_room();
  [[nodiscard]] Row reckoned(const Entry& entry, const std::string& bench, const Point& point,
                             const RaceOptions& options) const;

  TrackOptions options_;
  std::size_t block_size_ = 0;
  std::mt19937_64 random_;
  std::deque<Entry> entries_;
  std::uint64_t num_races_ = 0;
  double seconds_racing_ = 0;
  double seconds_starting_ = 0;
  std::size_t num_started_ = 0;
};

}  // namespace tutti::harness
