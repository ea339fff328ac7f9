// SPDX-License-Identifier: Apache-2.0
// How surviving ranks agree on a new communicator, step by step: each rank's meeting stands still between two of its
// steps, so every interleaving of them can be had. The clock is the test's, and joining is a model of it, without
// sockets.
#include "runtime/failure/shrink.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "../ranks_of_threads.hpp"
#include "base/log.hpp"
#include "base/variables/environment.hpp"
#include "base/variables/variables.hpp"
#include "runtime/communicator/communicator.hpp"

namespace tutti {
namespace {

constexpr std::chrono::milliseconds kTimeout{1000};

// One rank in calls of tuttiCommShrink, until they end for it.
class Survivor {
 public:
  enum class Phase { meeting, joining, settling, ended };

  Survivor(const Communicator& communicator, ShrinkMeeting::Now now)
      : communicator_(communicator), now_(std::move(now)) {
    meet();
  }

  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] const std::vector<std::uint32_t>& members() const { return group_.members; }
  // How each attempt ended: "again", "made [0, 2]", or the words of an error.
  [[nodiscard]] const std::vector<std::string>& ends() const { return ends_; }

  // In joining, a step that ends nothing is one of waiting for members that have not come.
  void step(const std::vector<std::unique_ptr<Survivor>>& all) {
    switch (phase_) {
      case Phase::meeting:
        if (auto met = meeting_->step_to_meet()) {
          if (!met->ok()) return end(met->status().to_string());
          group_ = std::move(*met).value();
          phase_ = Phase::joining;
        }
        return;
      case Phase::joining: return join(all);
      case Phase::settling:
        if (const auto settled = meeting_->step_to_settle(group_, joined_)) {
          if (!settled->ok()) return end(settled->status().to_string());
          if (**settled == ShrinkOutcome::made) return end(fmt::format("made {}", group_.members));
          ends_.emplace_back("again");
          meet();
        }
        return;
      case Phase::ended: return;
    }
  }
  void fail_to_join(const Status& why) {
    joined_ = why;
    phase_ = Phase::settling;
  }
  void give_up() {
    meeting_->give_up("it has no memory left");
    end("no memory left");
  }
  void refuse() {
    meeting_->refuse("its config is wrong");
    end("its config is wrong");
  }

 private:
  void meet() {
    meeting_.emplace(communicator_, now_);
    phase_ = Phase::meeting;
  }
  void join(const std::vector<std::unique_ptr<Survivor>>& all) {
    const auto is_there = [&](std::uint32_t rank) {
      return all[rank]->ends_.size() == ends_.size() && all[rank]->phase_ != Phase::meeting;
    };
    const Status vain = meeting_->why_in_vain(group_);
    if (vain.ok() && !std::all_of(group_.members.begin(), group_.members.end(), is_there)) return;
    fail_to_join(vain);
  }
  void end(std::string how) {
    ends_.push_back(std::move(how));
    phase_ = Phase::ended;
  }

  const Communicator& communicator_;
  const ShrinkMeeting::Now now_;
  std::optional<ShrinkMeeting> meeting_;
  Phase phase_ = Phase::meeting;
  SplitGroup group_;
  Status joined_;
  std::vector<std::string> ends_;
};

class Survivors {
 public:
  explicit Survivors(std::uint32_t num_ranks) : log_(Log::create(Variables(), LogWriter::of_this_process()).value()) {
    settings_.timeout = kTimeout;
    region_ = std::move(shm::Region::create(settings_.region_for(num_ranks)).value());
    communicators_.resize(num_ranks);
    {
      std::vector<std::jthread> threads;
      for (std::uint32_t rank = 0; rank < num_ranks; ++rank)
        threads.emplace_back([this, rank] {
          communicators_[rank] = Communicator::over(region_, static_cast<int>(rank), settings_, *log_);
        });
    }
    for (const auto& each : communicators_)
      survivors_.push_back(std::make_unique<Survivor>(*each, [this] { return now_; }));
    is_lost_.resize(num_ranks);
  }

