// SPDX-License-Identifier: Apache-2.0
#include "schedule/oracle/mutation.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "schedule/listed.hpp"

namespace tutti {

namespace {

constexpr std::array<std::string_view, kNumMutations> kNames = {
    "drop_step",    "drop_message", "double_step",  "double_message", "swap_steps",    "move_step",    "move_post",
    "change_rank",  "change_piece", "change_block", "change_space",   "shift_slice",   "widen_slice",  "drop_after",
    "change_after", "drop_order",   "change_post",  "flip_completes", "flip_gives_up", "swap_operands"};

// While a schedule is being changed, a step's number is its name: where it stood. What is new has none.
constexpr std::uint32_t kNew = UINT32_MAX;
constexpr std::uint32_t kLaneBits = 20;

bool has_message(const Step& step) {
  const auto is_message = [](const Endpoint& end) { return end.place == Place::message; };
  return std::any_of(step.sources.begin(), step.sources.end(), is_message) ||
         std::any_of(step.destinations.begin(), step.destinations.end(), is_message);
}

// The step's `number`th end.
Endpoint& end_of(Step& step, std::size_t number) {
  return number < step.sources.size() ? step.sources[number] : step.destinations[number - step.sources.size()];
}

class Mutator {
 public:
  Mutator(const Schedule& schedule, std::uint64_t seed)
      : schedule_(schedule), random_(seed), original_(programs_of(schedule)) {}

  std::optional<Mutant> mutate() {
    // A change can turn out to be none, as where there is one block to choose from.
    constexpr int kTries = 20;
    for (int tries = 0; tries < kTries; ++tries) {
      programs_ = original_;
      name_steps();
      mutation_ = static_cast<Mutation>(draw(kNumMutations));
      if (!choose()) continue;
      // Algorithms are alike on all ranks, so a mistake in one is as well, often.
      const bool everywhere = draw(4) == 0;
      keeps_references_ = draw(8) != 0;
      change_all(everywhere);
      number_steps();
      if (is_as_it_was()) continue;
      if (everywhere) what_ += ", and on every rank alike";
      return Mutant{mutation_, std::move(what_), listed(schedule_, std::move(programs_))};
    }
    return std::nullopt;
  }

 private:
  std::uint32_t draw(std::size_t below) { return static_cast<std::uint32_t>(random_() % below); }
  bool toss() { return draw(2) == 0; }

  std::vector<Step>& lane_at() { return programs_[rank_].lanes[lane_]; }
  Step& step_at() { return lane_at()[index_]; }

  [[nodiscard]] bool is_as_it_was() const {
    for (std::uint32_t rank = 0; rank < schedule_.num_ranks; ++rank)
      if (programs_[rank].lanes != original_[rank].lanes) return false;
    return true;
  }

  // --- which step ---

  [[nodiscard]] bool applies(const Step& step) const {
    const bool combines = step.kind == StepKind::combine;
    const bool orders = step.kind == StepKind::wait || step.kind == StepKind::close;
    switch (mutation_) {
      case Mutation::drop_message:
      case Mutation::double_message: return combines && has_message(step);
      case Mutation::move_post: return is_post(step);
      case Mutation::change_rank: return !step.peers.empty() || (combines && (has_message(step) || is_direct(step)));
      case Mutation::change_piece:
      case Mutation::change_block:
      case Mutation::change_space:
      case Mutation::shift_slice:
      case Mutation::widen_slice: return !step.sources.empty();
      case Mutation::drop_after:
      case Mutation::change_after: return !step.after.empty();
      case Mutation::drop_order: return orders;
      case Mutation::change_post: return !step.peers.empty() || (combines && is_direct(step));
      case Mutation::flip_completes: return combines;
      case Mutation::flip_gives_up:
        return combines && step.sources.size() == 1 && step.sources[0].place == Place::local;
      case Mutation::swap_operands: return step.sources.size() > 1;
      default: return true;
    }
  }

  bool choose() {
    std::uint32_t count = 0;
    for (std::uint32_t rank = 0; rank < schedule_.num_ranks; ++rank) {
      for (std::uint32_t lane = 0; lane < schedule_.num_lanes; ++lane) {
        const std::vector<Step>& steps = programs_[rank].lanes[lane];
        for (std::uint32_t index = 0; index < steps.size(); ++index) {
          // Each of those that suit with the same chance.
          if (!applies(steps[index]) || draw(++count) != 0) continue;
          rank_ = rank;
          lane_ = lane;
          index_ = index;
        }
      }
    }
    return count > 0;
  }

