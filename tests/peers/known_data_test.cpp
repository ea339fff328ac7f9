// SPDX-License-Identifier: Apache-2.0
#include "peers/known_data.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "data/kernel.hpp"

namespace tutti::peers {
namespace {

constexpr int kNumRanks = 3;

// All ranks of a group in one process, and what their collective should do with their buffers.
class Ranks {
 public:
  explicit Ranks(const Request& request) : requests_(kNumRanks, request) {
    for (int rank = 0; rank < kNumRanks; ++rank) {
      Result<KnownData> made = KnownData::make(requests_[static_cast<std::size_t>(rank)], rank, kNumRanks);
      EXPECT_TRUE(made.ok()) << made.status().to_string();
      data_.push_back(std::move(*made));
      data_.back().reset();
    }
    size_ = request.count * size_of(request.type);
  }

  [[nodiscard]] Request& request(int rank) { return requests_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::string verdict(int rank) const { return data_[static_cast<std::size_t>(rank)].verdict(nullptr); }

  // The collective, by the book.
  void run() {
    std::vector<std::vector<std::byte>> inputs;
    const bool all = facts_of(request(0).collective).many_inputs;
    for (const Request& each : requests_) {
      const auto* input = static_cast<const std::byte*>(each.input);
      inputs.emplace_back(input, input + size_ * (all ? kNumRanks : 1));
    }
    for (int rank = 0; rank < kNumRanks; ++rank) write(rank, inputs);
  }

 private:
  void write(int rank, const std::vector<std::vector<std::byte>>& inputs) {
    auto* output = static_cast<std::byte*>(request(rank).output);
    const std::size_t own = static_cast<std::size_t>(rank) * size_;
    switch (request(rank).collective) {
      case Collective::barrier: return;
      case Collective::all_reduce: return fold(inputs, 0, output);
      case Collective::reduce:
        if (rank == request(rank).root) fold(inputs, 0, output);
        return;
      case Collective::reduce_scatter: return fold(inputs, own, output);
      case Collective::scan: return fold_first(inputs, rank + 1, output);
      case Collective::exclusive_scan: return fold_first(inputs, rank, output);
      case Collective::scatter:
        std::memcpy(output, inputs[static_cast<std::size_t>(request(rank).root)].data() + own, size_);
        return;
      case Collective::broadcast:
        std::memcpy(output, inputs[static_cast<std::size_t>(request(rank).root)].data(), size_);
        return;
      case Collective::gather:
        if (rank != request(rank).root) return;
        [[fallthrough]];
      case Collective::all_gather:
      case Collective::all_to_all:
        for (std::size_t from = 0; from < kNumRanks; ++from) {
          const std::size_t offset = request(rank).collective == Collective::all_to_all ? own : 0;
          std::memcpy(output + from * size_, inputs[from].data() + offset, size_);
        }
        return;
      default: ADD_FAILURE() << name_of(request(rank).collective);
    }
  }

  void fold_first(std::vector<std::vector<std::byte>> inputs, int ranks, std::byte* output) {
    inputs.resize(static_cast<std::size_t>(ranks));
    if (!inputs.empty()) fold(inputs, 0, output);
  }

  void fold(const std::vector<std::vector<std::byte>>& inputs, std::size_t offset, std::byte* output) {
    std::vector<const void*> sources;
    sources.reserve(inputs.size());
    for (const std::vector<std::byte>& input : inputs) sources.push_back(input.data() + offset);
    void* destination = output;
    const Request& asked = request(0);
    const Operator op = {.op = asked.op, .type = asked.type, .divisor = kNumRanks};
    reduce_kernel(asked.type, asked.op, false)(op, {.destinations = &destination,
                                                    .num_destinations = 1,
                                                    .sources = sources.data(),
                                                    .num_sources = static_cast<std::uint32_t>(inputs.size()),
                                                    .count = asked.count,
                                                    .final = true});
  }

  std::vector<Request> requests_;
  std::vector<KnownData> data_;
  std::size_t size_ = 0;
};

constexpr auto kMoving = {Collective::all_reduce,    Collective::all_gather, Collective::reduce_scatter,
                          Collective::broadcast,     Collective::reduce,     Collective::all_to_all,
                          Collective::gather,        Collective::scatter,    Collective::scan,
                          Collective::exclusive_scan};

TEST(KnownData, TakesWhatIsRight) {
  for (const Collective collective : kMoving)
    for (const Type type : {Type::i8, Type::u16, Type::i64, Type::f8e4m3, Type::bf16, Type::f16, Type::f32, Type::f64})
      for (const Op op : {Op::sum, Op::product, Op::maximum, Op::average})
        for (const bool in_place : {false, true}) {
          const bool scans = collective == Collective::scan || collective == Collective::exclusive_scan;
          if (scans && op == Op::average) continue;
          Ranks ranks(Request{
              .collective = collective, .type = type, .op = op, .count = 20'000, .root = 1, .in_place = in_place});
          ranks.run();
          for (int rank = 0; rank < kNumRanks; ++rank)
            EXPECT_EQ(ranks.verdict(rank), "") << name_of(collective) << " " << name_of(type) << " " << name_of(op);
        }
}

TEST(KnownData, AnOutputThatNobodyWroteIsWrong) {
  for (const Collective collective : kMoving)
    for (const Type type : {Type::i8, Type::f16, Type::f32, Type::u64}) {
      Ranks ranks(Request{.collective = collective, .type = type, .count = 1, .root = 1});
      EXPECT_NE(ranks.verdict(collective == Collective::broadcast ? 0 : 1), "")
          << name_of(collective) << " " << name_of(type);
    }
}

TEST(KnownData, TheFirstWrongElementIsNamed) {
  constexpr std::size_t kCount = 100'000;
  Ranks ranks(Request{.collective = Collective::all_reduce, .type = Type::i32, .count = kCount});
  ranks.run();
  auto* output = static_cast<std::int32_t*>(ranks.request(2).output);
  const std::int32_t expected = output[70'000];
  output[70'000] = 7;
  EXPECT_EQ(ranks.verdict(2), "element 70000 of 100000 is 7, expected " + std::to_string(expected));
  output[99'999] ^= 1;
  EXPECT_EQ(ranks.verdict(2),
            "element 70000 of 100000 is 7, expected " + std::to_string(expected) + " (2 of them are wrong)");
  EXPECT_EQ(ranks.verdict(1), "");
}

TEST(KnownData, SaturatedSumsAreWrong) {
  for (const Type type : {Type::i8, Type::i16}) {
    Ranks ranks(Request{.collective = Collective::all_reduce, .type = type, .count = 1000});
    std::vector<std::int64_t> sums(1000);
    for (std::size_t each = 0; each < sums.size(); ++each)
      for (int rank = 0; rank < kNumRanks; ++rank)
        sums[each] += type == Type::i8 ? static_cast<std::int8_t*>(ranks.request(rank).input)[each]
                                       : static_cast<std::int16_t*>(ranks.request(rank).input)[each];
    const std::int64_t most = type == Type::i8 ? INT8_MAX : INT16_MAX;
    for (std::size_t each = 0; each < sums.size(); ++each) {
      const std::int64_t sum = std::clamp(sums[each], -most - 1, most);
      if (type == Type::i8) {
        static_cast<std::int8_t*>(ranks.request(0).output)[each] = static_cast<std::int8_t>(sum);
      } else {
        static_cast<std::int16_t*>(ranks.request(0).output)[each] = static_cast<std::int16_t>(sum);
      }
    }
    EXPECT_NE(ranks.verdict(0), "") << name_of(type);
  }
}

TEST(KnownData, BlocksThatWereSwappedAreWrong) {
  for (const Collective collective : {Collective::all_gather, Collective::all_to_all, Collective::gather}) {
    constexpr std::size_t kCount = 8;
    Ranks ranks(Request{.collective = collective, .type = Type::f32, .count = kCount});
    ranks.run();
    auto* output = static_cast<float*>(ranks.request(0).output);
    std::swap_ranges(output, output + kCount, output + kCount);
    EXPECT_NE(ranks.verdict(0), "") << name_of(collective);
  }
}

}  // namespace
}  // namespace tutti::peers
