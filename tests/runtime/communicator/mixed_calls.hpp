// SPDX-License-Identifier: Apache-2.0
// Rows of calls in which every collective follows every other, in many sizes, roots and forms, and what each must give:
// of i32, whose sums wrap alike in any order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "../ranks_of_threads.hpp"
#include "runtime/communicator/communicator.hpp"
#include "runtime/communicator/invocation.hpp"
#include "schedule/prove/definition.hpp"

namespace tutti::test {

struct Called {
  Collective collective = Collective::all_reduce;
  std::uint64_t count = 0;
  std::uint32_t root = 0;
  bool in_place = false;
  bool symmetric = false;
};

inline constexpr std::uint64_t kMostCount = 6000;

// The same for every rank.
inline std::vector<Called> row_of_calls(std::uint32_t num_ranks, std::uint64_t seed, std::size_t length) {
  constexpr Collective kAll[] = {Collective::all_reduce,       Collective::all_gather,   Collective::reduce_scatter,
                                 Collective::broadcast,        Collective::reduce,       Collective::all_to_all,
                                 Collective::gather,           Collective::scatter,      Collective::scan,
                                 Collective::exclusive_scan,   Collective::barrier,      Collective::all_gather_v,
                                 Collective::reduce_scatter_v, Collective::all_to_all_v, Collective::gather_v,
                                 Collective::scatter_v};
  constexpr std::uint64_t kCounts[] = {0, 1, 2, 5, 12, 13, 100, 511, 1024, 1025, 4096, kMostCount};
  std::mt19937_64 random(seed);
  std::vector<Called> calls(length);
  for (Called& call : calls)
    call = {.collective = kAll[random() % std::size(kAll)],
            .count = kCounts[random() % std::size(kCounts)],
            .root = static_cast<std::uint32_t>(random() % num_ranks),
            .in_place = random() % 2 == 0,
            .symmetric = random() % 3 == 0};
  return calls;
}

inline std::int32_t given(std::uint32_t rank, std::uint64_t place, std::size_t turn) {
  return static_cast<std::int32_t>(std::uint64_t{rank} * 100003 + place * 7 + turn);
}

// Of blocks that vary: each begins where it would if all were of `count` elements, and has these of them.
inline std::vector<std::size_t> sizes_of_blocks(const Called& call, std::uint32_t rank, std::uint32_t num_ranks,
                                                Space space, std::size_t turn) {
  Schedule header;
  header.collective = call.collective;
  header.num_ranks = num_ranks;
  header.root = call.root;
  const CollectiveFacts& facts = facts_of(call.collective);
  std::vector<std::size_t> sizes((space == Space::input ? facts.many_inputs : facts.many_outputs) ? num_ranks : 1);
  for (std::uint32_t block = 0; block < sizes.size(); ++block) {
    const std::uint32_t number = size_class(header, rank, space, block);
    // Each pair of an all-to-all gives and gets the same, so that all can be in place.
    const std::uint32_t pair = std::min(number, number % num_ranks * num_ranks + number / num_ranks);
    const std::uint64_t of = call.collective == Collective::all_to_all_v ? pair : number;
    const std::uint64_t drawn = of * 37 + turn;
    sizes[block] = !facts.varies ? call.count : drawn % 5 == 0 ? 0 : drawn * 101 % (call.count + 1);
  }
  return sizes;
}

// Element `place` of the rank's output.
inline std::int32_t expected(const Called& call, std::uint32_t rank, std::uint32_t num_ranks, std::uint64_t place,
                             std::size_t turn) {
  const std::uint64_t block = call.count == 0 ? 0 : place / call.count;
  const std::uint64_t within = call.count == 0 ? 0 : place % call.count;
  const auto sum = [&](std::uint32_t ranks, std::uint64_t at) {
    std::int32_t total = 0;
    for (std::uint32_t each = 0; each < ranks; ++each) total += given(each, at, turn);
    return total;
  };
  switch (call.collective) {
    case Collective::all_reduce:
    case Collective::reduce: return sum(num_ranks, place);
    case Collective::reduce_scatter:
    case Collective::reduce_scatter_v: return sum(num_ranks, rank * call.count + place);
    case Collective::scan: return sum(rank + 1, place);
    case Collective::exclusive_scan: return sum(rank, place);
    case Collective::all_gather:
    case Collective::all_gather_v:
    case Collective::gather_v:
    case Collective::gather: return given(static_cast<std::uint32_t>(block), within, turn);
    case Collective::broadcast: return given(call.root, place, turn);
    case Collective::all_to_all:
    case Collective::all_to_all_v: return given(static_cast<std::uint32_t>(block), rank * call.count + within, turn);
    case Collective::scatter:
    case Collective::scatter_v: return given(call.root, rank * call.count + place, turn);
    default: return 0;
  }
}

// As the API calls: all-reduces have a way of their own where they are small.
inline Status run_blocking(Communicator& communicator, const Invocation& asked) {
  if (asked.collective != Collective::all_reduce) return communicator.run(asked);
  return communicator.all_reduce(asked.input, asked.output, asked.count, asked.type, asked.op);
}

// A call's buffers within 2 * kMostCount elements for each rank, which it fills and looks at.
class CalledBuffers {
 public:
  CalledBuffers(const Called& call, std::uint32_t rank, std::uint32_t num_ranks, std::size_t turn, std::int32_t* base)
      : call_(call),
        rank_(rank),
        num_ranks_(num_ranks),
        turn_(turn),
        input_(base),
        output_(base + kMostCount * num_ranks),
        input_sizes_(sizes_of_blocks(call, rank, num_ranks, Space::input, turn)),
        output_sizes_(sizes_of_blocks(call, rank, num_ranks, Space::output, turn)),
        places_(num_ranks) {
    for (std::uint32_t block = 0; block < num_ranks; ++block) places_[block] = block * call.count;
    if (!call.in_place) return;
    // The smaller lies within the larger, at this rank's own block, where both are there.
    const CollectiveFacts& facts = facts_of(call.collective);
    const bool has_both = !facts.has_root || rank == call.root;
    output_ = base;
    if (facts.many_outputs && !facts.many_inputs && has_both) input_ = base + rank * call.count;
    if (facts.many_inputs && !facts.many_outputs && has_both) output_ = base + rank * call.count;
  }