  void change_all(bool everywhere) {
    const std::uint32_t chosen = rank_;
    const std::uint32_t name = step_at().number;
    what_ = fmt::format("{} at rank {}, lane {}, step {} ({})", name_of(mutation_), rank_, lane_, index_,
                        to_string(step_at()));
    const std::uint64_t seed = random_();
    for (std::uint32_t rank = 0; rank < schedule_.num_ranks; ++rank) {
      if (!everywhere && rank != chosen) continue;
      rank_ = rank;
      const std::vector<Step>& steps = lane_at();
      const auto found =
          std::find_if(steps.begin(), steps.end(), [&](const Step& step) { return step.number == name; });
      if (found == steps.end() || !applies(*found)) continue;
      index_ = static_cast<std::uint32_t>(found - steps.begin());
      random_.seed(seed);
      change();
    }
  }

  // --- what is done to it ---

  void change() {
    switch (mutation_) {
      case Mutation::drop_step: erase(); return;
      case Mutation::drop_message: drop_message(); return;
      case Mutation::double_step: insert_again(toss() ? 1 : 1 + draw(lane_at().size() - index_)); return;
      case Mutation::double_message: double_message(); return;
      case Mutation::swap_steps: swap_steps(); return;
      case Mutation::move_step: move_step(schedule_.num_lanes > 1 && draw(4) == 0); return;
      case Mutation::move_post: move_step(false); return;
      case Mutation::change_rank: change_rank(); return;
      case Mutation::change_piece:
      case Mutation::widen_slice: change_pieces(); return;
      case Mutation::change_block:
      case Mutation::change_space:
      case Mutation::shift_slice: change_end(any_end()); return;
      case Mutation::drop_after: step_at().after.erase(step_at().after.begin() + draw(step_at().after.size())); return;
      case Mutation::change_after: change_after(); return;
      case Mutation::drop_order: drop_order(); return;
      case Mutation::change_post: change_post(); return;
      case Mutation::flip_completes: step_at().completes = !step_at().completes; return;
      case Mutation::flip_gives_up: step_at().gives_up_source = !step_at().gives_up_source; return;
      case Mutation::swap_operands: {
        std::vector<Endpoint>& sources = step_at().sources;
        const std::uint32_t first = draw(sources.size());
        std::swap(sources[first], sources[(first + 1 + draw(sources.size() - 1)) % sources.size()]);
        return;
      }
    }
  }

  void erase() { lane_at().erase(lane_at().begin() + index_); }

  void insert_again(std::uint32_t further) {
    Step again = step_at();
    again.number = kNew;
    lane_at().insert(lane_at().begin() + index_ + further, std::move(again));
  }

  void swap_steps() {
    std::vector<Step>& steps = lane_at();
    const std::size_t other = toss() ? index_ + 1 : draw(steps.size());
    if (other < steps.size()) std::swap(steps[index_], steps[other]);
  }

  void move_step(bool to_another_lane) {
    Step step = std::move(step_at());
    erase();
    if (to_another_lane) lane_ = (lane_ + 1 + draw(schedule_.num_lanes - 1)) % schedule_.num_lanes;
    lane_at().insert(lane_at().begin() + draw(lane_at().size() + 1), std::move(step));
  }

  // Any of the step's ends but those that have no other rank, where `talks`.
  Endpoint& any_end(bool talks = false) {
    Step& step = step_at();
    const std::size_t all = step.sources.size() + step.destinations.size();
    std::size_t number = draw(all);
    while (talks && end_of(step, number).place == Place::local) number = (number + 1) % all;
    return end_of(step, number);
  }

  void change_rank() {
    Step& step = step_at();
    Endpoint* end = step.kind == StepKind::wait ? nullptr : &any_end(true);
    if (end != nullptr && end->place == Place::message && draw(4) == 0) {
      end->channel ^= 1U;
      return;
    }
    std::uint32_t& rank = end == nullptr ? step.peers[draw(step.peers.size())] : end->rank;
    rank = (rank + 1 + draw(schedule_.num_ranks)) % schedule_.num_ranks;
  }

