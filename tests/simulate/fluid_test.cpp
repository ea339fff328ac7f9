// SPDX-License-Identifier: Apache-2.0
// The network's rule against a model as plain as can be: all messages there are, walked from one event to the next with
// every rate found anew from nothing but the definition of max-min fairness. It shares the programs of the ranks and
// the ways between them with the simulator, and nothing else.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "fabric/generators/generate.hpp"
#include "fabric/routes.hpp"
#include "schedule/layout.hpp"
#include "schedule/oracle/random_schedule.hpp"
#include "schedule/programs.hpp"
#include "simulate/simulate.hpp"

namespace tutti::simulate {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class PlainModel {
 public:
  PlainModel(const Programs& programs, const fabric::Fabric& fabric, std::uint64_t block)
      : programs_(programs), fabric_(fabric), routes_(fabric), block_(block) {
    const std::size_t num_lanes = std::size_t{programs.num_ranks()} * programs.num_lanes();
    at_.resize(num_lanes);
  }

  // When the last message has come; negative where it gets stuck.
  double time() {
    while (true) {
      walk();
      let_in();
      set_rates();
      double next = kNever;
      for (const auto& [link, port] : ports_)
        if (!port.queue.empty()) next = std::min(next, port.next_entry);
      for (const std::size_t number : under_way_) {
        const Message& message = messages_[number];
        if (message.state == State::flows) next = std::min(next, now_ + message.left / message.rate);
        if (message.state == State::lands) next = std::min(next, message.there);
      }
      if (next == kNever) return is_over() ? now_ : -1;
      advance(next);
    }
  }

 private:
  using Connection = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // from, to, channel
  enum class State { follows, waits, flows, lands, there };
  struct Port {
    std::vector<std::size_t> queue;  // that wait to enter
    double next_entry = 0;
  };
  struct Message {
    std::vector<std::uint32_t> links;
    double left = 0;
    double rate = 0;
    double there = 0;
    Connection connection;
    State state = State::follows;
  };

  double bytes_of(const Slice& slice) const {
    const Schedule& schedule = programs_.schedule();
    const PieceLayout layout(block_, schedule.division(slice.space).pieces, UINT64_MAX);
    return static_cast<double>(layout.whole(slice.first_piece, slice.num_pieces).length * slice.num_blocks);
  }

  bool is_over() const {
    for (std::uint32_t rank = 0; rank < programs_.num_ranks(); ++rank)
      for (std::uint32_t lane = 0; lane < programs_.num_lanes(); ++lane)
        if (at_[programs_.lane_id(rank, lane)] < programs_.steps(rank, lane).size()) return false;
    return true;
  }

  bool is_ready(std::uint32_t rank, const Step& step) {
    for (const After& after : step.after)
      if (at_[programs_.lane_id(rank, after.lane)] <= programs_.index_of(rank, after.lane, after.step)) return false;
    return std::all_of(step.sources.begin(), step.sources.end(), [&](const Endpoint& end) {
      if (end.place != Place::message || bytes_of(end.slice) == 0) return true;
      const Connection connection{end.rank, rank, end.channel};
      const std::vector<std::size_t>& sent = sent_[connection];
      return taken_[connection] < sent.size() && messages_[sent[taken_[connection]]].state == State::there;
    });
  }

  void send(std::uint32_t rank, const Endpoint& end) {
    Message message;
    message.links = routes_.between(fabric_.ranks[rank].node, fabric_.ranks[end.rank].node);
    message.left = bytes_of(end.slice);
    message.connection = {rank, end.rank, end.channel};
    if (message.left == 0) return;
    sent_[message.connection].push_back(messages_.size());
    under_way_.push_back(messages_.size());
    messages_.push_back(message);
  }

  // As far as all ranks come now.
  void walk() {
    for (bool has_moved = true; has_moved;) {
      has_moved = false;
      for (std::uint32_t rank = 0; rank < programs_.num_ranks(); ++rank) {
        for (std::uint32_t lane = 0; lane < programs_.num_lanes(); ++lane) {
          std::size_t& at = at_[programs_.lane_id(rank, lane)];
          const std::vector<Step>& steps = programs_.steps(rank, lane);
          for (; at < steps.size() && is_ready(rank, steps[at]); ++at) {
            has_moved = true;
            for (const Endpoint& end : steps[at].sources)
              if (end.place == Place::message && bytes_of(end.slice) > 0) ++taken_[{end.rank, rank, end.channel}];
            for (const Endpoint& end : steps[at].destinations)
              if (end.place == Place::message) send(rank, end);
          }
        }
      }
    }
  }

  // The first of each connection that has not left queues for its port, and of those one after another enters.
  void let_in() {
    for (const std::size_t number : under_way_) {
      Message& message = messages_[number];
      if (message.state != State::follows) continue;
      const std::vector<std::size_t>& all = sent_[message.connection];
      const auto mine = std::find(all.begin(), all.end(), number);
      if (mine != all.begin() && messages_[*(mine - 1)].state < State::lands) continue;
      message.state = State::waits;
      ports_[message.links.front()].queue.push_back(number);
    }
    for (auto& [link, port] : ports_) {
      if (port.queue.empty() || port.next_entry > now_) continue;
      Message& message = messages_[port.queue.front()];
      message.state = State::flows;
      port.next_entry = now_ + message.left / fabric_.links[link].bandwidth;
      port.queue.erase(port.queue.begin());
    }
  }

