// SPDX-License-Identifier: Apache-2.0
// The five bars of Tutti's speed on one host.
#pragma once

#include <string>
#include <vector>

#include "benches/peers/program.hpp"
#include "benches/peers/score.hpp"

namespace tutti::bars {

inline constexpr int kNumBars = 5;
[[nodiscard]] const char* title_of(int bar);
// What bar 4 is about.
[[nodiscard]] const std::vector<std::string>& other_collectives();

struct Wanted {
  std::vector<std::string> peers;        // that are here; bar 5 needs none
  std::vector<std::string> collectives;  // of bar 4
  bool quick = false;                    // fewer sizes
};
// Measures a bar and gives its figures; empty where nothing could be measured.
[[nodiscard]] std::vector<Figure> measure(int bar, const Program& program, const Wanted& wanted);

}  // namespace tutti::bars
