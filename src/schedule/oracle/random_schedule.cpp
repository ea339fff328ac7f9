// SPDX-License-Identifier: Apache-2.0
#include "schedule/oracle/random_schedule.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "schedule/ends.hpp"

namespace tutti {

namespace {

// Rank by rank, lane by lane.
using Script = std::vector<std::vector<std::vector<Step>>>;

Lane replay(std::shared_ptr<const Script> script, std::uint32_t rank, std::uint32_t lane) {
  for (const Step& step : (*script)[rank][lane]) co_yield step;
}

// Writes all ranks' steps in one order in which they could be performed one after the other; so whatever it writes,
// nothing waits in a ring.
class Author {
 public:
  Author(std::uint64_t seed, Family family, std::uint32_t num_ranks)
      : family_(family), ranks_(num_ranks), random_(seed) {}

  Schedule write() {
    pieces_ = 1 + draw(2 * ranks_ + 2);
    lanes_ = family_ == Family::messages || family_ == Family::symmetric ? 1 : 2;
    if (family_ == Family::lanes) lanes_ += draw(2);
    script_.assign(ranks_, std::vector<std::vector<Step>>(lanes_));
    switch (family_) {
      case Family::messages:
      case Family::lanes: write_trees(); break;
      case Family::exchange: write_exchange(); break;
      case Family::symmetric: write_symmetric(); break;
    }
    const Division pieces = {1, pieces_};
    auto script = std::make_shared<const Script>(std::move(script_));
    return {
        .name = fmt::format("random {}", name_of(family_)),
        .collective = Collective::all_reduce,
        .num_ranks = ranks_,
        .root = 0,
        .num_lanes = lanes_,
        .spaces = {{pieces, pieces, uses_scratch_ ? pieces : Division{}}},
        .order = order_,
        .lane = [script](Builder& b, std::uint32_t lane) { return replay(script, b.rank(), lane); },
    };
  }

 private:
  struct Pieces {
    std::uint32_t first = 0;
    std::uint32_t count = 1;
  };