  [[nodiscard]] Survivor& operator[](std::uint32_t rank) { return *survivors_[rank]; }
  void step(std::uint32_t rank) { survivors_[rank]->step(survivors_); }
  void steps(std::uint32_t rank, int how_many) {
    while (how_many-- > 0) step(rank);
  }
  void step_until(std::uint32_t rank, Survivor::Phase phase) {
    for (int each = 0; each < 100 && survivors_[rank]->phase() != phase; ++each) step(rank);
    ASSERT_EQ(static_cast<int>(survivors_[rank]->phase()), static_cast<int>(phase)) << "rank " << rank;
  }
  void all_step_until(Survivor::Phase phase) {
    for (int each = 0; each < 100; ++each)
      for (std::uint32_t rank = 0; rank < survivors_.size(); ++rank)
        if (!is_lost_[rank] && survivors_[rank]->phase() != phase) step(rank);
    for (std::uint32_t rank = 0; rank < survivors_.size(); ++rank)
      if (!is_lost_[rank]) step_until(rank, phase);
  }
  // As the system shows the end of a process that held its line.
  void lose(std::uint32_t rank) {
    std::thread([&] { region_->life(rank).hold(); }).join();
    is_lost_[rank] = true;
  }
  [[nodiscard]] bool is_lost(std::uint32_t rank) const { return is_lost_[rank]; }
  // As a rank that destroys its communicator after an error.
  void leave(std::uint32_t rank) { region_->call(rank).presence.store(shm::Presence::left); }
  void pass(std::chrono::nanoseconds time) { now_ += time; }

