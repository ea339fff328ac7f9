// SPDX-License-Identifier: Apache-2.0
// Races of a peer's ways, in processes: each way is a group whose settings make the peer go that way. Tutti's own ways
// are tables of one range, which the runtime obeys as it will obey the table that comes of it. Main thread only.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/system/temporary_folder.hpp"
#include "bench/measure/race_track.hpp"
#include "cli/bench/bench_world.hpp"
#include "data/type.hpp"
#include "table/decision_table.hpp"
#include "tune/search.hpp"

namespace tutti::cli {

// The memory of a call's buffers, to workers that know several.
inline constexpr std::string_view kMemoryVariable = "BENCH_MEMORY";

struct PeerTrackOptions {
  harness::TrackOptions track;
  // By collective, what the peer can be forced to. Not for Tutti's own runtime.
  std::function<std::vector<harness::ForcedAlgorithm>(Collective)> algorithms = nullptr;
  std::map<TypeClass, Type> types;  // which type stands for its class
  harness::MeasureOptions measure;
};

class PeerTrack final : public tune::Track {
 public:
  // The folder is for candidates' tables, and outlives the track.
  PeerTrack(PeerTrackOptions options, const TemporaryFolder& folder);

  std::vector<tune::WayTime> race(const tune::CaseKey& key, std::uint64_t bytes, std::span<const TableWay> ways,
                                  double seconds) override;
  void relaunch() override {
    track_.end_all();
    warm_.clear();
  }
  [[nodiscard]] double now() const override;
  [[nodiscard]] bool is_interrupted() const override { return options_.measure.is_interrupted(); }

  // The same for any settings, with the rows as they are.
  [[nodiscard]] std::vector<harness::Racer> race_settings(const tune::CaseKey& key, std::uint64_t bytes,
                                                          std::span<const std::vector<harness::Setting>> settings,
                                                          const harness::RaceOptions& options);
  // What makes the peer obey the table, or go one way.
  [[nodiscard]] Result<std::vector<harness::Setting>> settings_for(const DecisionTable& table);
  [[nodiscard]] Result<std::vector<harness::Setting>> settings_for(const tune::CaseKey& key, const TableWay& way);

  [[nodiscard]] const harness::RaceTrack& races() const { return track_; }
  // Of the peer, as the last race's rows have it.
  [[nodiscard]] const std::string& version() const { return version_; }
  // Why ways could not run: each reason once, with one such way.
  [[nodiscard]] const std::map<std::string, std::string>& objections() const { return objections_; }
  // Ways whose results were wrong: bugs, of the peer or of Tutti.
  [[nodiscard]] const std::vector<std::string>& wrong() const { return wrong_; }

 private:
  // Whether the row shows that the way ran.
  [[nodiscard]] bool is_followed(const harness::Row& row, const TableWay& way) const;

  PeerTrackOptions options_;
  const TemporaryFolder& folder_;
  harness::RaceTrack track_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::map<std::string, std::string> files_;  // candidates' tables, by text
  std::set<std::string> warm_;                // groups that have raced since they were started
  std::map<std::string, std::string> objections_;
  std::vector<std::string> wrong_;
  std::string version_;
};

// The case of a collective's bench.
[[nodiscard]] harness::Point point_of(const tune::CaseKey& key, std::uint64_t bytes, Type type);

// The medians of rounds of two that raced, less those at the begin in which either was still slow: the first calls of a
// size touch memory that no call has touched, at tens of times the cost of those that follow.
struct SteadyRounds {
  std::vector<double> a;
  std::vector<double> b;
};
[[nodiscard]] SteadyRounds steady_rounds(std::vector<double> a, std::vector<double> b);

// Times of ways that raced: of each, its ratio to the one with the most rounds, so that drift cancels out. In
// microseconds, in the order of the rows; nothing of rows without times.
[[nodiscard]] std::vector<std::optional<tune::WayTime>> times_of(const std::vector<harness::Racer>& racers);

}  // namespace tutti::cli