  std::uint32_t draw(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
  bool toss() { return (random_() & 1U) != 0; }

  template <typename T>
  void shuffle(std::vector<T>& values) {
    for (std::uint32_t left = static_cast<std::uint32_t>(values.size()); left > 1; --left)
      std::swap(values[left - 1], values[draw(left)]);
  }

  std::vector<std::uint32_t> shuffled_ranks() {
    std::vector<std::uint32_t> ranks(ranks_);
    std::iota(ranks.begin(), ranks.end(), 0U);
    shuffle(ranks);
    return ranks;
  }

  // Cuts a run of pieces into runs.
  std::vector<Pieces> cut(Pieces whole, std::uint32_t most) {
    std::vector<Pieces> runs;
    while (whole.count > 0) {
      const std::uint32_t count = runs.size() + 1 == most ? whole.count : 1 + draw(whole.count);
      runs.push_back({whole.first, count});
      whole = {whole.first + count, whole.count - count};
    }
    return runs;
  }

  static Slice slice(Space space, Pieces run) { return {space, 0, run.first, run.count}; }

  Step& append(std::uint32_t rank, std::uint32_t lane, StepKind kind) {
    std::vector<Step>& steps = script_[rank][lane];
    Step& step = steps.emplace_back();
    step.kind = kind;
    step.number = static_cast<std::uint32_t>(steps.size() - 1);
    return step;
  }

  // --- trees of messages ---

  // What one rank has of one run so far.
  struct Part {
    Slice at;
    std::uint32_t lane = 0;
    std::uint32_t step = UINT32_MAX;  // the last one that touched it; none yet
  };
  struct Tree {
    Pieces run;
    std::vector<Part> parts;              // by rank
    std::vector<std::uint32_t> up, down;  // ranks in an order from the root
    std::uint32_t joined = 0;             // ranks that have sent their part
    std::uint32_t told = 1;               // ranks that have the result
  };

  Step& next(Tree& tree, std::uint32_t rank, std::uint32_t lane) {
    Step& step = append(rank, lane, StepKind::combine);
    Part& part = tree.parts[rank];
    if (part.step != UINT32_MAX && part.lane != lane) step.after.push_back({part.lane, part.step});
    part.lane = lane;
    part.step = step.number;
    return step;
  }

  std::uint32_t lane_of(bool sends, std::uint32_t rank, std::uint32_t peer) const {
    return care_[((sends ? 1 : 0) * ranks_ + rank) * ranks_ + peer];
  }

  void write_trees() {
    care_.resize(std::size_t{2} * ranks_ * ranks_);
    for (std::uint32_t& lane : care_) lane = draw(lanes_);
    // Lanes may be in different rounds and scratch is the same in all of them, so it is for one lane only.
    uses_scratch_ = lanes_ == 1 && toss();
    std::vector<Tree> trees;
    for (const Pieces& run : cut({0, pieces_}, pieces_)) {
      Tree tree{.run = run, .parts = {}, .up = shuffled_ranks(), .down = shuffled_ranks()};
      tree.parts.assign(ranks_, {slice(Space::input, run)});
      std::iter_swap(std::find(tree.down.begin(), tree.down.end(), tree.up[0]), tree.down.begin());
      trees.push_back(std::move(tree));
    }
    while (!trees.empty()) {
      const std::uint32_t which = draw(static_cast<std::uint32_t>(trees.size()));
      if (grow(trees[which])) continue;
      std::swap(trees[which], trees.back());
      trees.pop_back();
    }
  }

  // One more message of the tree, or its end.
  bool grow(Tree& tree) {
    const std::uint32_t root = tree.up[0];
    if (tree.joined + 1 < ranks_) {
      join(tree);
    } else if (tree.parts[root].at.space != Space::output) {
      Step& step = next(tree, root, tree.parts[root].lane);
      step.completes = ranks_ == 1;
      step.sources = {local_end(tree.parts[root].at)};
      tree.parts[root].at = slice(Space::output, tree.run);
      step.destinations = {local_end(tree.parts[root].at)};
    } else if (tree.told < ranks_) {
      hand_out(tree);
    } else {
      return false;
    }
    return true;
  }

  // The last rank of the order that has not sent its part sends it to one before it, sometimes two at once.
  void join(Tree& tree) {
    const std::uint32_t left = ranks_ - tree.joined;
    const std::uint32_t parent = tree.up[draw(left - (left > 2 && toss() ? 2 : 1))];
    std::vector<std::uint32_t> children = {tree.up[left - 1]};
    if (lanes_ == 1 && left > 2 && tree.up[left - 2] != parent && toss()) children.push_back(tree.up[left - 2]);
    std::vector<Endpoint> sources = {local_end(tree.parts[parent].at)};
    for (const std::uint32_t child : children) {
      Step& step = next(tree, child, lane_of(true, child, parent));
      const Slice at = tree.parts[child].at;
      step.sources = {local_end(at)};
      step.destinations = {message_end(parent, at)};
      step.gives_up_source = at.space != Space::input && toss();
      sources.push_back(message_end(child, at));
    }
    tree.joined += static_cast<std::uint32_t>(children.size());
    shuffle(sources);
    Step& fold = next(tree, parent, lane_of(false, parent, children[0]));
    fold.completes = tree.joined + 1 == ranks_;
    fold.sources = std::move(sources);
    tree.parts[parent].at = slice(uses_scratch_ && toss() ? Space::scratch : Space::output, tree.run);
    fold.destinations = {local_end(tree.parts[parent].at)};
  }

  void hand_out(Tree& tree) {
    const std::uint32_t child = tree.down[tree.told];
    const std::uint32_t parent = tree.down[draw(tree.told++)];
    const Slice output = slice(Space::output, tree.run);
    Step& send = next(tree, parent, lane_of(true, parent, child));
    send.sources = {local_end(output)};
    send.destinations = {message_end(child, output)};
    Step& receive = next(tree, child, lane_of(false, child, parent));
    receive.sources = {message_end(parent, output)};
    receive.destinations = {local_end(output)};
  }

  // --- direct ---

  std::vector<Endpoint> everyone(std::uint32_t own, std::uint32_t post, const Slice& slice,
                                 const std::vector<std::uint32_t>& order) {
    std::vector<Endpoint> sources;
    sources.reserve(order.size());
    for (const std::uint32_t rank : order)
      sources.push_back(rank == own ? local_end(slice) : remote_end(rank, post, slice));
    return sources;
  }

  // A run that is folded by itself, and the post that exposes it.
  struct Share {
    std::uint32_t post;
    Pieces run;
  };

  void write_exchange() {
    const std::vector<Pieces> exposed = cut({0, pieces_}, 3);
    std::vector<Share> grouping;
    const bool alike = toss();
    const std::vector<std::uint32_t> order = shuffled_ranks();
    if (!alike) order_ = OrderClass::free;
    uses_scratch_ = ranks_ > 1 && toss();
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      for (std::uint32_t post = 0; post < exposed.size(); ++post) {
        Step& step = append(rank, 0, StepKind::expose);
        step.post = post;
        step.sources = {local_end(slice(Space::input, exposed[post]))};
      }
      grouping.clear();
      for (std::uint32_t post = 0; post < exposed.size(); ++post)
        for (const Pieces& run : cut(exposed[post], exposed[post].count)) grouping.push_back({post, run});
      shuffle(grouping);
      for (const Share& part : grouping) exchange(rank, part, alike ? order : shuffled_ranks());
      append(rank, 1, StepKind::close);
    }
  }

