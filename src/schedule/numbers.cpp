// SPDX-License-Identifier: Apache-2.0
#include "schedule/numbers.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "schedule/layout.hpp"
#include "schedule/meaning.hpp"
#include "schedule/prove/definition.hpp"

namespace tutti {

namespace {

using Bytes = std::vector<std::byte>;
constexpr std::byte kPoison{0xa5};

struct Rank {
  Program program;
  Bytes input;
  Bytes output;
  Bytes scratch;
  std::vector<Bytes> slots;
  std::vector<const Step*> posts;
  std::uint32_t num_exposes = 0;  // in a round
  std::uint64_t posted = 0;       // in all rounds so far
  std::uint64_t exposed = 0;
  bool opens = false;
};

struct Walker {
  std::uint32_t rank = 0;
  std::uint32_t lane = 0;
  std::uint64_t round = 0;
  std::size_t index = 0;
  std::int64_t passed = -1;  // the number of the last step passed in this round
  bool performed = false;
};

// The Machine of meaning.hpp on arrays.
class Execution {
 public:
  Execution(const Schedule& schedule, std::span<const Bytes> inputs, const NumbersData& data,
            const NumbersOptions& options)
      : schedule_(schedule), data_(data), options_(options), ranks_(schedule.num_ranks) {
    const std::uint32_t pieces = schedule.division(Space::input).pieces;
    for (std::uint32_t each = 0; each < num_size_classes(schedule); ++each) {
      layouts_.emplace_back(data.sizes.empty() ? data.count : data.sizes[each], pieces, data.window);
      num_rounds_ = std::max(num_rounds_, layouts_.back().num_rounds());
    }
    for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) prepare(rank, inputs[rank]);
  }

  Status run() {
    std::mt19937_64 random(options_.seed);
    std::vector<std::size_t> order(walkers_.size());
    for (std::size_t each = 0; each < order.size(); ++each) order[each] = each;
    for (;;) {
      // Whoever comes first and can move does; a new draw for each step.
      bool moved = false;
      std::size_t remaining = order.size();
      while (!moved && remaining > 0) {
        std::swap(order[random() % remaining], order[remaining - 1]);
        moved = advance(walkers_[order[--remaining]]);
      }
      if (!moved) break;
    }
    for (const Walker& walker : walkers_) {
      if (walker.round == num_rounds_) continue;
      return {Code::internal,
              fmt::format("the ranks are stuck: rank {}, lane {} in round {}", walker.rank, walker.lane, walker.round),
              static_cast<int>(walker.rank)};
    }
    return {};
  }

  std::vector<Bytes> outputs() {
    std::vector<Bytes> result;
    for (std::uint32_t rank = 0; rank < schedule_.num_ranks; ++rank) {
      Bytes& output = ranks_[rank].output;
      for (std::uint32_t block = 0; options_.in_place && block < schedule_.division(Space::output).blocks; ++block) {
        if (const auto behind = input_behind(schedule_, rank, block)) {
          const auto from = static_cast<std::ptrdiff_t>(block_begin(rank, Space::input, *behind));
          const auto to = static_cast<std::ptrdiff_t>(block_begin(rank, Space::output, block));
          const std::uint64_t bytes = layout_of(rank, Space::output, block).elements() * data_.element_size;
          std::copy_n(ranks_[rank].input.begin() + from, bytes, output.begin() + to);
        }
      }
      result.push_back(std::move(output));
    }
    return result;
  }

  bool has_message(const Endpoint& end) { return !queue(end.rank, now_->rank, end.channel).empty(); }
  bool has_credit(const Endpoint& end) {
    return queue(now_->rank, end.rank, end.channel).size() < std::max<std::size_t>(options_.depth, 1);
  }
  bool is_taken(const Endpoint& end) { return queue(now_->rank, end.rank, end.channel).empty(); }
  bool has_posted(std::uint32_t rank, std::uint32_t post) {
    return ranks_[rank].posted > now_->round * ranks_[rank].posts.size() + post;
  }
  [[nodiscard]] std::uint32_t num_ranks() const { return schedule_.num_ranks; }
  bool has_slot(const Step&) {
    const Rank& own = ranks_[now_->rank];
    if (!options_.staged || own.exposed < own.slots.size()) return true;
    return everyone_is_past((own.exposed - own.slots.size()) / own.num_exposes);
  }
  bool all_done() {
    if (options_.staged && !ranks_[now_->rank].opens) return true;
    return everyone_is_past(now_->round);
  }
  void take(const Endpoint& end) { queue(end.rank, now_->rank, end.channel).pop_front(); }
  void publish(const Endpoint& end) { queue(now_->rank, end.rank, end.channel).push_back(result_); }

