// SPDX-License-Identifier: Apache-2.0
#include "simulate/trace/match.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace tutti::simulate {

namespace {

constexpr std::size_t kMostNamed = 8;  // operations in a message

// An operation of a rank.
struct Spot {
  std::uint32_t rank = 0;
  std::uint32_t number = 0;
  friend bool operator==(const Spot&, const Spot&) = default;
};

class Matcher {
 public:
  explicit Matcher(Trace& trace) : trace_(trace) {
    for (const RankTrace& rank : trace.ranks) {
      const std::size_t count = rank.operations.size();
      states_.emplace_back(count);
      before_.emplace_back(count, kNoTraceOperation);
      // In the order of what they are on.
      std::vector<Dependency>& sorted = dependents_.emplace_back(rank.dependencies);
      std::stable_sort(sorted.begin(), sorted.end(),
                       [](const Dependency& a, const Dependency& b) { return a.on < b.on; });
      for (const Dependency& dependency : rank.dependencies) ++states_.back()[dependency.operation].left;
      for (const TraceOperation& operation : rank.operations)
        has_wild_ = has_wild_ || (operation.action == Action::receive && operation.tag == kAnyTag);
    }
  }

  Result<Predecessors> run() {
    for (std::uint32_t rank = 0; rank < trace_.num_ranks(); ++rank)
      for (std::uint32_t number = 0; number < states_[rank].size(); ++number)
        if (states_[rank][number].left == 0) ready_.push_back({rank, number});
    while (!ready_.empty() && wrong_.ok()) {
      const Spot spot = ready_.front();
      ready_.pop_front();
      begin(spot);
    }
    TUTTI_TRY(wrong_);
    TUTTI_TRY(find_stuck());
    TUTTI_TRY(find_unreceived());
    return std::move(before_);
  }

 private:
  enum class Phase : std::uint8_t { waits, begun, done };
  struct State {
    std::uint32_t left = 0;    // dependencies that are not met
    std::uint32_t posted = 0;  // of a receive: which one of all
    Phase phase = Phase::waits;
    bool is_taken = false;  // of a send
    bool is_met = false;    // on the way to what is wrong
  };
  // What one rank sends another with one tag.
  struct Box {
    std::deque<std::uint32_t> messages;  // sent, and not yet taken
    std::deque<std::uint32_t> receives;  // that wait
    std::uint32_t last_sent = kNoTraceOperation;
    std::uint32_t last_taken = kNoTraceOperation;
  };
  // And with any tag.
  struct Pair {
    std::unordered_map<std::uint32_t, Box> boxes;
    std::deque<std::uint32_t> messages;  // of all tags, where some receive takes any; some of them taken
    std::deque<std::uint32_t> receives;  // that take any
  };

  [[nodiscard]] TraceOperation& at(const Spot& spot) { return trace_.ranks[spot.rank].operations[spot.number]; }
  [[nodiscard]] State& state(const Spot& spot) { return states_[spot.rank][spot.number]; }
  [[nodiscard]] Pair& between(std::uint32_t from, std::uint32_t to) { return pairs_[std::uint64_t{from} << 32U | to]; }

  void begin(const Spot& spot) {
    state(spot).phase = Phase::begun;
    meet(spot, true);
    switch (at(spot).action) {
      case Action::compute: end(spot); break;
      case Action::send: send(spot); break;
      case Action::receive: receive(spot); break;
    }
  }

  void end(const Spot& spot) {
    state(spot).phase = Phase::done;
    meet(spot, false);
  }

  void meet(const Spot& spot, bool when_begun) {
    const std::vector<Dependency>& all = dependents_[spot.rank];
    auto each = std::lower_bound(all.begin(), all.end(), spot.number,
                                 [](const Dependency& dependency, std::uint32_t on) { return dependency.on < on; });
    for (; each != all.end() && each->on == spot.number; ++each)
      if (each->when_begun == when_begun && --states_[spot.rank][each->operation].left == 0)
        ready_.push_back({spot.rank, each->operation});
  }