 private:
  Settings settings_ = Settings::from(Variables());
  std::unique_ptr<Log> log_;
  std::shared_ptr<const shm::Region> region_;
  std::vector<std::unique_ptr<Communicator>> communicators_;
  ShrinkMeeting::Clock::time_point now_;
  std::vector<std::unique_ptr<Survivor>> survivors_;
  std::vector<bool> is_lost_;
};

using Phase = Survivor::Phase;
using Ends = std::vector<std::string>;

TEST(ShrinkSteps, AMemberLostBeforeItJoinsMeansAnotherAttempt) {
  Survivors ranks(3);
  ranks.all_step_until(Phase::joining);
  ranks.lose(2);
  for (const std::uint32_t rank : {0U, 1U}) ranks.step_until(rank, Phase::settling);
  ranks.all_step_until(Phase::ended);
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_EQ(ranks[rank].ends(), (Ends{"again", "made [0, 1]"}));
}

TEST(ShrinkSteps, ALeaderLostBeforeItsProposalCountsIsReplaced) {
  Survivors ranks(3);
  for (const std::uint32_t rank : {0U, 1U, 2U}) ranks.step(rank);
  ranks.step(0);  // members are proposed in its line, and not decided
  ranks.lose(0);
  ranks.all_step_until(Phase::ended);
  for (const std::uint32_t rank : {1U, 2U}) EXPECT_EQ(ranks[rank].ends(), (Ends{"made [1, 2]"}));
}

// Rank 0 has seen a lost member that rank 1 sees as one that had joined.
TEST(ShrinkSteps, TheOutcomeThatIsStoredFirstIsThatOfAll) {
  for (const bool is_made_first : {true, false}) {
    Survivors ranks(3);
    ranks.all_step_until(Phase::settling);
    ranks.step(0);
    ranks.step(2);  // both have joined
    ranks.lose(2);
    ranks.step(0);  // is to store "again"
    ranks.step(1);
    ranks.step(1);  // has joined, and is to store "made"
    ranks.step(is_made_first ? 1 : 0);
    ranks.all_step_until(Phase::ended);
    const Ends expected = is_made_first ? Ends{"made [0, 1, 2]"} : Ends{"again", "made [0, 1]"};
    for (const std::uint32_t rank : {0U, 1U}) EXPECT_EQ(ranks[rank].ends(), expected);
  }
}

// All would wait for each other in vain if one had left the meeting and the others followed the proposal.
TEST(ShrinkSteps, ARankWhosePatienceEndsAsMembersAreProposedFollows) {
  Survivors ranks(3);
  for (const std::uint32_t rank : {0U, 1U, 2U}) ranks.step(rank);
  ranks.step(0);  // is to store its proposal
  ranks.pass(kTimeout);
  ranks.step(2);  // "rank 0 does not go on"
  ranks.all_step_until(Phase::ended);
  for (const std::uint32_t rank : {0U, 1U, 2U}) EXPECT_EQ(ranks[rank].ends(), (Ends{"made [0, 1, 2]"}));
}

TEST(ShrinkSteps, ARankThatGivesUpAsMembersAreProposedIsNamedEvenIfItLeaves) {
  Survivors ranks(3);
  for (const std::uint32_t rank : {0U, 1U, 2U}) ranks.step(rank);
  ranks.step(0);  // is to store its proposal
  ranks.step(0);
  ranks[2].give_up();
  ranks.leave(2);
  ranks.all_step_until(Phase::ended);
  for (const std::uint32_t rank : {0U, 1U})
    EXPECT_EQ(ranks[rank].ends(), (Ends{"rank 2 could not join the new communicator: it has no memory left"}));
}

TEST(ShrinkSteps, AMissingRankIsNamedToAll) {
  Survivors ranks(3);
  for (const std::uint32_t rank : {0U, 2U}) ranks.steps(rank, 2);
  ranks.pass(kTimeout);
  ranks.step_until(2, Phase::ended);
  ranks.step_until(0, Phase::ended);
  ranks.step_until(1, Phase::ended);  // late, but not for that
  const std::string words = "rank 1 has not called tuttiCommShrink; rank 2 has waited 1s (TUTTI_TIMEOUT)";
  EXPECT_EQ(ranks[2].ends(), Ends{words});
  for (const std::uint32_t rank : {0U, 1U})
    EXPECT_EQ(ranks[rank].ends(), Ends{"rank 2 cannot take part in shrinking the communicator: " + words});
}

// The time that a rank waits for the outcome does not include its wait for others to call.
TEST(ShrinkSteps, PatienceBeginsAnewOnceMembersHaveJoined) {
  Survivors ranks(2);
  ranks.steps(0, 2);
  ranks.pass(kTimeout * 3 / 4);
  ranks.all_step_until(Phase::settling);
  ranks.pass(kTimeout / 2);
  ranks.steps(0, 3);
  ranks.all_step_until(Phase::ended);
  for (const std::uint32_t rank : {0U, 1U}) EXPECT_EQ(ranks[rank].ends(), Ends{"made [0, 1]"});
}

TEST(ShrinkSteps, WhoDoesNotFinishJoiningIsNamedToAll) {
  Survivors ranks(3);
  ranks.all_step_until(Phase::settling);
  ranks.step(0);
  ranks.step(2);
  ranks.pass(kTimeout);
  ranks.step_until(0, Phase::ended);
  ranks.all_step_until(Phase::ended);
  for (const std::uint32_t rank : {0U, 1U, 2U})
    EXPECT_EQ(ranks[rank].ends(),
              Ends{"rank 1 has not joined the new communicator; rank 0 has waited 1s (TUTTI_TIMEOUT)"});
}

// What happens in one seed beside steps.
struct Story {
  std::uint32_t num_ranks;
  std::mt19937_64 random;
  std::uint32_t losses_left;
  std::optional<std::uint32_t> quitter = {};  // refuses, gives up or fails to join, some time
  bool has_quit = false;

  explicit Story(std::uint64_t seed)
      : num_ranks(static_cast<std::uint32_t>(2 + seed % 4)),
        random(seed),
        losses_left(static_cast<std::uint32_t>(seed / 4 % num_ranks)) {
    if (seed % 3 == 0) quitter = below(num_ranks);
  }
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); }

  void quit(Survivors& ranks) {
    Survivor& survivor = ranks[*quitter];
    if (survivor.phase() == Phase::settling || survivor.phase() == Phase::ended) return;
    has_quit = true;
    if (survivor.phase() == Phase::joining) return survivor.fail_to_join(Status(Code::system, "no descriptors"));
    if (below(2) == 0)
      survivor.give_up();
    else
      survivor.refuse();
  }
};