  void change_end(Endpoint& end) {
    Slice& slice = end.slice;
    if (mutation_ == Mutation::shift_slice) {
      if (slice.num_blocks > 1 && toss()) {
        (toss() ? slice.stride : slice.run) += toss() ? 1U : UINT32_MAX;
      } else {
        slice.first_piece += toss() ? 1U : UINT32_MAX;
      }
      return;
    }
    if (mutation_ == Mutation::change_space) slice.space = static_cast<Space>(draw(kNumSpaces));
    const std::uint32_t blocks = schedule_.division(slice.space).blocks;
    if (blocks == 0) return;
    slice.block = mutation_ == Mutation::change_block ? draw(blocks) : slice.block % blocks;
  }

  void change_pieces() {
    const std::uint32_t pieces = schedule_.division(step_at().sources[0].slice.space).pieces;
    const std::uint32_t first = draw(pieces);
    const std::uint32_t more = toss() ? 1U : UINT32_MAX;
    const bool blocks = step_at().sources[0].slice.num_blocks > 1 && toss();
    const auto change_step = [&](Step& step) {
      for (auto* ends : {&step.sources, &step.destinations}) {
        for (Endpoint& end : *ends) {
          if (mutation_ == Mutation::change_piece) end.slice.first_piece = first;
          if (mutation_ == Mutation::widen_slice) (blocks ? end.slice.num_blocks : end.slice.num_pieces) += more;
        }
      }
    };
    // With the other end of its message, so that the two still agree.
    std::size_t number = 0;
    const std::optional<Spot> other = toss() ? partner(number) : std::nullopt;
    if (other) change_step(at(*other));
    change_step(step_at());
  }

  void change_after() {
    After& after = step_at().after[draw(step_at().after.size())];
    if (schedule_.num_lanes > 2 && toss()) {
      after.lane = draw(schedule_.num_lanes);
    } else {
      after.step += toss() ? 1U : UINT32_MAX;
    }
  }

  void drop_order() {
    Step& step = step_at();
    if (step.kind == StepKind::wait && step.peers.size() > 1 && toss()) {
      step.peers.erase(step.peers.begin() + draw(step.peers.size()));
    } else {
      erase();
    }
  }

  void change_post() {
    Step& step = step_at();
    std::uint32_t& post = step.kind == StepKind::wait ? step.post : any_end(true).post;
    post += toss() ? 1U : UINT32_MAX;
  }

  // --- messages ---

  // Where a step stands now.
  struct Spot {
    std::uint32_t rank = 0;
    std::uint32_t lane = 0;
    std::uint32_t index = 0;
  };
  Step& at(const Spot& spot) { return programs_[spot.rank].lanes[spot.lane][spot.index]; }

  // The step at the other end of one of the step's messages, and which of its own ends that is.
  std::optional<Spot> partner(std::size_t& number) {
    Step& step = step_at();
    const std::size_t all = step.sources.size() + step.destinations.size();
    number = draw(all);
    for (std::size_t tries = 0; tries < all && end_of(step, number).place != Place::message; ++tries)
      number = (number + 1) % all;
    const Endpoint& end = end_of(step, number);
    if (end.place != Place::message || end.rank >= schedule_.num_ranks) return std::nullopt;
    const bool sends = number >= step.sources.size();
    std::uint32_t before = 0;
    for (std::uint32_t index = 0; index < index_; ++index) before += count(lane_at()[index], sends, end);
    const Endpoint back{Place::message, rank_, 0, {}, end.channel};
    Spot spot{.rank = end.rank};
    for (spot.lane = 0; spot.lane < schedule_.num_lanes; ++spot.lane)
      for (spot.index = 0; spot.index < programs_[spot.rank].lanes[spot.lane].size(); ++spot.index)
        if (count(at(spot), !sends, back) > 0 && before-- == 0) return spot;
    return std::nullopt;
  }

  // The messages that the step sends to, or receives from, where `end` goes to.
  static std::uint32_t count(const Step& step, bool sends, const Endpoint& end) {
    const std::vector<Endpoint>& ends = sends ? step.destinations : step.sources;
    return static_cast<std::uint32_t>(std::count_if(ends.begin(), ends.end(), [&](const Endpoint& each) {
      return each.place == Place::message && each.rank == end.rank && each.channel == end.channel;
    }));
  }

