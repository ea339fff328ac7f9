// SPDX-License-Identifier: Apache-2.0
// What `tutti compare` shows people, to the letter; made up, so without a clock.
#include "bench/views/comparison_view.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "bench/results/comparison_by.hpp"

namespace tutti::harness {
namespace {

// Eight launches of three rounds; the k-th launch takes `micros` and k times `step` more.
Row measured_row(const std::string& peer, std::int64_t bytes, double micros, double step = 0, int num_ranks = 2) {
  Row row;
  row.bench = "all_reduce";
  row.peer = peer;
  row.num_ranks = num_ranks;
  row.point.values = {{"bytes", bytes}, {"type", Value("f32")}};
  row.is_checked = true;
  row.stop = Stop::precise;
  for (int launch = 0; launch < 8; ++launch) {
    for (int round = 0; round < 3; ++round) {
      row.samples.push_back((micros + launch * step) * 1000);
      row.rounds.push_back(1);
    }
    row.launches.push_back(3);
  }
  return row;
}

Row oversubscribed(Row row) {
  row.shares_cores = true;
  row.note = "rank r is on core r modulo 2";
  return row;
}

std::string pairs(const std::vector<Row>& rows, const TextStyle& style = {}) {
  std::string text = text_of_pairs(Comparison::of_peers(rows, true), style);
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1)) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (!style.has_tones) {
      EXPECT_LE(characters_of(line), style.width) << text;
    }
  }
  return text;
}

// a's launches are 10 us; b's ratios to them have a width.
std::vector<Row> two() {
  return {measured_row("tutti", 8, 0.125),        measured_row("openmpi", 8, 0.3, 0.01),
          measured_row("tutti", 65536, 10),       measured_row("openmpi", 65536, 10.05),
          measured_row("tutti", 1048576, 100),    measured_row("openmpi", 1048576, 70, 1),
          measured_row("tutti", 2097152, 200, 9), measured_row("openmpi", 2097152, 240, -2)};
}

TEST(ComparisonView, Two) {
  EXPECT_EQ(pairs(two()),
            "all_reduce on 2 ranks, type=f32; all results checked\n"
            "2.8× says that tutti is 2.8 times as fast as openmpi [95 % interval]\n"
            "\n"
            "bytes    tutti    openmpi    tutti is\n"
            "    8   125 ns *   335 ns     2.7× [2.4, 3.0]   faster\n"
            "  64K  10.0 us *  10.1 us =  1.00×              same\n"
            "   1M   100 us    73.5 us *  0.73× [0.70, 0.77] slower\n"
            "   2M   232 us *   233 us =  1.01× [0.86, 1.20] undecided\n"
            "* is the fastest, = is not told apart from it\n");
}

TEST(ComparisonView, TonesInsteadOfAsterisksOnATerminal) {
  const std::vector<Row> rows = two();
  EXPECT_EQ(pairs({rows[0], rows[1]}, {.is_terminal = true, .has_tones = true}),
            "all_reduce on 2 ranks, type=f32; all results checked\n"
            "2.8× says that tutti is 2.8 times as fast as openmpi [95 % interval]\n"
            "\n"
            "bytes   tutti  openmpi  tutti is\n"
            "    8  \x1b[1m125 ns\x1b[0m   335 ns  2.7× \x1b[2m[2.4, 3.0]\x1b[0m faster\n"
            "bold is the fastest\n");
  EXPECT_EQ(pairs(rows, {.is_terminal = true}), pairs(rows)) << "as with NO_COLOR";
}

TEST(ComparisonView, ANarrowTerminalGetsLessOfEachRatioThenShorterLines) {
  EXPECT_EQ(pairs(two(), {.width = 45, .is_terminal = true}),
            "all_reduce on 2 ranks, type=f32; all results\n"
            "  checked\n"
            "2.8× says that tutti is 2.8 times as fast as\n"
            "  openmpi\n"
            "\n"
            "bytes    tutti    openmpi        ×\n"
            "    8   125 ns *   335 ns     2.7×\n"
            "  64K  10.0 us *  10.1 us =  1.00× ≈\n"
            "   1M   100 us    73.5 us *  0.73×\n"
            "   2M   232 us *   233 us =  1.01× ?\n"
            "* is the fastest, = is not told apart from\n"
            "it, ≈ the same within 3 %, ? undecided\n"
            "left out: intervals; --wide shows them\n");
  EXPECT_EQ(pairs(two(), {.width = 24, .is_terminal = true}),
            "all_reduce on 2 ranks,\n"
            "  type=f32; all results\n"
            "  checked\n"
            "A: tutti, B: openmpi\n"
            "2.8× says that A is 2.8\n"
            "  times as fast as B\n"
            "\n"
            "bytes        A         …\n"
            "    8   125 ns *   335 …\n"
            "  64K  10.0 us *  10.1 …\n"
            "   1M   100 us    73.5 …\n"
            "   2M   232 us *   233 …\n"
            "* is the fastest, = is\n"
            "not told apart from it,\n"
            "≈ the same within 3 %, ?\n"
            "undecided\n"
            "left out: intervals;\n"
            "  --wide shows them\n");
}

