// SPDX-License-Identifier: Apache-2.0
// A search that is interrupted at any race and resumed ends as one that is not.
#include "cli/tune/race_journal.hpp"

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "../../base/temporary_folder.hpp"

namespace tutti::cli {
namespace {

// Times by formula; an interrupt after so many races.
class MadeUpTrack final : public tune::Track {
 public:
  explicit MadeUpTrack(std::size_t races_until_interrupt) : left_(races_until_interrupt) {}
  std::vector<tune::WayTime> race(const tune::CaseKey& /*key*/, std::uint64_t bytes, std::span<const TableWay> ways,
                                  double /*seconds*/) override {
    if (left_ == 0) return {};
    --left_;
    ++raced_;
    now_ += 0.01;
    std::vector<tune::WayTime> times;
    for (const TableWay& way : ways) {
      const auto size = static_cast<double>(bytes);
      const double us = way.algorithm == "ring"   ? 10 + size / 1000
                        : way.algorithm == "tree" ? 5 + size / 500
                                                  : 8 + size / 700;
      times.push_back({.way = way, .us = us, .low_us = us * 0.99, .high_us = us * 1.01, .samples = 20});
    }
    return times;
  }
  void relaunch() override {}
  [[nodiscard]] double now() const override { return now_; }
  [[nodiscard]] bool is_interrupted() const override { return left_ == 0; }
  [[nodiscard]] std::size_t raced() const { return raced_; }

 private:
  std::size_t left_;
  std::size_t raced_ = 0;
  double now_ = 0;
};

tune::SearchResult search_on(tune::Track& track) {
  tune::Candidates candidates = tune::peer_candidates({"ring", "tree", "other"}, {});
  tune::SearchOptions options{.sizes = {}, .seconds = 100};
  for (std::uint64_t bytes = 8; bytes <= 1 << 20; bytes *= 2) options.sizes.push_back(bytes);
  return tune::search({}, candidates, options, track, nullptr);
}

std::string text_of(const tune::SearchResult& result) {
  std::string text;
  for (const tune::Cell& cell : result.cells) {
    text += std::to_string(cell.bytes);
    for (const tune::WayTime& time : cell.times)
      text += " " + time.way.to_string() + " " + std::to_string(time.us) + " " + std::to_string(time.samples);
    text += "\n";
  }
  return text;
}

constexpr std::size_t kNever = 1000000;

TEST(RaceJournal, AResumedSearchEndsAsOneThatWasNotInterrupted) {
  MadeUpTrack whole(kNever);
  const std::string expected = text_of(search_on(whole));
  ASSERT_GT(whole.raced(), 10U);
  for (std::size_t races = 1; races < whole.raced(); races += 3) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("deeper/t.races");
    {
      MadeUpTrack track(races + 1);  // the last one is not whole
      RaceJournal journal = RaceJournal::open(path, "heading", false, track);
      static_cast<void>(search_on(journal));
    }
    MadeUpTrack track(kNever);
    RaceJournal journal = RaceJournal::open(path, "heading", true, track);
    EXPECT_EQ(text_of(search_on(journal)), expected) << races;
    EXPECT_EQ(journal.num_resumed(), races);
    EXPECT_EQ(track.raced(), whole.raced() - races);
    EXPECT_NEAR(journal.now(), whole.now(), 1e-9) << "the budget has been used";
    journal.remove();
    EXPECT_FALSE(std::ifstream(path).good());
  }
}

// An interrupt while races are given again loses none of them.
TEST(RaceJournal, KeepsWhatItHasNotGivenAgain) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("t.races");
  {
    MadeUpTrack track(8);
    RaceJournal journal = RaceJournal::open(path, "heading", false, track);
    static_cast<void>(search_on(journal));
  }
  {
    MadeUpTrack interrupted(0);
    RaceJournal journal = RaceJournal::open(path, "heading", true, interrupted);
    static_cast<void>(search_on(journal));
    EXPECT_LT(journal.num_resumed(), 7U);
  }
  MadeUpTrack track(kNever);
  RaceJournal journal = RaceJournal::open(path, "heading", true, track);
  static_cast<void>(search_on(journal));
  EXPECT_EQ(journal.num_resumed(), 7U);
}

TEST(RaceJournal, OfAnotherTuningOrDamagedItGivesNothingWrong) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("t.races");
  MadeUpTrack whole(kNever);
  const std::string expected = text_of(search_on(whole));
  for (const char* const text :
       {"", "other\n{}\n", "heading\nnonsense\n", "heading\n{\"race\":1,\"seconds\":1,\"times\":[]}\n",
        "heading\n{\"race\":\"x\",\"seconds\":1,\"times\":[[0]]}\n",
        "heading\n{\"race\":\"x\",\"seconds\":1,\"times\":[]}\n"}) {
    std::ofstream(path) << text;
    MadeUpTrack track(kNever);
    RaceJournal journal = RaceJournal::open(path, "heading", true, track);
    EXPECT_EQ(text_of(search_on(journal)), expected) << text;
    EXPECT_EQ(journal.num_resumed(), 0U);
  }
  MadeUpTrack track(kNever);
  RaceJournal nowhere = RaceJournal::open("/proc/no/such", "heading", false, track);
  EXPECT_EQ(text_of(search_on(nowhere)), expected);
}

}  // namespace
}  // namespace tutti::cli
