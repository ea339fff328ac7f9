// SPDX-License-Identifier: Apache-2.0
// What ranks have recorded, in files, and as one workload.
#include "workload/merge.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tutti {
namespace {

PartCall called(Collective collective, std::uint64_t count, std::uint64_t calls, double time_us = 0,
                double compute_us = 0, const std::string& symbol = "main") {
  return {.collective = collective,
          .count = count,
          .type = Type::f32,
          .root = 0,
          .calls = calls,
          .time_us = time_us,
          .compute_us = compute_us,
          .site = {.module = "/bin/program", .offset = 0x1234, .symbol = symbol, .in_symbol = 0x10}};
}

Part of_rank(std::uint32_t rank, std::vector<PartCall> calls, std::uint32_t ranks = 2) {
  Part part{.host = "here", .process = 100 + rank, .ranks = ranks, .rank = rank, .line = rank, .is_whole = true};
  part.calls = std::move(calls);
  return part;
}

Merged merged_of(const std::vector<Part>& parts) {
  Result<Merged> merged = merge(parts);
  EXPECT_TRUE(merged.ok()) << merged.status().to_string();
  return merged.ok() ? *std::move(merged) : Merged();
}

TEST(Parts, AreReadAsTheyWereWritten) {
  Part part = of_rank(1, {called(Collective::all_gather_v, 77, 5'000'000'000, 1.5, 2.25, "a \"b\"\\\n\xff")});
  part.program = "/a/b c";
  part.transfers = 3;
  part.left_out = 4;
  part.is_whole = false;
  const Result<Part> read = read_part(to_text(part), "p");
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(to_text(*read), to_text(part)) << "what is no UTF-8 is escaped once";
  EXPECT_EQ(read->calls.at(0).calls, 5'000'000'000U);
  EXPECT_EQ(read->calls[0].count, 77U);
  EXPECT_EQ(read->calls[0].collective, Collective::all_gather_v);
  EXPECT_EQ(read->calls[0].site.offset, 0x1234U);
  EXPECT_EQ(read->transfers, 3U);
  EXPECT_EQ(read->left_out, 4U);
  EXPECT_FALSE(read->is_whole);
}

// A pause of an hour between two calls is no reason to lose a rank's calls.
TEST(Parts, LongTimesAreReadAgain) {
  const Part part = of_rank(0, {called(Collective::barrier, 0, 1, 3.6e9, 7.2e9)});
  const Result<Part> read = read_part(to_text(part), "p");
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(read->calls.at(0).time_us, 1e9);
}

TEST(Parts, MistakesHaveFileLineAndKey) {
  const auto problem = [](std::string_view text) {
    const Result<Part> read = read_part(text, "p");
    return read.ok() ? "none" : std::string(read.status().message());
  };
  EXPECT_EQ(problem("part_version = 2\n"), "p:1: part_version: this is 2; 1 is known");
  EXPECT_EQ(problem("part_version = 1\nranks = 0\n"), "p:2: ranks: 0 is too few; 1 is the least");
  EXPECT_EQ(problem("part_version = 1\nranks = 2\n[[calls]]\ncollective = \"all\"\n"),
            "p:4: calls[0].collective: there is no 'all'");
  EXPECT_EQ(problem("part_version = 1\nranks = 2\n[[calls]]\ncollective = \"barrier\"\ncalls = -1\n"),
            "p:5: calls[0].calls: this is -1; write a whole number from 0 on");
  EXPECT_EQ(problem("part_version = 1\nranks = 2\n[[calls]]\ncollective = \"barrier\"\ncalls = 9000000000000000000\n"),
            "p:5: calls[0].calls: 9000000000000000000 is too many; 17592186044416 is the most");
}

TEST(Merge, CountsAreRank0sAndTimesMeans) {
  const Merged merged =
      merged_of({of_rank(1, {called(Collective::all_reduce, 2, 10, 3, 30)}),
                 of_rank(0, {called(Collective::barrier, 0, 3), called(Collective::all_reduce, 2, 10, 1, 10),
                             called(Collective::all_gather, 5, 1, 0, 0, "other")})});
  const Workload& workload = merged.workload;
  EXPECT_EQ(workload.ranks, 2U);
  ASSERT_EQ(workload.entries.size(), 3U);
  EXPECT_EQ(workload.entries[0].collective, Collective::barrier);
  EXPECT_EQ(workload.entries[1].bytes, 8U);
  EXPECT_EQ(workload.entries[1].calls, 10U);
  EXPECT_EQ(workload.entries[1].measured_us, 2);
  EXPECT_EQ(workload.entries[1].compute_us, 20);
  EXPECT_EQ(workload.entries[1].site, "main+0x10");
  EXPECT_EQ(workload.entries[2].bytes, 40U) << "of all blocks";
  EXPECT_EQ(merged.notes,
            (std::vector<std::string>{"ranks disagree: all_gather of 40 B 1 call by rank 0, and 0 by rank 1",
                                      "ranks disagree: barrier of 0 B 3 calls by rank 0, and 0 by rank 1"}));
}

TEST(Merge, SmallerCommunicatorsAreEntriesOfTheirOwn) {
  Part half = of_rank(0, {called(Collective::all_reduce, 4, 7)}, 2);
  Part others_half = of_rank(0, {called(Collective::all_reduce, 4, 9)}, 2);
  others_half.line = 2;
  others_half.process = 102;
  const std::vector<PartCall> whole = {called(Collective::all_reduce, 4, 1)};
  const Merged merged = merged_of(
      {of_rank(0, whole, 4), of_rank(1, whole, 4), of_rank(2, whole, 4), of_rank(3, whole, 4), half, others_half});
  EXPECT_EQ(merged.workload.ranks, 4U);
  ASSERT_EQ(merged.workload.entries.size(), 2U);
  EXPECT_EQ(merged.workload.entries[0].ranks, 4U);
  EXPECT_EQ(merged.workload.entries[1].ranks, 2U);
  EXPECT_EQ(merged.workload.entries[1].calls, 7U) << "rank 0 is not in the other half";
  EXPECT_TRUE(merged.notes.empty());
}

TEST(Merge, SaysWhatIsMissing) {
  Part part = of_rank(1, {called(Collective::all_reduce, 2, 10), called(Collective::all_reduce, 0, 4)}, 3);
  part.is_whole = false;
  part.transfers = 5;
  EXPECT_EQ(merged_of({part}).notes,
            (std::vector<std::string>{
                "left out 5 sends and receives: a workload has collectives only", "4 calls of no elements left out",
                "rank 0 has written nothing: the counts are those of rank 1",
                "1 recording is incomplete: the last calls are missing", "of 3 ranks 2 wrote nothing: 0, 2"}));
  EXPECT_FALSE(merge({}).ok());
  EXPECT_FALSE(merge(std::vector<Part>{of_rank(0, {called(Collective::all_reduce, 0, 4)})}).ok());
}

TEST(Merge, KeepsTheCallsOfOneLibrary) {
  Part other = of_rank(0, {called(Collective::broadcast, 32, 1)});
  other.api = "openmpi";
  const Merged both = merged_of({other, of_rank(0, {called(Collective::all_reduce, 8, 5)})});
  ASSERT_EQ(both.workload.entries.size(), 1U);
  EXPECT_EQ(both.workload.entries[0].collective, Collective::all_reduce);
  EXPECT_EQ(both.api, "tutti");
  EXPECT_EQ(both.notes.back(), "left out the calls of openmpi: a workload is of one library");
  EXPECT_EQ(merged_of({other}).api, "openmpi");
}

// The root may take what others send as elements of a type that it has made.
TEST(Merge, RanksAgreeOnBytes) {
  PartCall of_bytes = called(Collective::gather, 80, 5);
  of_bytes.type = Type::u8;
  for (const auto& [count, disagrees] : {std::pair{20U, false}, std::pair{21U, true}}) {
    const Merged merged = merged_of({of_rank(0, {of_bytes}), of_rank(1, {called(Collective::gather, count, 5)})});
    EXPECT_EQ(std::any_of(merged.notes.begin(), merged.notes.end(),
                          [](const std::string& note) { return note.starts_with("ranks disagree"); }),
              disagrees)
        << count;
  }
}

TEST(Merge, WorkloadsAreReadAsTheyWereWritten) {
  Part part = of_rank(0,
                      {called(Collective::all_reduce, 3, 9'000'000'000, 0.25, 1.5), called(Collective::barrier, 0, 1),
                       called(Collective::scatter_v, 1, 2)},
                      1);
  const Workload workload = merged_of({part}).workload;
  const Result<Workload> read = read_workload(to_text(workload), "w");
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(to_text(*read), to_text(workload));
  ASSERT_EQ(read->entries.size(), 5U) << "no entry has more than four milliards of calls";
  EXPECT_EQ(std::uint64_t{read->entries[0].calls} + read->entries[1].calls + read->entries[2].calls, 9'000'000'000U);
}

TEST(Merge, SitesAreFunctionsOrPlacesInFiles) {
  EXPECT_EQ(name_of_site({.module = "/usr/lib/libx.so.1", .offset = 0x20}), "libx.so.1+0x20");
  EXPECT_EQ(name_of_site({.module = "/p", .offset = 9, .symbol = "_ZN12_GLOBAL__N_15trainEi", .in_symbol = 0x1f}),
            "train+0x1f");
  EXPECT_EQ(name_of_site({.module = "/p", .offset = 9, .symbol = "_ZZ4mainENKUlvE_clEv", .in_symbol = 1}),
            "main::{lambda()#1}::operator()+0x1");
  EXPECT_EQ(name_of_site({}), "");
}

}  // namespace
}  // namespace tutti