TEST(ComparisonView, ThreeInGroupsWithEachKindOfNoteOnce) {
  std::vector<Row> rows;
  for (const int num_ranks : {2, 4})
    for (const std::int64_t bytes : {8, 1024})
      for (const char* peer : {"tutti", "openmpi", "mpich"}) {
        const double micros = peer == std::string_view("tutti") ? 1 : peer == std::string_view("mpich") ? 30 : 3;
        Row row =
            measured_row(peer, bytes, micros * num_ranks, peer == std::string_view("tutti") ? 0 : 0.05, num_ranks);
        rows.push_back(num_ranks == 4 ? oversubscribed(row) : row);
      }
  rows[1].invalid = 8;
  rows[4].invalid = 3;
  EXPECT_EQ(pairs(rows),
            "all_reduce, type=f32; all results checked\n"
            "2.8× says that tutti is 2.8 times as fast as the other [95 % interval]\n"
            "\n"
            "bytes    tutti    openmpi  tutti is                  mpich  tutti is\n"
            "ranks=2:\n"
            "    8  2.00 us *  6.17 us  3.1× [3.0, 3.2] faster  60.2 us  30× [30, 30] faster\n"
            "   1K  2.00 us *  6.17 us  3.1× [3.0, 3.2] faster  60.2 us  30× [30, 30] faster\n"
            "ranks=4:\n"
            "    8  4.00 us *  12.2 us  3.0× [3.0, 3.1] faster   120 us  30× [30, 30] faster\n"
            "   1K  4.00 us *  12.2 us  3.0× [3.0, 3.1] faster   120 us  30× [30, 30] faster\n"
            "* is the fastest\n"
            "note: openmpi at ranks=2: 11 to 25 % of iterations begun late\n"
            "note: ranks=4: rank r is on core r modulo 2; more ranks than cores\n");
}

TEST(ComparisonView, EightShowTheTwoFastestOthersAndWhereTheRestIs) {
  std::vector<Row> rows;
  const std::vector<std::string> peers = {"tutti", "openmpi", "mpich", "gloo", "nccl", "rccl", "mine", "yours"};
  for (const std::int64_t bytes : {8, 1027})
    for (std::size_t each = 0; each < peers.size(); ++each)
      rows.push_back(measured_row(peers[each], bytes,
                                  2 + static_cast<double>((each + static_cast<std::size_t>(bytes)) % 8),
                                  0.01 * static_cast<double>(each)));
  EXPECT_EQ(pairs(rows),
            "all_reduce on 2 ranks, type=f32; all results checked\n"
            "2.8× says that tutti is 2.8 times as fast as the other [95 % interval]\n"
            "\n"
            "bytes    tutti    fastest other             tutti is            second           tutti is\n"
            "    8  2.00 us *  openmpi        3.04 us    1.52× [1.50, 1.53]  mpich   4.07 us   2.0× [2.0, 2.1]\n"
            " 1027  5.00 us    rccl           2.17 us *  0.43× [0.40, 0.47]  mine    3.21 us  0.64× [0.60, 0.68]\n"
            "* is the fastest\n"
            "left out: all but the two fastest of the 7 others in each case; --wide shows all, --view best each\n"
            "  one's time\n");
}

TEST(ComparisonView, LongNamesLoseWhatTheyShareOrBecomeLetters) {
  const std::string fabric = "simulate:torus_2d:16x16,latency=1us,bandwidth=100GB/s";
  std::vector<Row> rows = {measured_row(fabric + " ring", 8, 1),
                           measured_row(fabric + " recursive_doubling", 8, 2, 0.01)};
  EXPECT_EQ(pairs(rows),
            "simulate:torus_2d:16x16,latency=1us,bandwidth=100GB/s: all_reduce on 2 ranks, type=f32; all results\n"
            "  checked\n"
            "2.8× says that ring is 2.8 times as fast as recursive_doubling [95 % interval]\n"
            "\n"
            "bytes     ring    recursive_doubling  ring is\n"
            "    8  1.00 us *             2.04 us  2.0× [2.0, 2.1] faster\n"
            "* is the fastest\n");
  rows[1].peer = "simulate:switch:256,latency=1us,bandwidth=100GB/s swing";
  EXPECT_EQ(pairs(rows),
            "all_reduce on 2 ranks, type=f32; all results checked\n"
            "A: simulate:torus_2d:16x16,latency=1us,bandwidth=100GB/s ring\n"
            "B: simulate:switch:256,latency=1us,bandwidth=100GB/s swing\n"
            "2.8× says that A is 2.8 times as fast as B [95 % interval]\n"
            "\n"
            "bytes        A          B  A is\n"
            "    8  1.00 us *  2.04 us  2.0× [2.0, 2.1] faster\n"
            "* is the fastest\n");
}