  void combine(const Step& step) {
    std::vector<Bytes> sources;
    for (const Endpoint& end : step.sources) {
      if (end.place != Place::multicast) sources.push_back(load(end, end.rank));
      // A switch folds in an order of its own: here, beginning with whoever asks.
      for (std::uint32_t each = 0; end.place == Place::multicast && each < num_ranks(); ++each)
        sources.push_back(load(end, (now_->rank + each) % num_ranks()));
    }
    result_ = sources[0];
    std::vector<const std::byte*> elements(sources.size());
    for (std::size_t at = 0; sources.size() > 1 && at < result_.size(); at += data_.element_size) {
      for (std::size_t each = 0; each < sources.size(); ++each) elements[each] = sources[each].data() + at;
      data_.fold(elements, result_.data() + at);
    }
    for (const Endpoint& end : step.destinations) {
      if (end.place == Place::local) store(now_->rank, end.slice, result_);
      if (end.place == Place::remote) store(end.rank, end.slice, result_);
      for (std::uint32_t rank = 0; end.place == Place::multicast && rank < num_ranks(); ++rank)
        store(rank, end.slice, result_);
    }
    if (step.gives_up_source) {
      const Slice& slice = step.sources[0].slice;
      store(now_->rank, slice, Bytes(result_.size(), kPoison));
    }
  }

  void post(const Step& step) {
    Rank& own = ranks_[now_->rank];
    ++own.posted;
    if (step.kind != StepKind::expose) return;
    if (options_.staged) own.slots[own.exposed % own.slots.size()] = gather(now_->rank, step.sources[0].slice);
    ++own.exposed;
  }

 private:
  const PieceLayout& layout_of(std::uint32_t rank, Space space, std::uint32_t block) const {
    return layouts_[space == Space::scratch ? 0 : size_class(schedule_, rank, space, block)];
  }
  // Where the block begins among the rank's bytes of that space.
  std::uint64_t block_begin(std::uint32_t rank, Space space, std::uint32_t block) const {
    std::uint64_t elements = 0;
    for (std::uint32_t each = 0; each < block; ++each) elements += layout_of(rank, space, each).elements();
    return elements * data_.element_size;
  }

  void prepare(std::uint32_t rank, const Bytes& input) {
    Rank& own = ranks_[rank];
    own.program = collect(schedule_, rank, options_.fusion);
    own.input = input;
    own.output.assign(elements_of(schedule_, data_, rank, Space::output) * data_.element_size, kPoison);
    const Division& scratch = schedule_.division(Space::scratch);
    own.scratch.assign(std::size_t{scratch.blocks} * scratch.pieces * data_.window * data_.element_size, kPoison);
    for (std::uint32_t lane = 0; lane < schedule_.num_lanes; ++lane) {
      walkers_.push_back({.rank = rank, .lane = lane});
      for (const Step& step : own.program.lanes[lane]) {
        if (is_post(step)) own.posts.push_back(&step);
        own.num_exposes += step.kind == StepKind::expose ? 1 : 0;
        own.opens = own.opens || step.kind == StepKind::open;
      }
    }
    own.slots.resize(options_.staging_slots == 0 ? 2 * own.num_exposes : options_.staging_slots);
  }

  std::deque<Bytes>& queue(std::uint32_t from, std::uint32_t to, std::uint32_t channel) {
    return queues_[{from, to, channel}];
  }

  bool everyone_is_past(std::uint64_t round) const {
    return std::all_of(walkers_.begin(), walkers_.end(), [&](const Walker& walker) {
      if (walker.round > round) return true;
      const std::vector<Step>& steps = ranks_[walker.rank].program.lanes[walker.lane];
      const auto behind = walker.round == round ? static_cast<std::ptrdiff_t>(walker.index) : 0;
      return std::none_of(steps.begin() + behind, steps.end(), is_direct);
    });
  }

  bool advance(Walker& walker) {
    if (walker.round == num_rounds_) return false;
    now_ = &walker;
    const std::vector<Step>& steps = ranks_[walker.rank].program.lanes[walker.lane];
    if (walker.index == steps.size()) {
      ++walker.round;
      walker.index = 0;
      walker.passed = -1;
      return true;
    }
    const Step& step = steps[walker.index];
    const bool was_performed = walker.performed;
    if (!walker.performed) {
      if (!after_is_met(step) || !is_ready(step, *this)) return false;
      perform(step, *this);
      walker.performed = true;
    }
    if (options_.depth == 0 && !is_passed(step, *this)) return !was_performed;
    walker.performed = false;
    walker.passed = step.number;
    ++walker.index;
    return true;
  }

  bool after_is_met(const Step& step) const {
    return std::all_of(step.after.begin(), step.after.end(), [&](const After& after) {
      const Walker& other = walkers_[now_->rank * schedule_.num_lanes + after.lane];
      return other.round > now_->round ||
             (other.round == now_->round && other.passed >= static_cast<std::int64_t>(after.step));
    });
  }

  [[nodiscard]] Slice piece_of(const Slice& slice, std::uint32_t offset) const {
    return piece_at(slice, offset, schedule_.division(slice.space).blocks);
  }

