// SPDX-License-Identifier: Apache-2.0
// Commands with places for axes.
#include "bench/process/command.hpp"

#include <gtest/gtest.h>

namespace tutti::harness {
namespace {

using Words = std::vector<std::string>;

TEST(Command, PlacesAreNamesInBraces) {
  EXPECT_EQ(places_in({"./p", "--a={a}", "{b_2}{a}", "{ print $1 }", "{}", "{", "}", "{{c}}", "{x"}),
            (Words{"a", "b_2", "c"}));
}

TEST(Command, ValuesStandInTheirPlaces) {
  const Point point{{{"size", std::int64_t{1048576}}, {"kind", "1M"}, {"share", 0.5}}};
  EXPECT_EQ(with_values({"p", "{size}:{size}", "-k{kind}", "{share}", "{num_ranks}", "{other}", "{ size }"}, point, 4),
            (Words{"p", "1048576:1048576", "-k1M", "0.5", "4", "{other}", "{ size }"}));
  EXPECT_EQ(with_values({"{num_ranks}"}, point, 0), (Words{"{num_ranks}"}));
  // What a value brings is not looked at again.
  EXPECT_EQ(with_values({"{a}"}, Point{{{"a", "{b}"}, {"b", "no"}}}, 0), (Words{"{b}"}));
}

TEST(Command, ShownAsOneWouldTypeIt) {
  EXPECT_EQ(in_shell({"./p", "-b", "8", "a b", "", "it's", "$HOME", "{n}"}),
            R"(./p -b 8 'a b' '' 'it'\''s' '$HOME' {n})");
  // What a terminal would obey, or is no text, can be pasted as well.
  EXPECT_EQ(in_shell({"a\nb", "it's\x1b[1m\\", "\xff", "é"}), R"($'a\x0ab' $'it\'s\x1b[1m\\' $'\xff' 'é')");
  EXPECT_EQ(name_of_program("/opt/bin/all_reduce_perf"), "all_reduce_perf");
  EXPECT_EQ(name_of_program("sleep"), "sleep");
}

}  // namespace
}  // namespace tutti::harness
