// SPDX-License-Identifier: Apache-2.0
#include "schedule/timeline/timeline.hpp"

#include <algorithm>

#include "schedule/timeline/earliest_times.hpp"

namespace tutti {

namespace {

// Writes down when steps happen, and what they have waited for.
class Recorder final : public EarliestTimes {
 public:
  explicit Recorder(const Programs& programs) : EarliestTimes(programs, {.step = 1, .hop = 0}) {
    timeline_.ranks.resize(programs.num_ranks());
  }

  Timeline record() {
    timeline_.length = walk();
    for (std::vector<TimedStep>& rank : timeline_.ranks) {
      std::stable_sort(rank.begin(), rank.end(),
                       [](const TimedStep& a, const TimedStep& b) { return a.begin < b.begin; });
    }
    return std::move(timeline_);
  }

 private:
  void awaits_message(const Endpoint& end, std::uint32_t sent) override {
    arrives(TimedTransfer::Kind::message, end.rank, sent);
  }

  void awaits_post(std::uint32_t rank, std::uint32_t post, std::uint32_t made) override {
    if (step().kind == StepKind::wait) return arrives(TimedTransfer::Kind::wait, rank, made);
    const bool reads = std::any_of(step().sources.begin(), step().sources.end(), [&](const Endpoint& end) {
      return end.post == post && (end.place == Place::multicast || (end.place == Place::remote && end.rank == rank));
    });
    arrives(reads ? TimedTransfer::Kind::read : TimedTransfer::Kind::write, rank, made);
  }

  void happens(std::uint32_t begin, std::uint32_t end) override {
    timeline_.ranks[lane().rank].push_back({lane().lane, lane().index, begin, end});
    for (; num_arrived_ < timeline_.transfers.size(); ++num_arrived_) timeline_.transfers[num_arrived_].end = begin;
  }

  void arrives(TimedTransfer::Kind kind, std::uint32_t from_rank, std::uint32_t time) {
    timeline_.transfers.push_back({kind, from_rank, lane().rank, time, time});
  }

  Timeline timeline_;
  std::size_t num_arrived_ = 0;  // transfers of the steps before the present one
};

}  // namespace

Timeline timeline_of(const Programs& programs) { return Recorder(programs).record(); }

}  // namespace tutti