  // Where the elements of a single piece that this round carries stand in their space.
  std::pair<std::byte*, std::size_t> place(std::uint32_t rank, const Slice& slice) {
    Rank& owner = ranks_[rank];
    const Run run = layout_of(rank, slice.space, slice.block).run(slice.first_piece, now_->round);
    const std::size_t length = run.length * data_.element_size;
    if (slice.space == Space::scratch) {
      const std::size_t at = std::size_t{slice.block} * schedule_.division(Space::scratch).pieces + slice.first_piece;
      return {owner.scratch.data() + at * data_.window * data_.element_size, length};
    }
    const auto behind =
        slice.space == Space::output && options_.in_place ? input_behind(schedule_, rank, slice.block) : std::nullopt;
    const Space space = behind ? Space::input : slice.space;
    const std::size_t at = block_begin(rank, space, behind.value_or(slice.block)) + run.offset * data_.element_size;
    return {(space == Space::input ? owner.input : owner.output).data() + at, length};
  }

  Bytes gather(std::uint32_t rank, const Slice& slice) {
    Bytes bytes;
    for (std::uint32_t offset = 0; offset < slice.size(); ++offset) {
      const auto [from, length] = place(rank, piece_of(slice, offset));
      bytes.insert(bytes.end(), from, from + length);
    }
    return bytes;
  }

  void store(std::uint32_t rank, const Slice& slice, const Bytes& bytes) {
    std::size_t done = 0;
    for (std::uint32_t offset = 0; offset < slice.size(); ++offset) {
      const auto [into, length] = place(rank, piece_of(slice, offset));
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(done), length, into);
      done += length;
    }
  }

  Bytes load(const Endpoint& end, std::uint32_t rank) {
    if (end.place == Place::local) return gather(now_->rank, end.slice);
    if (end.place == Place::message) return queue(rank, now_->rank, end.channel).front();
    if (!options_.staged) return gather(rank, end.slice);
    const Rank& owner = ranks_[rank];
    std::uint64_t expose = now_->round * owner.num_exposes;
    for (std::uint32_t post = 0; post < end.post; ++post) expose += owner.posts[post]->kind == StepKind::expose ? 1 : 0;
    // The slot holds all of what was exposed: skip what stands before the slice.
    const Slice& exposed = owner.posts[end.post]->sources[0].slice;
    std::size_t begin = 0;
    std::size_t length = 0;
    for (std::uint32_t piece = exposed.first_piece; piece < end.slice.first_piece + end.slice.num_pieces; ++piece)
      (piece < end.slice.first_piece ? begin : length) +=
          layout_of(rank, exposed.space, exposed.block).run(piece, now_->round).length * data_.element_size;
    const Bytes& slot = owner.slots[expose % owner.slots.size()];
    return {slot.begin() + static_cast<std::ptrdiff_t>(begin),
            slot.begin() + static_cast<std::ptrdiff_t>(begin + length)};
  }

  const Schedule& schedule_;
  const NumbersData& data_;
  const NumbersOptions& options_;
  std::vector<PieceLayout> layouts_;  // by size class
  std::uint64_t num_rounds_ = 1;
  std::vector<Rank> ranks_;
  std::vector<Walker> walkers_;
  std::map<std::array<std::uint32_t, 3>, std::deque<Bytes>> queues_;  // by source, destination, channel
  Bytes result_;
  Walker* now_ = nullptr;
};

}  // namespace

std::uint64_t elements_of(const Schedule& schedule, const NumbersData& data, std::uint32_t rank, Space space) {
  std::uint64_t elements = 0;
  for (std::uint32_t block = 0; block < schedule.division(space).blocks; ++block)
    elements += data.sizes.empty() ? data.count : data.sizes[size_class(schedule, rank, space, block)];
  return elements;
}

Result<std::vector<std::vector<std::byte>>> run_on_numbers(const Schedule& schedule,
                                                           std::span<const std::vector<std::byte>> inputs,
                                                           const NumbersData& data, const NumbersOptions& options) {
  if (inputs.size() != schedule.num_ranks)
    return Status(Code::invalid_argument, fmt::format("{} inputs for {} ranks", inputs.size(), schedule.num_ranks));
  if (!data.sizes.empty() && data.sizes.size() != num_size_classes(schedule)) {
    return Status(Code::invalid_argument,
                  fmt::format("{} sizes of blocks where {} are due", data.sizes.size(), num_size_classes(schedule)));
  }
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
    const std::size_t wanted = elements_of(schedule, data, rank, Space::input) * data.element_size;
    if (inputs[rank].size() != wanted) {
      return Status(Code::invalid_argument,
                    fmt::format("an input of {} bytes where {} are due", inputs[rank].size(), wanted));
    }
  }
  if (data.window == 0 || data.element_size == 0)
    return Status(Code::invalid_argument, "the window and the size of an element are at least 1");
  Execution execution(schedule, inputs, data, options);
  TUTTI_TRY(execution.run());
  return execution.outputs();
}

}  // namespace tutti
