// SPDX-License-Identifier: Apache-2.0
// What copy engines are given does what execution on numbers does, in whatever order ranks come.
#include "device/walk/copies.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "algorithms/registry.hpp"
#include "schedule/numbers.hpp"
#include "schedule/prove/definition.hpp"

namespace tutti::device {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::uint32_t kElement = sizeof(float);

// All copies of a rank, and then all of the next one.
void copy_all(const CopyPrograms& programs, const std::vector<std::uint32_t>& order, std::uint64_t count,
              std::uint64_t piece, std::vector<Bytes>& inputs, std::vector<Bytes>& outputs) {
  for (const auto part : {&CopyProgram::between, &CopyProgram::behind})
    for (const std::uint32_t rank : order)
      for (const Copy& copy : programs[rank].*part) {
        const CopyRange range = range_of(copy, count, piece, kElement);
        const auto place = [&](const WordEnd& end) {
          std::vector<Bytes>& memory = end.base == WordBase::input ? inputs : outputs;
          return memory[end.is_remote ? end.rank : rank].data() + end.block * count * kElement + range.begin;
        };
        if (range.bytes > 0) std::memcpy(place(copy.destination), place(copy.source), range.bytes);
      }
}

void expect_as_numbers(const Schedule& schedule, const CopyPrograms& programs, std::uint64_t count, bool backwards) {
  const std::string words = fmt::format("{} {}, {} ranks, {} elements", name_of(schedule.collective), schedule.name,
                                        schedule.num_ranks, count);
  const NumbersData data{kElement, count, count, fold_of<float>(std::plus<>())};
  std::vector<Bytes> inputs;
  std::vector<Bytes> outputs;
  std::vector<std::uint32_t> order;
  std::uint32_t next = 0;
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank) {
    inputs.emplace_back(elements_of(schedule, data, rank, Space::input) * kElement);
    for (std::size_t at = 0; at < inputs.back().size(); at += kElement) {
      const float value = static_cast<float>(++next);
      std::memcpy(inputs.back().data() + at, &value, kElement);
    }
    outputs.emplace_back(elements_of(schedule, data, rank, Space::output) * kElement, std::byte{0xa5});
    order.push_back(backwards ? schedule.num_ranks - 1 - rank : rank);
  }
  const auto expected = run_on_numbers(schedule, inputs, data, {.staged = false, .in_place = false});
  ASSERT_TRUE(expected.ok()) << words << ": " << expected.status().to_string();
  const std::uint64_t pieces = schedule.division(Space::input).pieces;
  copy_all(programs, order, count, (count + pieces - 1) / pieces, inputs, outputs);
  for (std::uint32_t rank = 0; rank < schedule.num_ranks; ++rank)
    for (std::uint32_t block = 0; block < schedule.division(Space::output).blocks; ++block) {
      if (!expected_output(schedule, rank, {block, 0})) continue;
      const auto first = static_cast<std::ptrdiff_t>(block * count * kElement);
      const auto bytes = static_cast<std::ptrdiff_t>(count * kElement);
      EXPECT_TRUE(std::equal((*expected)[rank].begin() + first, (*expected)[rank].begin() + first + bytes,
                             outputs[rank].begin() + first))
          << words << ", rank " << rank << ", block " << block;
    }
}

TEST(DeviceCopies, AlgorithmsThatOnlyCopyDoWhatExecutionOnNumbersDoes) {
  std::set<std::string> names;
  for (const Algorithm* algorithm : all_algorithms()) {
    if (algorithm->channel != Channel::staged && algorithm->channel != Channel::symmetric) continue;
    if (facts_of(algorithm->collective).varies || algorithm->takes.groups || !algorithm->name_safe) continue;
    for (const std::uint32_t num_ranks : {1U, 2U, 3U, 4U, 8U}) {
      const Request request = {.collective = algorithm->collective, .num_ranks = num_ranks};
      if (!objection_to(*algorithm, request).empty()) continue;
      const Schedule schedule = algorithm->make(request);
      const auto words = make_word_programs(schedule, true);
      ASSERT_TRUE(words.ok()) << words.status().to_string();
      const Result<CopyPrograms> programs = make_copy_programs(schedule, *words);
      if (!programs.ok()) continue;
      EXPECT_FALSE(facts_of(algorithm->collective).folds) << algorithm->name;
      if (num_ranks > 1) names.insert(fmt::format("{} {}", name_of(algorithm->collective), algorithm->name));
      for (const std::uint64_t count : {1U, 5U, 64U, 1537U})
        for (const bool backwards : {false, true}) expect_as_numbers(schedule, *programs, count, backwards);
    }
  }
  EXPECT_TRUE(names.contains("all_gather direct")) << fmt::format("{}", fmt::join(names, ", "));
  EXPECT_TRUE(names.contains("all_to_all direct")) << fmt::format("{}", fmt::join(names, ", "));
}

std::string refusal(Collective collective, const char* name) {
  const Algorithm* algorithm = find_algorithm(collective, name);
  const Schedule schedule = algorithm->make({.collective = collective, .num_ranks = 4});
  return make_copy_programs(schedule, make_word_programs(schedule, algorithm->name_safe).value()).status().to_string();
}

TEST(DeviceCopies, WhatIsMoreThanCopiesIsRefusedWithTheReason) {
  EXPECT_NE(refusal(Collective::all_reduce, "two_shot").find("it folds"), std::string::npos)
      << refusal(Collective::all_reduce, "two_shot");
  EXPECT_NE(refusal(Collective::broadcast, "direct").find("cannot tell where the root's is"), std::string::npos)
      << refusal(Collective::broadcast, "direct");
}

}  // namespace
}  // namespace tutti::device
