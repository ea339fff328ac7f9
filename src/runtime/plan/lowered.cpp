// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan/lowered.hpp"

#include <algorithm>

#include "runtime/plan/block_table.hpp"

namespace tutti {

namespace {

class Lowering {
 public:
  Lowering(const Call& call, Lowered& lowered) : call_(call), plan_(*call.plan), lowered_(lowered) {}

  bool run() {
    if (plan_.has_messages || (call_.rounds > 1 && !has_whole_blocks())) return false;
    if (!plan_.posts_first && !is_one_round_of_one_lane()) return false;
    if (facts_of(plan_.schedule.collective).varies && !is_one_round_of_known_blocks()) return false;
    lowered_.steps.clear();
    lowered_.ends.clear();
    lowered_.met.assign(plan_.schedule.num_ranks, false);
    if (!take_posts()) return false;
    lowered_.num_posts = lowered_.steps.size();
    for (std::uint32_t lane = 0; lane < plan_.num_lanes(); ++lane)
      if (!take_lane(lane)) return false;
    if (!finish_behind_last_remote()) return false;
    lowered_.met[plan_.rank] = true;
    lowered_.meets_all = std::find(lowered_.met.begin(), lowered_.met.end(), false) == lowered_.met.end();
    return true;
  }

 private:
  // Then a round is the same run of each block, and the next round the run behind it.
  [[nodiscard]] bool has_whole_blocks() const {
    const auto is_whole = [](const Division& division) { return division.blocks == 0 || division.pieces == 1; };
    return plan_.schedule.division(Space::scratch).blocks == 0 &&
           std::all_of(plan_.schedule.spaces.begin(), plan_.schedule.spaces.end(), is_whole);
  }

  // Then what a later post waits for stands before it in the list too. Of several rounds the first posts of the next
  // would be made before the later ones of this, and a rank's posts are to be made in order (Executor::seen_posts_).
  [[nodiscard]] bool is_one_round_of_one_lane() const {
    return call_.reach == Reach::symmetric && call_.rounds == 1 && plan_.num_lanes() == 1;
  }

  // Where blocks differ in size, each ends in a round of its own.
  [[nodiscard]] bool is_one_round_of_known_blocks() const {
    return call_.varying != nullptr && call_.rounds == 1 && has_whole_blocks();
  }

  // Those that stand first in their lanes.
  bool take_posts() {
    for (const std::vector<tutti::Step>& lane : plan_.program.lanes)
      for (const tutti::Step& step : lane) {
        if (!is_post(step)) break;
        if (!take_post(step)) return false;
      }
    return true;
  }

  bool take_post(const tutti::Step& step) {
    Lowered::Step post{.kind = Lowered::Kind::signal, .post = step.post};
    if (step.kind != StepKind::signal) {
      const Slice& slice = step.sources[0].slice;
      if (slice.space == Space::scratch) return false;
      post.space = slice.space;
      post.kind = call_.by_name() ? Lowered::Kind::name : Lowered::Kind::expose;
      if (step.kind == StepKind::open && !call_.by_name()) return false;
      if (post.kind == Lowered::Kind::expose) {
        const Run run = run_of(slice, slice.block);
        post.offset = offset_of(slice, slice.block);
        post.length = run.length;
        post.expose = plan_.posts[plan_.rank][step.post].expose;
      }
    }
    lowered_.steps.push_back(post);
    return true;
  }

  bool take_lane(std::uint32_t lane) {
    bool are_posts = true;  // so far: take_posts() has them
    for (const tutti::Step& step : plan_.program.lanes[lane]) {
      // Of a later lane only posts are behind it by now.
      for (const After& after : step.after)
        if (after.lane > lane && !is_post_of(after)) return false;
      if (is_post(step)) {
        if (!are_posts && !take_post(step)) return false;
        continue;
      }
      are_posts = false;
      switch (step.kind) {
        case StepKind::wait:
          for (const std::uint32_t rank : step.peers) {
            lowered_.steps.push_back({.kind = Lowered::Kind::await, .rank = rank, .post = step.post});
            lowered_.met[rank] = true;
          }
          break;
        case StepKind::close:
          if (call_.by_name()) lowered_.steps.push_back({.kind = Lowered::Kind::close});
          break;
        case StepKind::combine:
          if (call_.reach == Reach::attached && !is_copied_by_system(step)) return false;
          take_combine(step);
          break;
        default: return false;
      }
    }
    return true;
  }

  // All of its result is stored here, or all of it in other processes; so far in one, and of what is partly this
  // rank's.
  static bool is_copied_by_system(const tutti::Step& step) {
    const auto is_remote = [](const Endpoint& end) { return end.place == Place::remote; };
    const auto stored_there = std::count_if(step.destinations.begin(), step.destinations.end(), is_remote);
    return stored_there == 0 || stored_there == std::ssize(step.destinations);
  }

  bool is_post_of(const After& after) const {
    const auto& steps = plan_.program.lanes[after.lane];
    const auto found =
        std::find_if(steps.begin(), steps.end(), [&](const tutti::Step& step) { return step.number >= after.step; });
    return found != steps.end() && is_post(*found);
  }

