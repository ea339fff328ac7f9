// SPDX-License-Identifier: Apache-2.0
#include "schedule/layout.hpp"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(Layout, LastPiecesAreShortOrEmpty) {
  const PieceLayout layout(5, 4, 100);
  const std::uint64_t lengths[] = {2, 2, 1, 0};
  for (std::uint32_t piece = 0; piece < 4; ++piece) EXPECT_EQ(layout.run(piece, 0).length, lengths[piece]) << piece;
  EXPECT_EQ(layout.run(2, 0).offset, 4U);
  EXPECT_EQ(layout.num_rounds(), 1U);
}

TEST(Layout, RoundsOfAllPiecesCoverEveryElementOnce) {
  for (std::uint64_t elements = 0; elements < 40; ++elements) {
    for (std::uint32_t pieces = 1; pieces < 9; ++pieces) {
      for (std::uint64_t window = 1; window < 7; ++window) {
        const PieceLayout layout(elements, pieces, window);
        std::vector<int> covered(elements);
        for (std::uint64_t round = 0; round < layout.num_rounds(); ++round) {
          for (std::uint32_t piece = 0; piece < pieces; ++piece) {
            const tutti::Run run = layout.run(piece, round);
            EXPECT_LE(run.length, window);
            ASSERT_LE(run.offset + run.length, elements);
            for (std::uint64_t each = run.offset; each < run.offset + run.length; ++each) ++covered[each];
          }
        }
        for (const int times : covered) ASSERT_EQ(times, 1) << elements << " in " << pieces << " by " << window;
      }
    }
  }
}

TEST(Layout, NeighbouringPiecesAreOneRunWhereARoundCarriesThemWhole) {
  const PieceLayout layout(10, 4, 3);
  EXPECT_EQ(layout.whole(1, 2).offset, 3U);
  EXPECT_EQ(layout.whole(1, 2).length, 6U);
  EXPECT_EQ(layout.whole(2, 2).length, 4U);
  EXPECT_EQ(layout.whole(0, 4).length, 10U);
}

TEST(Layout, NothingIsStillOneRound) { EXPECT_EQ(PieceLayout(0, 3, 5).num_rounds(), 1U); }

}  // namespace
}  // namespace tutti