  void drop_message() {
    std::size_t number = 0;
    const std::optional<Spot> other = partner(number);
    if (!other) return;
    Step& step = step_at();
    const bool sends = number >= step.sources.size();
    std::vector<Endpoint>& ends = sends ? step.destinations : step.sources;
    ends.erase(ends.begin() + static_cast<std::ptrdiff_t>(sends ? number - step.sources.size() : number));
    std::vector<Endpoint>& back = sends ? at(*other).sources : at(*other).destinations;
    back.erase(std::find_if(back.begin(), back.end(),
                            [&](const Endpoint& end) { return end.place == Place::message && end.rank == rank_; }));
    for (std::vector<Step>* steps : {&lane_at(), &programs_[other->rank].lanes[other->lane]})
      std::erase_if(*steps, [](const Step& each) {
        return each.kind == StepKind::combine && (each.sources.empty() || each.destinations.empty());
      });
  }

  void double_message() {
    std::size_t number = 0;
    const std::optional<Spot> other = partner(number);
    if (!other) return;
    insert_again(1);
    const Spot own{rank_, lane_, index_};
    rank_ = other->rank;
    lane_ = other->lane;
    index_ = other->index;
    insert_again(1);
    rank_ = own.rank;
    lane_ = own.lane;
  }

  // --- names and numbers ---

  void name_steps() {
    for (Program& program : programs_)
      for (std::uint32_t lane = 0; lane < program.lanes.size(); ++lane)
        for (Step& step : program.lanes[lane]) step.number |= lane << kLaneBits;
  }

  // Gives every step its number and every post its own, and finds those that others speak of.
  void number_steps() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> posts;  // by rank and old number
    for (std::uint32_t rank = 0; rank < schedule_.num_ranks; ++rank) {
      std::map<std::uint32_t, After> places;  // by name
      std::uint32_t num_posts = 0;
      for (std::uint32_t lane = 0; lane < schedule_.num_lanes; ++lane) {
        std::vector<Step>& steps = programs_[rank].lanes[lane];
        for (std::uint32_t index = 0; index < steps.size(); ++index) {
          if (steps[index].number != kNew) places[steps[index].number] = {lane, index};
          steps[index].number = index;
          if (!is_post(steps[index])) continue;
          posts.try_emplace({rank, steps[index].post}, num_posts);
          steps[index].post = num_posts++;
        }
      }
      if (!keeps_references_) continue;
      for (std::vector<Step>& steps : programs_[rank].lanes)
        for (Step& step : steps) place_after(step, places);
    }
    if (!keeps_references_) return;
    const auto now = [&](std::uint32_t rank, std::uint32_t& post) {
      const auto found = posts.find({rank, post});
      if (found != posts.end()) post = found->second;
    };
    for (Program& program : programs_) {
      for (std::vector<Step>& steps : program.lanes) {
        for (Step& step : steps) {
          if (step.kind == StepKind::wait && !step.peers.empty()) now(step.peers[0], step.post);
          for (auto* ends : {&step.sources, &step.destinations})
            for (Endpoint& end : *ends)
              if (end.place == Place::remote || end.place == Place::multicast) now(end.rank, end.post);
        }
      }
    }
  }

  // Whoever came after a step that is gone comes after the one before it.
  static void place_after(Step& step, const std::map<std::uint32_t, After>& places) {
    for (After& after : step.after) {
      const std::uint32_t name = after.lane << kLaneBits | after.step;
      auto found = places.upper_bound(name);
      if (found == places.begin()) continue;
      --found;
      if (found->first >> kLaneBits == after.lane) after = found->second;
    }
  }

  const Schedule& schedule_;
  std::mt19937_64 random_;
  std::vector<Program> original_;
  std::vector<Program> programs_;
  Mutation mutation_ = Mutation::drop_step;
  std::string what_;
  bool keeps_references_ = true;
  std::uint32_t rank_ = 0;
  std::uint32_t lane_ = 0;
  std::uint32_t index_ = 0;
};

}  // namespace

std::string_view name_of(Mutation mutation) { return kNames[static_cast<std::size_t>(mutation)]; }

std::optional<Mutant> mutate(const Schedule& schedule, std::uint64_t seed) { return Mutator(schedule, seed).mutate(); }

}  // namespace tutti