  // The link with the least for each of its flows gives them that; then the same without these.
  void set_rates() {
    std::map<std::uint32_t, double> left;
    std::set<std::size_t> open;
    for (const std::size_t number : under_way_) {
      if (messages_[number].state != State::flows) continue;
      open.insert(number);
      for (const std::uint32_t link : messages_[number].links) left[link] = fabric_.links[link].bandwidth;
    }
    while (!open.empty()) {
      std::map<std::uint32_t, int> count;
      for (const std::size_t number : open)
        for (const std::uint32_t link : messages_[number].links) ++count[link];
      double rate = kNever;
      std::uint32_t tightest = 0;
      for (const auto& [link, flows] : count) {
        if (left[link] / flows >= rate) continue;
        rate = left[link] / flows;
        tightest = link;
      }
      for (auto number = open.begin(); number != open.end();) {
        Message& message = messages_[*number];
        if (std::count(message.links.begin(), message.links.end(), tightest) == 0) {
          ++number;
          continue;
        }
        message.rate = rate;
        for (const std::uint32_t link : message.links) left[link] -= rate;
        number = open.erase(number);
      }
    }
  }

  void advance(double next) {
    for (const std::size_t number : under_way_) {
      Message& message = messages_[number];
      if (message.state == State::lands && message.there <= next) message.state = State::there;
      if (message.state != State::flows) continue;
      message.left -= message.rate * (next - now_);
      if (message.left > 1e-5) continue;
      message.there = next;
      for (const std::uint32_t link : message.links) message.there += fabric_.links[link].latency;
      message.state = message.there > next ? State::lands : State::there;
    }
    std::erase_if(under_way_, [&](std::size_t number) { return messages_[number].state == State::there; });
    now_ = next;
  }

  const Programs& programs_;
  const fabric::Fabric& fabric_;
  fabric::Routes routes_;
  std::uint64_t block_;
  double now_ = 0;
  std::vector<std::size_t> at_;  // by lane
  std::vector<Message> messages_;
  std::vector<std::size_t> under_way_;
  std::map<Connection, std::vector<std::size_t>> sent_;
  std::map<Connection, std::size_t> taken_;
  std::map<std::uint32_t, Port> ports_;  // by link
};

// With links of unlike speeds and latencies, so that nothing happens at the same time by chance.
fabric::Fabric uneven(const std::string& words) {
  Result<fabric::Fabric> made = fabric::generate(words);
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  for (std::size_t number = 0; number < made->links.size(); ++number) {
    fabric::Link& link = made->links[number];
    link.bandwidth = 10 + static_cast<double>(number * 37 % 11);
    link.latency = 100 + 17 * static_cast<double>(number * 29 % 13);
    link.gap = 0;
  }
  for (fabric::Costs& costs : made->costs) costs = {};
  for (fabric::Memory& memory : made->memories) memory = {};
  return *std::move(made);
}

class PlainNetwork : public testing::TestWithParam<const char*> {};

TEST_P(PlainNetwork, SaysTheSameOfEveryAlgorithmByMessages) {
  const fabric::Fabric fabric = uneven(GetParam());
  int compared = 0;
  for (const Algorithm* algorithm : all_algorithms()) {
    if (facts_of(algorithm->collective).varies || algorithm->channel != Channel::message) continue;
    if (algorithm->collective == Collective::barrier) continue;
    for (const Request& request : cases_of(*algorithm, fabric.num_ranks(), {.root = 3, .seed = 1})) {
      const Schedule schedule = algorithm->make(request);
      const Programs programs(schedule, Fusion::neighbours);
      {
        const std::uint64_t block = ++compared % 2 == 0 ? 1601 : 200'000;
        SCOPED_TRACE(schedule.name + " of " + std::string(name_of(algorithm->collective)) + ", " +
                     std::to_string(block));
        const Result<Answer> answer = simulate(schedule, fabric, {.count = block});
        ASSERT_TRUE(answer.ok()) << answer.status().to_string();
        EXPECT_NEAR(answer->shares.total(), answer->time, answer->time * 1e-9);
        const double plain = PlainModel(programs, fabric, block).time();
        EXPECT_NEAR(answer->time, plain, plain * 1e-9);
      }
    }
  }
  EXPECT_GE(compared, 40);
}

// Trees of random shapes for pieces of random number: messages of unlike lengths, of which many go to one rank. (Of
// lanes that send at the same time by one link either may be the first.)
TEST_P(PlainNetwork, SaysTheSameOfRandomSchedules) {
  const fabric::Fabric fabric = uneven(GetParam());
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Schedule schedule = random_schedule(seed, Family::messages, fabric.num_ranks());
    const Programs programs(schedule, Fusion::neighbours);
    const Result<Answer> answer = simulate(schedule, fabric, {.count = 50'000 + seed});
    ASSERT_TRUE(answer.ok()) << answer.status().to_string();
    const double plain = PlainModel(programs, fabric, 50'000 + seed).time();
    EXPECT_NEAR(answer->time, plain, plain * 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(Fabrics, PlainNetwork,
                         testing::Values("switch:16", "torus_2d:4x4", "fat_tree:3x3,uplinks=2", "dragonfly:3x2x2",
                                         "ring_1d:7", "mesh_2d:3x4"),
                         [](const testing::TestParamInfo<const char*>& each_fabric) {
                           std::string name = each_fabric.param;
                           for (char& each : name)
                             if (std::isalnum(static_cast<unsigned char>(each)) == 0) each = '_';
                           return name;
                         });

}  // namespace
}  // namespace tutti::simulate
