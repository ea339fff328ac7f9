// SPDX-License-Identifier: Apache-2.0
#include "device/walk/program.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "schedule/programs.hpp"

namespace tutti::device {

namespace {

class Wording {
 public:
  Wording(const Programs& programs, std::uint32_t rank, bool by_name)
      : programs_(programs), rank_(rank), by_name_(by_name) {}

  Result<WordProgram> run() {
    TUTTI_TRY(take_lanes());
    TUTTI_TRY(finish_behind_last_remote());
    return std::move(words_);
  }

 private:
  [[nodiscard]] const Schedule& schedule() const { return programs_.schedule(); }
  [[nodiscard]] const std::vector<Step>& lane(std::uint32_t number) const { return programs_.steps(rank_, number); }

  [[nodiscard]] Status refuse(const std::string& reason) const {
    return {Code::unsupported, fmt::format("{} cannot run on a device: {}", schedule().name, reason)};
  }

  // How many posts stand first in a lane and wait for nothing.
  [[nodiscard]] static std::size_t leading_posts(const std::vector<Step>& steps) {
    const auto is_free_post = [](const Step& step) { return is_post(step) && step.after.empty(); };
    return static_cast<std::size_t>(std::find_if_not(steps.begin(), steps.end(), is_free_post) - steps.begin());
  }

  Status take_lanes() {
    for (std::uint32_t number = 0; number < programs_.num_lanes(); ++number) {
      const std::vector<Step>& steps = lane(number);
      for (std::size_t at = 0; at < leading_posts(steps); ++at) TUTTI_TRY(take(steps[at]));
    }
    for (std::uint32_t number = 0; number < programs_.num_lanes(); ++number) {
      const std::vector<Step>& steps = lane(number);
      for (std::size_t at = leading_posts(steps); at < steps.size(); ++at) {
        if (programs_.num_lanes() > 1 && is_post(steps[at]))
          return refuse(fmt::format("its lanes must run side by side: {}", to_string(steps[at])));
        for (const After& after : steps[at].after) TUTTI_TRY(check_after(number, after));
        TUTTI_TRY(take(steps[at]));
      }
    }
    return {};
  }

  // When this lane runs, only the leading posts of later lanes are done.
  Status check_after(std::uint32_t number, const After& after) const {
    if (after.lane <= number) return {};
    if (programs_.index_of(rank_, after.lane, after.step) < leading_posts(lane(after.lane))) return {};
    return refuse("a lane waits for a later one");
  }

  Status take(const Step& step) {
    switch (step.kind) {
      case StepKind::expose:
      case StepKind::open: return take_shown(step);
      case StepKind::signal: words_.steps.push_back({.kind = WordKind::signal, .post = step.post}); return {};
      case StepKind::wait:
        TUTTI_TRY(check_ends(step.peers.size(), step));
        words_.steps.push_back({.kind = WordKind::wait,
                                .num_sources = static_cast<std::uint16_t>(step.peers.size()),
                                .post = step.post,
                                .first_end = next_end()});
        for (const std::uint32_t rank : step.peers)
          words_.ends.push_back({.is_remote = true, .rank = static_cast<std::uint16_t>(rank), .post = step.post});
        return {};
      case StepKind::close:
        if (by_name_) words_.steps.push_back({.kind = WordKind::close});
        return {};
      case StepKind::combine: return take_combine(step);
    }
    return {};
  }

  Status take_shown(const Step& step) {
    if (by_name_) {
      // One post of a round says where buffers lie; who reads them has waited for it, or for a later one.
      words_.steps.push_back({.kind = has_named_ ? WordKind::signal : WordKind::name, .post = step.post});
      has_named_ = true;
      return {};
    }
    const Slice& slice = step.sources[0].slice;
    const std::uint32_t expose = programs_.rank_facts(rank_).slots[step.post];
    words_.steps.push_back({.kind = WordKind::expose,
                            .num_sources = 1,
                            .num_destinations = 1,
                            .raw_source = slice.space == Space::input ? std::uint16_t{0} : std::uint16_t{0xffff},
                            .post = step.post,
                            .expose = expose,
                            .first_end = next_end(),
                            .first_piece = slice.first_piece,
                            .num_pieces = slice.num_pieces});
    words_.ends.push_back({.base = base_of(slice.space), .block = slice.block});
    words_.ends.push_back(
        {.base = WordBase::slot, .block = slice.block, .expose = expose, .exposed_piece = slice.first_piece});
    return {};
  }

  [[nodiscard]] Status check_ends(std::size_t number, const Step& step) const {
    if (number <= kMostEnds) return {};
    return refuse(fmt::format("a step has {} ends, and {} are the most: {}", number, kMostEnds, to_string(step)));
  }