TEST(ComparisonView, MissingSkippedAndWrong) {
  std::vector<Row> rows = {measured_row("a", 8, 1), measured_row("b", 8, 2), measured_row("a", 64, 1),
                           measured_row("b", 64, 2), measured_row("b", 512, 2)};
  rows[1].outcome = Outcome::skipped;
  rows[1].note = "not today";
  rows[3].outcome = Outcome::wrong;
  rows[3].note = "rank 1: 7 is 8";
  EXPECT_EQ(pairs(rows),
            "all_reduce on 2 ranks, type=f32\n"
            "2.8× says that a is 2.8 times as fast as b\n"
            "\n"
            "bytes        a        b  a is\n"
            "    8  1.00 us  skipped     -\n"
            "   64  1.00 us    wrong     -\n"
            "  512        -  2.00 us     -\n"
            "note: b at 8: skipped: not today\n"
            "note: b at 64: wrong: rank 1: 7 is 8\n");
  EXPECT_EQ(pairs({}), "nothing was compared\n");
}

TEST(ComparisonView, RunsThatDifferInPeerHaveAGroupForEach) {
  const Comparison runs = Comparison::of_runs(
      {measured_row("a", 8, 10), measured_row("a", 64, 10), measured_row("b", 8, 10)},
      {measured_row("a", 8, 5, 0.1), measured_row("a", 64, 20, 0.1), measured_row("b", 8, 10)}, {"run 1", "run 2"});
  EXPECT_EQ(text_of_pairs(runs, {}),
            "all_reduce on 2 ranks, type=f32; all results checked\n"
            "2.8× says that run 1 is 2.8 times as fast as run 2 [95 % interval]\n"
            "\n"
            "bytes    run 1      run 2    run 1 is\n"
            "peer=a:\n"
            "    8  10.0 us    5.35 us *  0.54× [0.50, 0.56] slower\n"
            "   64  10.0 us *  20.4 us     2.0× [2.0, 2.1]   faster\n"
            "peer=b:\n"
            "    8  10.0 us *  10.0 us =  1.00×              same\n"
            "* is the fastest, = is not told apart from it\n");
}

TEST(ComparisonView, ANoteNamesEachGroupOnce) {
  std::vector<Row> rows;
  for (const std::int64_t bytes : {8, 64})
    for (const int num_ranks : {2, 4})
      for (const char* peer : {"a", "b"}) {
        rows.push_back(measured_row(peer, bytes, 10, 0, num_ranks));
        if (num_ranks == 4) rows.back().shares_cores = true;
      }
  const std::string text = text_of_pairs(Comparison::of_runs(rows, rows, {"run 1", "run 2"}), {});
  EXPECT_NE(text.find("\nnote: peer=a ranks=4, peer=b ranks=4: more ranks than cores\n"), std::string::npos) << text;
}

TEST(ComparisonView, WithoutAVerdictTheFastestIsNotToldApart) {
  std::vector<Row> rows = {measured_row("a", 8, 10), measured_row("b", 8, 20)};
  for (Row& row : rows) row.launches = {24};
  EXPECT_EQ(pairs(rows),
            "all_reduce on 2 ranks, type=f32; all results checked\n"
            "2.8× says that a is 2.8 times as fast as b\n"
            "\n"
            "bytes        a          b    a is\n"
            "    8  10.0 us *  20.0 us =  2.0× undecided\n"
            "* is the fastest, = is not told apart from it\n");
}

TEST(ComparisonView, ByAColumn) {
  std::vector<Row> rows;
  for (const int num_ranks : {2, 4})
    for (const std::int64_t bytes : {8, 1024}) {
      rows.push_back(measured_row("tutti", bytes, 10, 0, num_ranks));
      rows.push_back(
          oversubscribed(measured_row("openmpi", bytes, bytes == 8 ? 20.0 : 5.0 * num_ranks, 0.1, num_ranks)));
    }
  const Result<std::string> text = text_of_by(Comparison::of_peers(rows, true), "ranks", {});
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text,
            "all_reduce, type=f32\n"
            "2.8× says that tutti is 2.8 times as fast as openmpi: mean of the cases (least to greatest), and\n"
            "  their verdicts\n"
            "\n"
            "ranks  other    cases  tutti is             faster  same  slower  undecided\n"
            "    2  openmpi      2  1.45× (1.03 to 2.0)       1     0       0          1\n"
            "    4  openmpi      2  2.0×                      2     0       0          0\n"
            "note: openmpi: rank r is on core r modulo 2; more ranks than cores\n");
}

}  // namespace
}  // namespace tutti::harness