  void fill() {
    std::fill_n(output_, num_outputs(), -1);
    const std::uint64_t inputs = call_.count * (facts_of(call_.collective).many_inputs ? num_ranks_ : 1);
    for (std::uint64_t i = 0; i < inputs; ++i)
      if (is_there(input_sizes_, i)) input_[i] = given(rank_, i, turn_);
    before_.assign(output_, output_ + num_outputs());
  }

  // Its `varying` is borrowed from this object.
  [[nodiscard]] Invocation invocation() {
    varying_ = {.input = {input_sizes_.data(), places_.data()}, .output = {output_sizes_.data(), places_.data()}};
    return {.collective = call_.collective,
            .input = input_,
            .output = output_,
            .count = call_.count,
            .type = Type::i32,
            .root = call_.root,
            .varying = facts_of(call_.collective).varies ? &varying_ : nullptr};
  }

  // What is wrong with the output; empty: nothing.
  [[nodiscard]] std::string fault() const {
    const bool is_root = rank_ == call_.root;
    const bool only_at_root = call_.collective == Collective::reduce || call_.collective == Collective::gather ||
                              call_.collective == Collective::gather_v;
    const bool has_output = call_.collective != Collective::barrier && (is_root || !only_at_root) &&
                            (call_.collective != Collective::exclusive_scan || rank_ > 0);
    if (!has_output) return {};
    for (std::uint64_t place = 0; place < num_outputs(); ++place) {
      const std::int32_t right =
          is_there(output_sizes_, place) ? expected(call_, rank_, num_ranks_, place, turn_) : before_[place];
      if (output_[place] != right)
        return fmt::format("{} number {} of {}, root {}{}{}: element {} of rank {} is {}", name_of(call_.collective),
                           turn_, call_.count, call_.root, call_.in_place ? ", in place" : "",
                           call_.symmetric ? ", symmetric" : "", place, rank_, output_[place]);
    }
    return {};
  }

 private:
  [[nodiscard]] std::uint64_t num_outputs() const {
    return call_.count * (facts_of(call_.collective).many_outputs ? num_ranks_ : 1);
  }
  [[nodiscard]] bool is_there(const std::vector<std::size_t>& sizes, std::uint64_t place) const {
    return place % call_.count < sizes[place / call_.count];
  }

  Called call_;
  std::uint32_t rank_;
  std::uint32_t num_ranks_;
  std::size_t turn_;
  std::int32_t* input_;
  std::int32_t* output_;
  std::vector<std::size_t> input_sizes_;
  std::vector<std::size_t> output_sizes_;
  std::vector<std::size_t> places_;
  std::vector<std::int32_t> before_;
  VaryingBlocks varying_;
};

// What may lead ranks through the same calls by other code.
struct WayToRun {
  std::string name;
  std::uint64_t slot;
  WalkerChoice walker;
  std::optional<std::uint64_t> attach_min;
  bool stores_differ = false;  // every other rank stores past its caches what the others read
  bool share_cores = false;    // ranks take turns on two cores, or on one where there are no more
  std::optional<std::uint64_t> spread = {};

  friend void PrintTo(const WayToRun& way, std::ostream* out) { *out << way.name; }

  [[nodiscard]] Settings settings() const {
    Settings settings = Settings::from(Variables());
    settings.region.staging_slot = settings.region.message_slot = slot;
    settings.walker = walker;
    settings.attach_min = attach_min;
    settings.staging_spread = spread;
    return settings;
  }
  void change(std::uint32_t rank, Settings& own) const {
    if (stores_differ) ThreadRanks::store_differently(rank, own);
    if (share_cores) ThreadRanks::share_two_cores(rank);
  }
};

inline std::vector<WayToRun> ways_to_run() {
  return {{"usual", 128 << 10, WalkerChoice::automatic, {}},
          {"attached", 128 << 10, WalkerChoice::automatic, 1},
          {"many_rounds", 4096, WalkerChoice::automatic, 1 << 30},
          {"past_caches", 8192, WalkerChoice::automatic, 1 << 30, true},
          {"crowded", 128 << 10, WalkerChoice::automatic, {}, false, true},
          {"crowded_many_rounds", 4096, WalkerChoice::automatic, {}, true, true},
          {"spread", 16 << 10, WalkerChoice::automatic, 1 << 30, true, false, 200'000},
          {"generic", 4096, WalkerChoice::generic, {}, true},
          {"generic_spread", 16 << 10, WalkerChoice::generic, {}, false, false, 200'000}};
}

}  // namespace tutti::test