  void exchange(std::uint32_t rank, const Share& part, const std::vector<std::uint32_t>& order) {
    const Slice input = slice(Space::input, part.run);
    std::vector<Endpoint> sources = everyone(rank, part.post, input, order);
    if (uses_scratch_ && toss()) {
      // One of the sources makes a stop in scratch.
      Endpoint& source = sources[draw(ranks_)];
      Step& copy = append(rank, 1, StepKind::combine);
      copy.sources = {source};
      source = local_end(slice(Space::scratch, part.run));
      copy.destinations = {source};
    }
    Step& fold = append(rank, 1, StepKind::combine);
    fold.after = {{0, part.post}};  // in place the fold overwrites what this rank exposes
    fold.completes = true;
    fold.sources = std::move(sources);
    fold.destinations = {local_end(slice(Space::output, part.run))};
  }

  void write_symmetric() {
    const std::vector<Pieces> runs = cut({0, pieces_}, pieces_);
    constexpr StepKind kPosts[] = {StepKind::expose, StepKind::open};
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      for (std::uint32_t post = 0; post < 2; ++post) {
        Step& step = append(rank, 0, kPosts[post]);
        step.post = post;
        step.sources = {local_end(slice(post == 0 ? Space::input : Space::output, {0, pieces_}))};
      }
    }
    for (const Pieces& run : runs) own_run(draw(ranks_), run);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      append(rank, 0, StepKind::signal).post = 2;
      if (ranks_ == 1) continue;
      Step& wait = append(rank, 0, StepKind::wait);
      wait.post = 2;
      for (const std::uint32_t peer : shuffled_ranks())
        if (peer != rank) wait.peers.push_back(peer);
    }
  }

  void own_run(std::uint32_t owner, Pieces run) {
    const Slice output = slice(Space::output, run);
    std::vector<Endpoint> others;
    for (const std::uint32_t rank : shuffled_ranks())
      if (rank != owner) others.push_back(remote_end(rank, 1, output));
    Step& fold = append(owner, 0, StepKind::combine);
    fold.completes = true;
    fold.sources = everyone(owner, 0, slice(Space::input, run), shuffled_ranks());
    fold.destinations = {local_end(output)};
    if (toss()) {
      fold.destinations.insert(fold.destinations.end(), others.begin(), others.end());
      return;
    }
    for (auto begin = others.begin(); begin != others.end();) {
      const auto end = begin + 1 + draw(static_cast<std::uint32_t>(others.end() - begin));
      Step& push = append(owner, 0, StepKind::combine);
      push.sources = {local_end(output)};
      push.destinations.assign(begin, end);
      begin = end;
    }
  }

  Family family_;
  std::uint32_t ranks_;
  std::mt19937_64 random_;
  std::uint32_t pieces_ = 1;
  std::uint32_t lanes_ = 1;
  bool uses_scratch_ = false;
  OrderClass order_ = OrderClass::uniform;
  std::vector<std::uint32_t> care_;  // which lane looks after an end of a connection
  Script script_;
};

}  // namespace

std::string_view name_of(Family family) {
  switch (family) {
    case Family::messages: return "messages";
    case Family::exchange: return "exchange";
    case Family::symmetric: return "symmetric";
    case Family::lanes: return "lanes";
  }
  return "unknown";
}

Schedule random_schedule(std::uint64_t seed, Family family, std::uint32_t num_ranks) {
  return Author(seed, family, num_ranks).write();
}

}  // namespace tutti