  void send(const Spot& spot) {
    const TraceOperation& operation = at(spot);
    Pair& pair = between(spot.rank, operation.peer);
    Box& box = pair.boxes[operation.tag];
    before_[spot.rank][spot.number] = std::exchange(box.last_sent, spot.number);
    end(spot);
    // The receive that was there first.
    const auto posted = [&](std::uint32_t number) { return states_[operation.peer][number].posted; };
    const bool has_wild = !pair.receives.empty();
    if (!box.receives.empty() && (!has_wild || posted(box.receives.front()) < posted(pair.receives.front()))) {
      const std::uint32_t number = box.receives.front();
      box.receives.pop_front();
      return take(spot, {operation.peer, number}, box);
    }
    if (has_wild) {
      const std::uint32_t number = pair.receives.front();
      pair.receives.pop_front();
      return take(spot, {operation.peer, number}, box);
    }
    box.messages.push_back(spot.number);
    if (has_wild_) pair.messages.push_back(spot.number);
  }

  void receive(const Spot& spot) {
    const TraceOperation& operation = at(spot);
    Pair& pair = between(operation.peer, spot.rank);
    state(spot).posted = num_posted_++;
    const bool is_wild = operation.tag == kAnyTag;
    std::deque<std::uint32_t>& messages = is_wild ? pair.messages : pair.boxes[operation.tag].messages;
    // Of all tags some have been taken by receives of their own tag, and the other way round.
    while (!messages.empty() && states_[operation.peer][messages.front()].is_taken) messages.pop_front();
    if (messages.empty()) {
      (is_wild ? pair.receives : pair.boxes[operation.tag].receives).push_back(spot.number);
      return;
    }
    const Spot message{operation.peer, messages.front()};
    messages.pop_front();
    take(message, spot, pair.boxes[at(message).tag]);
  }

  void take(const Spot& message, const Spot& receive, Box& box) {
    const TraceOperation& sent = at(message);
    TraceOperation& received = at(receive);
    if (received.amount < sent.amount) {
      wrong_ = {Code::invalid_argument,
                fmt::format("{}:{}: found {}, expected at least {} bytes: it takes {}", trace_.file, received.line,
                            named(receive), sent.amount, named(message))};
      return;
    }
    state(message).is_taken = true;
    received.tag = sent.tag;
    received.amount = sent.amount;
    before_[receive.rank][receive.number] = std::exchange(box.last_taken, receive.number);
    end(receive);
  }

  // "rank 1's l2: recv 8b from 0 tag 3 (line 12)"
  [[nodiscard]] std::string named(const Spot& spot) {
    return fmt::format("rank {}'s {} (line {})", spot.rank, in_goal(at(spot)), at(spot).line);
  }

  // The dependency that it waits for. Those of each rank are then in the order of who has them.
  [[nodiscard]] Spot first_unmet(const Spot& spot) {
    const std::vector<Dependency>& all = dependents_[spot.rank];
    auto each = std::lower_bound(
        all.begin(), all.end(), spot.number,
        [](const Dependency& dependency, std::uint32_t operation) { return dependency.operation < operation; });
    for (; each != all.end() && each->operation == spot.number; ++each) {
      const Phase phase = states_[spot.rank][each->on].phase;
      if (phase == Phase::waits || (phase == Phase::begun && !each->when_begun)) return {spot.rank, each->on};
    }
    return spot;
  }

  // Of each pair and tag, and of any tag, the first send that has not begun.
  using Awaited = std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t>;
  [[nodiscard]] Awaited sends_that_wait() {
    Awaited awaited;
    for (std::uint32_t rank = 0; rank < trace_.num_ranks(); ++rank)
      for (std::uint32_t number = 0; number < states_[rank].size(); ++number) {
        const TraceOperation& each = at({rank, number});
        if (each.action != Action::send || states_[rank][number].phase != Phase::waits) continue;
        awaited.try_emplace({rank, each.peer, each.tag}, number);
        awaited.try_emplace({rank, each.peer, kAnyTag}, number);
      }
    return awaited;
  }