// Of each attempt, the end that every rank has met; and where nobody quits, that the survivors have a communicator.
void expect_agreement(Survivors& ranks, const Story& story) {
  std::map<std::size_t, std::string> common;
  for (std::uint32_t rank = 0; rank < story.num_ranks; ++rank) {
    if (story.has_quit && rank == *story.quitter) continue;
    const Ends& ends = ranks[rank].ends();
    for (std::size_t attempt = 0; attempt < ends.size(); ++attempt) {
      const bool is_error = ends[attempt] != "again" && !ends[attempt].starts_with("made");
      EXPECT_TRUE(!is_error || story.has_quit) << "rank " << rank << ": " << ends[attempt];
      const std::string kind = is_error ? "error" : ends[attempt];
      EXPECT_EQ(common.try_emplace(attempt, kind).first->second, kind) << "rank " << rank << ", attempt " << attempt;
    }
  }
}

std::size_t run_story(std::uint64_t seed) {
  Story story(seed);
  Survivors ranks(story.num_ranks);
  constexpr int kMostSteps = 20'000;
  std::vector<bool> has_left(story.num_ranks);
  int step = 0;
  for (bool all_ended = false; !all_ended && step < kMostSteps; ++step) {
    const std::uint32_t rank = story.below(story.num_ranks);
    if (story.losses_left > 0 && story.below(20) == 0 && !ranks.is_lost(rank)) {
      ranks.lose(rank);
      --story.losses_left;
    }
    if (story.quitter && !story.has_quit && !ranks.is_lost(*story.quitter) && story.below(10) == 0) story.quit(ranks);
    if (!ranks.is_lost(rank)) ranks.step(rank);
    all_ended = true;
    for (std::uint32_t each = 0; each < story.num_ranks; ++each) {
      if (ranks.is_lost(each)) continue;
      all_ended = all_ended && ranks[each].phase() == Phase::ended;
      const bool leaves = ranks[each].phase() == Phase::ended && story.below(4) == 0;
      if (leaves && !ranks[each].ends().back().starts_with("made")) ranks.leave(each);
    }
  }
  EXPECT_LT(step, kMostSteps) << "some rank waits for ever";
  expect_agreement(ranks, story);
  std::size_t attempts = 0;
  for (std::uint32_t rank = 0; rank < story.num_ranks; ++rank) attempts = std::max(attempts, ranks[rank].ends().size());
  return attempts;
}

TEST(ShrinkSteps, AllSurvivorsAgreeInEveryInterleaving) {
  constexpr std::uint64_t kSeeds = 600;
  std::map<std::size_t, int> stories_by_attempts;
  for (std::uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    ++stories_by_attempts[run_story(seed)];
  }
  // Else nothing was tried of what it is about.
  EXPECT_GT(stories_by_attempts[1], 100);
  EXPECT_GT(stories_by_attempts[2], 50);
}

// Rank 0 waits in a barrier for ranks that shrink, and they wait for it.
TEST(Shrinking, IsWhatOthersSayTheRanksInItWaitIn) {
  test::ThreadRanks ranks(3);
  Status told;
  ranks.run(
      [&](Communicator& communicator) {
        if (communicator.rank() == 0) {
          for (const std::uint32_t rank : {1U, 2U})
            while (ranks.region().shrink(rank).arrived.load() == 0) std::this_thread::yield();
          told = communicator.run({.collective = Collective::barrier});
        }
        static_cast<void>(ShrinkMeeting(communicator).meet());
      },
      [](std::uint32_t rank, Settings& own) {
        if (rank == 0) own.timeout = kTimeout;
      });
  EXPECT_EQ(told.code(), Code::timeout);
  constexpr std::string_view kWords =
      "rank 1 waits in tuttiCommShrink, rank 2 waits in tuttiCommShrink; rank 0 has waited 1s (TUTTI_TIMEOUT) in "
      "collective 1 (barrier";
  EXPECT_EQ(told.message().substr(0, kWords.size()), kWords) << told.message();
}

}  // namespace
}  // namespace tutti
