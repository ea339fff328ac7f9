// SPDX-License-Identifier: Apache-2.0
// The races of a search in a file, a line each, so that a tuning that was interrupted goes on where it stopped: the
// search, which goes the same way by the same times, is given those of before until there are none left. Main thread
// only.
#pragma once

#include <deque>
#include <fstream>
#include <string>
#include <vector>

#include "tune/search.hpp"

namespace tutti::cli {

class RaceJournal final : public tune::Track {
 public:
  // What was raced before under the same heading is read if `resumes`; otherwise the file begins anew. Where it cannot
  // be written, nothing can be resumed, and all else is the same.
  [[nodiscard]] static RaceJournal open(std::string path, std::string heading, bool resumes, tune::Track& track);

  RaceJournal(RaceJournal&&) = default;
  RaceJournal& operator=(RaceJournal&&) = delete;
  // What has not been given again is kept for the next time.
  ~RaceJournal() override;

  std::vector<tune::WayTime> race(const tune::CaseKey& key, std::uint64_t bytes, std::span<const TableWay> ways,
                                  double seconds) override;
  void relaunch() override { track_->relaunch(); }
  // With the time of the races that are given again.
  [[nodiscard]] double now() const override { return track_->now() + skipped_; }
  [[nodiscard]] bool is_interrupted() const override { return track_->is_interrupted(); }

  [[nodiscard]] bool is_open() const { return file_.is_open() && file_.good(); }
  // Races that were there.
  [[nodiscard]] std::size_t num_resumed() const { return resumed_; }
  // The tuning is complete: nothing is to be resumed.
  void remove();

 private:
  RaceJournal(std::string path, tune::Track& track) : path_(std::move(path)), track_(&track) {}
  struct Raced {
    std::string question;  // of which case, among which ways
    double seconds = 0;
    std::vector<std::pair<std::size_t, tune::WayTime>> times;  // by the way's place; the way itself is not kept
  };
  [[nodiscard]] static std::deque<Raced> read(const std::string& path, const std::string& heading);
  void write(const Raced& raced);

  std::string path_;
  tune::Track* track_;
  std::deque<Raced> before_;
  std::ofstream file_;
  double skipped_ = 0;
  std::size_t resumed_ = 0;
};

}  // namespace tutti::cli