  void take_combine(const tutti::Step& step) {
    const Slice& shape = step.destinations[0].slice;
    for (std::uint32_t index = 0; index < shape.num_blocks; ++index) {
      const std::uint64_t length = run_of(shape, block(shape, index)).length;
      Lowered::Step combine{.kind = Lowered::Kind::combine,
                            .completes = step.completes,
                            .first = static_cast<std::uint32_t>(lowered_.ends.size()),
                            .num_sources = static_cast<std::uint32_t>(step.sources.size()),
                            .num_destinations = static_cast<std::uint32_t>(step.destinations.size()),
                            .length = length};
      for (std::uint32_t source = 0; source < step.sources.size(); ++source) {
        const Endpoint& end = step.sources[source];
        if (end.place == Place::local && end.slice.space == Space::input) combine.raw_source = source;
        lowered_.ends.push_back(end_of(end, index));
      }
      for (const Endpoint& end : step.destinations) lowered_.ends.push_back(end_of(end, index));
      if (is_move(combine)) {
        combine.kind = Lowered::Kind::move;
        set_exposure(lowered_.ends[combine.first]);
      }
      lowered_.steps.push_back(combine);
    }
  }

  // More than that is left to the kernels, which know when to store past the caches.
  [[nodiscard]] bool is_move(const Lowered::Step& combine) const {
    return !facts_of(plan_.schedule.collective).folds && !call_.by_name() && call_.rounds == 1 &&
           call_.varying == nullptr && combine.num_sources == 1 && combine.num_destinations == 1 &&
           combine.length * element() <= call_.move_most &&
           lowered_.ends[combine.first + 1].base == Lowered::End::Base::output;
  }

  void set_exposure(Lowered::End& end) const {
    if (end.base != Lowered::End::Base::remote) return;
    const Posted& posted = plan_.posts[end.rank][end.post];
    end.expose = posted.expose;
    const std::uint64_t bytes = run_of(posted.slice, posted.slice.block).length * element();
    end.in_line = call_.bytes_in_slot(bytes) < call_.inline_end;
  }

  Lowered::End end_of(const Endpoint& end, std::uint32_t index) {
    const Slice& slice = end.slice;
    Lowered::End lowered{.space = slice.space};
    if (end.place == Place::local) {
      lowered.offset = offset_of(slice, block(slice, index));
      lowered.base = slice.space == Space::input    ? Lowered::End::Base::input
                     : slice.space == Space::output ? Lowered::End::Base::output
                                                    : Lowered::End::Base::scratch;
      return lowered;
    }
    lowered.base = Lowered::End::Base::remote;
    lowered.rank = end.rank;
    lowered_.met[end.rank] = true;
    lowered.post = end.post;
    const Posted& posted = plan_.posts[end.rank][end.post];
    // Of blocks that differ in size this rank knows its own alone, and all of what is exposed is read.
    if (call_.varying != nullptr) return lowered;
    lowered.offset =
        call_.by_name()
            ? offset_of(slice, block(slice, index))
            : (run_of(slice, slice.block).offset - run_of(posted.slice, posted.slice.block).offset) * element();
    return lowered;
  }

  // Behind the last step that reaches others' memory, or behind the posts where there is none. False where a close
  // stands before it.
  bool finish_behind_last_remote() {
    std::size_t last = 0;
    for (std::size_t at = 0; at < lowered_.steps.size(); ++at) {
      const Lowered::Step& step = lowered_.steps[at];
      bool is_remote = step.kind == Lowered::Kind::await;
      for (std::uint32_t end = 0; end < step.num_sources + step.num_destinations; ++end)
        is_remote = is_remote || lowered_.ends[step.first + end].base == Lowered::End::Base::remote;
      if (is_remote) last = at + 1;
    }
    // All others would wait for that as well, each in a close of its own.
    const auto is_close = [](const Lowered::Step& step) { return step.kind == Lowered::Kind::close; };
    if (std::any_of(lowered_.steps.begin(), lowered_.steps.begin() + static_cast<std::ptrdiff_t>(last), is_close))
      return false;
    if (last < lowered_.num_posts) last = lowered_.num_posts;
    lowered_.steps.insert(lowered_.steps.begin() + static_cast<std::ptrdiff_t>(last), {.kind = Lowered::Kind::finish});
    return true;
  }

  std::uint32_t block(const Slice& slice, std::uint32_t index) const {
    return block_at(slice, index, plan_.schedule.division(slice.space).blocks);
  }
  Run run_of(const Slice& slice, std::uint32_t block) const {
    if (call_.varying != nullptr) return {0, call_.varying->at(slice.space, block).count};
    const PieceLayout& layout = call_.layouts[static_cast<std::size_t>(slice.space)];
    return call_.rounds > 1 ? layout.run(0, 0) : layout.whole(slice.first_piece, slice.num_pieces);
  }
  std::uint64_t offset_of(const Slice& slice, std::uint32_t block) const {
    if (call_.varying != nullptr) return call_.varying->at(slice.space, block).offset * element();
    return (block * call_.block_elements[static_cast<std::size_t>(slice.space)] + run_of(slice, block).offset) *
           element();
  }
  std::uint64_t element() const { return call_.element; }

  const Call& call_;
  const Plan& plan_;
  Lowered& lowered_;
};

}  // namespace

bool lower(const Call& call, Lowered& lowered) { return Lowering(call, lowered).run(); }

}  // namespace tutti