  Status take_combine(const Step& step) {
    TUTTI_TRY(check_ends(step.sources.size() + step.destinations.size(), step));
    const Slice& shape = step.destinations[0].slice;
    for (std::uint32_t index = 0; index < shape.num_blocks; ++index) {
      WordStep combine = {.kind = WordKind::combine,
                          .completes = step.completes,
                          .num_sources = static_cast<std::uint16_t>(step.sources.size()),
                          .num_destinations = static_cast<std::uint16_t>(step.destinations.size()),
                          .first_end = next_end(),
                          .first_piece = shape.first_piece,
                          .num_pieces = shape.num_pieces};
      for (std::size_t source = 0; source < step.sources.size(); ++source) {
        const Endpoint& end = step.sources[source];
        if (end.place == Place::local && end.slice.space == Space::input)
          combine.raw_source = static_cast<std::uint16_t>(source);
        TUTTI_TRY(take_end(end, index, step));
      }
      for (const Endpoint& end : step.destinations) TUTTI_TRY(take_end(end, index, step));
      words_.steps.push_back(combine);
    }
    return {};
  }

  Status take_end(const Endpoint& end, std::uint32_t index, const Step& step) {
    const Slice& slice = end.slice;
    WordEnd word = {.base = base_of(slice.space),
                    .block = block_at(slice, index, schedule().division(slice.space).blocks)};
    switch (end.place) {
      case Place::message: return refuse(fmt::format("it sends messages: {}", to_string(step)));
      case Place::multicast: return refuse(fmt::format("it needs a switch that multicasts: {}", to_string(step)));
      case Place::local: break;
      case Place::remote:
        word.is_remote = true;
        word.rank = static_cast<std::uint16_t>(end.rank);
        word.post = end.post;
        if (!by_name_) {
          const Programs::RankFacts& facts = programs_.rank_facts(end.rank);
          word.base = WordBase::slot;
          word.expose = facts.slots[end.post];
          word.exposed_piece = facts.posts[end.post]->sources[0].slice.first_piece;
        }
        break;
    }
    words_.ends.push_back(word);
    return {};
  }

  // The finish goes after the last remote access and the last post.
  Status finish_behind_last_remote() {
    std::size_t last = 0;
    for (std::size_t at = 0; at < words_.steps.size(); ++at)
      if (is_remote(words_.steps[at]) || is_post_word(at)) last = at + 1;
    const auto behind = words_.steps.begin() + static_cast<std::ptrdiff_t>(last);
    if (std::any_of(words_.steps.begin(), behind, [](const WordStep& step) { return step.kind == WordKind::close; }))
      return refuse("it closes before it has reached others for the last time");
    words_.steps.insert(behind, {.kind = WordKind::finish});
    return {};
  }

  [[nodiscard]] bool is_post_word(std::size_t at) const {
    const WordKind kind = words_.steps[at].kind;
    return kind == WordKind::expose || kind == WordKind::name || kind == WordKind::signal;
  }
  [[nodiscard]] bool is_remote(const WordStep& step) const {
    const auto first = words_.ends.begin() + step.first_end;
    return std::any_of(first, first + step.num_sources + step.num_destinations,
                       [](const WordEnd& end) { return end.is_remote; });
  }

  [[nodiscard]] std::uint32_t next_end() const { return static_cast<std::uint32_t>(words_.ends.size()); }
  static WordBase base_of(Space space) {
    return space == Space::input ? WordBase::input : space == Space::output ? WordBase::output : WordBase::scratch;
  }

  const Programs& programs_;
  const std::uint32_t rank_;
  const bool by_name_;
  bool has_named_ = false;
  WordProgram words_;
};

}  // namespace

Result<WordPrograms> make_word_programs(const Schedule& schedule, bool by_name) {
  if (schedule.num_ranks > kMostRanks)
    return Status(Code::unsupported, fmt::format("{} ranks; on devices {} at most", schedule.num_ranks, kMostRanks));
  const Programs programs(schedule, Fusion::neighbours);
  WordPrograms words;
  words.by_name = by_name;
  words.pieces = schedule.division(Space::input).pieces;
  words.scratch_blocks = schedule.division(Space::scratch).blocks;
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
    const Programs::RankFacts& facts = programs.rank_facts(rank);
    words.by_name = words.by_name || facts.opens;
    words.posts_per_round = std::max(words.posts_per_round, static_cast<std::uint32_t>(facts.posts.size()));
    words.exposes_per_round = std::max(words.exposes_per_round, facts.num_exposes);
    for (const Step* post : facts.posts)
      if (post->kind == StepKind::expose)
        words.widest_expose = std::max(words.widest_expose, post->sources[0].slice.num_pieces);
  }
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
    TUTTI_TRY_ASSIGN(WordProgram program, Wording(programs, rank, words.by_name).run());
    words.ranks.push_back(std::move(program));
  }
  return words;
}

}  // namespace tutti::device