  [[nodiscard]] std::optional<Spot> first_that_waits() {
    for (std::uint32_t rank = 0; rank < trace_.num_ranks(); ++rank)
      for (std::uint32_t number = 0; number < states_[rank].size(); ++number)
        if (states_[rank][number].phase != Phase::done) return Spot{rank, number};
    return std::nullopt;
  }

  // Whoever waits at the end waits for another who does, or for a message that nobody sends.
  Status find_stuck() {
    std::optional<Spot> stuck = first_that_waits();
    if (!stuck) return {};
    const Awaited awaited = sends_that_wait();
    for (std::vector<Dependency>& all : dependents_)
      std::stable_sort(all.begin(), all.end(),
                       [](const Dependency& a, const Dependency& b) { return a.operation < b.operation; });
    std::vector<Spot> way;
    while (!state(*stuck).is_met) {
      state(*stuck).is_met = true;
      way.push_back(*stuck);
      if (state(*stuck).phase == Phase::waits) {
        stuck = first_unmet(*stuck);
        continue;
      }
      const std::uint32_t peer = at(*stuck).peer;
      const auto send = awaited.find({peer, stuck->rank, at(*stuck).tag});
      if (send == awaited.end()) return without_message(*stuck);
      stuck = Spot{peer, send->second};
    }
    return waiting_for_each_other({std::find(way.begin(), way.end(), *stuck), way.end()});
  }

  Status waiting_for_each_other(const std::vector<Spot>& circle) {
    std::string text;
    for (std::size_t i = 0; i < std::min(circle.size(), kMostNamed); ++i)
      text += fmt::format("{}{}", i == 0 ? "" : " waits for ", named(circle[i]));
    if (circle.size() > kMostNamed) text += fmt::format(", and so on through {} more", circle.size() - kMostNamed);
    return {
        Code::invalid_argument,
        fmt::format("{}:{}: found operations that wait for each other, expected an order in which they can be done: "
                    "{}, which waits for the first",
                    trace_.file, at(circle.front()).line, text)};
  }

  Status without_message(const Spot& receive) {
    const std::optional<Spot> left = first_unreceived();
    return {Code::invalid_argument,
            fmt::format("{}:{}: found {}, expected a send of rank {} to it with {}: there is none that another receive "
                        "does not take{}",
                        trace_.file, at(receive).line, named(receive), at(receive).peer,
                        at(receive).tag == kAnyTag ? "any tag" : fmt::format("tag {}", at(receive).tag),
                        left ? fmt::format("; nobody receives {}", named(*left)) : "")};
  }

  [[nodiscard]] std::optional<Spot> first_unreceived() {
    for (std::uint32_t rank = 0; rank < trace_.num_ranks(); ++rank)
      for (std::uint32_t number = 0; number < states_[rank].size(); ++number) {
        const Spot spot{rank, number};
        if (at(spot).action == Action::send && state(spot).phase == Phase::done && !state(spot).is_taken) return spot;
      }
    return std::nullopt;
  }

  Status find_unreceived() {
    const std::optional<Spot> left = first_unreceived();
    if (!left) return {};
    return {Code::invalid_argument,
            fmt::format("{}:{}: found {}, expected a receive of rank {} from {} with tag {}: there is none that takes "
                        "it",
                        trace_.file, at(*left).line, named(*left), at(*left).peer, left->rank, at(*left).tag)};
  }

  Trace& trace_;
  std::vector<std::vector<State>> states_;
  std::vector<std::vector<Dependency>> dependents_;
  Predecessors before_;
  std::unordered_map<std::uint64_t, Pair> pairs_;  // by sender and receiver
  std::deque<Spot> ready_;
  std::uint32_t num_posted_ = 0;
  bool has_wild_ = false;
  Status wrong_;
};

}  // namespace

Result<Predecessors> match(Trace& trace) { return Matcher(trace).run(); }

}  // namespace tutti::simulate
