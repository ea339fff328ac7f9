// SPDX-License-Identifier: Apache-2.0
#include "bench/views/narrow_table.hpp"

#include <string>

#include <gtest/gtest.h>

namespace tutti {
namespace {

Table sample() {
  Table table({{.name = "bench", .stands_once = true},
               {.name = "peer", .stands_once = true},
               {"bytes"},
               {"time_us"},
               {.name = "min_us", .yields = 1},
               {.name = "samples", .yields = 2},
               {.name = "p99_us", .yields = 1},
               {.name = "note", .is_note = true}});
  table.add_row({"all_reduce", "a", std::int64_t{8}, 0.5, 0.25, std::int64_t{100}, {}, {}});
  table.add_row({"all_reduce", "b", std::int64_t{8}, 1.5, 1.25, std::int64_t{100}, 2.5, "12 % outliers"});
  table.add_row({"all_reduce", "b", std::int64_t{64}, 2.5, 1.5, std::int64_t{100}, 2.5, "odd; late"});
  return table;
}

TEST(NarrowTableTest, WhatFitsStaysAsItIs) { EXPECT_EQ(to_narrow(sample(), {.width = 90}), to_aligned(sample())); }

TEST(NarrowTableTest, SharedValuesStandAboveAndEachNoteOnceBelow) {
  EXPECT_EQ(to_narrow(sample(), {.width = 60}),
            "bench=all_reduce\n"
            "\n"
            "peer  bytes  time_us  min_us  samples  p99_us  note\n"
            "a         8      0.5    0.25      100       -     -\n"
            "b         8      1.5    1.25      100     2.5     1\n"
            "b        64      2.5     1.5      100     2.5     2\n"
            "note 1: 12 % outliers\n"
            "note 2: odd; late\n");
}

TEST(NarrowTableTest, ColumnsThatYieldAreLeftOutUntilTheRestFitsAndNamed) {
  EXPECT_EQ(to_narrow(sample(), {.width = 40}),
            "bench=all_reduce\n"
            "\n"
            "peer  bytes  time_us  min_us  note\n"
            "a         8      0.5    0.25     -\n"
            "b         8      1.5    1.25     1\n"
            "b        64      2.5     1.5     2\n"
            "note 1: 12 % outliers\n"
            "note 2: odd; late\n"
            "left out: samples, p99_us; --wide shows\n"
            "  them\n");
}

TEST(NarrowTableTest, WhatIsSaidOfAllRowsNeedsNoNumber) {
  Table table({{"a_long_heading"}, {.name = "note", .is_note = true}});
  for (const char* text : {"a", "b"}) table.add_row({text, "odd; late"});
  EXPECT_EQ(to_narrow(table, {.width = 20}), "a_long_heading\na\nb\nnote: odd; late\n");
}

TEST(NarrowTableTest, LinesThatAreStillTooLongAreCutOnATerminalOnly) {
  Table table({{.name = "a_long_heading"}});
  table.add_row({"a long text"});
  EXPECT_EQ(to_narrow(table, {.width = 8}), "a_long_heading\na long text\n");
  EXPECT_EQ(to_narrow(table, {.width = 8, .is_terminal = true}), "a_long_…\na long …\n");
}

}  // namespace
}  // namespace tutti
